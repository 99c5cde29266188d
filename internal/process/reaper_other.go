//go:build !linux

package process

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// A reaper waits for the children of this process. Elsewhere than on Linux it
// leaves orphans to the system's first process.
type reaper struct{}

func newReaper() (*reaper, error) { return &reaper{}, nil }

// start starts cmd, whose Wait must not be called. The channel is closed when
// it has ended.
func (r *reaper) start(cmd *exec.Cmd) (*Child, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &Child{ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
		c.end(unix.WaitStatus(status))
	}()
	return c, nil
}

func (r *reaper) hasOrphans() bool { return true }

func (r *reaper) orphans() []int { return nil }

func (r *reaper) close() {}
