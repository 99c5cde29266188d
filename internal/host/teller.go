package host

import (
	"context"
	"sync"
)

// A teller tells a client, in order, what a call says of itself. Whoever says it
// does not wait for the client, who may read slowly or not at all.
type teller struct {
	mu    sync.Mutex
	queue []func()
	ended bool
	more  chan struct{} // holds something when the queue or ended has changed
	done  chan struct{} // closed when it has ended and all was told; nil before anything is told
}

// maxUntold is how much may wait to be told.
const maxUntold = 256

// tell has something told; false when too much waits, or nothing is told any more.
func (t *teller) tell(f func()) bool { return t.add(f, maxUntold) }

func (t *teller) add(f func(), most int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || len(t.queue) >= most {
		return false
	}
	if t.done == nil {
		t.more, t.done = make(chan struct{}, 1), make(chan struct{})
		go t.run()
	}
	t.queue = append(t.queue, f)
	t.rouse()
	return true
}

func (t *teller) rouse() {
	select {
	case t.more <- struct{}{}:
	default:
	}
}

// run ends when the teller has. A client that does not read holds it up, and
// nobody else, until the connection ends.
func (t *teller) run() {
	defer close(t.done)
	for {
		f, ended := t.next()
		switch {
		case f != nil:
			f()
		case ended:
			return
		default:
			<-t.more
		}
	}
}

func (t *teller) next() (f func(), ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.queue) == 0 {
		return nil, t.ended
	}
	f, t.queue = t.queue[0], t.queue[1:]
	return f, false
}

// settle waits until what was told so far has been, or ctx ends.
func (t *teller) settle(ctx context.Context) {
	if !t.hasBegun() {
		return
	}
	told := make(chan struct{})
	if !t.add(func() { close(told) }, maxUntold+1) {
		// It ends, or is full: nothing that matters more waits behind it.
		return
	}
	select {
	case <-told:
	case <-ctx.Done():
	}
}

// end has nothing more told, and waits until all has been, or ctx ends.
func (t *teller) end(ctx context.Context) {
	t.mu.Lock()
	t.ended = true
	begun := t.done != nil
	if begun {
		t.rouse()
	}
	t.mu.Unlock()
	if !begun {
		return
	}
	select {
	case <-t.done:
	case <-ctx.Done():
	}
}

func (t *teller) hasBegun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.done != nil
}
