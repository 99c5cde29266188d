package harness

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Revisions of the protocol.
const (
	Modern       = "2026-07-28"
	NewestLegacy = "2025-11-25"
)

// An HTTPServer is a running conch serve --http.
type HTTPServer struct {
	*Server
	Address string // host and port
	Path    string // of the endpoint
}

var listening = regexp.MustCompile(`listening"? "?address"?[=:]"?([^\s"]+)"?[ ,]"?path"?[=:]"?([^\s"]+)`)

// ServeHTTP starts "conch serve --http" on a port of 127.0.0.1 that is free.
func ServeHTTP(t testing.TB, args ...string) *HTTPServer {
	t.Helper()
	return ServeHTTPWith(t, nil, args...)
}

// ServeHTTPWith is ServeHTTP, with a command in front that runs another.
func ServeHTTPWith(t testing.TB, command []string, args ...string) *HTTPServer {
	t.Helper()
	e := &HTTPServer{Server: ServeWith(t, command, append([]string{"--http=127.0.0.1:0"}, args...)...)}
	Eventually(t, Deadline, "the server listens", func() bool {
		found := listening.FindStringSubmatch(strings.ReplaceAll(e.Stderr(), `",`, `" `))
		if found != nil {
			e.Address, e.Path = found[1], found[2]
		}
		return found != nil
	})
	return e
}

// URL is the endpoint's.
func (e *HTTPServer) URL() string { return "http://" + e.Address + e.Path }

// Terminate ends the server with SIGTERM. It is to exit with 0 and leave
// nothing.
func (e *HTTPServer) Terminate() {
	e.t.Helper()
	if err := e.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		e.t.Fatal(err)
	}
	if state := e.Wait(); state.ExitCode() != 0 {
		e.t.Errorf("ended with %v", state)
	}
	e.LeavesNothing(5 * time.Second)
}

// LeavesNothing checks that no process and no file of a server that has ended
// is left.
func (s *Server) LeavesNothing(within time.Duration) {
	s.t.Helper()
	Eventually(s.t, within, "nothing is left", func() bool { return len(s.Session()) == 0 && len(s.Files()) == 0 })
}

// Said waits until the server writes something to standard error, and returns
// it with its submatches.
func (s *Server) Said(what *regexp.Regexp) (found []string) {
	s.t.Helper()
	Eventually(s.t, Deadline, fmt.Sprintf("the server says %q", what), func() bool {
		text := s.Stderr()
		// What is behind the last newline may go on.
		found = what.FindStringSubmatch(text[:strings.LastIndex(text, "\n")+1])
		return found != nil
	})
	return found
}

// Left fails the test for every process and file of the server's that stays.
func (s *Server) Left(t testing.TB) {
	t.Helper()
	Eventually(t, Deadline, "the server's processes are gone", func() bool { return len(s.Session()) == 0 })
	if files := s.Files(); len(files) > 0 {
		t.Errorf("files are left: %q", files)
	}
}

// ModernRequest is a request of the stateless era: its body, and the headers of
// the protocol that must go with it. id is JSON text, params the members of an
// object.
func ModernRequest(id, method, params string) (header map[string]string, body string) {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + Modern + `","io.modelcontextprotocol/clientCapabilities":{}}`
	header = map[string]string{"MCP-Protocol-Version": Modern, "Mcp-Method": method}
	var named struct{ Name string }
	_ = json.Unmarshal([]byte("{"+params+"}"), &named)
	if named.Name != "" {
		header["Mcp-Name"] = named.Name
	}
	if params != "" {
		params = "," + params
	}
	return header, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":{%s%s}}`, id, method, meta, params)
}

// Initialize is a request that begins a session.
func Initialize(revision string) string {
	return `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"` + revision +
		`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
}

// WriteCertificate makes a certificate of that name for 127.0.0.1.
func WriteCertificate(t testing.TB, certFile, keyFile, name string) *x509.Certificate {
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
