package httpd

import "sync/atomic"

// work is what one POST has brought: the request that is answered, and in a
// session the calls that go on without their client. What it takes of what there
// is for all, it gives back when the last part of it is done.
type work struct {
	parts atomic.Int64
	give  func()
}

// newWork returns work of one part.
func newWork(give func()) *work {
	w := &work{give: give}
	w.parts.Store(1)
	return w
}

func (w *work) more() { w.parts.Add(1) }

func (w *work) done() {
	if w.parts.Add(-1) == 0 {
		w.give()
	}
}
