package http_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

func TestTLSIsServedAndItsCertificateReplaced(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	first := harness.WriteCertificate(t, certFile, keyFile, "first")
	e := serve(t, "--tls-cert", certFile, "--tls-key", keyFile)
	secure := strings.Replace(e.url, "http://", "https://", 1)
	// ask sends a request on a connection of its own.
	ask := func(trusted *x509.Certificate) (*http.Response, error) {
		pool := x509.NewCertPool()
		pool.AddCert(trusted)
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true, DisableKeepAlives: true}
		defer transport.CloseIdleConnections()
		e.url = secure
		resp, err := (&http.Client{Transport: transport}).Do(modernRequest("1", "tools/call", `"name":"echo"`, nil).request(t.Context(), e))
		if err == nil {
			resp.Body.Close()
		}
		return resp, err
	}
	resp, err := ask(first)
	if err != nil || resp.StatusCode != 200 || resp.ProtoMajor != 2 {
		t.Fatalf("got %v, %v", resp, err)
	}
	second := harness.WriteCertificate(t, certFile, keyFile, "second")
	harness.Eventually(t, harness.Deadline, "the new certificate is shown", func() bool {
		_, err := ask(second)
		return err == nil
	})
	if err := os.WriteFile(certFile, []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, harness.Deadline, "that it is broken is told", func() bool {
		if _, err := ask(second); err != nil {
			t.Fatalf("the last good certificate is not shown: %v", err)
		}
		return strings.Contains(e.Stderr(), certFile)
	})
	e.url = strings.Replace(secure, "https://", "http://", 1)
	plain, err := http.DefaultClient.Do(modernRequest("1", "tools/list", "", nil).request(t.Context(), e))
	if err != nil {
		t.Fatal(err)
	}
	plain.Body.Close()
	if plain.StatusCode != 400 {
		t.Errorf("without TLS: %s", plain.Status)
	}
}
