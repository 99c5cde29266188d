package shell

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/process"
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
// runs. It must be closed before [Worker.Hear]. The call may have put something
// else in the place of the FIFO, which is not to be read.
func (w *Worker) Talk() (*os.File, error) { return w.talk.again() }

// Hear reads what is in the call's channel into sink, without waiting.
func (w *Worker) Hear(sink io.Writer) error {
	if !w.Talks() {
		return nil
	}
	_, _, err := w.take(w.talk, sink)
	return err
}

// HasSaid reports whether there is something in the call's channel.
func (w *Worker) HasSaid() bool { return w.Talks() && !w.talk.isEmpty() }

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

// KeepTalk readies the channel for the next call. It is made anew where a process
// may have it that is of no call any more, and would take what the next one says,
// or where the call has put something else in its place. After an error the worker
// is of no use.
func (w *Worker) KeepTalk(shared bool) error {
	if !w.Talks() || !shared && w.talk.isIn(w.server.place) {
		return nil
	}
	path := w.talk.path
	w.talk.close()
	// Even a directory may be there.
	if err := process.RemoveTree(path); err != nil {
		return fmt.Errorf("remove a call's channel: %w", err)
	}
	talk, err := makeFIFO(path, unix.O_RDWR)
	if err != nil {
		return err
	}
	w.talk = talk
	return nil
}

// removeTalk removes the channel and what lies beside it.
func (w *Worker) removeTalk() {
	if !w.Talks() {
		return
	}
	w.Sweep()
	w.talk.remove()
}
