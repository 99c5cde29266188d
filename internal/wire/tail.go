package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/conch-mcp/conch/internal/message"
)

// tail is what has been read behind the last newline. The connection's mu guards
// it.
type tail struct {
	characters int
	carried    bool     // a call has ended while it was there
	ended      bool     // so has the input
	during     *request // the call that the input ended in, nil if it did in none
}

// add notes what has been read.
func (t *tail) add(text []byte) {
	if end := bytes.LastIndexByte(text, '\n'); end >= 0 {
		t.characters, t.carried = 0, false
		text = text[end+1:]
	}
	for _, b := range text {
		if utf8.RuneStart(b) {
			t.characters++
		}
	}
}

// watched is the input, with the connection's tail kept.
type watched struct {
	in   io.Reader
	conn *conn
}

func (w watched) Read(p []byte) (int, error) {
	n, err := w.in.Read(p)
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	w.conn.tail.add(p[:n])
	w.conn.tail.ended = w.conn.tail.ended || errors.Is(err, io.EOF)
	return n, err
}

// discards reports whether what the input ended with is to be dropped: what was
// there while a call ran may have been cut off, and is answered only if it can
// be read.
func (c *conn) discards(text []byte) bool {
	if c.sdk.AlwaysAnswerLast {
		return false
	}
	c.mu.Lock()
	t := c.tail
	c.mu.Unlock()
	if !t.carried && t.during == nil {
		return false
	}
	if _, readable := message.Documents(text); readable {
		return false
	}
	during := ""
	if t.during != nil {
		during = fmt.Sprintf(" during %s", t.during)
	}
	c.journal("WARN", "Discarding a partial line of %d characters left by EOF%s", utf8.RuneCount(text), during)
	return true
}
