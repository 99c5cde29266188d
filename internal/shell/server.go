// Package shell is the Go side of the fork server: a Bash that sourced the
// server script once and forks a fresh copy of itself for every call.
//
// It runs functions and tells how they ended. It knows nothing of MCP, of
// lists of tools, of limits or of results.
package shell

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/nowait"
	"github.com/conch-mcp/conch/internal/process"
)

// workerStart bounds how long a new worker may take to come up. A machine that
// is out of processes makes Bash try again for some seconds.
const workerStart = 10 * time.Second

// ErrNUL is returned for an argument that no shell variable can hold.
var ErrNUL = errors.New("it holds a NUL character, which no shell variable can")

// Options say how to start a server.
type Options struct {
	Bash    string   // the bash to run; default: bash, from PATH
	Script  string   // the script's path, the shell's $0; "" for calls that source files of their own
	Args    []string // the script's arguments
	Env     []string // beside this process's environment, "name=value"
	Dir     string   // a private directory for control files, on a tmpfs at best
	Output  *os.File // what the script prints while it is sourced, on either descriptor
	Workers int      // how many calls may run at once; at least 1
	// StderrApart has calls keep the root shell's standard error, which is a part
	// of their output otherwise.
	StderrApart bool
	Parked      int               // how many more may be parked, see [Server.Park]
	Talk        bool              // calls may say something besides what they print
	Commands    bool              // calls may have an Invocation
	Wanted      []string          // variables of which the script's shell tells whether they are set; identifiers
	Lifeline    *process.Lifeline // what ends the shells if this process is killed
	Log         *slog.Logger
}

// A Server is a fork server. Its methods are safe for concurrent use.
type Server struct {
	opts     Options
	dir      string
	place    nowait.Place // of dir
	lifeline *process.Lifeline
	names    atomic.Int64

	pool   *pool
	forks  atomic.Uint64 // subshells so far
	parked atomic.Int64  // calls that have made room

	closed     atomic.Bool
	script     atomic.Pointer[Script]
	generation atomic.Int64 // of the root shell, counted from 1

	life context.Context // ends when the server is closed
	end  context.CancelFunc

	sourcesNothing bool // there is no script

	mu       sync.Mutex // held while a shell is started or stopped
	root     *root
	attached bool  // the root shell is not this process's to start or end
	sessions []int // of all root shells so far

	extra chan int // slots of the lifeline for workers beside the pool's

	// Of an attached root shell.
	watch *readerWatch
	idle  *idler
	ear   *os.File      // what the shell says comes in here
	said  chan struct{} // closed when it has said something
	heard sync.WaitGroup
}

// Lifeline slots: one for the root, then two a worker.
const (
	rootSlot       = 0
	firstWorker    = 1
	slotsPerWorker = 2
)

// Slots is how many slots of its lifeline a server takes that runs so many calls
// at once and parks so many more: whoever starts something beside it has those
// from there on.
func Slots(workers, parked int) int { return firstWorker + slotsPerWorker*(2*workers+parked) }

func (w *Worker) shellSlot() int { return firstWorker + slotsPerWorker*w.slot }
func (w *Worker) groupSlot() int { return w.shellSlot() + 1 }

