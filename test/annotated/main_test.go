// Package annotated_test serves scripts, folders and programs that say in tags what
// their tools are, and looks at them from outside: bytes in, bytes out, processes and
// files left.
package annotated_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.PlainMain(m)) }

// server is a running conch with the ids of its requests counted.
type server struct {
	*harness.Server
	t       testing.TB
	last    int
	changed int // how often it has told that its list of tools has changed
}

type answer struct {
	text    string
	isError bool
}

// files writes files into a new folder and returns its path. Those that begin with
// #! can be executed.
func files(t testing.TB, texts map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tools")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

// write puts a file in its place as a whole, as editors do.
func write(t testing.TB, path, text string) {
	t.Helper()
	mode := os.FileMode(0o644)
	if strings.HasPrefix(text, "#!") {
		mode = 0o755
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	// A dot in front, so that the folder has no tool of that name meanwhile.
	beside := filepath.Join(filepath.Dir(path), ".new")
	if err := os.WriteFile(beside, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(beside, path); err != nil {
		t.Fatal(err)
	}
}

// script writes a script alone in its folder and returns its path.
func script(t testing.TB, text string) string {
	t.Helper()
	return filepath.Join(files(t, map[string]string{"server.sh": text}), "server.sh")
}

// serve serves a script or a folder.
func serve(t testing.TB, target string, flags ...string) *server {
	t.Helper()
	return serveWith(t, nil, target, flags...)
}

// serveWith is serve with variables of the environment, NAME=value each, or flags of
// env.
func serveWith(t testing.TB, env []string, target string, flags ...string) *server {
	t.Helper()
	var command []string
	if len(env) > 0 {
		command = append([]string{"env"}, env...)
	}
	s := harness.ServeWith(t, command, append(append([]string{"--max-text=0B"}, flags...), target)...)
	t.Cleanup(func() {
		// Strays would hold standard error open, whose end is waited for.
		if t.Failed() {
			for _, pid := range s.Session() {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	return &server{Server: s, t: t}
}

// answerOf waits for the answer of a request.
func (s *server) answerOf(id int) harness.Reply {
	s.t.Helper()
	for {
		line := s.Line()
		if strings.Contains(line, `"method":"notifications/`) {
			if strings.Contains(line, "tools/list_changed") {
				s.changed++
			}
			continue
		}
		reply := harness.ParseReply(s.t, line)
		if string(reply.ID) != strconv.Itoa(id) {
			s.t.Fatalf("an answer nobody waits for: %.300s", line)
		}
		return reply
	}
}

func (s *server) request(method, params string) harness.Reply {
	s.t.Helper()
	s.last++
	s.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, s.last, method, params))
	return s.answerOf(s.last)
}

// post sends a call and returns its id.
func (s *server) post(tool, arguments string) int {
	s.t.Helper()
	s.last++
	s.Send(harness.Call(s.last, tool, arguments))
	return s.last
}

func (s *server) call(tool, arguments string) answer {
	s.t.Helper()
	text, isError := s.answerOf(s.post(tool, arguments)).ToolText(s.t)
	return answer{text, isError}
}

// ok makes a call that must succeed and returns its text.
func (s *server) ok(tool, arguments string) string {
	s.t.Helper()
	got := s.call(tool, arguments)
	if got.isError {
		s.t.Fatalf("%s failed: %.500s", tool, got.text)
	}
	return got.text
}

// says makes a call that must succeed with the text.
func (s *server) says(tool, arguments, text string) {
	s.t.Helper()
	if got := s.ok(tool, arguments); got != text {
		s.t.Errorf("%s %.200s: got %.500q, want %.500q", tool, arguments, got, text)
	}
}

// fails makes a call that must fail with all of these in its text.
func (s *server) fails(tool, arguments string, parts ...string) {
	s.t.Helper()
	got := s.call(tool, arguments)
	if !got.isError {
		s.t.Errorf("%s %.200s did not fail: %.300s", tool, arguments, got.text)
	}
	for _, part := range parts {
		if !strings.Contains(got.text, part) {
			s.t.Errorf("%s %.200s: %q is not in %.500q", tool, arguments, part, got.text)
		}
	}
}

// tools are the names of the tools that are listed, and what the list says of each.
func (s *server) tools() (names []string, entries map[string]json.RawMessage) {
	s.t.Helper()
	return toolsIn(s.t, s.request("tools/list", `{}`).Result)
}

func toolsIn(t testing.TB, result json.RawMessage) (names []string, entries map[string]json.RawMessage) {
	t.Helper()
	var list struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(result, &list); err != nil {
		t.Fatalf("no list of tools: %s", result)
	}
	entries = map[string]json.RawMessage{}
	for _, entry := range list.Tools {
		var tool struct{ Name string }
		if err := json.Unmarshal(entry, &tool); err != nil {
			t.Fatalf("no tool: %s", entry)
		}
		names = append(names, tool.Name)
		entries[tool.Name] = entry
	}
	return names, entries
}

// names checks which tools are listed.
func (s *server) names(want ...string) {
	s.t.Helper()
	if got, _ := s.tools(); strings.Join(got, " ") != strings.Join(want, " ") {
		s.t.Fatalf("the tools are %q, want %q", got, want)
	}
}

func (s *server) cancel(id int) {
	s.t.Helper()
	s.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
}

// ends ends the server as a client does, and checks that nothing is left.
func (s *server) ends() {
	s.t.Helper()
	for _, line := range s.Rest() {
		// A watcher may tell of one change twice.
		if strings.Contains(line, "tools/list_changed") {
			continue
		}
		s.t.Errorf("an answer nobody waits for: %.300s", line)
	}
	if state := s.Wait(); !state.Success() {
		s.t.Errorf("the server ended with %v", state)
	}
	harness.Eventually(s.t, harness.Deadline, "no process and no file is left", func() bool {
		return len(s.Session())+len(s.Files()) == 0
	})
}

// conch runs conch and returns what it printed on both outputs.
func conch(t testing.TB, env []string, args ...string) (output string, status int) {
	t.Helper()
	cmd := exec.Command(harness.Binary(t), args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir(), "XDG_RUNTIME_DIR="+t.TempDir())
	cmd.Env = append(cmd.Env, env...)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// object is a JSON object of names and values in turn.
func object(pairs ...any) string {
	members := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		members[pairs[i].(string)] = pairs[i+1]
	}
	text, _ := json.Marshal(members)
	return string(text)
}

// awaitFile waits until a file holds something, and returns that.
func awaitFile(t testing.TB, path string) (text string) {
	t.Helper()
	harness.Eventually(t, harness.Deadline, path+" holds something", func() bool {
		data, _ := os.ReadFile(path)
		text = string(data)
		return strings.HasSuffix(text, "\n")
	})
	return strings.TrimSuffix(text, "\n")
}

// gone waits until a process is no more.
func gone(t testing.TB, pid string) {
	t.Helper()
	number, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatalf("%q is no process", pid)
	}
	harness.Eventually(t, 20*time.Second, "the end of "+pid, func() bool { return !harness.Alive(number) })
}
