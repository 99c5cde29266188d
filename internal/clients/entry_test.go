package clients_test

import (
	"testing"

	"github.com/conch-mcp/conch/internal/clients"
)

var entry = clients.Entry{Command: "/bin/conch", Args: []string{"serve", "/s.sh"}, Env: []clients.Variable{{Name: "K", Value: "v"}}}

var snippets = map[string]string{
	"claude-code":    "{\n  \"mcpServers\": {\n    \"g\": {\n      \"type\": \"stdio\",\n      \"command\": \"/bin/conch\",\n      \"args\": [\"serve\", \"/s.sh\"],\n      \"env\": {\n        \"K\": \"v\"\n      }\n    }\n  }\n}\n",
	"claude-desktop": "{\n  \"mcpServers\": {\n    \"g\": {\n      \"command\": \"/bin/conch\",\n      \"args\": [\"serve\", \"/s.sh\"],\n      \"env\": {\n        \"K\": \"v\"\n      }\n    }\n  }\n}\n",
	"vscode":         "{\n  \"servers\": {\n    \"g\": {\n      \"type\": \"stdio\",\n      \"command\": \"/bin/conch\",\n      \"args\": [\"serve\", \"/s.sh\"],\n      \"env\": {\n        \"K\": \"v\"\n      }\n    }\n  }\n}\n",
	"codex":          "[mcp_servers.g]\ncommand = \"/bin/conch\"\nargs = [\"serve\", \"/s.sh\"]\n\n[mcp_servers.g.env]\nK = \"v\"\n",
	"zed":            "{\n  \"context_servers\": {\n    \"g\": {\n      \"command\": \"/bin/conch\",\n      \"args\": [\"serve\", \"/s.sh\"],\n      \"env\": {\n        \"K\": \"v\"\n      }\n    }\n  }\n}\n",
}

func TestSnippets(t *testing.T) {
	snippets["cursor"] = snippets["claude-code"]
	snippets["gemini"] = snippets["claude-desktop"]
	for _, client := range append(clients.All(), clients.Any()) {
		want := snippets[client.Name]
		if client.Name == "" {
			want = snippets["claude-desktop"]
		}
		got, err := client.Snippet("g", entry)
		if err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s", client.Title, err, got)
		}
	}
}

