package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

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
	c.writing.Lock()
	defer c.writing.Unlock()
	if _, err := c.out.Write(append(line, '\n')); err != nil {
		c.fail(fmt.Errorf("%w: %w", errWrite, err))
	}
}

// errorReply makes an error response. Without an id the member is left out, as
// the schemas since 2025-11-25 want; in a session that negotiated an older
// revision it is null, as JSON-RPC says.
func (c *conn) errorReply(err *message.Error) []byte {
	var b bytes.Buffer
	b.WriteString(`{"jsonrpc":"2.0"`)
	if !err.ID.IsZero() {
		b.WriteString(`,"id":` + err.ID.Raw())
	} else if c.nullIDs() {
		b.WriteString(`,"id":null`)
	}
	text, _ := json.Marshal(err.Message)
	fmt.Fprintf(&b, `,"error":{"code":%d,"message":%s`, err.Code, message.Unshield(text))
	if len(err.Data) > 0 {
		b.WriteString(`,"data":`)
		b.Write(message.Unshield(err.Data))
	}
	b.WriteString(`}}`)
	return b.Bytes()
}

func (c *conn) nullIDs() bool {
	if c.opts.BashSDK != nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.negotiated != "" && c.negotiated < message.Revision20251125
}

// answer sends the engine's response to a request.
func (c *conn) answer(m *jsonrpc.Response) {
	number, _ := m.ID.Raw().(int64)
	c.mu.Lock()
	r := c.byNumber[number]
	c.mu.Unlock()
	if r != nil {
		c.finish(r, m.Result, m.Error)
	}
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
		return c.errorReply(wireError(r, err))
	}
	if r.method == "initialize" {
		c.settle(r.session, message.Text(message.Member(result, "protocolVersion")))
	}
	result = message.Unshield(result)
	b := make([]byte, 0, len(result)+len(r.id.Raw())+40)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, r.id.Raw()...)
	b = append(b, `,"result":`...)
	b = append(b, result...)
	return append(b, '}')
}

// wireError makes an error of the engine's fit for a client: no text of the
// SDK that shows parameters or Go types, and a code for every error.
func wireError(r *request, err error) *message.Error {
	e := &message.Error{Code: message.CodeInternalError, Message: "Internal error", ID: r.id}
	// The engine's words for parameters that do not decode.
	if text := err.Error(); strings.HasPrefix(text, "handling '") || strings.HasPrefix(text, "invalid params") {
		e.Code, e.Message = message.CodeInvalidParams, "Invalid params: a member is missing or has the wrong type"
		return e
	}
	var known *jsonrpc.Error
	if !errors.As(err, &known) || known.Code == 0 {
		return e
	}
	e.Code, e.Message, e.Data = int(known.Code), known.Message, known.Data
	switch {
	case known.Code == jsonrpc.CodeMethodNotFound && r.method != "tools/call":
		e.Message = "Method not found: " + message.Clip(r.method)
	case strings.Contains(known.Message, `missing required "params"`):
		e.Code, e.Message = message.CodeInvalidParams, "Invalid params: there are none"
	}
	return e
}

// notify sends a notification of the engine's. A progress token goes out as it
// came in.
func (c *conn) notify(m *jsonrpc.Request) {
	params := message.Unshield(m.Params)
	if m.Method == "notifications/progress" {
		var token string
		if json.Unmarshal(message.Member(params, "progressToken"), &token) == nil {
			c.mu.Lock()
			if raw, ok := c.tokens[token]; ok {
				params = message.ReplaceMember(params, "progressToken", json.RawMessage(raw))
			}
			c.mu.Unlock()
		}
	}
	method, _ := json.Marshal(m.Method)
	c.write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%s,"params":%s}`, method, orEmpty(params)))
}

func orEmpty(params []byte) []byte {
	if len(params) == 0 {
		return []byte("{}")
	}
	return params
}
