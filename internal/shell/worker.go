package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/nowait"
	"github.com/conch-mcp/conch/internal/process"
)

// A Worker is a warm shell with one subshell forked ahead, ready for a call.
// It belongs to one goroutine at a time: the one that acquired it.
type Worker struct {
	server     *Server
	generation int64              // of the root shell it was forked from
	session    int                // in which it and its calls run
	slot       int                // of the lifeline's record
	base       string             // its files' names begin so
	shell      process.Group      // the worker itself
	group      process.Group      // its subshell
	waiting    bool               // the subshell waits for a call
	processors process.Processors // that calls may run on
	kept       bool               // the worker is kept on one of them
	ended      bool               // the worker is gone

	job      *os.File // what the subshell is to do
	jobSize  int
	moreSize int          // of the file with what does not fit a job, 0 when there is none
	fed      bool         // the job has a file for standard input
	asked    bool         // the job has mcp_before_tool_call asked
	event    *nowait.File // what the worker says
	// Not for the poller, which would wake up whenever a call prints.
	wake fifo     // a newline here sets the subshell going
	out  [2]fifo  // what calls print, in turns
	talk fifo     // what calls say besides, where they may
	side int      // which of the two is the next call's
	read []byte   // events read and not yet taken
	room [64]byte // for reading more
	buf  []byte   // for what is read without waiting
}

// outSuffixes are those of a worker's two outputs.
var outSuffixes = [2]string{".0", ".1"}

// Suffixes of a worker's other files, as the runtime knows them.
const (
	jobSuffix   = ".job"
	wakeSuffix  = ".wake"
	eventSuffix = ".event"
	moreSuffix  = ".more"
	talkSuffix  = ".talk"

	beforeSuffix = ".before" // how far the script's mcp_before_tool_call came
	saidSuffix   = ".said"   // what it printed
)

// keptJob is the size up to which a job file is left for the next call to
// overwrite; a larger one would hold memory.
const keptJob = 64 << 10

