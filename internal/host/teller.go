package host

import (
	"context"
	"sync"
)

// A teller tells a client, in order, what a call says of itself. Whoever says it
// does not wait for the client, who may read slowly or not at all.
type teller struct {
	mu    sync.Mutex
	queue []telling
	size  int // of what is in the queue, bytes
	ended bool
	more  chan struct{} // holds something when the queue or ended has changed
	done  chan struct{} // closed when it has ended and all was told; nil before anything is told
}

// telling is what waits to be told.
type telling struct {
	size int
	tell func()
}

// How much may wait to be told: so many things, of so many bytes.
const (
	maxUntold      = 256
	maxUntoldBytes = 8 << 20
)

// tell has something of so many bytes told; false when too much waits, or nothing is
// told any more.
func (t *teller) tell(size int, f func()) bool { return t.add(telling{size, f}, maxUntold) }

func (t *teller) add(what telling, most int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || len(t.queue) >= most || what.size > maxUntoldBytes-t.size {
		return false
	}
	if t.done == nil {
		t.more, t.done = make(chan struct{}, 1), make(chan struct{})
		go t.run()
	}
	t.queue = append(t.queue, what)
	t.size += what.size
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
	first := t.queue[0]
	t.queue[0] = telling{}
	t.queue = t.queue[1:]
	t.size -= first.size
	return first.tell, false
}

// settle waits until what was told so far has been, or ctx ends.
func (t *teller) settle(ctx context.Context) {
	if !t.hasBegun() {
		return
	}
	told := make(chan struct{})
	if !t.add(telling{tell: func() { close(told) }}, maxUntold+1) {
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
