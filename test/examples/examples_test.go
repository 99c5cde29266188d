// Package examples_test holds the examples to what they teach: each is called
// as a client would call it, with good, bad and hostile arguments, and what it
// must not do is looked for afterwards.
package examples_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

func TestMain(m *testing.M) {
	// The race detector makes every process sleep for a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	os.Exit(harness.Main(m))
}

// answer is a tool's result.
type answer struct {
	text    string
	isError bool
}

// example is an example's script, and the flags to call it with.
type example struct {
	t      *testing.T
	script string
	flags  []string
}

func theExample(t *testing.T, name string) example {
	return example{t: t, script: filepath.Join(harness.Root(), "examples", name, "server.sh")}
}

// unguarded is the example with tools that take any arguments: what its script
// refuses by itself.
func (e example) unguarded(tools ...string) example {
	e.t.Helper()
	type tool map[string]any
	var list []tool
	for _, name := range tools {
		list = append(list, tool{"name": name, "inputSchema": tool{"type": "object"}})
	}
	text, err := json.Marshal(tool{"tools": list})
	if err != nil {
		e.t.Fatal(err)
	}
	path := filepath.Join(e.t.TempDir(), "tools.json")
	write(e.t, path, string(text))
	e.flags = []string{"--tools", path}
	return e
}

// call calls one tool with conch call; nothing may be left of it.
func (e example) call(tool, arguments string) answer {
	e.t.Helper()
	tmp, run := e.t.TempDir(), e.t.TempDir()
	args := append([]string{"call", "--json", "--args", arguments}, e.flags...)
	cmd := exec.Command(harness.Binary(e.t), append(args, e.script, tool)...)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "XDG_RUNTIME_DIR="+run)
	out, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 {
		e.t.Fatalf("conch call %s %s: %v\n%s", tool, arguments, err, err.(*exec.ExitError).Stderr)
	}
	harness.Eventually(e.t, 10*time.Second, "the call's files are gone", func() bool {
		return empty(e.t, tmp) && empty(e.t, run)
	})
	reply := harness.Reply{Raw: string(out), Result: out}
	text, isError := reply.ToolText(e.t)
	return answer{text, isError}
}

// asked is one call and what is to come of it.
type asked struct {
	about     string
	tool      string
	arguments string
	isError   bool
	says      []string // texts that are in the answer
}

// ask makes every call of a table.
func (e example) ask(table []asked) {
	for _, c := range table {
		e.t.Run(c.about, func(t *testing.T) {
			one := e
			one.t = t
			c.judge(t, one.call(c.tool, c.arguments))
		})
	}
}

func (c asked) judge(t *testing.T, got answer) {
	t.Helper()
	if got.isError != c.isError {
		t.Errorf("%s %s: isError is %v: %.500s", c.tool, c.arguments, got.isError, got.text)
	}
	for _, want := range c.says {
		if !strings.Contains(got.text, want) {
			t.Errorf("%s %s: no %q in %.500q", c.tool, c.arguments, want, got.text)
		}
	}
}

// session makes the calls of a table over stdio and then over HTTP. The answers
// must be the same; they are returned in the table's order.
func (e example) session(table []asked) []answer {
	e.t.Helper()
	answers := e.overStdio(table)
	for i, got := range answers {
		table[i].judge(e.t, got)
	}
	for i, got := range e.overHTTP(table) {
		if got != answers[i] {
			e.t.Errorf("%s %s: over HTTP %v, %.500q, and over stdio %v, %.500q",
				table[i].tool, table[i].arguments, got.isError, got.text, answers[i].isError, answers[i].text)
		}
	}
	return answers
}

// overStdio makes the calls of a table side by side, on one connection. Nothing
// may be left.
func (e example) overStdio(table []asked) []answer {
	e.t.Helper()
	s := harness.Serve(e.t, append(e.flags, e.script)...)
	for i, c := range table {
		s.Send(harness.Call(i, c.tool, c.arguments))
	}
	answers := make([]answer, len(table))
	for range table {
		reply := harness.ParseReply(e.t, s.Line())
		var id int
		if err := json.Unmarshal(reply.ID, &id); err != nil || id < 0 || id >= len(table) {
			e.t.Fatalf("an id that was not asked with: %s", reply.Raw)
		}
		answers[id].text, answers[id].isError = reply.ToolText(e.t)
	}
	if rest := s.Rest(); len(rest) > 0 {
		e.t.Errorf("more lines than calls: %q", rest)
	}
	if state := s.Wait(); state.ExitCode() != 0 {
		e.t.Errorf("the server ended with %v", state)
	}
	harness.Eventually(e.t, 10*time.Second, "the server's files and processes are gone", func() bool {
		return len(s.Files()) == 0 && len(s.Session()) == 0
	})
	return answers
}

func empty(t *testing.T, dir string) bool {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries) == 0
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

// targets are the scripts of the examples, and the folders of tools.
func targets(t *testing.T) (paths []string) {
	t.Helper()
	for _, pattern := range []string{"server.sh", "tools"} {
		found, err := filepath.Glob(filepath.Join(harness.Root(), "examples", "*", pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("examples: %q, %v", found, err)
		}
		paths = append(paths, found...)
	}
	return paths
}

func TestEveryExampleIsWhole(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(harness.Root(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range targets(t) {
		name := filepath.Base(filepath.Dir(target))
		if !strings.Contains(string(readme), "](examples/"+name+"/") {
			t.Errorf("README.md does not list examples/%s", name)
		}
		if name == "memos" {
			continue // a process of its own, which test/docs runs
		}
		out, err := exec.Command(harness.Binary(t), "tools", target).CombinedOutput()
		if err != nil || strings.Contains(string(out), "problem") {
			t.Errorf("conch tools %s: %v\n%s", target, err, out)
		}
	}
}
