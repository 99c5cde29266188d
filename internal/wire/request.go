package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
)

// newRequest returns the request that m is, part of b or on a line of its own.
func (c *conn) newRequest(m message.Message, b *batch, size int) *request {
	r := &request{id: m.ID, method: m.Method, batch: b, bytes: size}
	if c.sdk != nil && m.Method == "tools/call" {
		r.tool = message.Clip(message.Text(message.Member(m.Params, "name")))
	}
	return r
}

// cancelInFlight stops the request in flight that params names; nothing is sent
// for it any more.
func (c *conn) cancelInFlight(params json.RawMessage) (found bool) {
	id, ok := message.ParseID(message.Member(params, "requestId"))
	if !ok {
		return false
	}
	c.mu.Lock()
	r := c.byID[id.Key()]
	found = c.silence(r)
	c.mu.Unlock()
	if found {
		c.stopCancelled(r)
	}
	return found
}

// silence marks, mu held, a request that the client has cancelled; false means
// that it needs no stopping.
func (c *conn) silence(r *request) bool {
	if r == nil || r.silenced {
		return false
	}
	r.silenced, r.byClient = true, true
	// Its client may listen anew at once, however long it takes to end.
	c.givePlace(r)
	return true
}

func (c *conn) stopCancelled(r *request) {
	if c.sdk == nil {
		c.opts.Log.Info("cancelled", "method", r.method, "id", r.id.Raw())
	}
	c.journal("INFO", "Cancelling in-flight %s", r)
	r.stop()
}

// stop has what works on the request end.
func (r *request) stop() {
	switch {
	case r.cancel != nil:
		r.cancel()
	case r.session != nil:
		r.session.Cancel(r.number)
	}
}

// request hands a request to the session of its era, or tells why not.
func (c *conn) request(r *request, m message.Message) *message.Error {
	meta := message.ReadMeta(m.Params)
	modern := meta.Modern || m.Method == "server/discover"
	if err := c.manner.gate(m, meta, c.opts.Supported()); err != nil {
		return err
	}
	if !c.manner.isMethod(m.Method, modern) {
		c.journal("ERROR", "Unknown method: %s", message.Clip(m.Method))
		return &message.Error{Code: message.CodeMethodNotFound, Message: "Method not found: " + message.Clip(m.Method), ID: m.ID}
	}
	if params, heeded := c.manner.heeds(m.Method, m.Params, modern); heeded {
		m.Params = params
		meta = message.ReadMeta(m.Params)
	}
	if admitted, err := c.admit(r, &m, meta); !admitted {
		return err
	}
	s, err := c.session(m.Method, modern)
	if err != nil {
		c.forget(r)
		c.opts.Log.Error("cannot open a session", "err", err)
		return &message.Error{Code: message.CodeInternalError, Message: "Internal error", ID: m.ID}
	}
	if engine.IsCall(m.Method) && c.opts.CallTool != nil {
		c.callTool(r, s, m.Params, meta.Trace)
		return nil
	}
	if c.subscribes(r, s, m, modern) || !c.begin(r, s, nil) {
		return nil
	}
	s.Request(r.number, m.Method, m.Params)
	if m.Method == "initialize" {
		// What comes next may depend on what is negotiated.
		c.mu.Lock()
		defer c.mu.Unlock()
		c.wait(c.ctx, func() bool { return c.byNumber[r.number] == nil })
	}
	return nil
}

// admit waits for room and enters r among the requests in flight. Its progress
// token is replaced by a stand-in: the engine would round a number. One that
// was cancelled while it waited is not admitted, and that is no error.
func (c *conn) admit(r *request, m *message.Message, meta message.Meta) (bool, *message.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID[r.id.Key()] != nil {
		return false, &message.Error{Code: message.CodeInvalidRequest, Message: "Invalid Request: its id is that of a request in flight"}
	}
	c.wait(c.ctx, func() bool {
		return r.silenced || c.idle() || c.isTurn(r.method) && len(c.byNumber) < maxInFlight && c.bytes+r.bytes <= maxInFlightBytes
	})
	if c.queue.taken(r); r.silenced {
		return false, nil
	}
	if c.stopping {
		return false, &message.Error{Code: message.CodeInternalError, Message: "The server is shutting down", ID: r.id}
	}
	c.lastNumber++
	r.number = c.lastNumber
	if len(meta.Token) > 0 {
		r.token = fmt.Sprintf("token-%d", r.number)
		c.tokens[r.token] = string(meta.Token)
		m.Params = message.ReplaceToken(m.Params, r.token)
	}
	c.byID[r.id.Key()] = r
	c.byNumber[r.number] = r
	c.bytes += r.bytes
	return true, nil
}

// begin says what works on r. It is too late when everything is being stopped,
// or r has been cancelled: then r is forgotten.
func (c *conn) begin(r *request, s *engine.Session, cancel context.CancelFunc) bool {
	c.mu.Lock()
	late := c.stopping || r.silenced
	if !late {
		r.session, r.cancel = s, cancel
	}
	c.mu.Unlock()
	if late {
		c.forget(r)
		c.letGo(s)
		c.journalEnd(r)
	}
	return !late
}

// refusal is the reply to a request that is not admitted, nil when the client
// wants none any more.
func (c *conn) refusal(r *request, err *message.Error) []byte {
	c.mu.Lock()
	c.queue.taken(r)
	silenced := r.silenced
	c.mu.Unlock()
	if silenced {
		return nil
	}
	return c.errorReply(err)
}

// callTool answers a tools/call request beside the engine.
func (c *conn) callTool(r *request, s *engine.Session, params json.RawMessage, trace message.Trace) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.ctx))
	if !c.begin(r, s, cancel) {
		cancel()
		return
	}
	inQueue := make(chan struct{})
	queued := sync.OnceFunc(func() { close(inQueue) })
	c.crew.do(func() {
		defer cancel()
		defer queued()
		c.awaitReader(ctx)
		result, err := c.opts.CallTool(ctx, engine.ToolCall{
			Method: r.method, Session: s.Engine(), Params: params, Meta: c.metaOf(r, params), Revision: c.revision(s), Trace: trace,
			Notify: func(method string, params json.RawMessage) { c.Notify(ctx, method, params) },
			Ask:    c.asks(s),
			Queued: func() {
				c.mu.Lock()
				r.ran = true
				c.mu.Unlock()
				queued()
			},
		})
		c.finish(r, result, err)
	})
	select {
	case <-inQueue:
	case <-time.After(unqueued):
	}
}

// isCrowded reports whether more is in flight than there are processors.
func (c *conn) isCrowded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.byNumber) > runtime.NumCPU()
}

// awaitReader waits while the client has much to read: results that nobody
// reads would fill the memory.
func (c *conn) awaitReader(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wait(ctx, func() bool { return c.waiting <= maxInFlightBytes })
}

// forget takes r out of the requests in flight.
func (c *conn) forget(r *request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID[r.id.Key()] == r {
		delete(c.byID, r.id.Key())
	}
	delete(c.byNumber, r.number)
	delete(c.tokens, r.token)
	c.bytes -= r.bytes
	c.waiting -= r.waiting
	c.retire(r.session)
	c.changed.Broadcast()
}
