package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

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
	moreSize int      // of the file with what does not fit a job, 0 when there is none
	fed      bool     // the job has a file for standard input
	asked    bool     // the job has mcp_before_tool_call asked
	event    *os.File // what the worker says
	// Not for the poller, which would wake up whenever a call prints.
	wake fifo    // a newline here sets the subshell going
	out  [2]fifo // what calls print, in turns
	talk fifo    // what calls say besides, where they may
	side int     // which of the two is the next call's
	read []byte  // events read and not yet taken
	buf  []byte  // for Drain
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
	w.event = os.NewFile(uintptr(event.fd), event.path)
	return w, nil
}

// removeFiles closes and deletes the worker's files.
func (w *Worker) removeFiles() {
	for _, f := range []*os.File{w.job, w.event} {
		if f != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}
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
	if _, err := w.job.WriteAt(text, 0); err != nil {
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

// Events of a worker, as the runtime writes them.
const (
	eventWorker = "w" // the worker's shell is there; its pid
	eventReady  = "r" // a subshell waits to be woken; its pid, and its output
	eventDone   = "d" // the subshell has ended; its raw status
)

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
		var buf [64]byte
		n, err := w.event.Read(buf[:])
		w.read = append(w.read, buf[:n]...)
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

// cutEvent takes the first whole event off what was read.
func (w *Worker) cutEvent() (kind string, number int, ok bool) {
	line, rest, ok := bytes.Cut(w.read, []byte{'\n'})
	if !ok {
		return "", 0, false
	}
	words := strings.Fields(string(line))
	w.read = append(w.read[:0], rest...)
	switch len(words) {
	case 3:
		w.side = 0
		if words[2] == "1" {
			w.side = 1
		}
		fallthrough
	case 2:
		number, _ = strconv.Atoi(words[1])
		return words[0], number, true
	}
	return "", 0, true
}

// ready waits until the worker has a subshell that waits for a call, and puts
// that on record. A subshell that was killed while it waited is followed by
// the next. Both shells are looked at, since the death of neither may have been
// told yet, and a call that is given to a dead one is lost.
func (w *Worker) ready(ctx context.Context) error {
	waits := func() bool { return w.poll() && (w.isHeld() || !w.shell.HasEnded() && !w.group.HasEnded()) }
	if err := w.listen(ctx, waits); err != nil {
		return err
	}
	return w.server.lifeline.Record(w.groupSlot(), w.group)
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

// poll takes what the worker has said, without waiting, and reports whether
// its subshell waits for a call.
func (w *Worker) poll() bool {
	w.readEvents()
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
	raw, err := w.event.SyscallConn()
	if err != nil {
		w.ended = true
		return
	}
	err = raw.Control(func(fd uintptr) {
		var buf [64]byte
		for {
			n, err := readNow(int(fd), buf[:])
			if n == 0 {
				w.ended = err == nil
				return
			}
			w.read = append(w.read, buf[:n]...)
			if len(w.read) > maxEvents {
				w.ended = true
				return
			}
		}
	})
	w.ended = w.ended || err != nil
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

// An Answer is what mcp_before_tool_call made of a call.
type Answer struct {
	Returned bool   // it did, and did not end the shell
	Status   int    // what it returned
	Output   []byte // what it printed on either descriptor, up to maxAnswer bytes
}

// maxAnswer bounds what is read of what mcp_before_tool_call prints.
const maxAnswer = 1 << 20

// Answer tells what mcp_before_tool_call made of a call that has ended. It is
// nil when it was not asked, or let the tool run.
func (w *Worker) Answer() *Answer {
	if !w.asked {
		return nil
	}
	text, err := readAnswer(w.base+beforeSuffix, 64)
	if err != nil {
		// The shell did not come as far.
		return nil
	}
	var a Answer
	if status, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "answered "); ok {
		a.Returned = true
		a.Status, _ = strconv.Atoi(status)
		if a.Status == 0 {
			return nil
		}
	}
	a.Output, _ = readAnswer(w.base+saidSuffix, maxAnswer)
	return &a
}

// readAnswer reads the beginning of a file that a hook may have put anything in
// the place of.
func readAnswer(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

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

// Output opens the read end of what the call prints, for reading while the call
// runs. It does not come to an end before hold is closed. Both must be closed
// before [Worker.Drain].
func (w *Worker) Output() (out, hold *os.File, err error) {
	path := w.out[w.side].path
	if out, err = openFIFO(path, unix.O_RDONLY); err != nil {
		return nil, nil, fmt.Errorf("open the call's output: %w", err)
	}
	if hold, err = openFIFO(path, unix.O_WRONLY); err != nil {
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
