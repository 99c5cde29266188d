package wire

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/subscription"
)

// mostListens is how many requests of a connection may listen at once.
const mostListens = 64

// hearing is what the client of a session of the older era hears of.
type hearing struct {
	of      *engine.Session
	session *subscription.Session
}

func (h *hearing) leave() {
	h.session.Leave()
	*h = hearing{}
}

// subscribes reports whether a request subscribes to changes. Such a one is
// answered here, beside the engine.
func (c *conn) subscribes(r *request, s *engine.Session, m message.Message, modern bool) bool {
	hub := c.opts.Hub
	switch {
	case hub == nil:
		return false
	case modern && m.Method == subscription.MethodListen:
		c.listen(r, s, m.Params)
		return true
	case !modern && hub.Serves(m.Method):
		if c.begin(r, s, nil) {
			result, err := c.hears(s).Answer(m.Method, m.Params)
			c.finish(r, result, err)
		}
		return true
	}
	return false
}

// listen answers a request to listen, for as long as the client wants.
func (c *conn) listen(r *request, s *engine.Session, params json.RawMessage) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.ctx))
	if !c.begin(r, s, cancel) {
		cancel()
		return
	}
	c.mu.Lock()
	full := c.listens >= mostListens || r.batch != nil
	if !full {
		c.listens++
	}
	c.mu.Unlock()
	if full {
		defer cancel()
		c.finish(r, nil, &jsonrpc.Error{Code: message.CodeInvalidRequest, Message: "Invalid Request: too many requests listen already, or this one is part of a batch"})
		return
	}
	go func() {
		defer cancel()
		result, err := c.opts.Hub.Listen(ctx, subscription.Listening{ID: r.id, Params: params, End: c.ending, Tell: func(method string, params json.RawMessage) {
			c.tell(r, method, params)
		}})
		c.mu.Lock()
		c.listens--
		c.mu.Unlock()
		c.finish(r, result, err)
	}()
}

// tell sends a notification about a request, unless nothing may be sent for it.
func (c *conn) tell(r *request, method string, params json.RawMessage) {
	c.mu.Lock()
	silenced := r.silenced
	c.mu.Unlock()
	if !silenced {
		c.write(message.NotificationText(method, params))
	}
}

// hears is what the client of a session hears of. Each initialize begins anew.
func (c *conn) hears(s *engine.Session) *subscription.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hearing.of != s {
		c.hearing.leave()
		c.hearing = hearing{s, c.opts.Hub.Join(c.ctx, func(method string, params json.RawMessage) {
			c.write(message.NotificationText(method, params))
		})}
	}
	return c.hearing.session
}

// initialized takes up a notification of a session: the client may be told of
// changes once it has been initialized.
func (c *conn) initialized(s *engine.Session, method string) {
	c.mu.Lock()
	negotiated := c.negotiated
	c.mu.Unlock()
	if method == "notifications/initialized" && c.opts.Hub != nil && negotiated != "" {
		c.hears(s).Ready()
	}
}
