//go:build !linux

package process

import "os/exec"

// A reaper waits for the children of this process. Elsewhere than on Linux it
// leaves orphans to the system's first process.
type reaper struct{}

func newReaper() (*reaper, error) { return &reaper{}, nil }

// start starts cmd, whose Wait must not be called. The channel is closed when
// it has ended.
func (r *reaper) start(cmd *exec.Cmd) (<-chan struct{}, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	return ended, nil
}

func (r *reaper) hasOrphans() bool { return true }

func (r *reaper) orphans() []int { return nil }

func (r *reaper) close() {}
