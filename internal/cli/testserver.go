package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/casefile"
	"github.com/conch-mcp/conch/internal/process"
	"github.com/conch-mcp/conch/internal/tester"
	"github.com/conch-mcp/conch/internal/trial"
	"github.com/conch-mcp/conch/internal/wire"
)

// scriptServer has each case be a client of its own, so that what the server tells
// and asks is the case's.
type scriptServer struct {
	*server
	name string
}

// startScript starts the suite's script. A client tries whether it can be spoken
// to at all.
func (b *testbed) startScript(ctx context.Context, flags serverFlags) error {
	s, err := b.place.start(ctx, b.suite.script, nil, flags)
	// Also a server that does not start has closed the lifeline.
	b.place.lifeline = nil
	if err != nil {
		return err
	}
	b.end = func() {
		// What a tool has let loose, to live on beyond its server.
		s.lifeline.KillOrphans(0)
		s.close()
	}
	one := scriptServer{s, b.suite.script}
	_, leave, err := one.connect(ctx)
	if err != nil {
		return err
	}
	leave()
	b.server = one
	return nil
}

// Call implements [trial.Server].
func (s scriptServer) Call(ctx context.Context, c casefile.Case) trial.Outcome {
	session, leave, err := s.connect(ctx, c)
	if err != nil {
		return trial.Outcome{Err: err}
	}
	defer leave()
	return session.Call(ctx, c)
}

// connect begins a session, which leave ends.
func (s scriptServer) connect(ctx context.Context, cases ...casefile.Case) (session *tester.Session, leave func(), err error) {
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	serving, stop := context.WithCancel(ctx)
	served := make(chan struct{})
	go func() {
		defer close(served)
		defer out.Close()
		// Nobody is to wait for a reader that is gone.
		defer in.Close()
		// It ends with the client, which is no failure.
		_ = wire.Serve(serving, s.host.Server(), in, out, wire.Options{
			MaxLine: math.MaxInt32, Supported: s.host.Supported, CallTool: s.host.CallTool, Meet: s.host.Meet, Log: s.logs.logger(),
		})
	}()
	leave = func() {
		stop()
		<-served
		if session != nil {
			_ = session.Close()
		}
		requests.Close()
	}
	session, err = tester.Connect(ctx, &mcp.IOTransport{Reader: answers, Writer: requests, MaxLineLength: -1}, tester.Options{
		Version: buildVersion(), Cases: cases,
		Explain: func(err error) error { return fmt.Errorf("the server did not answer: %w", err) },
	})
	if err != nil {
		leave()
		return nil, nil, connectError(s.name, err, "")
	}
	return session, leave, nil
}

// commandServer is a server that a command has started. All cases share its input
// and output.
type commandServer struct {
	*tester.Session
	name    string
	child   *process.Child
	group   process.Group
	in, out *os.File
}

// startCommand starts the suite's command, and begins a session with it.
func (b *testbed) startCommand(ctx context.Context) error {
	name := b.suite.command[0]
	if b.suite.dir != "" && strings.ContainsRune(name, '/') && !filepath.IsAbs(name) {
		absolute, err := filepath.Abs(filepath.Join(b.suite.dir, name))
		if err != nil {
			return err
		}
		name = absolute
	}
	if _, err := exec.LookPath(name); err != nil {
		return notThere(name, err)
	}
	s := &commandServer{name: name}
	if err := s.start(b); err != nil {
		return err
	}
	b.end = func() {
		s.end()
		// A server may have somebody who cleans up behind it.
		b.place.lifeline.KillOrphans(leaving)
		b.place.lifeline.Close()
	}
	var err error
	s.Session, err = tester.Connect(ctx, &mcp.IOTransport{Reader: s.out, Writer: s.in}, tester.Options{
		Version: buildVersion(), Cases: b.suite.file.Cases, Explain: s.explain,
	})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		s.in.Close()
		return connectError(s.name, err, s.ended())
	}
	b.server = s
	return nil
}

func (s *commandServer) start(b *testbed) error {
	stdin, in, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe for the command: %w", err)
	}
	defer stdin.Close()
	out, stdout, err := os.Pipe()
	if err != nil {
		in.Close()
		return fmt.Errorf("make a pipe for the command: %w", err)
	}
	defer stdout.Close()
	s.in, s.out = in, out
	cmd := exec.Command(s.name, b.suite.command[1:]...)
	cmd.Dir = b.suite.dir
	cmd.Env = append(os.Environ(), b.place.env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, b.place.stderr
	// All of its session can be ended with it.
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	if s.child, err = b.place.lifeline.StartChild(cmd); err != nil {
		s.close()
		return connectError(s.name, err, "")
	}
	s.group = process.Group(cmd.Process.Pid)
	if err := b.place.lifeline.Record(0, s.group); err != nil {
		s.end()
		return err
	}
	return nil
}

func (s *commandServer) close() {
	s.in.Close()
	s.out.Close()
}

// leaving is how long a command may take to end once its input has ended, and
// again once it is asked to.
const leaving = 2 * time.Second

// end ends the command, and whatever of its session is left.
func (s *commandServer) end() {
	s.in.Close()
	if !s.endsWithin(leaving) {
		release := s.group.Terminate()
		s.endsWithin(leaving)
		release()
	}
	process.KillSession(int(s.group))
	<-s.child.Ended()
	s.close()
	if s.Session != nil {
		_ = s.Session.Close()
	}
}

func (s *commandServer) endsWithin(d time.Duration) bool {
	select {
	case <-s.child.Ended():
		return true
	case <-time.After(d):
		return false
	}
}

// ended is how the command has ended, as it is put behind a sentence; "" where it
// has not.
func (s *commandServer) ended() string {
	if !s.endsWithin(leaving) {
		return ""
	}
	return " (" + s.child.String() + ")"
}

// explain words why there is no answer.
func (s *commandServer) explain(err error) error {
	if isEnd(err) {
		return fmt.Errorf("%s ended before it had answered%s", s.name, s.ended())
	}
	return fmt.Errorf("%s did not answer: %w", s.name, err)
}
