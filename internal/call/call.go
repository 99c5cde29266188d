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
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/conch-mcp/conch/internal/process"
	"github.com/conch-mcp/conch/internal/shell"
)

// quick is how long a call may run before its output is read while it runs.
const quick = 3 * time.Millisecond

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
	running  atomic.Int64 // calls under way
}

// NewRunner returns a Runner whose calls have their directories below tmp.
func NewRunner(s *shell.Server, limits Limits, tmp string, l *process.Lifeline, log *slog.Logger) (*Runner, error) {
	d, err := newDirs(tmp, l, log)
	if err != nil {
		return nil, err
	}
	return &Runner{shell: s, limits: limits, lifeline: l, dirs: d, log: log}, nil
}

// End says why a call ended.
type End int

const (
	Returned   End = iota // the tool ended by itself; Status tells how
	Cancelled             // its context ended
	TimedOut              // it ran for longer than Limits.Timeout
	Overflowed            // it printed more than Limits.MaxOutput
	Lost                  // the shell that ran it was killed under it
)

// Outcome is what came of a call.
type Outcome struct {
	End    End
	Status int    // the shell's raw exit status, 128 and the signal's number when it was killed
	Output []byte // what the call printed on either descriptor, at most Limits.MaxOutput
}

// ErrDirectory is wrapped when the call's directory could not be made.
var ErrDirectory = errors.New("its call directory could not be created")

// Run runs tool with arguments. It waits for its turn first. When it returns,
// the call's processes and its directory are gone. An error means that the
// tool did not run.
func (r *Runner) Run(ctx context.Context, tool string, arguments json.RawMessage) (Outcome, error) {
	w, err := r.shell.Acquire(ctx)
	if err != nil {
		return Outcome{}, fmt.Errorf("get a shell for %s: %w", tool, err)
	}
	dir, err := r.dirs.take()
	if err != nil {
		r.shell.Release(w)
		return Outcome{}, fmt.Errorf("run %s: %w: %w", tool, ErrDirectory, err)
	}
	defer r.dirs.drop(dir)
	r.running.Add(1)
	defer r.running.Add(-1)
	if err := w.Start(shell.Job{Tool: tool, Dir: dir, Arguments: arguments}); err != nil {
		r.shell.Release(w)
		return Outcome{}, err
	}
	outcome := r.watch(ctx, w)
	r.endOrphans(w.Session(), dir)
	if outcome.End == Lost || outcome.Status >= signalled {
		// One that was killed may not even have begun; whoever is next in this
		// worker must not find its wake-up.
		r.shell.Lose(w)
	} else {
		r.shell.Release(w)
	}
	return outcome, nil
}

// signalled is the least status of a shell that was ended by a signal.
const signalled = 128

// endOrphans kills what the call in dir has left in groups of its own: a tool
// may turn job control on. Only who left for a session of its own is let go.
func (r *Runner) endOrphans(session int, dir string) {
	if !r.lifeline.HasOrphans() {
		return
	}
	marker := []byte("MCP_CALL_TMPDIR=" + dir + "\x00")
	r.lifeline.EndOrphans(session, func(pid int) bool {
		// A forked shell does not show its variables; when no other call runs,
		// it must be this one's.
		return r.running.Load() == 1 || bytes.Contains(process.Environment(pid), marker)
	})
}

// Close removes what the Runner keeps. No call may be under way.
func (r *Runner) Close() { r.dirs.close() }

// watch sees a started call to its end.
func (r *Runner) watch(ctx context.Context, w *shell.Worker) Outcome {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := &output{limit: r.limits.MaxOutput, full: func() { cancel(errOverflow) }}
	if out.limit == 0 {
		out.limit = 1<<63 - 1
	}
	end, status, pump := r.await(ctx, w, out)
	contain(w.Group())
	pump.stop()
	if err := w.Drain(out); err != nil {
		r.log.Error("cannot read a call's output", "err", err)
		end = Lost
	}
	if out.over && end == Returned {
		end = Overflowed
	}
	return Outcome{End: end, Status: status, Output: out.data}
}

var errOverflow = errors.New("too much output")

// await waits until the call's shell has ended, of itself or because it was
// made to.
func (r *Runner) await(ctx context.Context, w *shell.Worker, out *output) (End, int, *pump) {
	deadline := time.Time{}
	now := time.Now()
	if r.limits.Timeout > 0 {
		deadline = now.Add(r.limits.Timeout)
	}
	soon := now.Add(quick)
	if !deadline.IsZero() && deadline.Before(soon) {
		soon = deadline
	}
	status, err := w.Wait(ctx, soon)
	var p *pump
	for errors.Is(err, shell.ErrNotYet) {
		if p == nil {
			if p, err = startPump(w, out); err != nil {
				r.log.Error("cannot read a call's output", "err", err)
				break
			}
		}
		if end := why(ctx, deadline); end != Returned {
			status, err := stop(w)
			if err != nil {
				return Lost, status, p
			}
			return end, status, p
		}
		status, err = w.Wait(ctx, deadline)
	}
	if err != nil {
		return Lost, 0, p
	}
	return Returned, status, p
}

// why tells what ends a call before its time; Returned means nothing does.
func why(ctx context.Context, deadline time.Time) End {
	switch {
	case errors.Is(context.Cause(ctx), errOverflow):
		return Overflowed
	case ctx.Err() != nil:
		return Cancelled
	case !deadline.IsZero() && !time.Now().Before(deadline):
		return TimedOut
	}
	return Returned
}

// stop asks the call's group to end, and after the grace time makes it.
func stop(w *shell.Worker) (status int, err error) {
	grace := time.Now().Add(process.Grace)
	_ = w.Group().Terminate()
	if status, err = waitUntil(w, grace); err == nil {
		ctx, cancel := context.WithDeadline(context.Background(), grace)
		defer cancel()
		w.Group().Wait(ctx)
		return status, nil
	}
	w.Group().Kill()
	return waitUntil(w, time.Now().Add(killed))
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
// that nobody writes to the call's output or directory any more.
func contain(g process.Group) {
	if !g.Alive() {
		return
	}
	g.Kill()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	g.Wait(ctx)
}
