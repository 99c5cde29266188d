package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/process"
)

// Events of a worker, as the runtime writes them.
const (
	eventWorker = "w" // the worker's shell is there; its pid
	eventReady  = "r" // a subshell waits to be woken; its pid, and its output
	eventDone   = "d" // the subshell has ended; its raw status
)

// next reads the worker's next event.
func (w *Worker) next(ctx context.Context, deadline time.Time) (kind string, number int, err error) {
	if err := w.event.SetReadDeadline(deadline); err != nil {
		return "", 0, err
	}
	// Only now, or the deadline above could undo what an ended ctx did.
	stop := context.AfterFunc(ctx, func() { _ = w.event.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	for {
		if kind, number, ok := w.cutEvent(); ok {
			return kind, number, nil
		}
		n, err := w.event.Read(w.room[:])
		w.read = append(w.read, w.room[:n]...)
		switch {
		case len(w.read) > maxEvents:
			return "", 0, ErrLost
		case errors.Is(err, os.ErrDeadlineExceeded):
			return "", 0, ErrNotYet
		case errors.Is(err, io.EOF):
			return "", 0, ErrLost
		case err != nil:
			return "", 0, fmt.Errorf("read the worker's events: %w", err)
		}
	}
}

// maxEvents is more than a worker ever says at once. What says more is none.
const maxEvents = 4 << 10

// cutEvent takes the first whole event off what was read: words with one blank between
// them, as the runtime writes them. Anything else is an event of no kind.
func (w *Worker) cutEvent() (kind string, number int, ok bool) {
	line, rest, ok := bytes.Cut(w.read, []byte{'\n'})
	if !ok {
		return "", 0, false
	}
	word, line, _ := bytes.Cut(line, []byte{' '})
	digits, side, hasSide := bytes.Cut(line, []byte{' '})
	if len(digits) > 0 && bytes.IndexByte(side, ' ') < 0 {
		kind = string(word)
		number, _ = strconv.Atoi(string(digits))
		if hasSide && len(side) > 0 {
			w.side = 0
			if string(side) == "1" {
				w.side = 1
			}
		}
	}
	w.read = append(w.read[:0], rest...)
	return kind, number, true
}

// poll takes what the worker has said, without waiting, and reports whether
// its subshell waits for a call.
func (w *Worker) poll() bool {
	w.readEvents()
	return w.takeEvents()
}

// takeEvents is poll for what has been read already.
func (w *Worker) takeEvents() bool {
	for {
		kind, number, ok := w.cutEvent()
		if !ok {
			return w.waiting && !w.ended
		}
		w.note(kind, number)
	}
}

// readEvents reads all that the worker has said so far, its end included.
func (w *Worker) readEvents() {
	for {
		n, err := w.event.ReadNow(w.room[:])
		if n == 0 {
			w.ended = w.ended || !errors.Is(err, unix.EAGAIN)
			return
		}
		w.read = append(w.read, w.room[:n]...)
		if len(w.read) > maxEvents {
			w.ended = true
			return
		}
	}
}

// note keeps what an event between calls says.
func (w *Worker) note(kind string, number int) {
	switch kind {
	case eventWorker:
		w.shell = process.Group(number)
	case eventReady:
		w.group, w.waiting = process.Group(number), true
		w.server.forks.Add(1)
	case eventDone:
		w.waiting = false
	}
}
