package wire

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/message"
)

// session is one session of the engine, seen from the engine: a transport and
// its connection.
type session struct {
	conn   *conn
	engine *mcp.ServerSession
	in     chan jsonrpc.Message

	once   sync.Once
	closed chan struct{}
}

// session returns the session for a request. Each initialize begins a new one,
// which takes the place of the last when it succeeds; a request that comes
// before it finds one that has been initialized already, since people pipe
// single requests into servers.
func (c *conn) session(method string, modern bool) (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case modern && c.modern != nil:
		return c.modern, nil
	case !modern && c.legacy != nil && method != "initialize":
		return c.legacy, nil
	}
	var opts mcp.ServerSessionOptions
	if !modern && method != "initialize" {
		opts.State = &mcp.ServerSessionState{
			InitializeParams:  &mcp.InitializeParams{ProtocolVersion: message.Revision20251125, Capabilities: &mcp.ClientCapabilities{}, ClientInfo: &mcp.Implementation{}},
			InitializedParams: &mcp.InitializedParams{},
		}
	}
	s := &session{conn: c, in: make(chan jsonrpc.Message, 16), closed: make(chan struct{})}
	// Not the connection's context: what is in flight is ended by end.
	var err error
	if s.engine, err = c.server.Connect(context.WithoutCancel(c.ctx), s, &opts); err != nil {
		return nil, err
	}
	switch {
	case modern:
		c.modern = s
	case method != "initialize":
		c.legacy = s
	}
	return s, nil
}

// settle makes the session that was initialized the one of its era.
func (c *conn) settle(s *session, revision string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.legacy
	c.legacy, c.negotiated = s, revision
	c.retire(old)
}

// letGo ends a session that nothing has been handed to, unless it is its era's.
func (c *conn) letGo(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retire(s)
}

// retire ends a session that is no era's any more, once nothing of it is in
// flight. mu is held. A nil session has nothing to end.
func (c *conn) retire(s *session) {
	if s == c.legacy || s == c.modern {
		return
	}
	for _, r := range c.byNumber {
		if r.session == s {
			return
		}
	}
	s.end()
}

// send hands a message to the engine.
func (s *session) send(m jsonrpc.Message) {
	select {
	case s.in <- m:
	case <-s.closed:
	}
}

// cancel has the engine end the request that it knows by number.
func (s *session) cancel(number int64) {
	s.send(&jsonrpc.Request{
		Method: "notifications/cancelled", Params: fmt.Appendf(nil, `{"requestId":%d}`, number),
	})
}

// end makes the engine see the end of its input. A nil session has none.
func (s *session) end() {
	if s != nil {
		s.once.Do(func() { close(s.closed) })
	}
}

// Connect implements [mcp.Transport].
func (s *session) Connect(context.Context) (mcp.Connection, error) { return s, nil }

// SessionID implements [mcp.Connection].
func (s *session) SessionID() string { return "" }

// Close implements [mcp.Connection].
func (s *session) Close() error {
	s.end()
	return nil
}

// Read implements [mcp.Connection].
func (s *session) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-s.in:
		return m, nil
	case <-s.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements [mcp.Connection].
func (s *session) Write(_ context.Context, m jsonrpc.Message) error {
	switch m := m.(type) {
	case *jsonrpc.Response:
		s.conn.answer(m)
	case *jsonrpc.Request:
		s.conn.notify(m)
	}
	return nil
}
