package wire

import (
	"io"
	"sync"
	"time"

	"github.com/conch-mcp/conch/internal/nowait"
)

// An outlet writes lines to the client. Lines that come at the same time go out
// together: each write wakes the client, and where calls end by the dozen that takes
// a good part of their time.
type outlet struct {
	out     io.Writer
	crowded func() bool // more is being done than the machine can at once
	writing sync.Mutex  // held while something is written

	mu   sync.Mutex
	next *load // what is to be written next; nil when there is nothing
}

// load is what is written at once.
type load struct {
	text    []byte
	written chan struct{} // closed when it is, or could not be
	err     error
}

// alone is the length up to which lines are put together: a longer one goes out by
// itself, and is not copied.
const alone = 8 << 10

// write writes a line, and returns once it is written.
func (o *outlet) write(line []byte) error {
	if len(line) > alone {
		o.writing.Lock()
		defer o.writing.Unlock()
		_, err := o.out.Write(append(line, '\n'))
		return err
	}
	l, first := o.join(line)
	if !first {
		<-l.written
		return l.err
	}
	if o.crowded() {
		// Whoever is to run now may soon have something to say, too.
		nowait.Yield()
	}
	o.writing.Lock()
	defer o.writing.Unlock()
	o.mu.Lock()
	o.next = nil
	o.mu.Unlock()
	_, l.err = o.out.Write(l.text)
	close(l.written)
	return l.err
}

// settle waits until what is being written has been, and no longer than patience. It
// reports whether it has.
func (o *outlet) settle(patience time.Duration) bool {
	written := make(chan struct{})
	go func() {
		// Stays where the write does, which ends with the process.
		o.writing.Lock()
		defer o.writing.Unlock()
		close(written)
	}()
	select {
	case <-written:
		return true
	case <-time.After(patience):
		return false
	}
}

// join adds a line to what is to be written next. Who is the first to do so writes it.
func (o *outlet) join(line []byte) (l *load, first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if first = o.next == nil; first {
		o.next = &load{written: make(chan struct{})}
	}
	o.next.text = append(append(o.next.text, line...), '\n')
	return o.next, first
}
