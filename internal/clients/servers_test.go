package clients_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/clients"
)

func TestServersOfAConfiguration(t *testing.T) {
	for _, test := range []struct {
		client, text string
		want         []clients.Server
	}{
		{"cursor", ``, nil},
		{"cursor", `{"other": 1}`, nil},
		{"cursor", `{"mcpServers": {/* one */ "a": {"command": "c", "args": ["x", "y"], "env": {"K": "v"}, "cwd": "/d",},}}`, []clients.Server{
			{Name: "a", Entry: clients.Entry{Command: "c", Args: []string{"x", "y"}, Env: []clients.Variable{{Name: "K", Value: "v", Typed: true}}}, Dir: "/d"},
		}},
		{"cursor", `{"mcpServers": {"b": {"url": "u"}, "a": {"command": "c", "url": "u", "disabled": true}}}`, []clients.Server{
			{Name: "b", URL: "u"}, {Name: "a", Entry: clients.Entry{Command: "c"}, Disabled: true},
		}},
		{"gemini", `{"mcpServers": {"a": {"httpUrl": "u", "disabled": false, "args": null, "env": null}}}`, []clients.Server{{Name: "a", URL: "u"}}},
		{"vscode", `{"servers": {"a": {"type": "stdio", "command": "c"}}, "mcpServers": {"b": {}}}`, []clients.Server{{Name: "a", Entry: clients.Entry{Command: "c"}}}},
		{"zed", `{"context_servers": {"a": {"command": {"path": "c", "args": ["x"], "env": {}}}}}`, []clients.Server{{Name: "a", Entry: clients.Entry{Command: "c", Args: []string{"x"}}}}},
		{"codex", "[mcp_servers.a]\ncommand = 'c'\nenabled = false\nenv_vars = ['T']\n", []clients.Server{
			{Name: "a", Entry: clients.Entry{Command: "c"}, Disabled: true, HandedOn: []string{"T"}},
		}},
		{"claude-code", `{"mcpServers": {"a": {"command": "user"}, "b": {"command": "c"}}, "projects": {"/srv/p": {"mcpServers": {"a": {"command": "own"}}}, "/q": {"mcpServers": {"z": {}}}}}`, []clients.Server{
			{Name: "b", Entry: clients.Entry{Command: "c"}}, {Name: "a", Entry: clients.Entry{Command: "own"}},
		}},
		{"claude-code", `{"mcpServers": {"b": {"command": "c"}}, "projects": 1}`, []clients.Server{{Name: "b", Entry: clients.Entry{Command: "c"}}}},
	} {
		got, err := of(t, test.client).Servers([]byte(test.text), "/srv/p")
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s of %s: %v\n%+v, want\n%+v", test.client, test.text, err, got, test.want)
		}
	}
}

func TestFaultsOfEntries(t *testing.T) {
	for entry, fault := range map[string]string{
		`1`:                                    "it is no table of members",
		`{}`:                                   "it has neither a command nor a url",
		`{"command": ""}`:                      "its command is empty",
		`{"command": 1}`:                       "its command is no text",
		`{"command": ["c", "x"]}`:              "its command is an array; the program goes into command, the rest into args",
		`{"command": "c", "args": "x"}`:        "its args are no array of texts",
		`{"command": "c", "args": [1]}`:        "its args are no array of texts",
		`{"command": "c", "env": ["K=v"]}`:     "its env is no table of texts",
		`{"command": "c", "env": {"K": true}}`: "the value of K in its env is no text; put it in quotes",
		`{"command": "c", "cwd": 1}`:           "its cwd is no text",
	} {
		got, err := of(t, "cursor").Servers([]byte(`{"mcpServers": {"a": `+entry+`}}`), "")
		if err != nil || len(got) != 1 || !slices.Equal(got[0].Faults, []string{fault}) {
			t.Errorf("%s: %+v, %v; want %q", entry, got, err, fault)
		}
	}
	for _, text := range []string{"{", "[]", `{"mcpServers": []}`} {
		if got, err := of(t, "cursor").Servers([]byte(text), ""); err == nil {
			t.Errorf("%s is taken: %+v", text, got)
		}
	}
}