// newWorker makes a worker's files and its ends of them. The shell that opens
// the other ends is not there yet.
func newWorker(s *Server, slot int) (_ *Worker, err error) {
	w := &Worker{server: s, slot: slot, base: filepath.Join(s.dir, s.nextName())}
	defer func() {
		if err != nil {
			w.removeFiles()
		}
	}()
	if w.job, err = os.OpenFile(w.base+jobSuffix, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, err
	}
	// Read-write, or the open would wait for the reader.
	if w.wake, err = makeFIFO(w.base+wakeSuffix, unix.O_RDWR); err != nil {
		return nil, err
	}
	for i, suffix := range outSuffixes {
		if w.out[i], err = makeOutput(w.base + suffix); err != nil {
			return nil, err
		}
	}
	if s.opts.Talk {
		// For writing too, so that there is always somebody who reads.
		if w.talk, err = makeFIFO(w.base+talkSuffix, unix.O_RDWR); err != nil {
			return nil, err
		}
	}
	event, err := makeFIFO(w.base+eventSuffix, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	w.event, err = nowait.NewFile(os.NewFile(uintptr(event.fd), event.path))
	return w, err
}

// removeFiles closes and deletes the worker's files.
func (w *Worker) removeFiles() {
	if w.job != nil {
		w.job.Close()
	}
	if w.event != nil {
		w.event.Close()
	}
	os.Remove(w.base + jobSuffix)
	os.Remove(w.base + eventSuffix)
	w.wake.remove()
	w.removeTalk()
	w.out[0].remove()
	w.out[1].remove()
	os.Remove(w.base + moreSuffix)
	os.Remove(w.base + inputSuffix)
	w.removeAnswer()
}

func (w *Worker) removeAnswer() {
	os.Remove(w.base + beforeSuffix)
	os.Remove(w.base + saidSuffix)
	w.asked = false
}

// Session is the session in which the worker and its calls run.
func (w *Worker) Session() int { return w.session }

// Group is the process group the worker's next call runs in.
func (w *Worker) Group() process.Group { return w.group }

// Start sets the call going. It must be followed by [Worker.Wait]. After an
// error the call has not begun.
func (w *Worker) Start(job Job) error {
	job.group = w.group
	w.asked = job.Before
	e, err := job.encode()
	if err != nil {
		return err
	}
	// The sizes first: what is written by halves has to go as well.
	w.moreSize = e.more.Len()
	if w.moreSize > 0 {
		if err := os.WriteFile(w.base+moreSuffix, e.more.Bytes(), 0o600); err != nil {
			return fmt.Errorf("write the call's arguments: %w", err)
		}
	}
	if v := job.Invocation; v != nil && len(v.Program) > 0 {
		w.fed = true
		if err := os.WriteFile(w.base+inputSuffix, v.Input, 0o600); err != nil {
			return fmt.Errorf("write the program's input: %w", err)
		}
	}
	text := e.job()
	shorter := len(text) < w.jobSize
	w.jobSize = max(w.jobSize, len(text))
	if shorter {
		if err := w.job.Truncate(0); err != nil {
			return fmt.Errorf("write the call's job: %w", err)
		}
		w.jobSize = len(text)
	}
	if err := w.server.place.WriteAll(int(w.job.Fd()), text, 0); err != nil {
		return fmt.Errorf("write the call's job: %w", err)
	}
	if err := w.letGo(); err != nil {
		return err
	}
	if err := w.wake.write([]byte{'\n'}); err != nil {
		return fmt.Errorf("wake the call's shell: %w", err)
	}
	return nil
}

// keep has the worker, and the subshells it forks, run on one processor as long as
// they wait for calls. What they share is in its caches; where a system spreads
// forks over its processors, each has to fetch it and to tell the others which of
// its memory has changed. Servers and workers have different processors.
func (w *Worker) keep() {
	w.processors = process.ProcessorsOf(int(w.shell))
	w.kept = w.processors.Choose(int(w.shell), os.Getpid()+w.slot)
}

// letGo has the call run wherever the script's shell may.
func (w *Worker) letGo() error {
	if !w.kept {
		return nil
	}
	// One that is gone is noticed by who waits for it.
	if err := w.processors.Restore(int(w.group)); !errors.Is(err, unix.ESRCH) {
		return err
	}
	return nil
}

// clear removes what a call has left behind: its group's number, which the
// system may give to somebody else, and its arguments. Small ones are
// overwritten by the next call.
func (w *Worker) clear() {
	if !w.waiting {
		w.group = 0
		_ = w.server.lifeline.Record(w.groupSlot(), 0)
	}
	if w.moreSize > 0 {
		os.Remove(w.base + moreSuffix)
		w.moreSize = 0
	}
	if w.fed {
		os.Remove(w.base + inputSuffix)
		w.fed = false
	}
	if w.asked {
		w.removeAnswer()
	}
	if w.jobSize > keptJob {
		_ = w.job.Truncate(0)
		w.jobSize = 0
	}
}

// ErrNotYet is what [Worker.Wait] returns before the call has ended.
var ErrNotYet = errors.New("the call has not ended yet")

// ErrLost is returned when the worker's shell is gone.
var ErrLost = errors.New("the shell that ran the call is gone")

// Wait waits until the call's shell has ended and returns its raw status, as
// Bash has it: 128 and the signal's number for a shell that was killed. It
// returns ErrNotYet at the deadline (zero: none), when ctx ends, and sometimes
// without either; call it again.
func (w *Worker) Wait(ctx context.Context, deadline time.Time) (status int, err error) {
	kind, status, err := w.next(ctx, deadline)
	if err != nil {
		return 0, err
	}
	if kind != eventDone {
		return 0, fmt.Errorf("the worker said %q in the middle of a call: %w", kind, ErrLost)
	}
	w.waiting = false
	return status, nil
}

// ready waits until the worker has a subshell that waits for a call, and puts
// that on record. A subshell that was killed while it waited is followed by
// the next. Where a subshell has been there for a while, both shells are looked at
// unless it is held, since the death of neither may have been told yet, and a call that is given to a
// dead one is lost.
func (w *Worker) ready(ctx context.Context) error {
	waiting := w.waiting || w.poll()
	if waiting && w.isHeld() {
		return w.putOnRecord()
	}
	// One that has come a moment ago may have ended since.
	enough := func() bool { return w.takeEvents() && w.poll() }
	if waiting {
		enough = func() bool { return w.poll() && !w.shell.HasEnded() && !w.group.HasEnded() }
	}
	if err := w.listen(ctx, enough); err != nil {
		return err
	}
	if err := w.findOutput(); err != nil {
		return err
	}
	return w.putOnRecord()
}

// putOnRecord has the next call's group end with this process.
func (w *Worker) putOnRecord() error { return w.server.lifeline.Record(w.groupSlot(), w.group) }

// findOutput fails where the next call's output could not be read here: what its
// subshell has not opened yet and no longer finds, it makes as a file of its own.
// Conch looks, since Bash would take a fortieth of a call for it.
func (w *Worker) findOutput() error {
	out := w.out[w.side]
	if out.hasWriter() || out.isIn(w.server.place) {
		return nil
	}
	return fmt.Errorf("somebody has removed or replaced %s, the pipe of its output", out.path)
}

// isHeld reports whether the worker is sure to be there with a subshell that waits,
// which can be told at a fraction of what it takes to look at both in /proc. A
// subshell has opened its output, which nobody else has by then, or it has ended
// and the output has no writer. Once it has, the worker alone holds its events, so
// that they tell of the worker's end.
func (w *Worker) isHeld() bool { return w.out[w.side].hasWriter() && w.poll() }

// listen waits for events until enough has been said.
func (w *Worker) listen(ctx context.Context, enough func() bool) error {
	for !enough() {
		if w.ended {
			return ErrLost
		}
		kind, number, err := w.next(ctx, time.Time{})
		switch {
		case errors.Is(err, ErrNotYet) && ctx.Err() == nil:
			continue
		case err != nil:
			return err
		}
		w.note(kind, number)
	}
	return nil
}

// come waits for a worker that was just ordered: for its shell, told of by the
// root shell, and its first subshell, in either order.
func (w *Worker) come(ctx context.Context) error {
	for w.shell == 0 || !w.waiting {
		kind, number, err := w.next(ctx, time.Now().Add(lifeSign))
		switch {
		case errors.Is(err, ErrNotYet) && ctx.Err() == nil:
			// It may have died before it could open its end of the events.
			if w.shell != 0 && errors.Is(unix.Kill(int(w.shell), 0), unix.ESRCH) {
				return ErrLost
			}
		case err != nil:
			return err
		default:
			w.note(kind, number)
		}
	}
	w.keep()
	return w.server.lifeline.Record(w.shellSlot(), w.shell)
}

// lifeSign is how often it is looked whether a worker that was forked, and has
// not come yet, is still alive.
const lifeSign = 100 * time.Millisecond

// dismiss lets a worker that no call has end by itself, so that no zombie is
// left to whoever adopts it.
func (w *Worker) dismiss() {
	w.wake.close()
	ctx, cancel := context.WithTimeout(context.Background(), dismissal)
	defer cancel()
	_ = w.listen(ctx, func() bool { return w.ended })
	w.discard()
}

// dismissal is how long a worker that is dismissed may take to end.
const dismissal = time.Second

// discard ends the worker's shells and removes its files.
func (w *Worker) discard() {
	// What it said last tells which groups are still its own.
	w.poll()
	w.shell.Kill()
	w.group.Kill()
	_ = w.server.lifeline.Record(w.shellSlot(), 0)
	_ = w.server.lifeline.Record(w.groupSlot(), 0)
	w.removeFiles()
}
