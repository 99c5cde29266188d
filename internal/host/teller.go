package host

import "context"

// A teller tells a client, in order, what a call says of itself. Whoever says it
// does not wait for the client, who may read slowly or not at all.
type teller struct {
	queue chan func()
	done  chan struct{} // closed when the queue has ended and all was told
}

// maxUntold is how much may wait to be told.
const maxUntold = 256

// tell has something told; false when too much waits.
func (t *teller) tell(f func()) bool {
	if t.queue == nil {
		t.queue, t.done = make(chan func(), maxUntold), make(chan struct{})
		go t.run()
	}
	select {
	case t.queue <- f:
		return true
	default:
		return false
	}
}

// run ends with the queue. A client that does not read holds it up, and nobody
// else, until the connection ends.
func (t *teller) run() {
	defer close(t.done)
	for f := range t.queue {
		f()
	}
}

// settle waits until what was told so far has been, or ctx ends.
func (t *teller) settle(ctx context.Context) {
	if t.queue == nil {
		return
	}
	told := make(chan struct{})
	select {
	case t.queue <- func() { close(told) }:
	case <-ctx.Done():
		return
	}
	select {
	case <-told:
	case <-ctx.Done():
	}
}

// end has nothing more told, and waits until all has been, or ctx ends.
func (t *teller) end(ctx context.Context) {
	if t.queue == nil {
		return
	}
	close(t.queue)
	select {
	case <-t.done:
	case <-ctx.Done():
	}
}