// Start sources the script and forks the first workers. It fails when the
// script does; what the script printed has gone to Output by then.
func Start(ctx context.Context, opts Options) (*Server, error) {
	if opts.Bash == "" {
		opts.Bash = "bash"
	}
	s := newServer(opts)
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

func newServer(opts Options) *Server {
	sourcesNothing := opts.Script == ""
	if sourcesNothing {
		opts.Script = filepath.Join(opts.Dir, nothingFile)
	}
	s := &Server{
		opts: opts, dir: opts.Dir, place: nowait.PlaceOf(opts.Dir), lifeline: opts.Lifeline,
		pool: newPool(opts.Workers, opts.Parked), extra: make(chan int, opts.Workers), sourcesNothing: sourcesNothing,
	}
	for i := range opts.Workers {
		s.extra <- opts.Workers + opts.Parked + i
	}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

func (s *Server) giveAll(workers []*Worker) {
	for _, w := range workers {
		s.Release(w)
	}
}

// Script tells what the script left in the shell when it was last sourced.
func (s *Server) Script() *Script { return s.script.Load() }

// nextName names a worker's files. No two workers ever share a name, so that
// what a lost one left behind disturbs nobody.
func (s *Server) nextName() string { return strconv.FormatInt(s.names.Add(1), 10) }

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

// order has the root shell fork the shell of w, and waits for it.
func (s *Server) order(ctx context.Context, w *Worker) error {
	// Until the shell has opened its end, this one keeps reads from ending.
	hold, err := openFIFO(w.event.Name(), unix.O_WRONLY)
	if err != nil {
		return err
	}
	defer hold.Close()
	w.generation, w.session = s.generation.Load(), s.root.session
	apart := ""
	if s.opts.StderrApart {
		apart = " apart"
	}
	if _, err := fmt.Fprintf(s.root.orders, "worker %s%s\n", filepath.Base(w.base), apart); err != nil {
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
	s.idle.begin()
	w, err := s.acquire(ctx)
	if err != nil {
		s.idle.end()
	}
	return w, err
}

func (s *Server) acquire(ctx context.Context) (*Worker, error) {
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
			s.release(w)
			return nil, ctx.Err()
		}
		if err == nil {
			return w, nil
		}
		s.opts.Log.Warn("a worker cannot take its next call and is replaced", "err", err)
		s.lose(w)
	}
}

var errClosed = errors.New("the server is shutting down")

// Park makes room for another call, while the one in some acquired worker waits
// for something; false when as many are parked as may be.
func (s *Server) Park() bool {
	if s.parked.Add(1) > int64(s.opts.Parked) {
		s.parked.Add(-1)
		return false
	}
	s.pool.turns.Release(1)
	return true
}

// ParkedNow is how many calls are parked.
func (s *Server) ParkedNow() int { return int(s.parked.Load()) }

// Unpark takes the room back, when there is some.
func (s *Server) Unpark(ctx context.Context) error {
	if err := s.pool.turns.Acquire(ctx, 1); err != nil {
		return err
	}
	s.parked.Add(-1)
	return nil
}

// Return gives back what Unpark has taken for a call that was reclaimed
// meanwhile.
func (s *Server) Return() {
	s.parked.Add(1)
	s.pool.turns.Release(1)
}

// Reclaim has a call that is parked end as any other, though nobody has made room
// for it: its worker is given back without a turn. Gone follows once it has been.
func (s *Server) Reclaim() { s.pool.owed.Add(1) }

// Gone notes that the worker of a call that was reclaimed has been given back.
func (s *Server) Gone() { s.parked.Add(-1) }

// Release gives a worker back after its call, or unused.
func (s *Server) Release(w *Worker) {
	s.release(w)
	s.idle.end()
}

// Lose ends a worker for good and makes room for another.
func (s *Server) Lose(w *Worker) {
	s.lose(w)
	s.idle.end()
}

func (s *Server) release(w *Worker) {
	if s.closed.Load() || w.generation != s.generation.Load() {
		s.lose(w)
		return
	}
	w.clear()
	s.pool.give(w)
}

func (s *Server) lose(w *Worker) {
	w.discard()
	s.pool.free(w.slot)
}

// Close ends all shells. Every worker must have been given back.
func (s *Server) Close() {
	s.closed.Store(true)
	s.idle.stop()
	// A script that is being sourced again may take long.
	s.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.pool.drain() {
		w.dismiss()
	}
	if s.attached {
		return
	}
	s.stopRoot()
	// A subshell that was forked a moment ago is on no record.
	for _, session := range s.sessions {
		process.KillSession(session)
	}
}
