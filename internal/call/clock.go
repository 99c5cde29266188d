package call

import (
	"sync"
	"time"
)

// A Clock is how much time a call has. It stands still while the call waits for
// its client, and a call that shows that it makes progress gets more. The zero
// Clock goes by the Runner's limit. It is safe for concurrent use.
type Clock struct {
	Timeout time.Duration // in place of Limits.Timeout; 0 is that
	Most    time.Duration // what progress extends it to; 0 is not at all

	mu     sync.Mutex
	limit  time.Duration
	end    time.Time // zero: never
	latest time.Time // that end is moved to
	holds  int       // who holds it
	held   time.Time // since when
}

// begin starts the clock of a call that has its turn.
func (c *Clock) begin(limit time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Timeout > 0 {
		limit = c.Timeout
	}
	if limit <= 0 {
		return
	}
	now := time.Now()
	c.limit, c.end, c.latest = limit, now.Add(limit), now.Add(max(limit, c.Most))
}

// Hold has the clock stand still until [Clock.GoOn], as often as it is called.
func (c *Clock) Hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds == 0 {
		c.held = time.Now()
	}
	c.holds++
}

// GoOn undoes one Hold.
func (c *Clock) GoOn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds--; c.holds == 0 && !c.end.IsZero() {
		stood := time.Since(c.held)
		c.end, c.latest = c.end.Add(stood), c.latest.Add(stood)
	}
}

// Extend gives a call as much time again from now on, within what it may have.
func (c *Clock) Extend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end.IsZero() || c.Most <= c.limit {
		return
	}
	now := time.Now()
	if c.holds > 0 {
		now = c.held
	}
	end := now.Add(c.limit)
	if end.After(c.latest) {
		end = c.latest
	}
	if end.After(c.end) {
		c.end = end
	}
}

// look is how often, at most, it is looked whether a clock that stands still
// goes on.
const look = 100 * time.Millisecond

// deadline is a moment before which the time is not over; zero: it never is.
func (c *Clock) deadline() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holds > 0 && !c.end.IsZero() {
		// Whenever it goes on, there is as much left as now.
		return time.Now().Add(max(c.end.Sub(c.held), look))
	}
	return c.end
}

// isOver reports whether the time is over.
func (c *Clock) isOver() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.holds == 0 && !c.end.IsZero() && !time.Now().Before(c.end)
}
