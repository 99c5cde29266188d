package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAClientThatWasNotFound(t *testing.T) {
	each(t, func(t *testing.T, c known) {
		h := newHome(t)
		r := h.conch("install", "--client", c.name, "greeter/server.sh")
		r.want(t, 2, c.title+" was not found: there is no "+h.dir, "; start it once, or see with --print what to write, and where")
		entries, err := os.ReadDir(h.dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("something was made: %v, %v", entries, err)
		}
		r = h.conch("install", "--client", c.name, "--print", "greeter/server.sh")
		r.want(t, 0, h.path(c.user))
		c.entry(t, r.out, "greeter").start(t, `"name":"greeter"`)
	})
}

func TestAProject(t *testing.T) {
	each(t, func(t *testing.T, c known) {
		h := newHome(t)
		r := h.conch("install", "--client", c.name, "--scope", "project", "greeter/server.sh")
		if c.project == "" {
			r.want(t, 2, "Claude Desktop has no configuration for a project; leave --scope project out")
			return
		}
		file := filepath.Join("work", c.project)
		r.want(t, 0, "added greeter to "+h.path(file))
		if info, err := os.Stat(h.path(file)); err != nil || info.Mode() != 0o644 {
			t.Errorf("%v, %v", info, err)
		}
		c.entry(t, h.read(file), "greeter").start(t, `"name":"greeter"`)
		h.install(c, "--scope", "project", "--uninstall", "greeter/server.sh")
		if _, err := os.Stat(h.path(file)); !os.IsNotExist(err) {
			t.Errorf("the file is still there: %v", err)
		}
	})
}

func TestVariablesThatSayWhereClientsLook(t *testing.T) {
	for _, test := range []struct{ client, variable, file string }{
		{"claude-code", "CLAUDE_CONFIG_DIR", ".claude.json"},
		{"codex", "CODEX_HOME", "config.toml"},
		{"gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"},
		{"zed", "XDG_CONFIG_HOME", "zed/settings.json"},
		{"vscode", "XDG_CONFIG_HOME", "Code/User/mcp.json"},
		{"claude-desktop", "XDG_CONFIG_HOME", "Claude/claude_desktop_config.json"},
	} {
		h := newHome(t)
		h.env = append(h.env, test.variable+"="+h.path("else where"))
		if err := os.MkdirAll(filepath.Dir(h.path("else where/"+test.file)), 0o755); err != nil {
			t.Fatal(err)
		}
		c := client(test.client)
		h.install(c, "greeter/server.sh")
		c.entry(t, h.read("else where/"+test.file), "greeter")
	}
}

func TestPrintForAnyClient(t *testing.T) {
	h := newHome(t)
	r := h.conch("install", "--print", "--env", "A=b", "greeter/server.sh")
	want := "{\n  \"mcpServers\": {\n    \"greeter\": {\n      \"command\": \"" + binary(t) + "\",\n      \"args\": [\"serve\", \"" + h.script + "\"],\n      \"env\": {\n        \"A\": \"b\"\n      }\n    }\n  }\n}\n"
	if r.status != 0 || r.out != want || r.err != "most clients read this in a file of their own:\n" {
		t.Errorf("%+v", r)
	}
}

func TestPrintWritesNothing(t *testing.T) {
	each(t, func(t *testing.T, c known) {
		h := newHome(t)
		h.found(c)
		h.write(c.user, "{ broken")
		r := h.conch("install", "--client", c.name, "--print", "greeter/server.sh")
		r.want(t, 0)
		if h.read(c.user) != "{ broken" || r.err != c.title+" reads this in "+h.path(c.user)+":\n" {
			t.Errorf("it said %s", r.err)
		}
		h.wantNothingBeside(c.user)
	})
}

