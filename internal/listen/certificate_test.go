package listen

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pair is a certificate for 127.0.0.1 that signs itself, and its key, in PEM.
type pair struct{ cert, key []byte }

func newPair(t *testing.T, serial int64) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial),
		// Tests with a clock of their own live in the year 2000.
		NotBefore:   time.Unix(0, 0),
		NotAfter:    time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pair{
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
	}
}

// pairFiles are where a server finds its pair.
type pairFiles struct{ cert, key string }

func newPairFiles(t *testing.T, p pair) pairFiles {
	t.Helper()
	dir := t.TempDir()
	f := pairFiles{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
	replace(t, f.cert, p.cert)
	replace(t, f.key, p.key)
	return f
}

func (f pairFiles) options(log *logBuffer) Options {
	return Options{Addr: "0", CertFile: f.cert, KeyFile: f.key, Log: log.logger()}
}

// replace puts a new file in the place of one.
func replace(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// rewrite writes into a file that is there. The time is set, since the clock
// of a file system may stand still between two writes.
func rewrite(t *testing.T, path string, content []byte, at time.Time) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func trusting(pairs ...pair) *tls.Config {
	pool := x509.NewCertPool()
	for _, p := range pairs {
		pool.AppendCertsFromPEM(p.cert)
	}
	return &tls.Config{RootCAs: pool}
}

// serial makes a handshake and returns the number of the certificate shown.
func serial(t *testing.T, a net.Addr, config *tls.Config) int64 {
	t.Helper()
	conn, err := tls.Dial(a.Network(), a.String(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestTLSProtocols(t *testing.T) {
	p := newPair(t, 1)
	l := mustOpen(t, newPairFiles(t, p).options(new(logBuffer)))
	serve(t, l, &http.Server{Handler: greeter()})
	for _, want := range []string{"HTTP/2.0", "HTTP/1.1"} {
		transport := &http.Transport{TLSClientConfig: trusting(p), ForceAttemptHTTP2: want == "HTTP/2.0"}
		defer transport.CloseIdleConnections()
		resp, err := (&http.Client{Transport: transport}).Get("https://" + l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.Proto != want {
			t.Errorf("the protocol is %s, want %s", resp.Proto, want)
		}
	}
	old := trusting(p)
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if conn, err := tls.Dial("tcp", l.Addr().String(), old); err == nil {
		conn.Close()
		t.Error("TLS 1.1 is taken")
	}
}

func TestTLSFailsAtStart(t *testing.T) {
	one, other := newPairFiles(t, newPair(t, 1)), newPairFiles(t, newPair(t, 2))
	none := filepath.Join(t.TempDir(), "none.pem")
	for _, test := range []struct{ cert, key, want string }{
		{one.cert, "", "--tls-cert needs --tls-key"},
		{"", one.key, "--tls-key needs --tls-cert"},
		{none, one.key, "--tls-cert " + none + ": no such file"},
		{one.cert, none, "--tls-key " + none + ": no such file"},
		{one.cert, other.key, "--tls-cert " + one.cert + " and --tls-key " + other.key + " are no pair"},
		{one.key, one.key, "--tls-cert " + one.key + " and"},
	} {
		l, err := Open(t.Context(), Options{Addr: "0", CertFile: test.cert, KeyFile: test.key})
		if err == nil {
			l.Close()
		}
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
}

func TestTLSReload(t *testing.T) {
	first, second := newPair(t, 1), newPair(t, 2)
	files := newPairFiles(t, first)
	l := mustOpen(t, files.options(new(logBuffer)))
	serve(t, l, &http.Server{Handler: greeter()})
	config := trusting(first, second)
	if got := serial(t, l.Addr(), config); got != 1 {
		t.Fatalf("the first certificate is %d", got)
	}
	replace(t, files.cert, second.cert)
	replace(t, files.key, second.key)
	eventually(t, "the second certificate", func() bool { return serial(t, l.Addr(), config) == 2 })
}

// reloading is a certificate that a test looks at with a clock of its own.
type reloading struct {
	*certificate
	files pairFiles
	log   *logBuffer
}

func newReloading(t *testing.T, p pair) *reloading {
	t.Helper()
	r := &reloading{files: newPairFiles(t, p), log: new(logBuffer)}
	r.certificate = &certificate{certFile: r.files.cert, keyFile: r.files.key, log: r.log.logger()}
	if err := r.load(); err != nil {
		t.Fatal(err)
	}
	return r
}

// shows makes handshakes in the next seconds, and wants a certificate and the
// number of lines in the log.
func (r *reloading) shows(t *testing.T, step string, serial int64, lines int) {
	t.Helper()
	for range 5 {
		time.Sleep(lookEvery)
		got, err := r.get(nil)
		if err != nil || got.Leaf.SerialNumber.Int64() != serial {
			t.Fatalf("%s: the certificate is %v, %v, want %d", step, got.Leaf.SerialNumber, err, serial)
		}
	}
	if log := r.log.take(); len(log) != lines {
		t.Errorf("%s: the log is %q, want %d lines", step, log, lines)
	}
}

func TestTLSBrokenPairKeepsTheOld(t *testing.T) {
	one, two, three := newPair(t, 1), newPair(t, 2), newPair(t, 3)
	synctest.Test(t, func(t *testing.T) {
		r := newReloading(t, one)
		r.shows(t, "unchanged", 1, 0)
		replace(t, r.files.cert, two.cert)
		r.shows(t, "a certificate whose key is yet to come", 1, 1)
		replace(t, r.files.key, two.key)
		r.shows(t, "with its key", 2, 1)
		rewrite(t, r.files.key, three.key[:len(three.key)/2], time.Unix(1000, 0))
		r.shows(t, "half a key", 2, 1)
		rewrite(t, r.files.key, three.key, time.Unix(1001, 0))
		r.shows(t, "a key whose certificate is yet to come", 2, 1)
		if err := os.Remove(r.files.cert); err != nil {
			t.Fatal(err)
		}
		r.shows(t, "no certificate", 2, 1)
		rewrite(t, r.files.cert, three.cert, time.Unix(1002, 0))
		r.shows(t, "both", 3, 1)
	})
}

func TestTLSLooksOnceASecond(t *testing.T) {
	one, two := newPair(t, 1), newPair(t, 2)
	synctest.Test(t, func(t *testing.T) {
		r := newReloading(t, one)
		replace(t, r.files.cert, two.cert)
		replace(t, r.files.key, two.key)
		time.Sleep(lookEvery - time.Millisecond)
		if got, _ := r.get(nil); got.Leaf.SerialNumber.Int64() != 1 {
			t.Error("the files are looked at within the second")
		}
		time.Sleep(time.Millisecond)
		if got, _ := r.get(nil); got.Leaf.SerialNumber.Int64() != 2 {
			t.Error("the files are not looked at after a second")
		}
	})
}

// A handshake does not wait for another that reads the files.
func TestTLSOneLooks(t *testing.T) {
	r := newReloading(t, newPair(t, 1))
	r.mu.Lock()
	defer r.mu.Unlock()
	if got, err := r.get(nil); err != nil || got.Leaf.SerialNumber.Int64() != 1 {
		t.Errorf("meanwhile the certificate is %v, %v", got, err)
	}
}

func TestTLSSilentClients(t *testing.T) {
	p := newPair(t, 1)
	files := newPairFiles(t, p)
	t.Run("keep nobody waiting", func(t *testing.T) {
		l := mustOpen(t, files.options(new(logBuffer)))
		serve(t, l, &http.Server{Handler: greeter(), ReadHeaderTimeout: time.Hour})
		for range 20 {
			mustDial(t, l.Addr())
		}
		if got := serial(t, l.Addr(), trusting(p)); got != 1 {
			t.Errorf("the certificate is %d", got)
		}
	})
	t.Run("are hung up on", func(t *testing.T) {
		l := mustOpen(t, files.options(new(logBuffer)))
		serve(t, l, &http.Server{Handler: greeter(), ReadHeaderTimeout: 50 * time.Millisecond})
		silent := mustDial(t, l.Addr())
		stuck := mustDial(t, l.Addr())
		// The beginning of a handshake.
		if _, err := stuck.Write([]byte{22, 3, 1}); err != nil {
			t.Fatal(err)
		}
		for _, conn := range []net.Conn{silent, stuck} {
			if !isHungUp(conn) {
				t.Error("the connection is open still")
			}
		}
	})
}

// isHungUp waits for the other end to close a connection.
func isHungUp(conn net.Conn) bool {
	_, err := conn.Read(make([]byte, 1))
	late, ok := err.(net.Error)
	return err != nil && !(ok && late.Timeout())
}
