package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
)

// batch gathers the replies to the requests of one batch. A nil batch is a
// line of its own.
type batch struct {
	mu      sync.Mutex
	open    int // replies to come, and one while the batch is being read
	replies [][]byte
}

func (b *batch) add() {
	if b != nil {
		b.mu.Lock()
		b.open++
		b.mu.Unlock()
	}
}

// take adds a reply, nil for none, and returns the whole answer once the last
// has come.
func (b *batch) take(reply []byte) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if reply != nil {
		b.replies = append(b.replies, reply)
	}
	if b.open--; b.open != 0 || len(b.replies) == 0 {
		return nil
	}
	return append(append([]byte{'['}, bytes.Join(b.replies, []byte{','})...), ']')
}

// deliver sends a reply, or nothing when it is nil, as part of b.
func (c *conn) deliver(b *batch, reply []byte) {
	if b != nil {
		reply = b.take(reply)
	}
	if reply != nil {
		c.journalHead("RESPONSE", "", reply)
		c.write(reply)
	}
}

// refuse answers what is no message.
func (c *conn) refuse(err *message.Error) { c.deliver(nil, c.errorReply(err)) }

// write sends one line. A client that cannot be written to is gone.
func (c *conn) write(line []byte) {
	if err := c.out.write(line); err != nil {
		c.fail(fmt.Errorf("%w: %w", errWrite, err))
	}
}

// errorReply makes an error response.
func (c *conn) errorReply(err *message.Error) []byte { return message.ErrorReply(err, c.nullIDs()) }

// nullIDs reports whether the session has negotiated a revision in which an
// error without an id says so.
func (c *conn) nullIDs() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.manner.nullIDs(c.negotiated)
}

// finish ends a request: it sends what came of it, unless nothing may be sent.
func (c *conn) finish(r *request, result json.RawMessage, err error) {
	c.mu.Lock()
	silenced, batch := r.silenced, r.batch
	r.replying = true
	// The client may use the id again once it has read the reply.
	delete(c.byID, r.id.Key())
	c.changed.Broadcast()
	c.mu.Unlock()
	var reply []byte
	if !silenced {
		reply = c.reply(r, result, err)
	}
	c.journalEnd(r)
	c.mu.Lock()
	r.waiting = len(reply)
	r.bytes += r.waiting
	c.bytes += r.waiting
	c.waiting += r.waiting
	c.mu.Unlock()
	c.deliver(batch, reply)
	c.forget(r)
}

func (c *conn) reply(r *request, result json.RawMessage, err error) []byte {
	if err != nil {
		return c.errorReply(engine.Fault(r.method, r.id, err))
	}
	if r.method == "initialize" {
		c.settle(r.session, message.Text(message.Member(result, "protocolVersion")))
	}
	return message.Reply(r.id, result)
}
