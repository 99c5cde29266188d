// Package shell is the Go side of the fork server: a Bash that sourced the
// server script once and forks a fresh copy of itself for every call.
//
// It runs functions and tells how they ended. It knows nothing of MCP, of
// lists of tools, of limits or of results.
package shell

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/process"
)

//go:embed runtime.bash
var runtime string

const (
	runtimeFile = "runtime.bash"
	// workerStart bounds how long a new worker may take to come up. A machine
	// that is out of processes makes Bash try again for some seconds.
	workerStart = 10 * time.Second
	// rootStop is how long the root shell's EXIT trap may take at the end.
	rootStop = 2 * time.Second
)

// ErrNUL is returned for an argument that no shell variable can hold.
var ErrNUL = errors.New("it holds a NUL character, which no shell variable can")

// Options say how to start a server.
type Options struct {
	Bash     string            // the bash to run; default: bash, from PATH
	Script   string            // the script's path, the shell's $0
	Args     []string          // the script's arguments
	Dir      string            // a private directory for control files, on a tmpfs at best
	Output   *os.File          // what the script prints while it is sourced, on either descriptor
	Workers  int               // how many calls may run at once; at least 1
	Lifeline *process.Lifeline // what ends the shells if this process is killed
	Log      *slog.Logger
}

// A Server is a fork server. Its methods are safe for concurrent use.
type Server struct {
	opts     Options
	dir      string
	lifeline *process.Lifeline
	names    atomic.Int64

	pool *pool

	closed     atomic.Bool
	script     atomic.Pointer[Script]
	generation atomic.Int64 // of the root shell, counted from 1

	life context.Context // ends when the server is closed
	end  context.CancelFunc

	mu       sync.Mutex // held while a shell is started or stopped
	root     *root
	sessions []int // of all root shells so far
}

// root is one run of the root shell.
type root struct {
	group  process.Group // also the id of its session
	orders *os.File
	done   <-chan struct{} // closed when the shell has ended and was waited for
}

// Lifeline slots: one for the root, then two a worker.
const (
	rootSlot       = 0
	firstWorker    = 1
	slotsPerWorker = 2
)

func (w *Worker) shellSlot() int { return firstWorker + slotsPerWorker*w.slot }
func (w *Worker) groupSlot() int { return w.shellSlot() + 1 }

// Start sources the script and forks the first workers. It fails when the
// script does; what the script printed has gone to Output by then.
func Start(ctx context.Context, opts Options) (*Server, error) {
	if opts.Bash == "" {
		opts.Bash = "bash"
	}
	s := &Server{
		opts: opts, dir: opts.Dir, lifeline: opts.Lifeline,
		pool: newPool(opts.Workers),
	}
	s.life, s.end = context.WithCancel(context.Background())
	if err := s.startRoot(ctx); err != nil {
		return nil, err
	}
	// Two workers taking turns keep the fork off the path of a client that
	// makes one call after the other.
	var first []*Worker
	for range min(2, opts.Workers) {
		w, err := s.Acquire(ctx)
		if err != nil {
			s.giveAll(first)
			s.Close()
			return nil, err
		}
		first = append(first, w)
	}
	s.giveAll(first)
	return s, nil
}

func (s *Server) giveAll(workers []*Worker) {
	for _, w := range workers {
		s.Release(w)
	}
}

// withFastWorker adds the copy of the runtime's _conch_worker that its comments
// promise.
func withFastWorker(text string) string {
	const name, end = "\n_conch_worker() {", "\n}\n"
	before, rest, _ := strings.Cut(text, name)
	body, after, _ := strings.Cut(rest, end)
	fast := "\n_conch_fast_worker() {" + strings.ReplaceAll(body, "builtin ", "") + end
	return before + name + body + end + fast + after
}

// Script tells what the script left in the shell when it was last sourced.
func (s *Server) Script() *Script { return s.script.Load() }

// nextName names a worker's files. No two workers ever share a name, so that
// what a lost one left behind disturbs nobody.
func (s *Server) nextName() string { return strconv.FormatInt(s.names.Add(1), 10) }

// startRoot runs the script in a new root shell. s.mu is held.
func (s *Server) startRoot(ctx context.Context) error {
	// Anew each time: somebody may have cleaned up there.
	if err := os.WriteFile(filepath.Join(s.dir, runtimeFile), []byte(withFastWorker(runtime)), 0o600); err != nil {
		return fmt.Errorf("write the shell runtime: %w", err)
	}
	report, err := s.launchRoot("root-" + s.nextName())
	if err != nil {
		return err
	}
	defer report.close()
	script, err := s.sourced(ctx, report)
	if err != nil {
		// It may be in the middle of something that never ends.
		_ = s.root.group.Terminate()
		s.giveUpRoot()
		return err
	}
	// What the script has left running is there for every call.
	s.lifeline.SpareOrphans()
	s.script.Store(script)
	return nil
}

