package wire

import (
	"fmt"
	"unicode/utf8"

	"github.com/conch-mcp/conch/internal/message"
)

// String names a request in the journal.
func (r *request) String() string {
	if r.method == "tools/call" {
		return fmt.Sprintf("tools/call %s (%s)", r.id.Raw(), r.tool)
	}
	return fmt.Sprintf("%s %s", message.Clip(r.method), r.id.Raw())
}

// journal writes a line of the journal, if one is kept.
func (c *conn) journal(level, format string, args ...any) {
	if c.sdk != nil {
		c.sdk.Log(level, fmt.Sprintf(format, args...))
	}
}

// journalLine tells that a line is taken up.
func (c *conn) journalLine(text []byte) {
	if len(text) > 0 {
		c.journalHead("INFO", "Received: ", text)
	}
}

// journalHead writes the beginning of a line of the protocol.
func (c *conn) journalHead(level, prefix string, text []byte) {
	if c.sdk != nil {
		c.journal(level, "%s%s...", prefix, head(text))
	}
}

func (c *conn) journalFault(v verdict) {
	if v.fault != "" {
		c.journal("ERROR", "%s", v.fault)
	}
}

// journalNotification tells of a notification that asks for nothing.
func (c *conn) journalNotification(method string) {
	switch method {
	case "notifications/cancelled":
	case "notifications/initialized":
		c.journal("INFO", "Client initialized")
	default:
		c.journal("INFO", "Received notification: %s", message.Clip(method))
	}
}

// journalEnd tells what the end of a request means for the journal: that it was
// cancelled, and that a line which had begun to come is still being waited for.
func (c *conn) journalEnd(r *request) {
	if c.sdk == nil {
		return
	}
	c.mu.Lock()
	cancelled, handed := r.byClient, 0
	switch t := &c.tail; {
	case !r.ran:
	case t.ended && t.during == nil:
		t.during = r
	case !t.ended && t.characters > 0 && !t.carried:
		t.carried, handed = true, t.characters
	}
	c.mu.Unlock()
	if cancelled {
		c.journal("INFO", "Cancelled %s", r)
	}
	if handed > 0 {
		c.journal("INFO", "Handing a partial line of %d characters out of %s to the read loop", handed, r)
	}
}

// tellEnd tells, once all is answered, that the input ended during a call.
func (c *conn) tellEnd() {
	c.mu.Lock()
	during := c.tail.during
	c.mu.Unlock()
	if during != nil {
		c.journal("INFO", "Client closed stdin during an in-flight call; shutting down")
	}
}

// head is the beginning of a text, as the journal shows it.
func head(text []byte) []byte {
	const most = 100
	n, end := 0, 0
	for ; end < len(text) && n < most; n++ {
		_, size := utf8.DecodeRune(text[end:])
		end += size
	}
	return text[:end]
}
