package shell

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// pool is the workers there may be: those no call has, the latest used last,
// and the slots that no worker has yet. Who asks first is served first.
type pool struct {
	most    int
	turns   *semaphore.Weighted // one for each worker there may be
	waiting atomic.Int64        // who waits for a turn
	owed    atomic.Int64        // turns that are not to be given back

	mu     sync.Mutex
	idle   []*Worker
	slots  []int
	closed bool
}

// newPool makes a pool in which so many may be at work at once, and as many more
// wait as are parked.
func newPool(turns, parked int) *pool {
	most := turns + parked
	p := &pool{most: most, turns: semaphore.NewWeighted(int64(turns))}
	for slot := range most {
		p.slots = append(p.slots, most-1-slot)
	}
	return p
}

// take waits for a turn. It returns an idle worker, or nil and a slot for a
// new one. Either goes back with give or free.
func (p *pool) take(ctx context.Context) (w *Worker, slot int, err error) {
	p.waiting.Add(1)
	err = p.turns.Acquire(ctx, 1)
	p.waiting.Add(-1)
	if err != nil {
		return nil, 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		p.turns.Release(1)
		return nil, 0, errClosed
	case len(p.idle) > 0:
		return p.best(), 0, nil
	}
	last := len(p.slots) - 1
	slot, p.slots = p.slots[last], p.slots[:last]
	return nil, slot, nil
}

// best takes out the latest used of the idle workers that are ready, or the one
// that has waited longest. A worker used a moment ago has its memory still in
// the processor's caches; one that has had time to fork ahead can begin at
// once.
func (p *pool) best() *Worker {
	at := len(p.idle) - 1
	for at > 0 && !p.idle[at].poll() {
		at--
	}
	w := p.idle[at]
	p.idle = slices.Delete(p.idle, at, at+1)
	return w
}

// takeIdle takes out a worker that no call has, if a turn for it is to be had.
// It goes back with free.
func (p *pool) takeIdle() *Worker {
	if !p.turns.TryAcquire(1) {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		p.turns.Release(1)
		return nil
	}
	w := p.idle[last]
	p.idle = p.idle[:last]
	return w
}

// give makes a worker idle.
func (p *pool) give(w *Worker) {
	p.mu.Lock()
	p.idle = append(p.idle, w)
	p.mu.Unlock()
	p.giveTurn()
}

// giveTurn gives a turn back, unless it was given away before.
func (p *pool) giveTurn() {
	for owed := p.owed.Load(); owed > 0; owed = p.owed.Load() {
		if p.owed.CompareAndSwap(owed, owed-1) {
			return
		}
	}
	p.turns.Release(1)
}

// free gives a slot back whose worker is gone, or never came.
func (p *pool) free(slot int) {
	p.mu.Lock()
	p.slots = append(p.slots, slot)
	p.mu.Unlock()
	p.giveTurn()
}

// drain takes out all idle workers, for good.
func (p *pool) drain() []*Worker {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	return idle
}