var additions = []struct{ name, client, before, after, was string }{
	{"beside others", "cursor", `{"mcpServers": {"a": {"url": "u"}}}`, `{"mcpServers": {"a": {"url": "u"}, "g": {"type": "stdio", "command": "/bin/conch", "args": ["serve", "/s.sh"], "env": {"K": "v"}}}}`, ""},
	{"the same", "gemini", "{ \"mcpServers\": {\"g\": {\"env\":{\"K\":\"v\"}, \"args\":[\"serve\",\n\"/s.sh\"],\"command\":\"\\/bin/conch\"}} } // c", "{ \"mcpServers\": {\"g\": {\"env\":{\"K\":\"v\"}, \"args\":[\"serve\",\n\"/s.sh\"],\"command\":\"\\/bin/conch\"}} } // c", "/bin/conch serve /s.sh"},
	{"the same, with more", "gemini", `{"mcpServers": {"g": {"command": "/bin/conch", "args": ["serve", "/s.sh"], "env": {"TOKEN": "t", "K": "v"}, "trust": true}}}`, `{"mcpServers": {"g": {"command": "/bin/conch", "args": ["serve", "/s.sh"], "env": {"TOKEN": "t", "K": "v"}, "trust": true}}}`, "/bin/conch serve /s.sh"},
	{"another, with what the user has added", "claude-desktop",
		"{\n  \"mcpServers\": {\n    \"g\": {\n      \"command\": \"npx\", // old\n      \"args\": [\n        \"-y\",\n        \"greeter\"\n      ],\n      \"disabled\": true,\n      \"alwaysAllow\": [\"greet\"],\n      \"env\": {\n        \"TOKEN\": \"t\"\n      }\n    }\n  }\n}\n",
		"{\n  \"mcpServers\": {\n    \"g\": {\n      \"command\": \"/bin/conch\", // old\n      \"args\": [\"serve\", \"/s.sh\"],\n      \"disabled\": true,\n      \"alwaysAllow\": [\"greet\"],\n      \"env\": {\n        \"TOKEN\": \"t\",\n        \"K\": \"v\"\n      }\n    }\n  }\n}\n", "npx -y greeter"},
	{"one that leads elsewhere", "cursor", `{"mcpServers": {"g": {"type": "http", "url": "https://x/mcp", "headers": {"A": "b"}, "disabled": false}}}`, `{"mcpServers": {"g": {"type": "stdio", "disabled": false, "command": "/bin/conch", "args": ["serve", "/s.sh"], "env": {"K": "v"}}}}`, "https://x/mcp"},
	{"one whose type nobody reads", "gemini", `{"mcpServers": {"g": {"type": "http", "httpUrl": "https://x/mcp"}}}`, `{"mcpServers": {"g": { "command": "/bin/conch", "args": ["serve", "/s.sh"], "env": {"K": "v"}}}}`, "https://x/mcp"},
	{"one of an older form", "zed", `{"context_servers": {"g": {"source": "custom", "command": {"path": "/old", "args": []}}}}`, `{"context_servers": {"g": {"source": "custom", "command": "/bin/conch", "args": ["serve", "/s.sh"], "env": {"K": "v"}}}}`, "nothing"},
	{"TOML, with what the user has added", "codex",
		"[mcp_servers.g]\ncommand = \"npx\" # old\nstartup_timeout_sec = 20\nenabled = false\n\n[mcp_servers.g.env]\nTOKEN = \"t\"\n\n[tui]\n",
		"[mcp_servers.g]\ncommand = \"/bin/conch\" # old\nstartup_timeout_sec = 20\nenabled = false\nargs = [\"serve\", \"/s.sh\"]\n\n[mcp_servers.g.env]\nTOKEN = \"t\"\nK = \"v\"\n\n[tui]\n", "npx"},
	{"TOML that leads elsewhere", "codex", "[mcp_servers]\ng = { url = \"https://x/mcp\", enabled = false } # c\n", "[mcp_servers]\ng = { enabled = false, command = \"/bin/conch\", args = [\"serve\", \"/s.sh\"], env = { K = \"v\" } } # c\n", "https://x/mcp"},
}

func TestEntriesAreAdded(t *testing.T) {
	for _, test := range additions {
		t.Run(test.name, func(t *testing.T) {
			got, err := of(t, test.client).Add([]byte(test.before), "g", entry)
			if err != nil || string(got.Text) != test.after || got.Was != test.was || got.Emptied {
				t.Errorf("was %q, %v:\n%s\nwant\n%s", got.Was, err, got.Text, test.after)
			}
		})
	}
}

func TestArgumentsThatAreNoneAreTakenAway(t *testing.T) {
	got, err := of(t, "codex").Add([]byte("[mcp_servers.g]\ncommand = \"a\"\nargs = [\"b\"]\n"), "g", clients.Entry{Command: "/c"})
	if want := "[mcp_servers.g]\ncommand = \"/c\"\n"; err != nil || string(got.Text) != want {
		t.Errorf("%v:\n%s", err, got.Text)
	}
}

func TestConfigurationsThatAreBroken(t *testing.T) {
	for _, test := range []struct{ client, text, want string }{
		{"zed", "{\n  \"a\": \n}", "line 3, column 1: invalid character '}' at start of value"},
		{"codex", "a =", "line 1, column 3: expected value, not end of input"},
		{"vscode", "{\"servers\": []}", "line 1, column 13: servers is an array, and has to be an object"},
		{"cursor", "{\"mcpServers\": {\"g\": {\"command\": \"a\", \"env\": null}}}", "line 1, column 55: mcpServers.g.env is null, and has to be an object"},
		{"cursor", "{\"mcpServers\": {\"g\": null}}", "line 1, column 22: mcpServers.g is null, and has to be an object"},
	} {
		if _, err := of(t, test.client).Add([]byte(test.text), "g", entry); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.text, err, test.want)
		}
	}
}