func TestTheOwnerOfAFile(t *testing.T) {
	for _, test := range []struct {
		file, text string
		client     string
		scope      clients.Scope
		project    string
	}{
		{"/home/you/.cursor/mcp.json", ``, "cursor", clients.User, ""},
		{"/home/you/.claude.json", ``, "claude-code", clients.User, ""},
		{"/srv/p/.mcp.json", ``, "claude-code", clients.Project, "/srv/p"},
		{"/srv/q/.cursor/mcp.json", ``, "cursor", clients.Project, "/srv/q"},
		{"/.vscode/mcp.json", ``, "vscode", clients.Project, "/"},
		{"/x/mcp.json", `{"servers": {}}`, "vscode", clients.User, ""},
		{"/x/mcp.json", `{"context_servers": {}}`, "zed", clients.User, ""},
		{"/x/mcp.json", `{"mcpServers": {}}`, "", clients.User, ""},
		{"/x/mcp.json", `{`, "", clients.User, ""},
		{"/x/any", "[mcp_servers.a]\n", "codex", clients.User, ""},
		{"/x/any.toml", "[", "codex", clients.User, ""},
	} {
		c, scope := clients.Owner(machine("linux"), test.file, []byte(test.text))
		project := ""
		if scope == clients.Project {
			project = c.ProjectOf(test.file)
		}
		if c.Name != test.client || scope != test.scope || project != test.project {
			t.Errorf("%s %s: %s %s %s", test.file, test.text, c.Name, scope, project)
		}
	}
}

func TestWhatAServerHasOfItsClient(t *testing.T) {
	environ := []string{"HOME=/home/you", "PATH=/opt/bin:/bin", "TOKEN=t", "XDG_DATA_DIRS=/x", "TERM=xterm", "LC_ALL=C"}
	for client, want := range map[string]string{
		"claude-code":    "HOME=/home/you PATH=/opt/bin:/bin TOKEN=t XDG_DATA_DIRS=/x TERM=xterm LC_ALL=C",
		"claude-desktop": "HOME=/home/you XDG_DATA_DIRS=/x LC_ALL=C PATH=/usr/bin:/bin:/usr/sbin:/sbin",
		"codex":          "HOME=/home/you PATH=/opt/bin:/bin TERM=xterm LC_ALL=C",
	} {
		got := of(t, client).Environment(machine("darwin"), environ, nil)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %s", client, got, want)
		}
	}
	if got := of(t, "codex").Environment(machine("linux"), environ, []string{"TOKEN", "PATH"}); !slices.Contains(got, "TOKEN=t") {
		t.Errorf("%q has not what the entry asks for", got)
	}
}

func TestWhereAServerRuns(t *testing.T) {
	for _, test := range []struct{ client, os, project, want string }{
		{"claude-code", "linux", "", "/srv/p"},
		{"claude-code", "linux", "/q", "/q"},
		{"cursor", "darwin", "", "/home/you"},
		{"cursor", "darwin", "/q", "/q"},
		{"claude-desktop", "darwin", "", "/"},
		{"claude-desktop", "linux", "", "/home/you"},
	} {
		if got := of(t, test.client).StartDir(machine(test.os), test.project); got != test.want {
			t.Errorf("%s on %s, project %q: %s, want %s", test.client, test.os, test.project, got, test.want)
		}
	}
}

func TestWhatClientsFillIn(t *testing.T) {
	for _, test := range []struct {
		client, text string
		want         clients.Filling
	}{
		{"claude-desktop", "${HOME} $HOME", clients.Filling{Text: "${HOME} $HOME"}},
		{"claude-code", "${A}/${B:-b}/${C} $A", clients.Filling{Text: "1/b/${C} $A", Taken: []string{"A"}, Unset: []string{"C"}}},
		{"gemini", "$A-${A}-$C", clients.Filling{Text: "1-1-$C", Taken: []string{"A", "A"}, Unset: []string{"C"}}},
		{"cursor", "${env:A} ${env:C} ${userHome}${/}x ${workspaceFolder} ${workspaceFolderBasename}", clients.Filling{
			Text: "1 ${env:C} /home/you/x /q q", Taken: []string{"A"}, Unset: []string{"C"},
		}},
		{"vscode", "${input:token} ${A}", clients.Filling{Text: "${input:token} ${A}", Unknown: []string{"${input:token}", "${A}"}}},
	} {
		if got := of(t, test.client).Fill(machine("linux", "A=1"), test.text, "/q"); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, want %+v", test.client, got, test.want)
		}
	}
}

// FuzzServers looks for a text that is taken, and of which an entry is neither
// usable nor at fault.
func FuzzServers(f *testing.F) {
	for _, text := range []string{`{"mcpServers": {"a": {"command": "c"}}}`, `{"mcpServers": {"a": {"url": 1}}}`, `{"mcpServers": {"a": {"command": {"path": {}}}}}`, `{"mcpServers": {"": null}}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, _ := clients.Of("claude-code")
		servers, err := c.Servers([]byte(text), "/p")
		if err != nil && servers != nil {
			t.Errorf("%q: both %v and %v", text, servers, err)
		}
		for _, s := range servers {
			if s.Command == "" && s.URL == "" && len(s.Faults) == 0 {
				t.Errorf("%q: %+v is not started, and nothing is wrong with it", text, s)
			}
		}
	})
}
