package shell

import (
	"sync"
	"time"
)

// idler runs a function once nothing has been done for a while. A nil idler
// never does.
type idler struct {
	after time.Duration
	run   func()

	mu      sync.Mutex
	busy    int
	timer   *time.Timer
	running sync.WaitGroup
	stopped bool
}

func newIdler(after time.Duration, run func()) *idler {
	return &idler{after: after, run: run}
}

// begin and end enclose what is not idleness.
func (i *idler) begin() {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.busy++
	if i.timer != nil {
		i.timer.Stop()
	}
}

func (i *idler) end() {
	if i == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.busy--; i.busy == 0 && !i.stopped {
		i.timer = time.AfterFunc(i.after, i.fire)
	}
}

func (i *idler) fire() {
	i.mu.Lock()
	if i.busy > 0 || i.stopped {
		i.mu.Unlock()
		return
	}
	i.running.Add(1)
	i.mu.Unlock()
	defer i.running.Done()
	i.run()
}

// stop waits for what runs; nothing runs afterwards.
func (i *idler) stop() {
	if i == nil {
		return
	}
	i.mu.Lock()
	i.stopped = true
	if i.timer != nil {
		i.timer.Stop()
	}
	i.mu.Unlock()
	i.running.Wait()
}
