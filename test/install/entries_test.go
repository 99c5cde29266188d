package install_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// start starts a server as a client does which has nothing but a short PATH, and
// has it answer.
func (e entry) start(t *testing.T, want string) {
	t.Helper()
	if !filepath.IsAbs(e.Command) {
		t.Fatalf("%s is no absolute path", e.Command)
	}
	cmd := exec.Command(e.Command, e.Args...)
	cmd.Dir = "/"
	// A race-enabled process would linger for a second at its end.
	cmd.Env = []string{"PATH=/usr/bin:/bin", "GORACE=atexit_sleep_ms=0"}
	for name, value := range e.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(harness.Deadline, func() { _ = cmd.Process.Kill() }).Stop()
	if _, err := io.WriteString(stdin, initialize+"\n"); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(stdout).ReadString('\n')
	stdin.Close()
	_ = cmd.Wait()
	if !strings.Contains(line, `"id":1`) || !strings.Contains(line, want) {
		t.Fatalf("%s %q answers %q; it said:\n%s", e.Command, e.Args, line, said.String())
	}
}

func TestWhatIsWrittenStarts(t *testing.T) {
	each(t, func(t *testing.T, c known) {
		h := newHome(t)
		h.found(c)
		h.install(c, "greeter/server.sh")
		e := c.entry(t, h.read(c.user), "greeter")
		if want := []string{"serve", h.script}; e.Command != harness.Binary(t) || !slices.Equal(e.Args, want) {
			t.Errorf("%+v", e)
		}
		if e.Env["PATH"] != "" != c.windowed || c.windowed && e.Env["PATH"] != usualPath {
			t.Errorf("PATH is %q", e.Env["PATH"])
		}
		e.start(t, `"name":"greeter"`)
	})
}

func TestAScriptThatStartsItself(t *testing.T) {
	each(t, func(t *testing.T, c known) {
		h := newHome(t)
		h.found(c)
		if r := h.conch("vendor", "bash-mcp-sdk", "greeter/lib/"); r.status != 0 {
			t.Fatal(r)
		}
		h.write("work/greeter/own.sh", "#!/usr/bin/env bash\nhere=$(cd \"$(dirname \"$0\")\" && pwd)\n"+
			"MCP_TOOLS_LIST_FILE=$here/tools.json MCP_CONFIG_FILE=$here/config.json\nsource \"$here/lib/mcpserver_core.sh\" || exit\n"+
			"tool_greet() { echo hello; }\nrun_mcp_server \"$@\"\n")
		script := h.path("work/greeter/own.sh")
		r := h.conch("install", "--client", c.name, "greeter/own.sh")
		r.want(t, 2, "greeter/own.sh starts itself, by run_mcp_server, and is not executable; chmod +x it")
		if err := os.Chmod(script, 0o755); err != nil {
			t.Fatal(err)
		}
		h.install(c, "greeter/own.sh")
		e := c.entry(t, h.read(c.user), "greeter")
		if e.Command != script || len(e.Args) > 0 || e.Env["CONCH_BIN"] != harness.Binary(t) {
			t.Errorf("%+v", e)
		}
		e.start(t, `"name":"greeter"`)

		h.install(c, "--name", "again", "--", "greeter/own.sh")
		e = c.entry(t, h.read(c.user), "again")
		if e.Command != script || e.Env["CONCH_BIN"] != harness.Binary(t) {
			t.Errorf("%+v", e)
		}
		e.start(t, `"name":"greeter"`)
	})
}

func TestACommand(t *testing.T) {
	each(t, func(t *testing.T, c known) {
		h := newHome(t)
		h.found(c)
		bin := h.path("bin")
		if err := os.Mkdir(bin, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(harness.Binary(t), filepath.Join(bin, "conch")); err != nil {
			t.Fatal(err)
		}
		h.env = append(h.env, "PATH="+bin+":"+usualPath)
		h.install(c, "--name", "greeter", "--", "conch", "serve", "--timeout", "30s", h.script)
		e := c.entry(t, h.read(c.user), "greeter")
		if want := []string{"serve", "--timeout", "30s", h.script}; e.Command != filepath.Join(bin, "conch") || !slices.Equal(e.Args, want) {
			t.Errorf("%+v", e)
		}
		e.start(t, `"name":"greeter"`)
	})
}

func TestAServerThatNeedsMoreThanAShortPath(t *testing.T) {
	h := newHome(t)
	cursor := client("cursor")
	h.found(cursor)
	h.write("bin/fortune", "#!/bin/sh\necho lucky\n")
	if err := os.Chmod(h.path("bin/fortune"), 0o755); err != nil {
		t.Fatal(err)
	}
	h.write("work/greeter/server.sh", "fortune >/dev/null || exit\ntool_greet() { fortune; }\n")
	h.env = append(h.env, "PATH="+h.path("bin")+":.:"+usualPath)
	h.install(cursor, "greeter/server.sh")
	e := cursor.entry(t, h.read(cursor.user), "greeter")
	if want := h.path("bin") + ":" + usualPath; e.Env["PATH"] != want {
		t.Errorf("PATH is %q, not %q", e.Env["PATH"], want)
	}
	e.start(t, `"name":"greeter"`)
}

func TestVariables(t *testing.T) {
	each(t, func(t *testing.T, c known) {
		h := newHome(t)
		h.found(c)
		h.env = append(h.env, "TOKEN=a \"b\" \\ <&>\té")
		h.install(c, "--path=false", "--env", "TOKEN", "--env", "UNITS=metric=yes,no", "--env", "EMPTY=", "greeter/server.sh")
		e := c.entry(t, h.read(c.user), "greeter")
		if len(e.Env) != 3 || e.Env["TOKEN"] != "a \"b\" \\ <&>\té" || e.Env["UNITS"] != "metric=yes,no" || e.Env["EMPTY"] != "" {
			t.Errorf("%+v", e.Env)
		}
		h.conch("install", "--client", c.name, "--env", "ABSENT", "greeter/server.sh").want(t, 2, "--env ABSENT: there is no such variable here", "write ABSENT=VALUE")
		h.conch("install", "--client", c.name, "--env", "A B=c", "greeter/server.sh").want(t, 2, `--env "A B=c" names no variable`)
	})
}

func TestNamesAreTheServers(t *testing.T) {
	h := newHome(t)
	codex := client("codex")
	h.found(codex)
	h.write("work/greeter/config.json", `{"serverInfo": {"name": "My greeter, é"}}`)
	h.install(codex, "greeter/server.sh")
	codex.entry(t, h.read(codex.user), "My-greeter")
	h.write("work/greeter/config.json", `{}`)
	h.install(codex, "greeter/server.sh")
	codex.entry(t, h.read(codex.user), "greeter")
	h.conch("install", "--client", "codex", "--name", "my greeter", "greeter/server.sh").want(t, 2, "Codex takes names of letters, digits, - and _ alone")
	h.conch("install", "--client", "codex", "--", "true").want(t, 2, "give it a name with --name")
	zed := client("zed")
	h.found(zed)
	h.install(zed, "--name", "my \"greeter\"", "greeter/server.sh")
	zed.entry(t, h.read(zed.user), "my \"greeter\"").start(t, `"id":1`)
}
