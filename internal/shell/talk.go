package shell

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// cancelledSuffix is that of a file beside a worker's channel, which tells a call
// that it is being made to end. The call's token is in front of it: what another
// call leaves there is not for this one.
const cancelledSuffix = ".cancelled"

// Talks reports whether calls can say something besides what they print.
func (w *Worker) Talks() bool { return w.talk.path != "" }

// Channel is the FIFO in which they do.
func (w *Worker) Channel() string { return w.talk.path }

// Talk opens the read end of the call's channel, for reading while the call
// runs. It must be closed before [Worker.Hear].
func (w *Worker) Talk() (*os.File, error) {
	f, err := openFIFO(w.talk.path, unix.O_RDWR)
	if err != nil {
		return nil, fmt.Errorf("open the call's channel: %w", err)
	}
	return f, nil
}

// Hear reads what is in the call's channel into sink, without waiting.
func (w *Worker) Hear(sink io.Writer) error {
	if !w.Talks() {
		return nil
	}
	if w.buf == nil {
		w.buf = make([]byte, 32<<10)
	}
	for total := 0; total < maxDrain; {
		n, err := w.talk.readNow(w.buf)
		if errors.Is(err, unix.EAGAIN) || n == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		_, _ = sink.Write(w.buf[:n])
		total += n
	}
	return nil
}

// TellCancelled has the call with a token see that it is being made to end. The
// file goes with undo.
func (w *Worker) TellCancelled(token string) (undo func()) {
	if !w.Talks() {
		return func() {}
	}
	path := w.talk.path + "." + token + cancelledSuffix
	// Whatever the call has put there says the same, and to open it might take for
	// ever.
	if f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err == nil {
		f.Close()
	}
	return func() { os.Remove(path) }
}

// Sweep removes what lies beside the channel: messages whose call was killed
// before it could send them, and places for answers. Nobody of the call may be
// left.
func (w *Worker) Sweep() {
	dir, name := filepath.Split(w.talk.path)
	left, _ := os.ReadDir(dir)
	for _, e := range left {
		if strings.HasPrefix(e.Name(), name+".") {
			os.Remove(dir + e.Name())
		}
	}
}

// removeTalk removes the channel and what lies beside it.
func (w *Worker) removeTalk() {
	if !w.Talks() {
		return
	}
	w.Sweep()
	w.talk.remove()
}
