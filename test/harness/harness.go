// Package harness runs the conch binary for the black-box suites: it builds it
// once, starts servers, and speaks to them in lines.
//
// It knows nothing of conch's own packages.
package harness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Deadline is how long anything awaited may take before a test fails.
const Deadline = 30 * time.Second

// Root is the repository's top directory.
var Root = sync.OnceValue(func() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(filepath.Dir(filepath.Dir(file)))
})

// plain has Binary build without the race detector.
var plain bool

var build = sync.OnceValues(func() (string, error) {
	if bin := os.Getenv("CONCH_BIN"); bin != "" {
		return filepath.Abs(bin)
	}
	dir, err := os.MkdirTemp("", "conch-test-")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "conch")
	args := []string{"build", "-o", bin}
	if !plain && raceAvailable() {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, "./cmd/conch")...)
	cmd.Dir = Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build conch: %w\n%s", err, out)
	}
	return bin, nil
})

// raceAvailable reports whether the race detector can be linked in.
func raceAvailable() bool {
	out, err := exec.Command("go", "env", "CGO_ENABLED", "CC").Output()
	if err != nil || !strings.HasPrefix(string(out), "1\n") {
		return false
	}
	cc := strings.Fields(strings.TrimPrefix(string(out), "1\n"))
	if len(cc) == 0 {
		return false
	}
	_, err = exec.LookPath(cc[0])
	return err == nil
}

// Binary is the path of a conch built from this checkout, with the race
// detector where there is a C compiler, or of $CONCH_BIN.
func Binary(t testing.TB) string {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// Main runs a package's tests and removes what Binary has built. Call it from
// TestMain.
func Main(m *testing.M) int {
	status := m.Run()
	if os.Getenv("CONCH_BIN") == "" {
		if bin, err := build(); err == nil {
			os.RemoveAll(filepath.Dir(bin))
		}
	}
	return status
}

// PlainMain is Main for packages that start conch many times, which takes ten times
// as long with the race detector, and have little to race.
func PlainMain(m *testing.M) int {
	plain = true
	return Main(m)
}

// Script writes a server into a new directory and returns the path of its
// script, server.sh. tools is the text of tools.json; config, of config.json.
func Script(t testing.TB, script, tools, config string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"server.sh": script, "tools.json": tools, "config.json": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "server.sh")
}

// A Server is a running conch serve.
type Server struct {
	t      testing.TB
	Cmd    *exec.Cmd
	Tmp    string // its TMPDIR
	Run    string // its XDG_RUNTIME_DIR
	stdin  io.WriteCloser
	lines  chan string
	exited chan struct{}
	stderr *stderr
}

// Serve starts "conch serve" with args in directories of its own. It is killed
// and waited for when the test ends.
func Serve(t testing.TB, args ...string) *Server {
	t.Helper()
	return ServeWith(t, nil, args...)
}

// ServeWith is Serve, with a command in front that becomes conch, as env and
// nice do.
func ServeWith(t testing.TB, command []string, args ...string) *Server {
	t.Helper()
	s := &Server{t: t, Tmp: t.TempDir(), Run: t.TempDir(), lines: make(chan string, 10000), exited: make(chan struct{})}
	var said *os.File
	s.stderr, said = newStderr(t)
	defer said.Close()
	line := slices.Concat(command, []string{Binary(t), "serve"}, args)
	s.Cmd = exec.Command(line[0], line[1:]...)
	s.Cmd.Env = append(os.Environ(), "TMPDIR="+s.Tmp, "XDG_RUNTIME_DIR="+s.Run,
		// A race-enabled process would linger for a second at its end.
		"GORACE=atexit_sleep_ms=0")
	s.Cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.Cmd.Stderr = said
	stdin, err := s.Cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdin = stdin
	// Not StdoutPipe: Wait would close it before all was read.
	stdout, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.Cmd.Stdout = w
	if err := s.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	go s.read(stdout)
	go func() {
		defer close(s.exited)
		_ = s.Cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = s.Cmd.Process.Kill()
		<-s.exited
		if t.Failed() {
			t.Logf("stderr of the server:\n%s", s.Stderr())
		}
	})
	return s
}

// Stderr is what the server has written to standard error so far.
func (s *Server) Stderr() string { return s.stderr.String() }

func (s *Server) read(stdout *os.File) {
	defer stdout.Close()
	defer close(s.lines)
	r := bufio.NewReader(stdout)
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			s.lines <- line
		}
		if err != nil {
			return
		}
	}
}

// Write sends bytes as they are.
func (s *Server) Write(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.stdin, text); err != nil {
		s.t.Fatalf("write to the server: %v\n%s", err, s.Stderr())
	}
}

