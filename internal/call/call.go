// Package call is the life of one call: its directory, its process group, its
// deadline and its output, from the moment a tool is to run until nothing of
// it is left.
//
// It does not know the protocol: what an outcome means to a client is for
// others to say.
package call

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/conch-mcp/conch/internal/invocation"
	"github.com/conch-mcp/conch/internal/process"
	"github.com/conch-mcp/conch/internal/shell"
	"github.com/conch-mcp/conch/internal/talkback"
)

// A call's output, and what it says, is read while it runs from when there is
// something to read, or else from the moment slow. That is looked for at the
// moment quick, and whenever the call has run for twice as long: most calls end
// before it is worth the while.
const (
	quick = 3 * time.Millisecond
	slow  = 8 * quick
)

// killed is how long a killed shell may take to be reported dead.
const killed = 5 * time.Second

// Limits bound a call. A limit of zero is none.
type Limits struct {
	Timeout   time.Duration
	MaxOutput int64 // bytes, both descriptors together
}

// A Runner runs calls, each in a fork of one server's shell. It is safe for
// concurrent use.
type Runner struct {
	shell    *shell.Server
	limits   Limits
	lifeline *process.Lifeline
	dirs     *dirs
	log      *slog.Logger
	asked    atomic.Int64 // calls that have not ended
	running  atomic.Int64 // those that have begun
	batch    process.Batch
	stopping atomic.Bool // the server is shutting down
	astray   bool        // Options.Astray
}

// Options say how a Runner runs calls.
type Options struct {
	Limits   Limits
	Tmp      string // the calls' directories are below it
	Layout   Layout
	Lifeline *process.Lifeline
	Log      *slog.Logger
	// Astray says that what calls leave running is adopted elsewhere, as where a
	// script is attached to: nobody knows here who is still there.
	Astray bool
}

// NewRunner returns a Runner.
func NewRunner(s *shell.Server, opts Options) (*Runner, error) {
	d, err := newDirs(opts.Tmp, opts.Layout, opts.Lifeline, opts.Log)
	if err != nil {
		return nil, err
	}
	return &Runner{shell: s, limits: opts.Limits, lifeline: opts.Lifeline, dirs: d, log: opts.Log, astray: opts.Astray}, nil
}

// Stopping says that calls which are cancelled from now on are cancelled
// because the server ends, and not for a client.
func (r *Runner) Stopping() { r.stopping.Store(true) }

// End says why a call ended.
type End int

const (
	Returned   End = iota // the tool ended by itself; Status tells how
	Cancelled             // its context ended
	TimedOut              // it ran for longer than Limits.Timeout, or its Clock, allows
	Overflowed            // it printed more than Limits.MaxOutput
	Lost                  // the shell that ran it was killed under it
)

// Outcome is what came of a call.
type Outcome struct {
	End    End
	Status int    // the shell's raw exit status, 128 and the signal's number when it was killed
	Output []byte // what the call printed on either descriptor, at most Limits.MaxOutput
	Hook   *HookEnd
}

// ErrDirectory is what a [DirectoryError] is.
var ErrDirectory = errors.New("its call directory could not be created")

// DirectoryError is why a call has no directory. It says that it could not be
// made, and where.
type DirectoryError struct{ err error }

func (e *DirectoryError) Error() string { return e.err.Error() }

func (e *DirectoryError) Unwrap() error { return e.err }

// Is reports that e is ErrDirectory.
func (e *DirectoryError) Is(target error) bool { return target == ErrDirectory }

// A Call is what is to be run: a function of the script's.
type Call struct {
	Function string // such as tool_greet
	// Invocation is what runs in its place, for a tool that is no such function.
	Invocation *invocation.Invocation
	Arguments  json.RawMessage // one JSON object
	Trace      shell.Trace     // that it is part of
	Meta       json.RawMessage // of the request, a JSON object; nil is none
	Roots      shell.Roots     // that it is told of; the zero value for those of the shell
	// Hear is told what the call says besides what it prints, one thing at a
	// time, and nothing any more once Run has returned. It must not wait. Nil
	// hears nothing.
	Hear func(talkback.Message)
	// Slot is for a call that may have to wait for something, and is not to be in
	// the way of others meanwhile; nil for any other.
	Slot *Slot
	// Failed tells whether a call that ended well has failed by what it said; nil
	// for one that cannot.
	Failed func(Outcome) bool
	// Clock is for a call whose time is not simply Limits.Timeout; nil for any
	// other.
	Clock *Clock
}

