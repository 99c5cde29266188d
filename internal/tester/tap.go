package tester

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/message"
)

// callKey is the key under which the context of a request has its call.
type callKey struct{}

// tap is a transport at which a session sees what comes, as it came. The SDK has
// it seen before whoever waits for it goes on.
type tap struct {
	mcp.Transport
	session *Session
}

// Connect implements [mcp.Transport].
func (t tap) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return tapped{c, t.session}, nil
}

type tapped struct {
	mcp.Connection
	session *Session
}

// Write implements [mcp.Connection].
func (c tapped) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
		if one, ok := ctx.Value(callKey{}).(*call); ok {
			c.session.mu.Lock()
			c.session.byID[r.ID] = one
			c.session.mu.Unlock()
		}
	}
	return c.Connection.Write(ctx, m)
}

// Read implements [mcp.Connection].
func (c tapped) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	switch m := m.(type) {
	case *jsonrpc.Response:
		c.session.mu.Lock()
		one := c.session.byID[m.ID]
		delete(c.session.byID, m.ID)
		c.session.mu.Unlock()
		if one != nil {
			one.respond(m)
		}
	case *jsonrpc.Request:
		c.session.hear(m)
	}
	return m, err
}

// hear keeps what is told about a call. A log message does not say which call it
// is about, so it is kept where there is but one.
func (s *Session) hear(m *jsonrpc.Request) {
	switch m.Method {
	case "notifications/progress":
		s.mu.Lock()
		one := s.calls[message.Text(message.Member(m.Params, "progressToken"))]
		s.mu.Unlock()
		if one != nil {
			one.tell(&one.progress, m.Params)
		}
	case "notifications/message":
		if one := s.only(); one != nil {
			one.tell(&one.logs, m.Params)
		}
	}
}
