package cli

import (
	"errors"
	"io"
	"sync"
	"time"
)

// interruptible is an input whose reading can be made to end.
type interruptible struct {
	in   stream
	once sync.Once
	over chan struct{}

	pumped *io.PipeReader // what a goroutine reads, where the poller does not wait for in
}

// newInterruptible reads from in. Where in cannot be waited for by the poller,
// a goroutine reads it, which ends with the process at the latest: nothing can
// end a read that waits in the kernel.
func newInterruptible(in stream) *interruptible {
	i := &interruptible{in: in, over: make(chan struct{})}
	if isPolled(in) {
		return i
	}
	r, w := io.Pipe()
	i.pumped = r
	go func() {
		_, err := io.Copy(w, in)
		w.CloseWithError(err)
	}()
	return i
}

// errInterrupted is what a read of an input that was interrupted returns. It is
// not the end: what was read of the last line is not all of it.
var errInterrupted = errors.New("the input was interrupted")

// Read implements [io.Reader].
func (i *interruptible) Read(p []byte) (n int, err error) {
	if i.pumped != nil {
		n, err = i.pumped.Read(p)
	} else {
		n, err = i.in.Read(p)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		select {
		case <-i.over:
			err = errInterrupted
		default:
		}
	}
	return n, err
}

// interrupt ends the reading.
func (i *interruptible) interrupt() {
	i.once.Do(func() {
		close(i.over)
		if i.pumped != nil {
			i.pumped.CloseWithError(io.EOF)
			return
		}
		_ = i.in.SetReadDeadline(time.Unix(1, 0))
	})
}
