package wire

import (
	"context"
	"encoding/json"
	"fmt"

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
	if why := c.takePlace(r); why != "" {
		defer cancel()
		c.finish(r, nil, &jsonrpc.Error{Code: message.CodeInvalidRequest, Message: "Invalid Request: " + why})
		return
	}
	go func() {
		defer cancel()
		result, err := c.opts.Hub.Listen(ctx, subscription.Listening{ID: r.id, Params: params, End: c.ending, Tell: func(method string, params json.RawMessage) {
			c.tell(r, method, params)
		}})
		c.mu.Lock()
		c.givePlace(r)
		c.mu.Unlock()
		c.finish(r, result, err)
	}()
}

// takePlace gives a request one of the places of those that listen, or tells why
// not.
func (c *conn) takePlace(r *request) (why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case r.batch != nil:
		return "a request that listens may not be part of a batch"
	case r.silenced:
		// Its client has cancelled it meanwhile, and nobody would give the place back.
		return "it was cancelled"
	case c.listens >= mostListens:
		return fmt.Sprintf("%d requests listen already, which is as many as may on one connection", mostListens)
	}
	c.listens++
	r.listens = true
	return ""
}

// givePlace gives it back, mu held.
func (c *conn) givePlace(r *request) {
	if r.listens {
		r.listens = false
		c.listens--
	}
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
