package wire

import "sync"

// A crew runs what calls do in goroutines that are used again, the latest first: the
// stack that one call has made grow, step by step, is there for the next.
type crew struct {
	mu   sync.Mutex
	idle []chan func() // those who have nothing to do
	over bool
}

// mostIdle is how many may have nothing to do.
const mostIdle = 16

// do runs a task beside what the caller does next.
func (c *crew) do(task func()) {
	c.mu.Lock()
	last := len(c.idle) - 1
	if last < 0 {
		c.mu.Unlock()
		go c.work(task)
		return
	}
	next := c.idle[last]
	c.idle = c.idle[:last]
	c.mu.Unlock()
	next <- task
}

// work runs a task, and then others for as long as it is wanted.
func (c *crew) work(task func()) {
	next := make(chan func(), 1)
	for task != nil {
		task()
		if !c.rest(next) {
			return
		}
		task = <-next
	}
}

// rest notes who has nothing to do; false where there are enough.
func (c *crew) rest(next chan func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over || len(c.idle) == mostIdle {
		return false
	}
	c.idle = append(c.idle, next)
	return true
}

// dismiss lets go all who have nothing to do; who is at work goes after that.
func (c *crew) dismiss() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for _, next := range c.idle {
		close(next)
	}
	c.idle = nil
}
