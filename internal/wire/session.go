package wire

import (
	"context"
	"encoding/json"

	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
)

// session returns the engine's session for a request. Each initialize begins a
// new one, which takes the place of the last when it succeeds.
func (c *conn) session(method string, modern bool) (*engine.Session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case modern && c.modern != nil:
		return c.modern, nil
	case !modern && c.legacy != nil && method != "initialize":
		return c.legacy, nil
	}
	// What is in flight when the connection ends is ended by stop.
	s, err := engine.Connect(c.ctx, c.server, c, !modern && method != "initialize")
	if err != nil {
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

// revision is what a session has negotiated; "" in the stateless era, or before
// initialize.
func (c *conn) revision(s *engine.Session) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s == c.modern {
		return ""
	}
	return c.negotiated
}

// metaOf is the metadata of a request as its client wrote it.
func (c *conn) metaOf(r *request, params json.RawMessage) json.RawMessage {
	meta := message.Member(params, "_meta")
	if r.token == "" {
		return meta
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return message.ReplaceMember(meta, "progressToken", json.RawMessage(c.tokens[r.token]))
}

// asks is how a request of a session asks its client; nil in the stateless era.
func (c *conn) asks(s *engine.Session) engine.Ask {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s == c.modern {
		return nil
	}
	return func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		return c.asked.Ask(ctx, method, params, func(text []byte) { c.write(text) })
	}
}

// settle makes the session that was initialized the one of its era.
func (c *conn) settle(s *engine.Session, revision string) {
	c.mu.Lock()
	old := c.legacy
	c.legacy, c.negotiated = s, revision
	c.retire(old)
	c.mu.Unlock()
	c.meet(s)
}

// letGo ends a session that nothing has been handed to, unless it is its era's.
func (c *conn) letGo(s *engine.Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retire(s)
}

// retire ends a session that is no era's any more, once nothing of it is in
// flight. mu is held. A nil session has nothing to end.
func (c *conn) retire(s *engine.Session) {
	if s == c.legacy || s == c.modern {
		return
	}
	for _, r := range c.byNumber {
		if r.session == s {
			return
		}
	}
	s.End()
}

// Answer implements [engine.Peer].
func (c *conn) Answer(number int64, result json.RawMessage, err error) {
	c.mu.Lock()
	r := c.byNumber[number]
	c.mu.Unlock()
	if r != nil {
		c.finish(r, result, err)
	}
}

// Notify implements [engine.Peer]. A progress token goes out as it came in.
func (c *conn) Notify(_ context.Context, method string, params json.RawMessage) {
	if method == "notifications/progress" {
		params = c.withToken(params)
	}
	c.write(message.NotificationText(method, params))
}

func (c *conn) withToken(params json.RawMessage) json.RawMessage {
	token := message.Text(message.Member(params, "progressToken"))
	c.mu.Lock()
	defer c.mu.Unlock()
	if raw, ok := c.tokens[token]; ok {
		return message.ReplaceMember(params, "progressToken", json.RawMessage(raw))
	}
	return params
}
