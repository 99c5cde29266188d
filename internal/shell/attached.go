package shell

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/process"
)

//go:embed attached.bash
var attachedText string

// AttachedText is Bash code for shells that are attached to: how they ask conch,
// and how they become its root shell.
func AttachedText() string { return attachedText }

// attachedRoot names the files of a root shell that is attached to.
const attachedRoot = "root"

var errRootGone = errors.New("the script's shell is gone")

// Attachment says which shell to attach to.
type Attachment struct {
	Orders  *os.File      // what the shell reads its orders from; a pipe
	Dir     string        // as in Options
	Workers int           // how many calls may run at once; at least 1
	Idle    time.Duration // after so long without a call there are no workers
	// StderrApart is as in Options.
	StderrApart bool
	Lifeline    *process.Lifeline
	Log         *slog.Logger
}

// Attach makes a server of a shell that has started this process and waits for
// orders: it is told the control directory, sources the runtime from there, and
// reports. The shell is not this process's to end. Workers are forked when they
// are needed, and dismissed when they are not: until then, and afterwards, the
// server is one process.
//
// RootGone is closed when the shell is.
func Attach(ctx context.Context, a Attachment) (*Server, error) {
	s := newServer(Options{Dir: a.Dir, Workers: a.Workers, StderrApart: a.StderrApart, Lifeline: a.Lifeline, Log: a.Log})
	s.attached = true
	done := make(chan struct{})
	s.root = &root{orders: a.Orders, done: done}
	s.generation.Add(1)
	watch, err := watchReader(a.Orders, done)
	if err != nil {
		return nil, err
	}
	s.watch = watch
	if err := s.greet(ctx); err != nil {
		s.stopListening()
		return nil, err
	}
	s.idle = newIdler(a.Idle, s.dismissIdle)
	return s, nil
}

// greet tells the shell where the runtime is and waits for its report.
func (s *Server) greet(ctx context.Context) error {
	if err := s.writeRuntime(); err != nil {
		return err
	}
	report, err := newReport(filepath.Join(s.dir, attachedRoot+".report"))
	if err != nil {
		return err
	}
	defer report.close()
	if err := s.listen(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(s.root.orders, "attached %s\n", s.dir); err != nil {
		return fmt.Errorf("greet the script's shell: %w", err)
	}
	script, err := report.read(ctx, s.root.done)
	if err != nil {
		return fmt.Errorf("attach to the script's shell: %w", err)
	}
	s.script.Store(script)
	return nil
}

// RootGone is closed when a root shell that was attached to has ended. One that
// was started here is started again instead.
func (s *Server) RootGone() <-chan struct{} {
	if !s.attached {
		return nil
	}
	return s.root.done
}

// Said is closed when an attached shell has said that a signal asks it to end.
func (s *Server) Said() <-chan struct{} { return s.said }

// listen waits for what an attached shell has to say.
func (s *Server) listen() error {
	// For writing too, since there is no end to wait for.
	f, err := makeFIFO(filepath.Join(s.dir, attachedRoot+".said"), unix.O_RDWR)
	if err != nil {
		return err
	}
	s.ear, s.said = os.NewFile(uintptr(f.fd), f.path), make(chan struct{})
	s.heard.Go(func() {
		var buf [64]byte
		if n, _ := s.ear.Read(buf[:]); n > 0 {
			close(s.said)
		}
	})
	return nil
}

// Last tells an attached shell that its EXIT trap has its turn now.
func (s *Server) Last() { _, _ = s.root.orders.WriteString("last\n") }

// Detach tells an attached shell that nothing more will come: "end", with the
// name of the signal that has ended the server behind it, or "failed", with the
// status of the shell's function behind it where that is not 2. The server must
// have been closed.
func (s *Server) Detach(word string) {
	_, _ = s.root.orders.WriteString(word + "\n")
	s.stopListening()
}

// stopListening waits for what watches an attached shell and listens to it.
func (s *Server) stopListening() {
	s.watch.stop()
	if s.ear != nil {
		s.ear.Close()
	}
	s.heard.Wait()
}

// dismissIdle ends the workers that no call has.
func (s *Server) dismissIdle() {
	for {
		w := s.pool.takeIdle()
		if w == nil {
			return
		}
		w.dismiss()
		s.pool.free(w.slot)
	}
}

// Extra returns a worker beside those of the pool, for a function that runs
// while calls do. It ends with [Server.Drop]. It does not start a root shell that
// is gone: what a call leaves to be done is no reason to run the script again.
func (s *Server) Extra(ctx context.Context) (*Worker, error) {
	select {
	case slot := <-s.extra:
		w, err := s.forkExtra(ctx, slot)
		if err != nil {
			s.extra <- slot
		}
		return w, err
	default:
		return nil, errors.New("too many functions run beside the calls")
	}
}

func (s *Server) forkExtra(ctx context.Context, slot int) (*Worker, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.root.done:
		return nil, errRootGone
	default:
	}
	w, err := s.orderWorker(ctx, slot)
	if err != nil {
		return nil, err
	}
	if err := w.ready(ctx); err != nil {
		w.discard()
		return nil, err
	}
	return w, nil
}

// Drop ends a worker that [Server.Extra] has returned.
func (s *Server) Drop(w *Worker) {
	w.discard()
	s.extra <- w.slot
}

// readerWatch waits for the end of whoever reads a pipe.
type readerWatch struct {
	wake  *os.File
	ended chan struct{}
}

// watchReader closes gone when nobody has the read end of w open any more.
func watchReader(w *os.File, gone chan<- struct{}) (*readerWatch, error) {
	r, wake, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("watch the script's shell: %w", err)
	}
	watch := &readerWatch{wake: wake, ended: make(chan struct{})}
	fds := []unix.PollFd{{Fd: int32(w.Fd())}, {Fd: int32(r.Fd())}}
	go func() {
		defer close(watch.ended)
		defer r.Close()
		for {
			// An error of a pipe's write end is reported without being asked for.
			_, err := unix.Poll(fds, -1)
			if errors.Is(err, unix.EINTR) {
				continue
			}
			if err != nil || fds[0].Revents != 0 {
				close(gone)
			}
			return
		}
	}()
	return watch, nil
}

func (w *readerWatch) stop() {
	w.wake.Close()
	<-w.ended
}
