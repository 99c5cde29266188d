package calls_test

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// launch says how a server is started, where that is not the harness's way.
type launch struct {
	wrap   []string            // a command that runs its arguments
	env    []string            // added to the environment
	user   *syscall.Credential // another user
	stdout *os.File            // where the server's answers go; nobody reads them here
	flags  []string            // of conch serve
}

// nobody is the user that tests run a server as when they are run by root.
const nobody = 65534

// launched is a server the test has started itself. Of the harness's server it
// uses what looks at processes and files.
type launched struct {
	*harness.Server
	t     *testing.T
	stdin io.WriteCloser
	lines chan string
	ended chan struct{}

	mu     sync.Mutex
	stderr bytes.Buffer
}

// serveAs is [serve] for a server that is started as l says.
func serveAs(t *testing.T, l launch, script string) *server {
	t.Helper()
	path := harness.Script(t, script, toolsOf(script), "{}")
	open(t, filepath.Dir(path))
	s := &launched{t: t, Server: &harness.Server{Tmp: t.TempDir(), Run: t.TempDir()}, lines: make(chan string, 1000), ended: make(chan struct{})}
	for _, dir := range []string{s.Tmp, s.Run, filepath.Dir(harness.Binary(t))} {
		open(t, dir)
	}
	argv := append(append(append([]string{}, l.wrap...), harness.Binary(t), "serve"), append(l.flags, path)...)
	s.Cmd = exec.Command(argv[0], argv[1:]...)
	s.Cmd.Env = append(append(os.Environ(), "TMPDIR="+s.Tmp, "XDG_RUNTIME_DIR="+s.Run), l.env...)
	s.Cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: l.user}
	s.Cmd.Stderr = s
	s.start(l)
	cleanUp(t, s.Server)
	return &server{connection: s, watched: watched{s.Server}, t: t}
}

// open lets every user into a directory of the test's.
func open(t *testing.T, dir string) {
	t.Helper()
	for ; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *launched) start(l launch) {
	s.t.Helper()
	var err error
	if s.stdin, err = s.Cmd.StdinPipe(); err != nil {
		s.t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.Cmd.Stdout = w
	if l.stdout != nil {
		s.Cmd.Stdout = l.stdout
	}
	if err := s.Cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	w.Close()
	go s.read(r)
	go func() {
		defer close(s.ended)
		_ = s.Cmd.Wait()
	}()
	s.t.Cleanup(func() {
		_ = s.Cmd.Process.Kill()
		<-s.ended
		if s.t.Failed() {
			s.t.Logf("stderr of the server:\n%s", s.Stderr())
		}
	})
}

func (s *launched) read(r *os.File) {
	defer r.Close()
	defer close(s.lines)
	for in := bufio.NewReader(r); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		s.lines <- strings.TrimSuffix(line, "\n")
	}
}

// Write takes what the server writes to standard error.
func (s *launched) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stderr.Write(p)
}

func (s *launched) Stderr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stderr.String()
}

func (s *launched) Send(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.stdin, line+"\n"); err != nil {
		s.t.Fatalf("write to the server: %v\n%s", err, s.Stderr())
	}
}

func (s *launched) CloseInput() { s.stdin.Close() }

func (s *launched) Line() string {
	s.t.Helper()
	select {
	case line, ok := <-s.lines:
		if !ok {
			s.t.Fatalf("the server's output has ended; it said:\n%s", s.Stderr())
		}
		return line
	case <-time.After(harness.Deadline):
		s.t.Fatalf("the server has not answered within %v; it said:\n%s", harness.Deadline, s.Stderr())
		return ""
	}
}

func (s *launched) Rest() []string {
	s.t.Helper()
	s.CloseInput()
	s.Wait()
	var lines []string
	for line := range s.lines {
		lines = append(lines, line)
	}
	return lines
}

func (s *launched) Wait() *os.ProcessState {
	s.t.Helper()
	select {
	case <-s.ended:
		return s.Cmd.ProcessState
	case <-time.After(harness.Deadline):
		s.t.Fatalf("the server has not ended within %v; it said:\n%s", harness.Deadline, s.Stderr())
		return nil
	}
}
