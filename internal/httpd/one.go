package httpd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// tooLarge is how much is read of a request beside its body: more than a header
// may have, so that one which has more is told so.
const tooLarge = 2 * maxHeader

// ServeOne answers the one HTTP request on in, as a program that is started for
// each connection does, and closes the endpoint.
func (s *Server) ServeOne(ctx context.Context, in io.Reader, out io.Writer) error {
	defer s.opts.Endpoint.Close()
	conn := &oneConn{out: out, closed: make(chan struct{}), late: make(chan struct{})}
	conn.text, conn.broken = readOne(in, tooLarge+s.opts.Endpoint.opts.MaxBody)
	server := &http.Server{
		Handler: s, MaxHeaderBytes: maxHeader, ErrorLog: s.errorLog(),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	server.SetKeepAlivesEnabled(false)
	s.ready.Store(true)
	if err := server.Serve(&oneListener{conn: conn}); err != io.EOF {
		return err
	}
	return conn.failed
}

// readOne reads a request, and tells what keeps it from being one and whole.
func readOne(in io.Reader, most int64) (text *bytes.Buffer, broken error) {
	text = &bytes.Buffer{}
	r, err := http.ReadRequest(bufio.NewReader(io.TeeReader(io.LimitReader(in, most), text)))
	if err != nil {
		return text, err
	}
	_, err = io.Copy(io.Discard, r.Body)
	return text, err
}

// oneConn is the connection a request has come on. It stays open after the end
// of a request that is whole: a server takes the end of its input for the end of
// its client, and who asks in a pipe closes it behind the request.
type oneConn struct {
	text   *bytes.Buffer
	broken error // what keeps the text from being a whole request
	out    io.Writer
	failed error // what writing came to

	once   sync.Once
	closed chan struct{}

	mu     sync.Mutex
	late   chan struct{} // closed while the deadline for reads has passed
	isLate bool
}

// Read implements [net.Conn].
func (c *oneConn) Read(p []byte) (int, error) {
	switch {
	case c.text.Len() > 0:
		return c.text.Read(p)
	case errors.Is(c.broken, os.ErrDeadlineExceeded):
		return 0, os.ErrDeadlineExceeded
	case c.broken != nil:
		return 0, io.EOF
	}
	c.mu.Lock()
	late := c.late
	c.mu.Unlock()
	select {
	case <-late:
		return 0, os.ErrDeadlineExceeded
	case <-c.closed:
		return 0, io.EOF
	}
}

// Write implements [net.Conn].
func (c *oneConn) Write(p []byte) (int, error) {
	n, err := c.out.Write(p)
	if err != nil {
		c.failed = err
	}
	return n, err
}

// Close implements [net.Conn].
func (c *oneConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

type oneAddr struct{}

func (oneAddr) Network() string { return "pipe" }
func (oneAddr) String() string  { return "pipe" }

// LocalAddr implements [net.Conn].
func (*oneConn) LocalAddr() net.Addr { return oneAddr{} }

// RemoteAddr implements [net.Conn].
func (*oneConn) RemoteAddr() net.Addr { return oneAddr{} }

// SetDeadline implements [net.Conn].
func (c *oneConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetReadDeadline implements [net.Conn] as far as it matters to what has been
// read already: a server ends its wait for more with one that has passed.
func (c *oneConn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	passed := !t.IsZero() && !t.After(time.Now())
	switch {
	case passed && !c.isLate:
		close(c.late)
	case !passed && c.isLate:
		c.late = make(chan struct{})
	}
	c.isLate = passed
	return nil
}

// SetWriteDeadline implements [net.Conn].
func (*oneConn) SetWriteDeadline(time.Time) error { return nil }

// oneListener gives one connection, and ends with it.
type oneListener struct {
	conn  *oneConn
	given bool
}

// Accept implements [net.Listener].
func (l *oneListener) Accept() (net.Conn, error) {
	if !l.given {
		l.given = true
		return l.conn, nil
	}
	<-l.conn.closed
	return nil, io.EOF
}

// Close implements [net.Listener].
func (l *oneListener) Close() error { return l.conn.Close() }

// Addr implements [net.Listener].
func (l *oneListener) Addr() net.Addr { return oneAddr{} }
