package listen

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// lookEvery is how long a certificate is used without a look at its files.
const lookEvery = time.Second

// tlsConfig is nil where no TLS is asked for.
func tlsConfig(opts Options) (*tls.Config, error) {
	switch {
	case opts.CertFile == "" && opts.KeyFile == "":
		return nil, nil
	case opts.KeyFile == "":
		return nil, errors.New("--tls-cert needs --tls-key, the file with the certificate's key")
	case opts.CertFile == "":
		return nil, errors.New("--tls-key needs --tls-cert, the file with the key's certificate")
	}
	c := &certificate{certFile: opts.CertFile, keyFile: opts.KeyFile, log: opts.Log}
	if err := c.load(); err != nil {
		return nil, err
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: c.get,
	}, nil
}

// certificate is the pair in two files, as it is now. A handshake that finds
// them changed reads them again; a pair that cannot be used leaves the old one.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	pair atomic.Pointer[tls.Certificate]

	mu        sync.Mutex // held while looking at the files
	looked    time.Time
	cert, key fs.FileInfo // as they were when they were last read; nil for none
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	// Others need not wait for the one who looks.
	if c.mu.TryLock() {
		c.look()
		c.mu.Unlock()
	}
	return c.pair.Load(), nil
}

func (c *certificate) look() {
	if time.Since(c.looked) < lookEvery {
		return
	}
	if c.looked = time.Now(); !c.changed() {
		return
	}
	if err := c.load(); err != nil {
		c.log.Error("cannot use the new certificate; the old one stays", "err", err)
		return
	}
	c.log.Info("using a new certificate", "file", c.certFile, "until", c.pair.Load().Leaf.NotAfter)
}

func (c *certificate) changed() bool {
	return !same(c.cert, stat(c.certFile)) || !same(c.key, stat(c.keyFile))
}

func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

func stat(path string) fs.FileInfo {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
}

func (c *certificate) load() error {
	// Before the files are read, so that a change meanwhile is seen next time.
	c.looked, c.cert, c.key = time.Now(), stat(c.certFile), stat(c.keyFile)
	cert, err := os.ReadFile(c.certFile)
	if err != nil {
		return fmt.Errorf("--tls-cert %s: %w", c.certFile, cause(err))
	}
	key, err := os.ReadFile(c.keyFile)
	if err != nil {
		return fmt.Errorf("--tls-key %s: %w", c.keyFile, cause(err))
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("--tls-cert %s and --tls-key %s are no pair that can be used: %w", c.certFile, c.keyFile, err)
	}
	c.pair.Store(&pair)
	return nil
}
