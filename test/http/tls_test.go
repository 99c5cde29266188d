package http_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// writeCertificate makes a certificate of that name for 127.0.0.1.
func writeCertificate(t *testing.T, certFile, keyFile, name string) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: keyDER}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestTLSIsServedAndItsCertificateReplaced(t *testing.T) {
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	first := writeCertificate(t, certFile, keyFile, "first")
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
	second := writeCertificate(t, certFile, keyFile, "second")
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
