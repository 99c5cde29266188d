package call

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/conch-mcp/conch/internal/process"
	"github.com/conch-mcp/conch/internal/shell"
)

// hookLimit is how long a cancel hook, or the handler of a script's end, may
// take.
const hookLimit = 2 * time.Second

// stop has the script's cancel hook say goodbye, asks the call's group to end,
// and after the grace time makes it. A call whose server's shell is gone has
// nobody left to say goodbye to.
func (c running) stop() (status int, err error) {
	select {
	case <-c.shell.RootGone():
		c.worker.Group().Kill()
		return waitUntil(c.worker, time.Now().Add(killed))
	default:
	}
	defer c.worker.TellCancelled(c.token())()
	c.cancelHook()
	grace := time.Now().Add(process.Grace)
	defer c.worker.Group().Terminate()()
	gone := false
	if status, err = waitUntil(c.worker, grace); err == nil {
		ctx, cancel := context.WithDeadline(context.Background(), grace)
		defer cancel()
		gone = c.worker.Group().Wait(ctx)
	}
	if !gone {
		c.log.Warn(fmt.Sprintf("Tool %s ignored SIGTERM; process group killed", c.name()))
	}
	if err != nil {
		c.worker.Group().Kill()
		status, err = waitUntil(c.worker, time.Now().Add(killed))
	}
	if c.stopping.Load() {
		c.log.Info(fmt.Sprintf("Stopped in-flight tool %s (group %d) on shutdown", c.name(), c.worker.Group()))
	}
	return status, err
}

// cancelHook runs the script's tool_<name>_cancel, where there is one, in a
// fork of the root shell. Nothing that becomes of it matters to the call.
func (c running) cancelHook() {
	hook := c.Function + "_cancel"
	if !c.shell.Script().Functions[hook] {
		return
	}
	job := shell.Job{Function: hook, Dir: c.dir, Arguments: c.Arguments, Trace: c.Trace}
	if c.stopping.Load() {
		job.Arguments = nil
	}
	c.RunHook(fmt.Sprintf("Cancel hook %s for %s", hook, c.name()), "exited", job, io.Discard)
}

// RunHook runs a function of the script's beside the calls, in a group of its
// own, for two seconds at most. It writes to out what the function prints, and
// logs under the name of what how it ended, unless it ended well; failed is the
// word for that it did so with a status.
func (r *Runner) RunHook(what, failed string, job shell.Job, out io.Writer) {
	err := r.runFunction(job, out)
	var status hookStatus
	switch {
	case err == nil:
	case errors.Is(err, shell.ErrNotYet):
		r.log.Warn(what + " did not finish within 2s; killed")
	case errors.As(err, &status):
		r.log.Warn(fmt.Sprintf("%s %s with status %d", what, failed, int(status)))
	default:
		r.log.Warn(what+" could not be run", "err", err)
	}
}

func (r *Runner) runFunction(job shell.Job, out io.Writer) error {
	deadline := time.Now().Add(hookLimit)
	ctx, cancel := context.WithDeadline(context.Background(), deadline)
	defer cancel()
	w, err := r.shell.Extra(ctx)
	if err != nil {
		return fmt.Errorf("get a shell for %s: %w", job.Function, err)
	}
	defer r.shell.Drop(w)
	if err := w.Start(job); err != nil {
		return err
	}
	p, err := startPump(w, out)
	if err != nil {
		return err
	}
	status, err := waitUntil(w, deadline)
	contain(w.Group())
	p.stop()
	if drained := w.Drain(out); err == nil {
		err = drained
	}
	if err == nil && status != 0 {
		err = hookStatus(status)
	}
	return err
}

// hookStatus is the status, other than 0, that a function has ended with.
type hookStatus int

func (s hookStatus) Error() string { return fmt.Sprintf("it ended with status %d", int(s)) }
