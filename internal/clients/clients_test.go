package clients_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/clients"
)

func of(t *testing.T, name string) clients.Client {
	t.Helper()
	c, err := clients.Of(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func machine(os string, env ...string) clients.Machine {
	return clients.Machine{OS: os, Home: "/home/you", Dir: "/srv/p", Getenv: func(name string) string {
		for _, v := range env {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}}
}

var places = []struct {
	client, os string
	env        []string
	scope      clients.Scope
	file       string
	signs      string
}{
	{"claude-code", "linux", nil, clients.User, "/home/you/.claude.json", "/home/you/.claude.json /home/you/.claude"},
	{"claude-code", "darwin", []string{"CLAUDE_CONFIG_DIR=/c"}, clients.User, "/c/.claude.json", "/c"},
	{"claude-code", "linux", []string{"CLAUDE_CONFIG_DIR=/c"}, clients.Project, "/srv/p/.mcp.json", ""},
	{"claude-desktop", "linux", nil, clients.User, "/home/you/.config/Claude/claude_desktop_config.json", "/home/you/.config/Claude"},
	{"claude-desktop", "linux", []string{"XDG_CONFIG_HOME=/x"}, clients.User, "/x/Claude/claude_desktop_config.json", "/x/Claude"},
	{"claude-desktop", "darwin", []string{"XDG_CONFIG_HOME=/x"}, clients.User, "/home/you/Library/Application Support/Claude/claude_desktop_config.json", "/home/you/Library/Application Support/Claude"},
	{"cursor", "darwin", nil, clients.User, "/home/you/.cursor/mcp.json", "/home/you/.cursor"},
	{"cursor", "linux", nil, clients.Project, "/srv/p/.cursor/mcp.json", ""},
	{"vscode", "linux", []string{"XDG_CONFIG_HOME=relative"}, clients.User, "/home/you/.config/Code/User/mcp.json", "/home/you/.config/Code"},
	{"vscode", "darwin", nil, clients.User, "/home/you/Library/Application Support/Code/User/mcp.json", "/home/you/Library/Application Support/Code"},
	{"vscode", "linux", nil, clients.Project, "/srv/p/.vscode/mcp.json", ""},
	{"codex", "linux", nil, clients.User, "/home/you/.codex/config.toml", "/home/you/.codex"},
	{"codex", "linux", []string{"CODEX_HOME=/c"}, clients.User, "/c/config.toml", "/c"},
	{"codex", "linux", []string{"CODEX_HOME=/c"}, clients.Project, "/srv/p/.codex/config.toml", ""},
	{"gemini", "linux", nil, clients.User, "/home/you/.gemini/settings.json", "/home/you/.gemini"},
	{"gemini", "darwin", []string{"GEMINI_CLI_HOME=/g"}, clients.User, "/g/.gemini/settings.json", "/g/.gemini"},
	{"gemini", "linux", nil, clients.Project, "/srv/p/.gemini/settings.json", ""},
	{"zed", "linux", []string{"XDG_CONFIG_HOME=/x"}, clients.User, "/x/zed/settings.json", "/x/zed"},
	{"zed", "darwin", []string{"XDG_CONFIG_HOME=/x"}, clients.User, "/home/you/.config/zed/settings.json", "/home/you/.config/zed"},
	{"zed", "linux", nil, clients.Project, "/srv/p/.zed/settings.json", ""},
}

func TestWhereClientsKeepTheirConfiguration(t *testing.T) {
	for _, test := range places {
		got, err := of(t, test.client).Place(machine(test.os, test.env...), test.scope)
		if err != nil || got.File != test.file || strings.Join(got.Signs, " ") != test.signs {
			t.Errorf("%s, %s, %s: %+v, %v; want %s", test.client, test.os, test.scope, got, err, test.file)
		}
	}
}

func TestScopesThatAreNone(t *testing.T) {
	for _, test := range []struct {
		client string
		scope  clients.Scope
		want   string
	}{
		{"claude-desktop", clients.Project, "Claude Desktop has no configuration for a project; leave --scope project out"},
		{"cursor", "local", `there is no scope "local"; there is user and project`},
	} {
		if _, err := of(t, test.client).Place(machine("linux"), test.scope); err == nil || err.Error() != test.want {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
	if _, err := clients.Of("emacs"); err == nil || !strings.Contains(err.Error(), "there is claude-code, claude-desktop, cursor, vscode, codex, gemini, zed; for any other") {
		t.Errorf("got %v", err)
	}
}

func TestNames(t *testing.T) {
	for text, want := range map[string]string{
		"greeter": "greeter", "My Server": "My-Server", "a.b/c": "a-b-c", "@é": "", "-a--b-": "a-b", "a_b": "a_b",
	} {
		for _, client := range clients.All() {
			want := want
			if client.Name == "gemini" {
				want = strings.ReplaceAll(want, "_", "-")
			}
			name := client.NameFor(text)
			if name != want {
				t.Errorf("%s makes %q of %q", client.Name, name, text)
			}
			if err := client.Check(name, clients.Entry{Command: "/c"}); (err == nil) != (name != "") {
				t.Errorf("%s, %q: %v", client.Name, name, err)
			}
		}
	}
}

var refusals = []struct {
	clients string // those which refuse
	name    string
	entry   clients.Entry
	want    string
}{
	{"claude-code codex", "My Server", clients.Entry{Command: "/c"}, "takes names of letters"},
	{"all", "", clients.Entry{Command: "/c"}, "is empty"},
	{"all", "a\n", clients.Entry{Command: "/c"}, "control characters"},
	{"all", "a\xff", clients.Entry{Command: "/c"}, "no UTF-8"},
	{"all", "a", clients.Entry{Command: "/\xff"}, "not UTF-8"},
	{"all", "a", clients.Entry{Command: "/c", Env: []clients.Variable{{Name: "A", Value: "\xff", Typed: true}}}, "the value of A is not UTF-8"},
	{"gemini", "a", clients.Entry{Command: "/c", Args: []string{"/srv/$HOME/x"}}, "Gemini CLI would put something else for $HOME in"},
	{"claude-code cursor vscode gemini", "a", clients.Entry{Command: "/srv/${HOME}/c"}, "would put something else for ${HOME} in"},
	{"cursor vscode gemini", "a", clients.Entry{Command: "/c", Env: []clients.Variable{{Name: "A", Value: "x${env:B}"}}}, "${env:B}"},
	{"", "a", clients.Entry{Command: "/c", Env: []clients.Variable{{Name: "A", Value: "${env:B} $C", Typed: true}}}, ""},
	{"", "a", clients.Entry{Command: "/srv/$-{}/c"}, ""},
}

func TestWhatClientsWouldNotTakeAsItStands(t *testing.T) {
	for _, test := range refusals {
		for _, client := range clients.All() {
			refused := test.clients == "all" || slices.Contains(strings.Fields(test.clients), client.Name)
			err := client.Check(test.name, test.entry)
			if refused != (err != nil) || refused && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s, %q, %+v: got %v", client.Name, test.name, test.entry, err)
			}
		}
	}
}