// launchRoot starts a root shell, puts it on record and lets it begin. What it
// has to tell comes in the report.
func (s *Server) launchRoot(name string) (_ *report, err error) {
	orders, err := makeFIFO(filepath.Join(s.dir, name+".orders"), unix.O_RDWR)
	if err != nil {
		return nil, err
	}
	report, err := newReport(filepath.Join(s.dir, name+".report"))
	if err != nil {
		orders.remove()
		return nil, err
	}
	defer func() {
		if err != nil {
			report.close()
		}
	}()
	cmd := s.command(name)
	done, begin, err := s.startGated(cmd)
	if err != nil {
		orders.remove()
		return nil, fmt.Errorf("start a shell: %w", err)
	}
	s.generation.Add(1)
	s.sessions = append(s.sessions, cmd.Process.Pid)
	s.root = &root{
		group: process.Group(cmd.Process.Pid), done: done,
		orders: os.NewFile(uintptr(orders.fd), orders.path),
	}
	if err = s.lifeline.Record(rootSlot, s.root.group); err == nil {
		err = begin()
	}
	if err != nil {
		s.giveUpRoot()
	}
	return report, err
}

// giveUpRoot ends a root shell that has no workers yet, and all it has started.
func (s *Server) giveUpRoot() {
	s.stopRoot()
	process.KillSession(int(s.root.group))
}

// startGated starts a command that reads a line before it does anything, and
// ends without it. begin writes the line: when the group is on record.
func (s *Server) startGated(cmd *exec.Cmd) (done <-chan struct{}, begin func() error, err error) {
	gate, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer gate.Close()
	cmd.Stdin = gate
	if done, err = s.lifeline.Start(cmd); err != nil {
		w.Close()
		return nil, nil, err
	}
	return done, func() error {
		defer w.Close()
		_, err := w.WriteString("\n")
		return err
	}, nil
}

// command is the root shell. A plain shell stands between it and this process,
// so that a tool which kills its $PPID does not kill the server.
func (s *Server) command(name string) *exec.Cmd {
	args := append([]string{
		"-c", `read -r go || exit; "$@" </dev/null; exit "$?"`, "sh",
		s.opts.Bash, "--norc", "--noprofile", "-c", `. "$CONCH_CONTROL/` + runtimeFile + `"`, s.opts.Script,
	}, s.opts.Args...)
	cmd := exec.Command("/bin/sh", args...)
	cmd.Env = append(environment(), "CONCH_CONTROL="+s.dir, "CONCH_ROOT="+name)
	// What a script prints is never the protocol's standard output.
	cmd.Stdout, cmd.Stderr = s.opts.Output, s.opts.Output
	// A session of its own: no terminal, and no signals meant for this process.
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	return cmd
}

// sourced waits for the root shell's report.
func (s *Server) sourced(ctx context.Context, report *report) (*Script, error) {
	script, err := report.read(ctx, s.root.done)
	if err == nil {
		return script, nil
	}
	var failed *failure
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s was still being sourced: %w", s.opts.Script, ctx.Err())
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s ended the shell while it was sourced", s.opts.Script)
	case errors.As(err, &failed):
		return nil, fmt.Errorf("%s: %w%s", s.opts.Script, failed, s.lineEnds())
	}
	return nil, fmt.Errorf("source %s: %w", s.opts.Script, err)
}

// environment is this process's, without what a tool would take for arguments
// that were checked.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, "arg_") })
}

// lineEnds is a hint for scripts that were written on another system.
func (s *Server) lineEnds() string {
	text, err := os.ReadFile(s.opts.Script)
	if err != nil || !bytes.Contains(text, []byte("\r\n")) {
		return ""
	}
	return "; it has CRLF line ends, which Bash takes for part of the commands"
}

// stopRoot ends the root shell, by force when its EXIT trap takes too long, and
// what the script left in its group. Its workers go on.
// s.mu is held.
func (s *Server) stopRoot() {
	s.root.orders.Close()
	os.Remove(s.root.orders.Name())
	select {
	case <-s.root.done:
	case <-time.After(rootStop):
	}
	s.root.group.Kill()
	<-s.root.done
	_ = s.lifeline.Record(rootSlot, 0)
}