func TestThePathOfConchIsTheOneItIsCalledBy(t *testing.T) {
	h := newHome(t)
	codex := client("codex")
	h.found(codex)
	if err := os.MkdirAll(h.path("bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(binary(t), h.path("bin/conch")); err != nil {
		t.Fatal(err)
	}
	r := h.sh(`PATH=` + h.path("bin") + `:$PATH; conch install --client codex greeter/server.sh`)
	r.want(t, 0)
	if e := codex.entry(t, h.read(codex.user), "greeter"); e.Command != h.path("bin/conch") {
		t.Errorf("%+v", e)
	}
}

var senseless = []struct {
	args, want string
}{
	{"server.sh", "name the client with --client: claude-code, claude-desktop"},
	{"--client emacs greeter/server.sh", `there is no client "emacs"`},
	{"--client emacs --print greeter/server.sh", "for any other, see what to write with --print, without --client"},
	{"--client cursor", "name the SCRIPT to install"},
	{"--client cursor --", "name a command behind --"},
	{"--client cursor greeter/server.sh b", `what is "b" for?`},
	{"--client cursor greeter/server.sh -- b", `what is "greeter/server.sh" for?`},
	{"--client cursor --scope local greeter/server.sh", `there is no scope "local"`},
	{"--client cursor --print --uninstall greeter/server.sh", "--print and --uninstall exclude each other"},
	{"--client cursor --uninstall --env A=b greeter/server.sh", "leave --env and --path out"},
	{"--client cursor --uninstall", "name the SCRIPT to install"},
	{"--client cursor absent.sh", "there is no script absent.sh; a command goes behind --"},
	{"--client cursor greeter", "greeter has a tag that says what it is, such as # @describe; to serve a script, name it: "},
	{"--client cursor http://localhost/mcp", "is a URL"},
	{"--client cursor -- http://localhost/mcp", "is a URL"},
	{"--client cursor program", "program is no script; for a program write -- program"},
	{"--client cursor --name a -- absent", "there is no command absent"},
	{"--client cursor --name a -- greeter/server.sh", "is not executable"},
	{"--client gemini a$HOME/server.sh", "Gemini CLI would put something else for $HOME"},
	{"--client cursor words.txt", "is a tool: there is no function below a comment # @cmd, and none called tool_NAME"},
	{"--client cursor wrong.sh", "wrong.sh:1"},
	{"--client cursor unstartable.sh", "its first line does not say with what"},
}

func TestWhatMakesNoSense(t *testing.T) {
	h := newHome(t)
	for _, c := range all {
		h.found(c)
	}
	h.write("work/program", "\x7fELF\x00")
	h.write("work/words.txt", "hello\n")
	h.write("work/wrong.sh", "# @option --[\n")
	h.write("work/a$HOME/server.sh", "tool_a() { :; }\n")
	h.write("work/unstartable.sh", "run_mcp_server\n")
	if err := os.Chmod(h.path("work/unstartable.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range senseless {
		t.Run(test.args, func(t *testing.T) {
			h.t = t
			h.conch(append([]string{"install"}, strings.Fields(test.args)...)...).want(t, 2, test.want)
			h.wantNothingBeside(".cursor/mcp.json")
		})
	}
}

func TestAFileAmongACommandsArgumentsIsPointedTo(t *testing.T) {
	h := newHome(t)
	h.found(client("codex"))
	r := h.conch("install", "--client", "codex", "--name", "a", "--", "cat", "-u", "greeter/server.sh", h.script, "greeter")
	r.want(t, 0, `conch: greeter/server.sh is a file here, and the client starts the command elsewhere; if that is what you mean, write "$PWD/greeter/server.sh"`)
	if strings.Count(r.err, "\n") != 1 {
		t.Errorf("it said %s", r.err)
	}
}

func TestVariablesThatAServerNeedsAreAskedFor(t *testing.T) {
	h := newHome(t)
	h.write("work/x.sh", "# @meta dotenv\n# @env TOKEN!\n# @env KEPT!\n# @env OTHER=1\n# @cmd Do\nx() { :; }\n")
	h.write("work/.env", "KEPT=1\n")
	const asks = "the server needs the environment variable TOKEN, and the entry does not give it; if the client does not have it, add --env TOKEN"
	h.conch("install", "--print", "x.sh").want(t, 0, asks)
	if r := h.conch("install", "--print", "x.sh"); strings.Contains(r.err, "KEPT") || strings.Contains(r.err, "OTHER") {
		t.Errorf("it asks for what is there:\n%s", r.err)
	}
	if r := h.conch("install", "--print", "--env", "TOKEN=t", "x.sh"); strings.Contains(r.err, "TOKEN") {
		t.Errorf("it asks for what it has been given:\n%s", r.err)
	}
}
