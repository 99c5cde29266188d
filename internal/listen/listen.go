// Package listen is about the connections of an HTTP server: the socket they
// come in by, the certificate they are shown, and how many there may be.
//
// It knows nothing of what is said on them: no paths, no methods, no protocol
// above HTTP.
package listen

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"

	"golang.org/x/sys/unix"
)

// Options say what to listen on.
type Options struct {
	// Addr is HOST:PORT, :PORT for all of the machine's addresses, PORT for
	// 127.0.0.1:PORT, unix:PATH, or systemd for the socket that systemd passed.
	// 0.0.0.0 is all of IPv4, [::] all of IPv6.
	Addr string
	// Name is what Addr is called where it is at fault; "" is --http.
	Name string
	// CertFile and KeyFile are in PEM and ask for TLS. Both are given or neither.
	CertFile, KeyFile string
	// Log is told what happens to the certificate and to sockets; nil for nobody.
	Log *slog.Logger
}

// Open returns a listener for [http.Server.Serve]. With a certificate its
// connections are TLS, with HTTP/2 and HTTP/1.1 to choose from.
//
// Accept never waits for a client: handshakes are the server's to make, and
// its ReadHeaderTimeout is what ends one that takes too long.
func Open(ctx context.Context, opts Options) (net.Listener, error) {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	a, err := parse(opts.Addr)
	if err != nil {
		return nil, opts.atAddr(err)
	}
	// First, since nothing has to be undone when it fails.
	config, err := tlsConfig(opts)
	if err != nil {
		return nil, err
	}
	l, err := a.listen(ctx, opts.Log)
	if err != nil {
		return nil, opts.atAddr(err)
	}
	// What may be served without further ado depends on it, and how a name is
	// resolved is up to the machine.
	if Loopback(opts.Addr) && !IsLoopback(l.Addr()) {
		l.Close()
		return nil, opts.atAddr(fmt.Errorf("this machine takes it for %s, which others can reach; give 127.0.0.1 or [::1]", l.Addr()))
	}
	if config == nil {
		return l, nil
	}
	return tls.NewListener(l, config), nil
}

func (a address) listen(ctx context.Context, log *slog.Logger) (net.Listener, error) {
	switch a.network {
	case networkUnix:
		return listenUnix(ctx, a.place)
	case networkSystemd:
		return activated(log)
	}
	l, err := new(net.ListenConfig).Listen(ctx, a.protocol(), a.place)
	if err != nil {
		return nil, explain(err)
	}
	return l, nil
}

// explain says what to do about an address that cannot be listened on.
func explain(err error) error {
	switch {
	case errors.Is(err, unix.EADDRINUSE):
		return fmt.Errorf("another program listens there (%w); end it, or choose another port", err)
	case errors.Is(err, unix.EACCES):
		return fmt.Errorf("not permitted (%w); choose a port above 1023, or have systemd pass the socket", err)
	case errors.Is(err, unix.EADDRNOTAVAIL):
		return fmt.Errorf("this machine has no such address (%w)", err)
	}
	return err
}

// atAddr puts the name and the value of an address before what is wrong with it.
func (o Options) atAddr(err error) error {
	return fmt.Errorf("%s %.200q: %w", cmp.Or(o.Name, "--http"), o.Addr, err)
}

// cause takes the path off an error that is told with the path already.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