// toolPrefix begins the names of functions that are tools.
const toolPrefix = "tool_"

// name is what the log calls it.
func (c Call) name() string { return strings.TrimPrefix(c.Function, toolPrefix) }

// isTool reports whether the script's mcp_before_tool_call has a say in it.
func (c Call) isTool() bool { return strings.HasPrefix(c.Function, toolPrefix) }

// Run runs a call. It waits for its turn first. When it returns, the call's
// processes and its directory are gone. An error means that the function did not
// run.
func (r *Runner) Run(ctx context.Context, asked Call) (Outcome, error) {
	r.batch.Note(int(r.asked.Add(1)) - r.shell.ParkedNow())
	defer r.asked.Add(-1)
	lost := false
	w, err := r.shell.Acquire(ctx)
	if err != nil {
		return Outcome{}, fmt.Errorf("get a shell for %s: %w", asked.name(), err)
	}
	asked.Slot.begin(r.shell)
	defer func() {
		reclaimed := asked.Slot.end()
		if lost {
			r.shell.Lose(w)
		} else {
			r.shell.Release(w)
		}
		if reclaimed {
			r.shell.Gone()
		}
	}()
	dir, err := r.dirs.take()
	if err != nil {
		return Outcome{}, &DirectoryError{err}
	}
	left := true // somebody may be who was not made to end
	defer func() { r.dirs.drop(dir, left || r.astray) }()
	r.running.Add(1)
	defer r.running.Add(-1)
	c := running{Runner: r, Call: asked, worker: w, dir: dir.path}
	if err := w.Start(c.job()); err != nil {
		return Outcome{}, err
	}
	outcome, littered := c.watch(ctx)
	left = r.endOrphans(w.Session(), dir.path)
	if littered || left {
		// Most calls end by themselves within moments, and have nothing there.
		w.Sweep()
	}
	kept := c.keepTalk(left)
	// One that was killed may not even have begun; whoever is next in this worker
	// must not find its wake-up.
	lost = !kept || outcome.End == Lost || outcome.Status >= signalled
	return outcome, nil
}

// running is a call under way.
type running struct {
	*Runner
	Call
	worker *shell.Worker
	dir    string
}

func (c running) job() shell.Job {
	return shell.Job{
		Function: c.Function, Dir: c.dir, Arguments: c.Arguments, Trace: c.Trace, Meta: c.Meta, Roots: c.Roots,
		Invocation: c.Invocation,
		Before:     c.isTool() && c.shell.Script().Functions[beforeHook],
	}
}

// signalled is the least status of a shell that was ended by a signal.
const signalled = 128

// endOrphans kills what the call in dir has left in groups of its own: a tool
// may turn job control on. Only who left for a session of its own is let go; that
// somebody may have is what endOrphans returns.
func (r *Runner) endOrphans(session int, dir string) (left bool) {
	if !r.lifeline.HasOrphans() {
		return false
	}
	marker := []byte("MCP_CALL_TMPDIR=" + dir + "\x00")
	r.lifeline.EndOrphans(session, func(pid int) bool {
		// A forked shell does not show its variables; when no other call runs,
		// it must be this one's.
		return r.running.Load() == 1 || bytes.Contains(process.Environment(pid), marker)
	})
	return r.lifeline.HasOrphans()
}

// keepTalk readies the call's channel for the next in its worker; false when that
// cannot be.
func (c running) keepTalk(left bool) bool {
	err := c.worker.KeepTalk(left)
	if err != nil {
		c.log.Warn("cannot keep a call's channel; its shell is ended", "err", err)
	}
	return err == nil
}

// Close removes what the Runner keeps. No call may be under way.
func (r *Runner) Close() {
	r.batch.End()
	r.dirs.close()
}

