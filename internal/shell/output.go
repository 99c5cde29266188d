package shell

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Output opens the read end of what the call prints, for reading while the call
// runs. It does not come to an end before hold is closed. Both must be closed
// before [Worker.Drain].
func (w *Worker) Output() (out, hold *os.File, err error) {
	from := w.out[w.side]
	if out, err = from.again(); err != nil {
		return nil, nil, fmt.Errorf("open the call's output: %w", err)
	}
	if hold, err = openFIFO(from.way(w.server.place), unix.O_WRONLY); err != nil {
		out.Close()
		return nil, nil, fmt.Errorf("open the call's output: %w", err)
	}
	return out, hold, nil
}

// maxDrain is more than a FIFO can hold.
const maxDrain = 1 << 20

// Drain reads what is left of the call's output into sink, once the call has
// ended and its group is gone. Should a process that left the group still hold
// the other end, the worker gets a new one, so that what that process prints
// later reaches no other call.
func (w *Worker) Drain(sink io.Writer) error {
	_, held, err := w.take(w.out[w.side], sink)
	if err != nil || !held {
		return err
	}
	return w.replaceOutput()
}

// Printed reads what the call has printed by now into sink, without waiting, and
// returns how much that was.
func (w *Worker) Printed(sink io.Writer) (n int, err error) {
	n, _, err = w.take(w.out[w.side], sink)
	return n, err
}

// take reads what there is in a FIFO into sink, without waiting. It is held when
// somebody may write more.
func (w *Worker) take(from fifo, sink io.Writer) (total int, held bool, err error) {
	if w.buf == nil {
		w.buf = make([]byte, 32<<10)
	}
	for total < maxDrain {
		n, err := from.readNow(w.buf)
		if errors.Is(err, unix.EAGAIN) {
			break
		}
		if n == 0 || err != nil {
			return total, false, err
		}
		if _, err := sink.Write(w.buf[:n]); err != nil {
			return total, true, err
		}
		total += n
	}
	return total, true, nil
}

func (w *Worker) replaceOutput() (err error) {
	old := w.out[w.side]
	old.remove()
	w.out[w.side], err = makeOutput(old.path)
	return err
}
