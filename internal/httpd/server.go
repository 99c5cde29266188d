package httpd

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/conch-mcp/conch/internal/message"
)

// ServerOptions say how a Server stands between a network and an endpoint.
type ServerOptions struct {
	Endpoint *Handler
	// Front answers what is none of the endpoint's business, and returns false
	// for what is.
	Front func(w http.ResponseWriter, r *http.Request) (answered bool)
	// Prepare is called with the server before it listens.
	Prepare func(*http.Server)
	// Busy is called when the body of a request has come; what it returns is
	// called when the request has been answered.
	Busy func(ctx context.Context) (done func())
	// Seen is told of each request once it has been answered.
	Seen func(Seen)

	HeaderTimeout time.Duration // for the header of a request to arrive
	ReadTimeout   time.Duration // for its body to arrive
	IdleTimeout   time.Duration // for the next request on a connection
	Drain         time.Duration // what is at work may take once the server ends; 0 ends it at once
	// Hurry ends when what is at work may not take even that long; nil never does.
	Hurry context.Context
	Log   *slog.Logger
}

// Seen is a request that has been answered.
type Seen struct {
	Method string // of the protocol; "" when the body was not read
	Tool   string // that was called
	Status int
	Took   time.Duration
	In     int64 // bytes of the bodies
	Out    int64
}

// A Server serves an endpoint on sockets, and says how it does.
type Server struct {
	opts  ServerOptions
	ready atomic.Bool
}

// NewServer returns a Server.
func NewServer(opts ServerOptions) *Server { return &Server{opts: opts} }

// maxHeader bounds the header of a request, in bytes.
const maxHeader = 64 << 10

// closing is how long connections may take to close once all is over.
const closing = 2 * time.Second

// Serve answers on l until ctx ends, and then until what is at work has ended,
// or takes too long. It closes l, and the endpoint.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: s, ReadHeaderTimeout: s.opts.HeaderTimeout, IdleTimeout: s.opts.IdleTimeout,
		MaxHeaderBytes: maxHeader, ErrorLog: s.errorLog(),
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
	}
	if s.opts.Prepare != nil {
		s.opts.Prepare(server)
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	s.ready.Store(true)
	select {
	case err := <-failed:
		s.opts.Endpoint.Close()
		return err
	case <-ctx.Done():
	}
	s.ready.Store(false)
	s.end(ctx, server)
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// errorLog is for what net/http has to say about connections, which is of use to
// nobody as a rule.
func (s *Server) errorLog() *log.Logger {
	return slog.NewLogLogger(s.opts.Log.Handler(), slog.LevelDebug)
}

// end takes no more connections, and lets what is at work end.
func (s *Server) end(ctx context.Context, server *http.Server) {
	ctx = context.WithoutCancel(ctx)
	shut := make(chan struct{})
	closed, cancel := context.WithCancel(ctx)
	go func() {
		defer close(shut)
		// Ends as soon as no request is being answered.
		_ = server.Shutdown(closed)
	}()
	drain, stop := context.WithTimeout(ctx, s.opts.Drain)
	if s.opts.Hurry != nil {
		defer context.AfterFunc(s.opts.Hurry, stop)()
	}
	if !s.opts.Endpoint.Drain(drain) && s.opts.Drain > 0 {
		s.opts.Log.Warn("calls took too long, or a second signal came; they are stopped (--drain)")
	}
	stop()
	s.opts.Endpoint.Close()
	select {
	case <-shut:
	case <-time.After(closing):
	}
	cancel()
	<-shut
	_ = server.Close()
}

// Ready reports whether requests are taken.
func (s *Server) Ready() bool { return s.ready.Load() }

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.limit(w, r)()
	if s.ServeHealth(w, r) || s.opts.Front != nil && s.opts.Front(w, r) {
		return
	}
	start := time.Now()
	req := &request{}
	done := func() {}
	req.taken = func() {
		if s.opts.Busy != nil {
			done = s.opts.Busy(r.Context())
		}
	}
	body := &countedBody{ReadCloser: r.Body}
	out := &countedWriter{ResponseWriter: w}
	inner := r.WithContext(withRequest(r.Context(), req))
	inner.Body = body
	defer func() {
		done()
		s.record(r, req, Seen{
			Method: req.method, Tool: req.tool, Status: out.status, Took: time.Since(start), In: body.n, Out: out.n,
		})
	}()
	s.opts.Endpoint.ServeHTTP(out, inner)
}

// limit has a body arrive in time, whether anybody wants it or not: what is left
// of one when a request has been answered, net/http reads. The answer is given a
// time as well: the end of one is written after the return from here.
func (s *Server) limit(w http.ResponseWriter, r *http.Request) (answered func()) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.opts.ReadTimeout))
	}
	// With chunks there may have been a Content-Length, which net/http does not tell
	// of: where others may see another end of the request, nothing follows it (RFC
	// 9112, 6.3).
	if len(r.TransferEncoding) > 0 {
		w.Header().Set("Connection", "close")
	}
	return func() { hurry(w, 0) }
}

// ServeHealth answers /healthz, that the server runs, and /readyz, that it takes
// requests.
func (s *Server) ServeHealth(w http.ResponseWriter, r *http.Request) (answered bool) {
	status, text := http.StatusOK, "ok\n"
	switch {
	case r.URL.Path == "/readyz" && !s.Ready():
		status, text = http.StatusServiceUnavailable, "shutting down\n"
	case r.URL.Path != "/healthz" && r.URL.Path != "/readyz":
		return false
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return true
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
	return true
}

// record writes the line of the log that a request gets, and tells who counts.
func (s *Server) record(r *http.Request, req *request, seen Seen) {
	attrs := []any{"remote", r.RemoteAddr, "http", message.Clip(r.Method), "path", message.Clip(r.URL.Path), "status", seen.Status}
	if req.sender.Name != "" {
		attrs = append(attrs, "by", req.sender.Name)
	}
	if seen.Method != "" {
		attrs = append(attrs, "method", seen.Method)
	}
	if seen.Tool != "" {
		attrs = append(attrs, "tool", seen.Tool)
	}
	s.opts.Log.Info("request", append(attrs, "took", seen.Took, "in", seen.In, "out", seen.Out)...)
	if s.opts.Seen != nil {
		s.opts.Seen(seen)
	}
}