// watch sees a started call to its end. It is littered where there may be files that
// were to be said, and were not.
func (c running) watch(ctx context.Context) (outcome Outcome, littered bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := &output{limit: c.limits.MaxOutput, full: func() { cancel(errOverflow) }}
	if out.limit == 0 {
		out.limit = 1<<63 - 1
	}
	heard := c.heard(ctx, cancel)
	end, status, pump := c.await(ctx, out, heard)
	killed := contain(c.worker.Group())
	pump.stop()
	if heard != nil {
		if err := c.worker.Hear(heard); err != nil {
			c.log.Error("cannot read what a call says", "err", err)
		}
		heard.hurry()
		heard.End()
	}
	if err := c.worker.Drain(out); err != nil {
		c.log.Error("cannot read a call's output", "err", err)
		end = Lost
	}
	if out.over && end == Returned {
		end = Overflowed
	}
	outcome = Outcome{End: end, Status: status, Output: out.data}
	if end == Returned {
		outcome.Hook = hookEnd(c.worker.Answer(), status)
	}
	return outcome, killed || pump != nil || heard.hasMore() || end != Returned || status != 0
}

var errOverflow = errors.New("too much output")

// token is what the call's messages begin with.
func (c running) token() string { return filepath.Base(c.dir) }

// ears take what a call says.
type ears struct {
	*talkback.Reader
	end context.CancelCauseFunc // of the call's context: no more than a little is heard then
}

// hasMore reports whether the call has said anything with a file.
func (e *ears) hasMore() bool { return e != nil && e.HasFiles() }

// hurry says that the call is being ended, which what it says must not hold up. Nil
// ears hear nothing.
func (e *ears) hurry() {
	if e != nil {
		e.end(nil)
	}
}

// heard takes what the call says as long as ctx, which end ends, is not over; nil where
// nobody hears it.
func (c running) heard(ctx context.Context, end context.CancelCauseFunc) *ears {
	if c.Hear == nil || !c.worker.Talks() {
		return nil
	}
	return &ears{talkback.NewReader(ctx, c.token(), c.worker.Channel(), c.Hear, c.log), end}
}

// await waits until the call's shell has ended, of itself or because it was
// made to.
func (c running) await(ctx context.Context, out io.Writer, heard *ears) (End, int, *pump) {
	clock := c.Clock
	if clock == nil {
		clock = &Clock{}
	}
	clock.begin(c.limits.Timeout)
	begun, look := time.Now(), quick
	status, err := c.worker.Wait(ctx, sooner(begun.Add(look), clock.deadline()))
	var p *pump
	for errors.Is(err, shell.ErrNotYet) {
		end := why(ctx, clock)
		if p == nil && (end != Returned || look >= slow || c.isBusy(out, heard)) {
			if p, err = c.startPump(out, heard); err != nil {
				c.log.Error("cannot read a call's output", "err", err)
				break
			}
		}
		if end != Returned {
			heard.hurry()
			status, err := c.stop()
			if err != nil {
				return Lost, status, p
			}
			return end, status, p
		}
		deadline := clock.deadline()
		if p == nil {
			look *= 2
			deadline = sooner(begun.Add(look), deadline)
		}
		status, err = c.worker.Wait(ctx, deadline)
	}
	if err != nil {
		return Lost, 0, p
	}
	return Returned, status, p
}

// isBusy takes what a call has printed so far, and reports whether that is so much,
// or the call has said something, that the rest is to be read as it comes. What it
// has said may take long to read.
func (c running) isBusy(out io.Writer, heard *ears) bool {
	if heard != nil && c.worker.HasSaid() {
		return true
	}
	printed, err := c.worker.Printed(out)
	return err != nil || printed >= muchOutput
}

// muchOutput is less than any FIFO holds, and more than most calls print.
const muchOutput = 4 << 10

// sooner is the first of a moment and a deadline, which may be none.
func sooner(t, deadline time.Time) time.Time {
	if !deadline.IsZero() && deadline.Before(t) {
		return deadline
	}
	return t
}

// why tells what ends a call before its time; Returned means nothing does.
func why(ctx context.Context, clock *Clock) End {
	switch {
	case errors.Is(context.Cause(ctx), errOverflow):
		return Overflowed
	case ctx.Err() != nil:
		return Cancelled
	case clock.isOver():
		return TimedOut
	}
	return Returned
}

func waitUntil(w *shell.Worker, deadline time.Time) (status int, err error) {
	for {
		status, err = w.Wait(context.Background(), deadline)
		if !errors.Is(err, shell.ErrNotYet) || !time.Now().Before(deadline) {
			return status, err
		}
	}
}

// contain kills what is left of a call's group and waits until it is gone, so
// that nobody writes to the call's output or directory any more. It reports whether
// there was somebody.
func contain(g process.Group) bool {
	if !g.Alive() {
		return false
	}
	g.Kill()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	g.Wait(ctx)
	return true
}