// spawn forks a worker in a free slot and waits until it can take a call. No
// call's end cuts it short: what is left halfway would be in the way of the
// root shell, and the next call wants a worker too.
func (s *Server) spawn(slot int) (*Worker, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, err := s.fork(slot)
	if err != nil {
		s.pool.free(slot)
		return nil, err
	}
	return w, nil
}

func (s *Server) fork(slot int) (*Worker, error) {
	if s.closed.Load() {
		return nil, errClosed
	}
	// Somebody may have cleaned up there.
	err := os.MkdirAll(s.dir, 0o700)
	if err != nil {
		return nil, err
	}
	// A shell may be killed the moment it is there, and that it was may be how
	// one finds out.
	var w *Worker
	for range attempts {
		if err = s.reviveRoot(s.life); err != nil {
			return nil, err
		}
		w, err = s.orderWorker(s.life, slot)
		if errors.Is(err, errNotUp) {
			// A root shell that does not answer may have been stopped.
			s.root.group.Kill()
		}
		if err == nil || !errors.Is(err, ErrLost) && !s.rootGone() {
			break
		}
	}
	return w, err
}

// attempts is how often a worker is forked that is gone at once.
const attempts = 3

// rootGone reports whether the root shell has ended. What broke with it may
// have been noticed a moment earlier.
func (s *Server) rootGone() bool {
	select {
	case <-s.root.done:
		return true
	case <-time.After(100 * time.Millisecond):
		return false
	}
}

func (s *Server) orderWorker(ctx context.Context, slot int) (*Worker, error) {
	w, err := newWorker(s, slot)
	if err != nil {
		return nil, fmt.Errorf("make a worker: %w", err)
	}
	if err := s.order(ctx, w); err != nil {
		w.discard()
		return nil, fmt.Errorf("fork a worker: %w", err)
	}
	return w, nil
}

// reviveRoot starts the root shell again if it is gone.
func (s *Server) reviveRoot(ctx context.Context) error {
	select {
	case <-s.root.done:
	default:
		return nil
	}
	s.opts.Log.Warn("the script's shell is gone; starting it again", "script", s.opts.Script)
	s.stopRoot()
	return s.startRoot(ctx)
}

// order has the root shell fork the shell of w, and waits for it.
func (s *Server) order(ctx context.Context, w *Worker) error {
	// Until the shell has opened its end, this one keeps reads from ending.
	hold, err := openFIFO(w.event.Name(), unix.O_WRONLY)
	if err != nil {
		return err
	}
	defer hold.Close()
	w.generation, w.session = s.generation.Load(), int(s.root.group)
	if _, err := fmt.Fprintf(s.root.orders, "worker %s\n", filepath.Base(w.base)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, workerStart)
	defer cancel()
	ctx, cancelDone := withDone(ctx, s.root.done)
	defer cancelDone()
	if err := w.come(ctx); !errors.Is(err, ErrNotYet) {
		return err
	}
	return errNotUp
}

var errNotUp = errors.New("it did not come up")

// withDone returns a context that also ends when done is closed. cancel waits
// for nothing but frees all.
func withDone(ctx context.Context, done <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-done:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// Acquire waits for a worker that is ready for a call. Its owner ends with
// [Server.Release], or with [Server.Lose] after [ErrLost].
func (s *Server) Acquire(ctx context.Context) (*Worker, error) {
	for {
		w, slot, err := s.pool.take(ctx)
		if err != nil {
			return nil, err
		}
		if w == nil {
			if w, err = s.spawn(slot); err != nil {
				return nil, err
			}
		}
		if ctx.Err() == nil {
			err = w.ready(ctx)
		}
		if ctx.Err() != nil {
			s.Release(w)
			return nil, ctx.Err()
		}
		if err == nil {
			return w, nil
		}
		s.opts.Log.Warn("a worker was gone before its next call", "err", err)
		s.Lose(w)
	}
}

var errClosed = errors.New("the server is shutting down")

// Release gives a worker back after its call, or unused.
func (s *Server) Release(w *Worker) {
	if s.closed.Load() || w.generation != s.generation.Load() {
		s.Lose(w)
		return
	}
	w.clear()
	s.pool.give(w)
}

// Lose ends a worker for good and makes room for another.
func (s *Server) Lose(w *Worker) {
	w.discard()
	s.pool.free(w.slot)
}

// Close ends all shells. Every worker must have been given back.
func (s *Server) Close() {
	s.closed.Store(true)
	// A script that is being sourced again may take long.
	s.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.pool.drain() {
		w.discard()
	}
	s.stopRoot()
	// A subshell that was forked a moment ago is on no record.
	for _, session := range s.sessions {
		process.KillSession(session)
	}
}
