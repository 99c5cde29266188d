package process

import (
	"runtime"
	"sync"
)

// A Batch has the threads of this process scheduled as a batch job while so much is
// to be done for others that they have to take turns: what this process has to do is
// done when they pause, for several of them at once, and not in the middle of what
// they do. The zero Batch is ready, and safe for concurrent use.
type Batch struct {
	mu     sync.Mutex
	streak int // how much more often, of late, there was too much to do than not
	on     bool
	never  bool // it cannot be
}

// settled is the streak that it takes to begin, and to have been lost to end.
const settled = 16

// Note takes notice of how many others there are to be done something for.
func (b *Batch) Note(others int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if others > runtime.NumCPU() {
		b.streak = min(b.streak+1, settled)
	} else {
		b.streak = max(b.streak-1, 0)
	}
	switch {
	case !b.on && !b.never && b.streak == settled:
		b.on = scheduleAs(batch)
		b.never = !b.on
	case b.on && b.streak == 0:
		b.on = false
		scheduleAs(usual)
	}
}

// End makes the threads what they were.
func (b *Batch) End() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.on {
		scheduleAs(usual)
	}
	b.on, b.never = false, true
}
