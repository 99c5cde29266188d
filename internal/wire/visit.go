package wire

import (
	"context"

	"github.com/conch-mcp/conch/internal/engine"
)

// meet tells of the client of a session that was initialized.
func (c *conn) meet(s *engine.Session) {
	if c.opts.Meet == nil {
		return
	}
	visit := c.opts.Meet(s.Engine(), c.asks(s))
	c.mu.Lock()
	old := c.visit
	c.visit = visit
	stopping := c.stopping
	c.mu.Unlock()
	if old.End != nil {
		old.End()
	}
	if stopping {
		// Whoever stops may have looked already.
		c.part()
	}
}

// visited tells of a notification.
func (c *conn) visited(method string) {
	c.mu.Lock()
	visit := c.visit
	c.mu.Unlock()
	if visit.Notified != nil {
		visit.Notified(method)
	}
}

// part ends what asks the client. It may be in the middle of a write to one that
// does not read, which nothing can end.
func (c *conn) part() {
	c.mu.Lock()
	visit := c.visit
	c.mu.Unlock()
	if visit.End == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), unread)
	defer cancel()
	go func() {
		defer cancel()
		visit.End()
	}()
	<-ctx.Done()
}
