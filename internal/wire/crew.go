package wire

import "sync/atomic"

// A crew runs what calls do in goroutines that are used again: the stack that one
// call has made grow, step by step, is there for the next.
type crew struct {
	tasks  chan func()
	resign <-chan struct{} // those who have nothing to do go when it is closed
	idle   atomic.Int64
}

// mostIdle is how many may have nothing to do.
const mostIdle = 16

func newCrew(resign <-chan struct{}) *crew { return &crew{tasks: make(chan func()), resign: resign} }

// do runs a task beside what the caller does next.
func (c *crew) do(task func()) {
	select {
	case c.tasks <- task:
	default:
		go c.work(task)
	}
}

// work runs a task, and then others for as long as it is wanted.
func (c *crew) work(task func()) {
	for {
		task()
		if c.idle.Add(1) > mostIdle {
			c.idle.Add(-1)
			return
		}
		select {
		case task = <-c.tasks:
			c.idle.Add(-1)
		case <-c.resign:
			return
		}
	}
}
