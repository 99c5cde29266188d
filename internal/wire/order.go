package wire

import (
	"context"
	"slices"

	"github.com/conch-mcp/conch/internal/message"
)

// queue holds the lines that wait for their turn. The connection's mu guards it.
type queue struct {
	lines  []*line
	asking int      // how many of them are no notifications
	bytes  int      // what they hold
	taking *request // has left lines, and has neither been admitted nor refused yet
	closed bool     // no line will come any more
	ended  bool     // nothing will be taken from it any more
}

// enqueue has l wait for its turn, after waiting itself for room in the queue.
// A cancellation of what is known is carried out at once.
func (c *conn) enqueue(l *line) {
	if c.cancelAhead(l) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	q := &c.queue
	c.wait(c.ctx, func() bool {
		return len(q.lines) == 0 || q.asking < maxInFlight && q.bytes+l.size() <= maxInFlightBytes
	})
	q.lines = append(q.lines, l)
	q.bytes += l.size()
	if l.asks() {
		q.asking++
	}
	c.changed.Broadcast()
}

// closeQueue says that no line will come any more. What waits for its turn still
// gets it, unless the input broke off: then nothing more is begun.
func (c *conn) closeQueue(brokenOff bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if brokenOff {
		c.queue.lines, c.queue.asking, c.queue.bytes = nil, 0, 0
	}
	c.queue.closed = true
	c.changed.Broadcast()
}

// takeInTurn takes up the lines, each when it is its turn, until no more come
// or the connection ends.
func (c *conn) takeInTurn() {
	for l := c.next(); l != nil; l = c.next() {
		c.take(l)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue.ended = true
	c.changed.Broadcast()
}

// next waits for the next line that may be taken up; nil means that there will
// be none.
func (c *conn) next() *line {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := &c.queue
	var at int
	c.wait(c.ctx, func() bool {
		at = slices.IndexFunc(q.lines, c.mayBegin)
		return at >= 0 || q.closed && len(q.lines) == 0
	})
	if at < 0 || c.ctx.Err() != nil {
		return nil
	}
	l := q.remove(at)
	q.taking = l.request
	c.changed.Broadcast()
	return l
}

// mayBegin reports, mu held, whether a line may be taken up before those in
// front of it, which may not.
func (c *conn) mayBegin(l *line) bool {
	switch {
	case l.last:
		return l == c.queue.lines[0] && c.idle()
	case l.request == nil:
		return c.isTurn("")
	}
	return c.isTurn(l.request.method)
}

// isTurn reports, mu held, whether what is in flight leaves room for a request
// of that method.
func (c *conn) isTurn(method string) bool {
	switch most := c.opts.InOrder; {
	case most == 0:
		return true
	case most == 1:
		return c.idle()
	case method != "tools/call":
		return true
	default:
		return c.calls() < most
	}
}

func (c *conn) calls() (n int) {
	for _, r := range c.byNumber {
		if r.method == "tools/call" {
			n++
		}
	}
	return n
}

func (q *queue) remove(at int) *line {
	l := q.lines[at]
	q.lines = slices.Delete(q.lines, at, at+1)
	q.bytes -= l.size()
	if l.asks() {
		q.asking--
	}
	return l
}

// asks reports whether a line is answered. Others may be as many as there is
// room for: a client that cancels what has ended long since must not keep what
// it cancels next from being read.
func (l *line) asks() bool { return l.err != nil || l.message.Kind != message.Notification }

// size is what a line in the queue holds, itself included.
func (l *line) size() int { return len(l.text) + 512 }

// taken says that r has been admitted, or is being refused.
func (q *queue) taken(r *request) {
	if q.taking == r {
		q.taking = nil
	}
}

// withdraw returns the request of that id that has not begun, and takes its line
// out of the queue.
func (q *queue) withdraw(id message.ID) *request {
	if q.taking != nil && q.taking.id.Key() == id.Key() {
		return q.taking
	}
	at := slices.IndexFunc(q.lines, func(l *line) bool {
		return l.request != nil && l.request.id.Key() == id.Key()
	})
	if at < 0 {
		return nil
	}
	return q.remove(at).request
}

// cancelAhead carries out a cancellation before its turn; false means that l is
// none, or names nothing that is in flight or in the queue.
func (c *conn) cancelAhead(l *line) bool {
	if l.err != nil || l.message.Kind != message.Notification || l.message.Method != "notifications/cancelled" {
		return false
	}
	id, ok := message.ParseID(message.Member(l.message.Params, "requestId"))
	if !ok {
		return false
	}
	c.mu.Lock()
	r := c.byID[id.Key()]
	began := r != nil
	if !began {
		r = c.queue.withdraw(id)
	}
	found := c.silence(r)
	c.changed.Broadcast()
	c.mu.Unlock()
	if !found {
		return false
	}
	c.journalLine(l.text)
	if began {
		c.stopCancelled(r)
	} else {
		c.journal("INFO", "Cancelled %s before it began", r)
	}
	return true
}

// refuseQueued waits until what is still in the queue has been refused, after no
// request may begin any more.
func (c *conn) refuseQueued() {
	ctx, cancel := context.WithTimeout(c.ctx, stopping)
	defer cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wait(ctx, func() bool { return c.queue.ended })
}
