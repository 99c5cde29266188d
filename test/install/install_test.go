// Package install_test runs conch install on the configurations of clients, as
// they may be, and starts what it has written there as a client does.
package install_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"

	"github.com/conch-mcp/conch/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// A known client: its files below the home directory and below a project, and
// where servers are in them.
type known struct {
	name, title      string
	user, project    string
	servers          string
	windowed, isTOML bool
}

var all = []known{
	{name: "claude-code", title: "Claude Code", user: ".claude.json", project: ".mcp.json", servers: "mcpServers"},
	{name: "claude-desktop", title: "Claude Desktop", user: ".config/Claude/claude_desktop_config.json", servers: "mcpServers", windowed: true},
	{name: "cursor", title: "Cursor", user: ".cursor/mcp.json", project: ".cursor/mcp.json", servers: "mcpServers", windowed: true},
	{name: "vscode", title: "VS Code", user: ".config/Code/User/mcp.json", project: ".vscode/mcp.json", servers: "servers", windowed: true},
	{name: "codex", title: "Codex", user: ".codex/config.toml", project: ".codex/config.toml", servers: "mcp_servers", isTOML: true},
	{name: "gemini", title: "Gemini CLI", user: ".gemini/settings.json", project: ".gemini/settings.json", servers: "mcpServers"},
	{name: "zed", title: "Zed", user: ".config/zed/settings.json", project: ".zed/settings.json", servers: "context_servers", windowed: true},
}

func each(t *testing.T, test func(t *testing.T, c known)) {
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			test(t, c)
		})
	}
}

// A home is a user's home directory with a project and a server in it.
type home struct {
	t       *testing.T
	dir     string // the home directory
	project string // the current directory of what is run
	script  string // a server's script
	env     []string
	bin     string              // conch
	user    *syscall.Credential // who runs it, nil for whoever runs the test
}

const usualPath = "/opt/tools/bin:/usr/local/bin:/usr/bin:/bin"

func newHome(t *testing.T) *home {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, dir: dir, project: filepath.Join(dir, "work"), script: filepath.Join(dir, "work", "greeter", "server.sh")}
	h.bin = harness.Binary(t)
	h.env = []string{"HOME=" + dir, "PATH=" + usualPath, "TMPDIR=" + t.TempDir(), "GORACE=atexit_sleep_ms=0"}
	h.write("work/greeter/server.sh", "tool_greet() { echo \"Hello, $arg_name!\"; }\n")
	h.write("work/greeter/tools.json", `{"tools": [{"name": "greet", "inputSchema": {"type": "object"}}]}`)
	h.write("work/greeter/config.json", `{"serverInfo": {"name": "greeter", "version": "1"}}`)
	return h
}

func (h *home) path(name string) string { return filepath.Join(h.dir, name) }

func (h *home) write(name, text string) {
	h.t.Helper()
	path := h.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) read(name string) string {
	h.t.Helper()
	text, err := os.ReadFile(h.path(name))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text)
}

// found makes the client's directory, as its first start does.
func (h *home) found(c known) {
	h.t.Helper()
	dir := filepath.Dir(h.path(c.user))
	if c.name == "claude-code" {
		dir = h.path(".claude")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		h.t.Fatal(err)
	}
}

// A run is how a conch has ended.
type run struct {
	out, err string
	status   int
}

func (h *home) conch(args ...string) run {
	h.t.Helper()
	return h.run(exec.Command(h.bin, args...))
}

// sh runs commands of a shell.
func (h *home) sh(commands string) run {
	h.t.Helper()
	return h.run(exec.Command("bash", "-c", commands))
}

func (h *home) run(cmd *exec.Cmd) run {
	h.t.Helper()
	cmd.Dir, cmd.Env = h.project, h.env
	if h.user != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: h.user}
	}
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if failed := cmd.Run(); failed != nil && cmd.ProcessState == nil {
		h.t.Fatal(failed)
	}
	return run{out.String(), err.String(), cmd.ProcessState.ExitCode()}
}

// install runs conch install, which must succeed and complain of nothing.
func (h *home) install(c known, args ...string) string {
	h.t.Helper()
	r := h.conch(append([]string{"install", "--client", c.name}, args...)...)
	if r.status != 0 || r.err != "" {
		h.t.Fatalf("status %d of %q: %s%s", r.status, args, r.out, r.err)
	}
	return r.out
}

func (r run) want(t *testing.T, status int, texts ...string) {
	t.Helper()
	if r.status != status {
		t.Errorf("status %d, not %d: %s%s", r.status, status, r.out, r.err)
	}
	for _, text := range texts {
		if !strings.Contains(r.out+r.err, text) {
			t.Errorf("it does not say %q, but %s%s", text, r.out, r.err)
		}
	}
}

// decode reads a configuration as the client does.
func (c known) decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var all map[string]any
	text = strings.TrimPrefix(text, "\ufeff")
	var err error
	if c.isTOML {
		err = toml.Unmarshal([]byte(text), &all)
	} else {
		var plain []byte
		if plain, err = hujson.Standardize([]byte(text + "\n")); err == nil {
			decoder := json.NewDecoder(bytes.NewReader(plain))
			decoder.UseNumber()
			err = decoder.Decode(&all)
		}
	}
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return all
}

// An entry is what a client reads of a server.
type entry struct {
	Type, Command string
	Args          []string
	Env           map[string]string
}

func (c known) entry(t *testing.T, text, name string) entry {
	t.Helper()
	servers, _ := c.decode(t, text)[c.servers].(map[string]any)
	raw, err := json.Marshal(servers[name])
	if err != nil {
		t.Fatal(err)
	}
	var e entry
	if err := json.Unmarshal(raw, &e); err != nil || e.Command == "" {
		t.Fatalf("there is no entry %s (%v) in\n%s", name, err, text)
	}
	return e
}

func client(name string) known {
	for _, c := range all {
		if c.name == name {
			return c
		}
	}
	return known{}
}

func binary(t *testing.T) string { return harness.Binary(t) }
