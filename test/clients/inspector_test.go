package clients_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

// The inspector's exit status for a tool that failed, or is not there.
const inspectorToolError = 5

func TestTheInspector(t *testing.T) {
	for _, era := range []string{"legacy", "auto", "modern"} {
		inspectAll(t, era, inspectProgram)
	}
}

// inspectAll tries everything that the inspector's command line can do with the
// fixture.
func inspectAll(t *testing.T, era string, inspect func(t *testing.T, args []string) (stdout []byte, stderr string, status int)) {
	greet := []string{"--method", "tools/call", "--tool-name", "greet"}
	cases := map[string]struct {
		args   []string
		status int
		check  func(t *testing.T, result inspectorResult)
		says   string // on standard error
	}{
		"lists the tools without a complaint about their schemas": {
			args: []string{"--method", "tools/list", "--strict"}, check: listsAll,
		},
		"calls a tool with a pair":           {args: append(greet, "--tool-arg", "name=Ada"), check: saysText("Hello, Ada!", false)},
		"calls a tool with JSON":             {args: append(greet, "--tool-args-json", `{"name":"Ada"}`), check: saysText("Hello, Ada!", false)},
		"shows what a failing tool said":     {args: []string{"--method", "tools/call", "--tool-name", "fail"}, status: inspectorToolError, check: saysText("Error executing fail: the projector is broken", true), says: "isError:true"},
		"tells that a tool is not there":     {args: []string{"--method", "tools/call", "--tool-name", "nonsense"}, status: inspectorToolError, says: "nonsense"},
		"shows what the server calls itself": {args: []string{"--method", "initialize"}, check: introduces},
	}
	for name, c := range cases {
		t.Run(name+", "+era, func(t *testing.T) {
			stdout, stderr, status := inspect(t, append(c.args, "--protocol-era", era))
			if status != c.status || !strings.Contains(stderr, c.says) {
				t.Errorf("status %d, want %d; standard error, which must hold %q:\n%s", status, c.status, c.says, stderr)
			}
			if c.check == nil {
				return
			}
			var reply struct{ Result inspectorResult }
			if err := json.Unmarshal(stdout, &reply); err != nil {
				t.Fatalf("not JSON: %v: %q", err, stdout)
			}
			c.check(t, reply.Result)
		})
	}
}

type inspectorResult struct {
	Tools []struct {
		Name        string
		InputSchema map[string]any
	}
	Content      []struct{ Type, Text string }
	IsError      bool
	ServerInfo   struct{ Name, Version string }
	Instructions string
}

func listsAll(t *testing.T, result inspectorResult) {
	var names []string
	for _, tool := range result.Tools {
		names = append(names, tool.Name)
	}
	if want := []string{"greet", "fail", "echo", "linger"}; !reflect.DeepEqual(names, want) {
		t.Fatalf("tools %q, want %q", names, want)
	}
	want := map[string]any{
		"type":       "object",
		"properties": map[string]any{"name": map[string]any{"type": "string", "minLength": 1.0}},
		"required":   []any{"name"}, "additionalProperties": false,
	}
	if got := result.Tools[0].InputSchema; !reflect.DeepEqual(got, want) {
		t.Errorf("inputSchema of greet: %v, want %v", got, want)
	}
}

func saysText(text string, isError bool) func(*testing.T, inspectorResult) {
	return func(t *testing.T, result inspectorResult) {
		if len(result.Content) != 1 || result.Content[0].Text != text || result.IsError != isError {
			t.Errorf("result %+v, want the text %q and isError %v", result, text, isError)
		}
	}
}

func introduces(t *testing.T, result inspectorResult) {
	if result.ServerInfo.Name != "clients-fixture" || result.ServerInfo.Version != "3.2.1" || result.Instructions != "Greet first, then ask." {
		t.Errorf("result %+v", result)
	}
}

// inspectProgram has the inspector start the fixture, of which nothing may be
// left.
func inspectProgram(t *testing.T, args []string) (stdout []byte, stderr string, status int) {
	t.Helper()
	server := newServer(t)
	command := []string{harness.Binary(t), "serve", fixture("server.sh")}
	for name, value := range environment(server) {
		args = append(args, "-e", name+"="+value)
	}
	stdout, stderr, status = inspect(t, append(command, args...))
	server.Left(t)
	return stdout, stderr, status
}

// inspect runs the inspector's command line.
func inspect(t *testing.T, args []string) (stdout []byte, stderr string, status int) {
	t.Helper()
	command := []string{
		filepath.Join("node_modules", "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js"),
		"--cli",
	}
	command = append(append(command, args...), "--format", "json")
	// It keeps its settings in the home directory.
	stdout, errs, err := run(t, installedNode(t), []string{"HOME=" + t.TempDir()}, command...)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v\n%s", err, errs)
	}
	if exit != nil {
		status = exit.ExitCode()
	}
	return stdout, string(errs), status
}

// newServer names the directories of a server that somebody else will start.
func newServer(t *testing.T) *harness.Server {
	return &harness.Server{Tmp: t.TempDir(), Run: t.TempDir(), Cmd: &exec.Cmd{Process: &os.Process{}}}
}

func environment(server *harness.Server) map[string]string {
	return map[string]string{
		"TMPDIR": server.Tmp, "XDG_RUNTIME_DIR": server.Run,
		// A race-enabled server would sleep for a second at its end, and
		// clients do not wait for long.
		"GORACE": "atexit_sleep_ms=0",
	}
}