func added(t *testing.T, client clients.Client, before string) string {
	t.Helper()
	change, err := client.Add([]byte(before), "g", entry)
	if err != nil {
		t.Fatal(err)
	}
	return string(change.Text)
}

func TestRemovingGivesBackWhatWasThere(t *testing.T) {
	for _, client := range clients.All() {
		texts := []string{"", " \n", "{}", "{ }\n", "{\n}\n", "{\n\t\"a\": 1 // c\n}", "// c\n", "\ufeff{\r\n\r\n}"}
		if client.Name == "codex" {
			texts = []string{"", "\n", "# c", "a = 1", "a = 1\n\n\n", "mcp_servers = { }\n", "\ufeffa = 1\r\n"}
		}
		for _, before := range texts {
			change, err := client.Remove([]byte(added(t, client, before)), []byte(before), "g")
			if err != nil || string(change.Text) != before || change.Was != "/bin/conch serve /s.sh" || change.Emptied {
				t.Errorf("%s: %q, then %+v, %v", client.Name, before, change, err)
			}
		}
	}
}

var departures = []struct {
	name, client, text string
	backup             []byte
	after              string
	emptied            bool
}{
	{"there is no backup", "zed", "{\n  \"context_servers\": {\n    \"g\": {\n      \"command\": \"c\"\n    }\n  }\n}\n", nil, "", true},
	{"the backup is about something else", "zed", "{\n  \"context_servers\": {\n    \"g\": {}\n  },\n  \"a\": 1\n}\n", []byte("{}"), "{\n  \"context_servers\": {},\n  \"a\": 1\n}\n", false},
	{"something was there before", "zed", "{\n  \"context_servers\": {\n    \"g\": {\n      \"command\": \"c\"\n    }\n  }\n}\n", []byte("{} // mine"), "{\n  \"context_servers\": {}\n}\n", false},
	{"the backup has the entry", "cursor", `{"mcpServers": {"g": {"command": "new"}}}`, []byte(`{"mcpServers": {"g": {"command": "old"}}}`), `{"mcpServers": {}}`, false},
	{"the backup is broken", "cursor", `{"mcpServers": {"g": {"command": "new"}}}`, []byte(`{`), `{"mcpServers": {}}`, false},
	{"something was added to it", "cursor", `{"mcpServers": {"g": {"disabled": true}, "h": {}}}`, []byte(`{"mcpServers": {"h": {}}}`), `{"mcpServers": { "h": {}}}`, false},
	{"no object", "cursor", `{"mcpServers": {"g": null, "h": {}}}`, nil, `{"mcpServers": { "h": {}}}`, false},
	{"TOML", "codex", "a = 1\n\n# of g\n[mcp_servers.g]\ncommand = 'c'\n\n[b]\n", nil, "a = 1\n\n# of g\n\n[b]\n", false},
}

func TestRemovingLeavesTheRest(t *testing.T) {
	for _, test := range departures {
		t.Run(test.name, func(t *testing.T) {
			change, err := of(t, test.client).Remove([]byte(test.text), test.backup, "g")
			if err != nil || change.Was == "" || change.Emptied != test.emptied || string(change.Text) != test.after {
				t.Errorf("%+v, %v: %q", change, err, change.Text)
			}
		})
	}
}

func TestRemovingWhatIsNotThere(t *testing.T) {
	for _, text := range []string{"", "{}", `{"mcpServers": {"h": {}}}`} {
		change, err := of(t, "cursor").Remove([]byte(text), []byte("{}"), "g")
		if err != nil || change.Was != "" || string(change.Text) != text || change.Emptied {
			t.Errorf("%q: %+v, %v", text, change, err)
		}
	}
	if _, err := of(t, "cursor").Remove([]byte("{"), nil, "g"); err == nil {
		t.Error("a broken text is taken")
	}
}