// Send sends a line.
func (s *Server) Send(line string) {
	s.t.Helper()
	s.Write(line + "\n")
}

// CloseInput ends the server's input.
func (s *Server) CloseInput() { s.stdin.Close() }

// Line is the server's next line, without its newline. Every line must end in
// one; the end of the output fails the test.
func (s *Server) Line() string {
	s.t.Helper()
	line, ok := s.TryLine()
	if !ok {
		s.t.Fatalf("the server's output has ended; it said:\n%s", s.Stderr())
	}
	return line
}

// Lines are the server's lines, each with its newline, for whoever reads them
// beside the test. The channel is closed at the end of the output.
func (s *Server) Lines() <-chan string { return s.lines }

// TryLine is Line, but reports the end of the output.
func (s *Server) TryLine() (string, bool) {
	s.t.Helper()
	select {
	case line, ok := <-s.lines:
		if ok && !strings.HasSuffix(line, "\n") {
			s.t.Fatalf("the server's last line has no newline: %q", line)
		}
		return strings.TrimSuffix(line, "\n"), ok
	case <-time.After(Deadline):
		s.t.Fatalf("the server has not answered within %v; it said:\n%s", Deadline, s.Stderr())
		return "", false
	}
}

// Ask sends a request and returns the next line, which must be its reply.
func (s *Server) Ask(line string) Reply {
	s.t.Helper()
	s.Send(line)
	return ParseReply(s.t, s.Line())
}

// Rest closes the input and returns all lines still to come.
func (s *Server) Rest() []string {
	s.t.Helper()
	s.CloseInput()
	var lines []string
	for {
		line, ok := s.TryLine()
		if !ok {
			return lines
		}
		lines = append(lines, line)
	}
}

// Wait waits for the server's end and returns how it ended.
func (s *Server) Wait() *os.ProcessState {
	s.t.Helper()
	select {
	case <-s.exited:
		return s.Cmd.ProcessState
	case <-time.After(Deadline):
		s.t.Fatalf("the server has not ended within %v; it said:\n%s", Deadline, s.Stderr())
		return nil
	}
}

// A Reply is a response, taken apart.
type Reply struct {
	Raw    string
	ID     json.RawMessage
	Result json.RawMessage
	Error  *RPCError
}

// RPCError is a response's error.
type RPCError struct {
	Code    int
	Message string
	Data    json.RawMessage
}

// ParseReply parses a line that must be a JSON-RPC response.
func ParseReply(t testing.TB, line string) Reply {
	t.Helper()
	r := Reply{Raw: line}
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("not JSON: %q: %v", line, err)
	}
	if (r.Result == nil) == (r.Error == nil) {
		t.Fatalf("neither a result nor an error, or both: %s", line)
	}
	return r
}

// ToolText is the text of a tools/call result and whether the tool failed.
func (r Reply) ToolText(t testing.TB) (text string, isError bool) {
	t.Helper()
	var result struct {
		Content []struct{ Type, Text string }
		IsError bool
	}
	if r.Error != nil {
		t.Fatalf("an error where a tool's result was expected: %s", r.Raw)
	}
	if err := json.Unmarshal(r.Result, &result); err != nil || len(result.Content) != 1 {
		t.Fatalf("not a result with one item: %s", r.Raw)
	}
	return result.Content[0].Text, result.IsError
}

// Call is a tools/call request line of the older era. arguments is JSON text.
func Call(id any, tool, arguments string) string {
	text, _ := json.Marshal(id)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, text, tool, arguments)
}

// Eventually waits until condition holds. For what nothing announces: the
// death of somebody else's process, say.
func Eventually(t testing.TB, within time.Duration, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		if condition() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}

// Alive reports whether the process exists and is no zombie.
func Alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) || runtime.GOOS != "linux"
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

// Session lists the processes, zombies excepted, whose environment or command
// line holds one of the server's own directories: everything the server has
// started that is still there.
func (s *Server) Session() []int {
	entries, _ := os.ReadDir("/proc")
	var pids []int
	for _, e := range entries {
		var pid int
		if _, err := fmt.Sscanf(e.Name(), "%d", &pid); err != nil || pid == s.Cmd.Process.Pid {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil {
			continue
		}
		args, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if (bytes.Contains(env, []byte("TMPDIR="+s.Tmp+"\x00")) || bytes.Contains(args, []byte(s.Run))) && Alive(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Files lists what is left below the server's two directories.
func (s *Server) Files() []string {
	var files []string
	for _, dir := range []string{s.Tmp, s.Run} {
		_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
			if path != dir {
				files = append(files, path)
			}
			return nil
		})
	}
	return files
}
