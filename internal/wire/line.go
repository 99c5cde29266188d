package wire

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/conch-mcp/conch/internal/message"
)

// A line is one line of the client's, and what it was found to be.
type line struct {
	verdict
	text    []byte
	last    bool     // the input ended in it
	request *request // nil for what is none
}

// A verdict is the message in a text, or what keeps it from being one.
type verdict struct {
	message message.Message
	err     *message.Error
	fault   string // the same for the journal of BashSDK
}

// parse judges a line. The one that the input ended in may have been cut off.
func (c *conn) parse(text []byte, last bool) *line {
	l := &line{text: text, last: last}
	if l.verdict = c.manner.judgeText(text); l.err == nil {
		l.verdict = c.manner.judge(text)
	}
	if l.err == nil && l.message.Kind == message.Request {
		l.request = c.newRequest(l.message, nil, len(text))
	}
	return l
}

func (c *conn) tooLong() *line {
	text := fmt.Sprintf("Parse error: the line is longer than %d bytes (--max-line)", c.opts.MaxLine)
	return &line{verdict: verdict{err: &message.Error{Code: message.CodeParseError, Message: text}, fault: faultTooLong}}
}

// take handles one line.
func (c *conn) take(l *line) {
	if l.last && c.isCutOff(l) {
		return
	}
	c.journalLine(l.text)
	if elements, ok := c.elements(l); ok {
		c.batch(elements)
		return
	}
	switch {
	case l.err != nil && isSilent(l.message):
		c.opts.Log.Debug("dropped a message", "method", l.message.Method, "err", l.err)
	case l.err != nil:
		c.journalFault(l.verdict)
		c.refuse(l.err)
	default:
		c.message(l.message, l.request)
	}
}

// isCutOff reports whether what the input ended with is no line: nobody waits
// for an answer then.
func (c *conn) isCutOff(l *line) bool {
	if c.sdk != nil {
		return c.discards(l.text)
	}
	if c.manner.answersLast() || l.err == nil || l.err.Code != message.CodeParseError {
		return false
	}
	c.opts.Log.Info("the input ended in the middle of a line", "bytes", len(l.text))
	return true
}

// isSilent tells what is never answered, whatever is wrong with it, from
// requests and from what is no message at all.
func isSilent(m message.Message) bool { return m.Kind != message.Request }

// elements cuts a batch into its messages. Batches came with revision
// 2025-03-26 and went with the next.
func (c *conn) elements(l *line) ([]json.RawMessage, bool) {
	if l.err == nil || l.err.Code == message.CodeParseError {
		return nil, false
	}
	c.mu.Lock()
	negotiated := c.negotiated
	c.mu.Unlock()
	if negotiated != message.Revision20250326 {
		return nil, false
	}
	return message.Elements(l.text)
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
		v := c.manner.judge(element)
		m, err := v.message, v.err
		if err == nil && m.Method == "initialize" {
			err = &message.Error{Code: message.CodeInvalidRequest, Message: "Invalid Request: initialize must not be part of a batch", ID: m.ID}
		}
		switch {
		case err != nil && isSilent(m):
			c.opts.Log.Debug("dropped a message", "method", m.Method, "err", err)
		case err != nil:
			c.journalFault(v)
			b.add()
			c.deliver(b, c.errorReply(err))
		default:
			c.message(m, c.newRequest(m, b, len(element)))
		}
	}
	c.deliver(b, nil)
}

// message handles one message. r is the request that it is, if it is one.
func (c *conn) message(m message.Message, r *request) {
	switch m.Kind {
	case message.Response:
		if c.asked.Answer(m) {
			return
		}
		c.journal("INFO", "Dropped a response to nothing that was asked")
		c.opts.Log.Debug("dropped a response to nothing that was asked", "id", m.ID.Raw())
	case message.Notification:
		c.notification(m)
	case message.Request:
		r.batch.add()
		if err := c.request(r, m); err != nil {
			c.deliver(r.batch, c.refusal(r, err))
		}
	}
}

// Notifications that mean something to the engine. Others, and requests that
// came without an id, are nobody's business.
var forwarded = []string{"notifications/initialized", "notifications/roots/list_changed"}

func (c *conn) notification(m message.Message) {
	c.journalNotification(m.Method)
	if m.Method == "notifications/cancelled" {
		if !c.cancelInFlight(m.Params) {
			c.journal("INFO", "Cancellation received with nothing in flight; dropped")
			c.opts.Log.Debug("dropped a cancellation of nothing in flight")
		}
		return
	}
	c.mu.Lock()
	s := c.legacy
	c.mu.Unlock()
	if s != nil && slices.Contains(forwarded, m.Method) {
		s.Notify(m.Method, m.Params)
		c.initialized(s, m.Method)
		c.visited(m.Method)
		return
	}
	c.opts.Log.Debug("dropped a notification", "method", m.Method)
}
