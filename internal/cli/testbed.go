package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/process"
	"github.com/conch-mcp/conch/internal/shell"
	"github.com/conch-mcp/conch/internal/trial"
)

// beginning is how long what stands before the first case may take: the set-up of
// a file, and then the start of its server.
const beginning = time.Minute

// testbed is a server for the cases of one file, and everything that goes with it.
type testbed struct {
	suite  suite
	place  place
	said   *transcript
	server trial.Server
	end    func()        // ends the server
	setup  process.Group // what the set-up has left running
}

// openTestbed starts the server of a suite. The testbed is to be closed also where
// there is an error.
func openTestbed(ctx context.Context, s suite, flags serverFlags) (b *testbed, err error) {
	b = &testbed{suite: s}
	if b.said, err = newTranscript(); err != nil {
		return b, err
	}
	if b.place, err = newPlace(); err != nil {
		return b, err
	}
	b.place.stderr = b.said.w
	if err := b.makeScratch(); err != nil {
		return b, err
	}
	if err := b.setUp(ctx, flags); err != nil {
		return b, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, beginning, fmt.Errorf("it did not begin within %v", beginning))
	defer cancel()
	if s.command != nil {
		err = b.startCommand(ctx)
	} else {
		err = b.startScript(ctx, flags)
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return b, err
}

// makeScratch makes the suite's directories: one that its file may speak of, and
// one for temporary files.
func (b *testbed) makeScratch() error {
	if err := b.place.lifeline.Remove(b.suite.scratch); err != nil {
		return err
	}
	tmp := filepath.Join(b.suite.scratch, "tmp")
	for _, dir := range []string{b.suite.scratch, b.suite.own(), tmp} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return fmt.Errorf("make a directory for the cases: %w", err)
		}
	}
	b.place.env = append(append([]string{"TMPDIR=" + tmp}, b.suite.file.Env...), "CONCH_TEST_DIR="+b.suite.own())
	jqPath, err := b.place.pathWithJQ()
	b.place.env = slices.Concat(b.place.env, b.place.findable(), jqPath)
	return err
}

// setUp runs what the file wants done first. What that leaves running is there for
// the cases, and ends with the testbed.
func (b *testbed) setUp(ctx context.Context, flags serverFlags) error {
	if b.suite.file.Setup == "" {
		return nil
	}
	cmd := exec.Command(flags.bash, "-ec", b.suite.file.Setup, "setup")
	cmd.Dir = filepath.Dir(b.suite.file.Path)
	cmd.Env = append(os.Environ(), b.place.env...)
	cmd.Stdout, cmd.Stderr = b.place.stderr, b.place.stderr
	// A session of its own has no terminal, and no part in signals meant for conch.
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	child, err := b.place.lifeline.StartChild(cmd)
	if err != nil {
		return fmt.Errorf("run the set-up: %w", err)
	}
	b.setup = process.Group(cmd.Process.Pid)
	slot := shell.Slots(int(flags.concurrency), flags.asking.maxParked)
	if err := b.place.lifeline.Record(slot, b.setup); err != nil {
		return err
	}
	late := time.NewTimer(beginning)
	defer late.Stop()
	select {
	case <-child.Ended():
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return fmt.Errorf("the set-up did not end within %v", beginning)
	}
	if !b.setup.Alive() {
		// Its number may be somebody else's in time.
		b.setup = 0
		if err := b.place.lifeline.Record(slot, 0); err != nil {
			return err
		}
	}
	if !child.Success() {
		return fmt.Errorf("the set-up failed (%v)", child)
	}
	return nil
}

// close ends all there is, and returns what the server has written to standard
// error.
func (b *testbed) close() string {
	b.setup.Kill()
	process.KillSession(int(b.setup))
	switch {
	case b.end != nil:
		b.end()
	case b.place.lifeline != nil:
		b.place.lifeline.KillOrphans(0)
		b.place.lifeline.Close()
	}
	_ = process.RemoveTree(b.suite.scratch)
	if b.said == nil {
		return ""
	}
	return b.said.close()
}

// transcript is what is written to a server's standard error: the last of it,
// where it is much.
type transcript struct {
	r, w *os.File
	text []byte
	done chan struct{}
}

// mostSaid is more than anybody reads.
const mostSaid = 64 << 10

func newTranscript() (*transcript, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe for what the server says: %w", err)
	}
	s := &transcript{r: r, w: w, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		s.keep()
	}()
	return s, nil
}

func (s *transcript) keep() {
	buf := make([]byte, 32<<10)
	for {
		n, err := s.r.Read(buf)
		s.text = append(s.text, buf[:n]...)
		s.text = s.text[max(0, len(s.text)-mostSaid):]
		if err != nil {
			return
		}
	}
}

// close returns what was said. Somebody who got away may hold the pipe, and is not
// waited for.
func (s *transcript) close() string {
	err := s.w.Close()
	err = errors.Join(err, s.r.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
	if err != nil {
		s.r.Close()
	}
	<-s.done
	s.r.Close()
	return string(s.text)
}
