package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/conch-mcp/conch/internal/message"
)

// read takes lines until the input ends or the connection does.
func (c *conn) read(in io.Reader) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for c.ctx.Err() == nil {
		line, err := readLine(r, c.opts.MaxLine)
		switch {
		case errors.Is(err, errTooLong):
			text := fmt.Sprintf("Parse error: the line is longer than %d bytes (--max-line)", c.opts.MaxLine)
			c.refuse(&message.Error{Code: message.CodeParseError, Message: text})
			continue
		case len(bytes.Trim(line, " \t\r\n")) > 0 && (err == nil || errors.Is(err, io.EOF)):
			c.line(line, errors.Is(err, io.EOF))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read from the client: %w", err)
		}
	}
	return nil
}

var errTooLong = errors.New("the line is too long")

// readLine returns the next line without its newline. With io.EOF comes what
// the input ended with. A line longer than most is skipped to its end.
func readLine(r *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for tooLong := false; ; {
		part, err := r.ReadSlice('\n')
		if !tooLong && len(line)+len(bytes.TrimRight(part, "\n")) > most {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong && err == nil:
			return nil, errTooLong
		case tooLong && errors.Is(err, io.EOF):
			// The next read tells of the end.
			return nil, errTooLong
		}
		return bytes.TrimSuffix(line, []byte{'\n'}), err
	}
}

// line handles one line. The last one may have been cut off: when it does not
// parse, nobody waits for an answer.
func (c *conn) line(line []byte, last bool) {
	if err := message.Check(line); err != nil {
		if last {
			c.opts.Log.Info("the input ended in the middle of a line", "bytes", len(line))
			return
		}
		c.refuse(err)
		return
	}
	if c.takesBatches() {
		if elements, ok := message.Elements(line); ok {
			c.batch(elements)
			return
		}
	}
	m, err := message.Parse(line)
	switch {
	case err != nil && isSilent(m):
		c.opts.Log.Debug("dropped a message", "method", m.Method, "err", err)
	case err != nil:
		c.refuse(err)
	default:
		c.message(m, nil, len(line))
	}
}

// isSilent tells what is never answered, whatever is wrong with it, from
// requests and from what is no message at all.
func isSilent(m message.Message) bool { return m.Kind != message.Request }

// takesBatches reports whether arrays are messages: they came with revision
// 2025-03-26 and went with the next.
func (c *conn) takesBatches() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.negotiated == message.Revision20250326
}

func (c *conn) batch(elements []json.RawMessage) {
	if len(elements) == 0 {
		c.refuse(&message.Error{Code: message.CodeInvalidRequest, Message: "Invalid Request: the batch is empty"})
		return
	}
	if len(elements) > maxBatch {
		c.refuse(&message.Error{Code: message.CodeInvalidRequest, Message: fmt.Sprintf("Invalid Request: the batch has more than %d messages", maxBatch)})
		return
	}
	b := &batch{open: 1}
	for _, element := range elements {
		m, err := message.Parse(element)
		if err == nil && m.Method == "initialize" {
			err = &message.Error{Code: message.CodeInvalidRequest, Message: "Invalid Request: initialize must not be part of a batch", ID: m.ID}
		}
		switch {
		case err != nil && isSilent(m):
			c.opts.Log.Debug("dropped a message", "method", m.Method, "err", err)
		case err != nil:
			b.add()
			c.deliver(b, c.errorReply(err))
		default:
			c.message(m, b, len(element))
		}
	}
	c.deliver(b, nil)
}

// message handles one message, which may be part of a batch.
func (c *conn) message(m message.Message, b *batch, size int) {
	switch m.Kind {
	case message.Response:
		c.opts.Log.Debug("dropped a response to nothing that was asked", "id", m.ID.Raw())
	case message.Notification:
		c.notification(m)
	case message.Request:
		b.add()
		if err := c.request(m, b, size); err != nil {
			c.deliver(b, c.errorReply(err))
		}
	}
}

// Notifications that mean something to the engine. Others, and requests that
// came without an id, are nobody's business.
var forwarded = []string{"notifications/initialized", "notifications/roots/list_changed"}

func (c *conn) notification(m message.Message) {
	if m.Method == "notifications/cancelled" {
		c.cancel(m.Params)
		return
	}
	c.mu.Lock()
	s := c.legacy
	c.mu.Unlock()
	if s != nil && slices.Contains(forwarded, m.Method) {
		s.send(&jsonrpc.Request{Method: m.Method, Params: m.Params})
		return
	}
	c.opts.Log.Debug("dropped a notification", "method", m.Method)
}

// cancel stops the request that params names; nothing is sent for it any more.
func (c *conn) cancel(params json.RawMessage) {
	id, ok := message.ParseID(message.Member(params, "requestId"))
	if !ok {
		c.opts.Log.Debug("dropped a cancellation without a usable requestId")
		return
	}
	c.mu.Lock()
	r := c.byID[id.Key()]
	if r == nil || r.silenced {
		c.mu.Unlock()
		c.opts.Log.Debug("dropped a cancellation of nothing in flight", "id", id.Raw())
		return
	}
	r.silenced = true
	c.mu.Unlock()
	c.opts.Log.Info("cancelled", "method", r.method, "id", id.Raw())
	r.stop()
}

