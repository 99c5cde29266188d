package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// A Child is a process that was started here.
type Child struct {
	ended  chan struct{}
	status unix.WaitStatus
}

func (c *Child) end(status unix.WaitStatus) {
	c.status = status
	close(c.ended)
}

// Ended is closed when the process has ended and was waited for.
func (c *Child) Ended() <-chan struct{} { return c.ended }

// Success reports whether a process that has ended did so with the status 0.
func (c *Child) Success() bool { return c.status.Exited() && c.status.ExitStatus() == 0 }

// String is how a process that has ended did so.
func (c *Child) String() string {
	if c.status.Signaled() {
		return "signal: " + c.status.Signal().String()
	}
	return fmt.Sprintf("exit status %d", c.status.ExitStatus())
}
