// Package calls_test holds what a call is and how it ends, from outside: bytes
// in, bytes out, processes left, files left.
package calls_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

func TestMain(m *testing.M) {
	// The race detector makes every process sleep for a second at its end, and
	// these tests wait for many ends.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	os.Exit(harness.Main(m))
}

// connection is what a test needs of a server's standard streams and its end.
type connection interface {
	Send(line string)
	CloseInput()
	Line() string
	Rest() []string
	Wait() *os.ProcessState
	Stderr() string
}

// watched is what a test sees of a server's processes and files.
type watched struct{ *harness.Server }

// server is a running conch with the ids of its requests counted.
type server struct {
	connection
	watched
	t     testing.TB
	last  int
	stray map[int]bool // calls whose answers may come or not
}

// answer is a tool's result.
type answer struct {
	text    string
	isError bool
}

// serve runs a script whose tools take any arguments.
func serve(t testing.TB, script string, flags ...string) *server {
	t.Helper()
	path := harness.Script(t, script, toolsOf(script), "{}")
	// What calls print is compared whole.
	s := harness.Serve(t, append([]string{"--max-text=0B"}, append(flags, path)...)...)
	cleanUp(t, s)
	return &server{connection: s, watched: watched{s}, t: t}
}

// cleanUp ends what a failed test has left: strays would hold the server's
// standard error open, whose end is waited for.
func cleanUp(t testing.TB, s *harness.Server) {
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		for _, pid := range s.Session() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
}

var toolFunction = regexp.MustCompile(`(?m)^tool_(\w+)\(\)`)

// toolsOf declares every tool function that begins a line of the script.
func toolsOf(script string) string {
	var entries []string
	for _, m := range toolFunction.FindAllStringSubmatch(script, -1) {
		entries = append(entries, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, m[1]))
	}
	return `{"tools":[` + strings.Join(entries, ",") + `]}`
}

// post sends a call and returns its id.
func (s *server) post(tool, arguments string) int {
	s.t.Helper()
	s.last++
	s.Send(harness.Call(s.last, tool, arguments))
	return s.last
}

// await reads answers until those with the ids are there, in any order.
func (s *server) await(ids ...int) map[int]answer {
	s.t.Helper()
	wanted := map[int]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	answers := map[int]answer{}
	for len(answers) < len(ids) {
		reply := harness.ParseReply(s.t, s.Line())
		id, err := strconv.Atoi(string(reply.ID))
		if s.stray[id] {
			continue
		}
		if _, twice := answers[id]; err != nil || !wanted[id] || twice {
			s.t.Fatalf("an answer nobody waits for: %s", clip(reply.Raw))
		}
		text, isError := reply.ToolText(s.t)
		answers[id] = answer{text, isError}
	}
	return answers
}

// call makes a call and returns its result.
func (s *server) call(tool, arguments string) answer {
	s.t.Helper()
	id := s.post(tool, arguments)
	return s.await(id)[id]
}

// ok makes a call that must succeed and returns its text.
func (s *server) ok(tool, arguments string) string {
	s.t.Helper()
	got := s.call(tool, arguments)
	if got.isError {
		s.t.Fatalf("%s failed: %s", tool, clip(got.text))
	}
	return got.text
}

// fails makes a call that must fail with the text.
func (s *server) fails(tool, arguments, text string) {
	s.t.Helper()
	got := s.call(tool, arguments)
	if !got.isError || got.text != text {
		s.t.Fatalf("%s: got %+v, want the failure %q", tool, got, text)
	}
}

func (s *server) cancel(id int) {
	s.t.Helper()
	s.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
}

// serves checks that calls go on as if nothing had happened, one after the
// other and several at once. The script must have [echo].
func (s *server) serves() {
	s.t.Helper()
	for i := range 5 {
		word := fmt.Sprintf("alone %d", i)
		if got := s.ok("echo", object("v", word)); got != word {
			s.t.Fatalf("echo: got %q, want %q", got, word)
		}
	}
	var ids []int
	for i := range 8 {
		ids = append(ids, s.post("echo", object("v", fmt.Sprintf("together %d", i))))
	}
	answers := s.await(ids...)
	for i, id := range ids {
		if want := (answer{fmt.Sprintf("together %d", i), false}); answers[id] != want {
			s.t.Fatalf("echo: got %+v, want %+v", answers[id], want)
		}
	}
}

// ends ends the server as a client does, and checks that nothing is left.
func (s *server) ends() {
	s.t.Helper()
	for _, line := range s.Rest() {
		s.t.Errorf("an answer nobody waits for: %s", clip(line))
	}
	if state := s.Wait(); !state.Success() {
		s.t.Errorf("the server ended with %v", state)
	}
	s.leavesNothing()
}

// leavesNothing checks that no process and no file of a server that has ended
// is left.
func (s *server) leavesNothing() {
	s.t.Helper()
	leavesNothing(s.t, s.Server)
}

func leavesNothing(t testing.TB, s *harness.Server) {
	t.Helper()
	deadline := time.Now().Add(harness.Deadline)
	for {
		pids, files := s.Session(), s.Files()
		if len(pids)+len(files) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still there: processes %v, files %q", describe(pids), files)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// echo is a tool for scripts: it gives back its argument v.
const echo = `
tool_echo() { builtin printf '%s' "$arg_v"; }
`

// object is a JSON object with one string member.
func object(name, value string) string {
	text, _ := json.Marshal(map[string]string{name: value})
	return string(text)
}

// mark is a file in which tools tell what they do.
type mark struct {
	t    testing.TB
	path string
}

func newMark(t testing.TB) mark {
	t.Helper()
	// Not below a directory of the server's: nobody but the test removes it.
	return mark{t, filepath.Join(t.TempDir(), "mark")}
}

// args are a call's arguments that name the mark as "at".
func (m mark) args() string { return object("at", m.path) }

// lines waits until the mark has n whole lines.
func (m mark) lines(n int) []string {
	m.t.Helper()
	var lines []string
	harness.Eventually(m.t, harness.Deadline, fmt.Sprintf("%d lines in the mark", n), func() bool {
		data, _ := os.ReadFile(m.path)
		lines = strings.Split(string(data), "\n")
		lines = lines[:len(lines)-1]
		return len(lines) >= n
	})
	return lines
}

// pids are the numbers in the first n lines of the mark.
func (m mark) pids(n int) []int {
	m.t.Helper()
	var pids []int
	for _, line := range m.lines(n) {
		pid, err := strconv.Atoi(line)
		if err != nil || pid < 2 {
			m.t.Fatalf("not a process in the mark: %q", line)
		}
		pids = append(pids, pid)
	}
	return pids
}

// text is what the mark holds; nothing, when no tool has written to it.
func (m mark) text() string {
	data, _ := os.ReadFile(m.path)
	return string(data)
}

func clip(text string) string {
	if len(text) > 300 {
		return fmt.Sprintf("%s… (%d bytes)", text[:300], len(text))
	}
	return text
}

func touch(t testing.TB, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