// stop has what works on the request end.
func (r *request) stop() {
	switch {
	case r.cancel != nil:
		r.cancel()
	case r.session != nil:
		r.session.cancel(r.number)
	}
}

// request hands a request to the session of its era, or tells why not.
func (c *conn) request(m message.Message, b *batch, size int) *message.Error {
	meta := message.ReadMeta(m.Params)
	modern := meta.Modern || m.Method == "server/discover"
	supported := c.opts.Supported()
	switch {
	case modern:
		if err := meta.Check(m.ID, supported); err != nil {
			return err
		}
	case !slices.ContainsFunc(supported, func(r string) bool { return !message.Modern(r) }):
		if m.Method == "initialize" {
			return message.Unsupported(m.ID, message.Text(message.Member(m.Params, "protocolVersion")), supported)
		}
		return meta.Check(m.ID, supported)
	}
	if strings.HasPrefix(m.Method, "notifications/") {
		return &message.Error{Code: message.CodeMethodNotFound, Message: "Method not found: " + message.Clip(m.Method), ID: m.ID}
	}
	r := &request{id: m.ID, method: m.Method, batch: b, bytes: size}
	if err := c.admit(r, &m, meta); err != nil {
		return err
	}
	s, err := c.session(m.Method, modern)
	if err != nil {
		c.forget(r)
		c.opts.Log.Error("cannot open a session", "err", err)
		return &message.Error{Code: message.CodeInternalError, Message: "Internal error", ID: m.ID}
	}
	if m.Method == "tools/call" && c.opts.CallTool != nil {
		c.callTool(r, s, m.Params)
		return nil
	}
	if !c.begin(r, s, nil) {
		return nil
	}
	id, _ := jsonrpc.MakeID(float64(r.number))
	s.send(&jsonrpc.Request{ID: id, Method: m.Method, Params: m.Params})
	if m.Method == "initialize" {
		// What comes next may depend on what is negotiated.
		c.mu.Lock()
		defer c.mu.Unlock()
		c.wait(c.ctx, func() bool { return c.byNumber[r.number] == nil })
	}
	return nil
}

// admit waits for room and enters r among the requests in flight. Its progress
// token is replaced by a stand-in: the engine would round a number.
func (c *conn) admit(r *request, m *message.Message, meta message.Meta) *message.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID[r.id.Key()] != nil {
		return &message.Error{Code: message.CodeInvalidRequest, Message: "Invalid Request: its id is that of a request in flight"}
	}
	c.wait(c.ctx, func() bool {
		return c.idle() || len(c.byNumber) < maxInFlight && c.bytes+r.bytes <= maxInFlightBytes
	})
	if c.stopping {
		return &message.Error{Code: message.CodeInternalError, Message: "The server is shutting down", ID: r.id}
	}
	c.lastNumber++
	r.number = c.lastNumber
	if len(meta.Token) > 0 {
		r.token = fmt.Sprintf("token-%d", r.number)
		c.tokens[r.token] = string(meta.Token)
		m.Params = replaceToken(m.Params, r.token)
	}
	c.byID[r.id.Key()] = r
	c.byNumber[r.number] = r
	c.bytes += r.bytes
	return nil
}

// begin says what works on r. It is too late when everything is being stopped:
// then r is forgotten.
func (c *conn) begin(r *request, s *session, cancel context.CancelFunc) bool {
	c.mu.Lock()
	late := c.stopping
	r.session, r.cancel = s, cancel
	c.mu.Unlock()
	if late {
		c.forget(r)
	}
	return !late
}

// callTool answers a tools/call request beside the engine.
func (c *conn) callTool(r *request, s *session, params json.RawMessage) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(c.ctx))
	if !c.begin(r, s, cancel) {
		cancel()
		return
	}
	inQueue := make(chan struct{})
	queued := sync.OnceFunc(func() { close(inQueue) })
	go func() {
		defer cancel()
		defer queued()
		c.awaitReader(ctx)
		result, err := c.opts.CallTool(ctx, s.engine, params, func(method string, params json.RawMessage) {
			c.notify(&jsonrpc.Request{Method: method, Params: params})
		}, queued)
		c.finish(r, result, err)
	}()
	select {
	case <-inQueue:
	case <-time.After(unqueued):
	}
}

// awaitReader waits while the client has much to read: results that nobody
// reads would fill the memory.
func (c *conn) awaitReader(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wait(ctx, func() bool { return c.waiting <= maxInFlightBytes })
}

func replaceToken(params json.RawMessage, token string) json.RawMessage {
	text, _ := json.Marshal(token)
	meta := message.ReplaceMember(message.Member(params, "_meta"), "progressToken", text)
	return message.ReplaceMember(params, "_meta", meta)
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
