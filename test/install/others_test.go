package install_test

import (
	"strings"
	"testing"
)

// An entry of the same name that starts something else, with members that the
// user has added, before and after.
const (
	otherJSON = "{\n  \"SERVERS\": {\n    \"greeter\": {\n      \"type\": \"http\",\n      \"url\": \"https://old.example/mcp\",\n      \"disabled\": true, // for now\n" +
		"      \"alwaysAllow\": [\"greet\"],\n      \"env\": { \"TOKEN\": \"t\" }\n    },\n    \"db\": {}\n  }\n}\n"
	otherTOML = "[SERVERS.greeter]\nurl = \"https://old.example/mcp\"\nenabled = false # for now\nenabled_tools = [\"greet\"]\n\n[SERVERS.greeter.env]\nTOKEN = \"t\"\n\n[SERVERS.db]\ncommand = \"x\"\n"
)

func TestAnotherServerOfTheNameIsReplaced(t *testing.T) {
	each(t, func(t *testing.T, c known) {
		h := newHome(t)
		h.found(c)
		before, kept := otherJSON, []string{"\"disabled\": true, // for now\n      \"alwaysAllow\": [\"greet\"],\n", "\"db\": {}\n  }\n}\n"}
		if c.isTOML {
			before, kept = otherTOML, []string{"enabled = false # for now\nenabled_tools = [\"greet\"]\n", "\n[mcp_servers.db]\ncommand = \"x\"\n"}
		}
		h.write(c.user, strings.ReplaceAll(before, "SERVERS", c.servers))
		said := h.install(c, "--path=false", "--env", "A=b", "greeter/server.sh")
		if !strings.HasPrefix(said, "replaced greeter in "+h.path(c.user)+", which started https://old.example/mcp\n") {
			t.Errorf("it said %s", said)
		}
		after := h.read(c.user)
		e := c.entry(t, after, "greeter")
		if e.Env["TOKEN"] != "t" || e.Env["A"] != "b" || e.Type == "http" || strings.Contains(after, "old.example") {
			t.Errorf("%+v", e)
		}
		for _, text := range kept {
			if !strings.Contains(after, text) {
				t.Errorf("%q is not kept in\n%s", text, after)
			}
		}
		e.start(t, `"name":"greeter"`)

		h.install(c, "--uninstall", "greeter/server.sh")
		if left := h.read(c.user); strings.Contains(left, "greeter") || !strings.Contains(left, "db") {
			t.Errorf("what is left is\n%s", left)
		}
	})
}

// What is written, letter by letter: one of each shape.
func TestWhatIsWritten(t *testing.T) {
	for _, test := range []struct{ client, before, after string }{
		{"claude-code", "{\n  \"numStartups\": 3,\n  \"mcpServers\": {},\n  \"projects\": {}\n}", "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"greeter\": {\n      \"type\": \"stdio\",\n" +
			"      \"command\": \"CONCH\",\n      \"args\": [\"serve\", \"SCRIPT\"]\n    }\n  },\n  \"projects\": {}\n}"},
		{"vscode", "{\n\t\"servers\": {\n\t\t\"db\": {} // c\n\t},\n\t\"inputs\": []\n}\n", "{\n\t\"servers\": {\n\t\t\"db\": {}, // c\n\t\t\"greeter\": {\n\t\t\t\"type\": \"stdio\",\n" +
			"\t\t\t\"command\": \"CONCH\",\n\t\t\t\"args\": [\"serve\", \"SCRIPT\"],\n\t\t\t\"env\": {\n\t\t\t\t\"PATH\": \"" + usualPath + "\"\n\t\t\t}\n\t\t}\n\t},\n\t\"inputs\": []\n}\n"},
		{"zed", "// c\n{\n  \"vim_mode\": true,\n}\n", "// c\n{\n  \"vim_mode\": true,\n  \"context_servers\": {\n    \"greeter\": {\n      \"command\": \"CONCH\",\n      \"args\": [\"serve\", \"SCRIPT\"],\n" +
			"      \"env\": {\n        \"PATH\": \"" + usualPath + "\"\n      }\n    }\n  },\n}\n"},
		{"codex", "model = \"m\"\n", "model = \"m\"\n\n[mcp_servers.greeter]\ncommand = \"CONCH\"\nargs = [\"serve\", \"SCRIPT\"]\n"},
		{"gemini", "{\"mcpServers\": {\"a\": {}}}", "{\"mcpServers\": {\"a\": {}, \"greeter\": {\"command\": \"CONCH\", \"args\": [\"serve\", \"SCRIPT\"]}}}"},
	} {
		t.Run(test.client, func(t *testing.T) {
			h := newHome(t)
			c := client(test.client)
			h.found(c)
			h.write(c.user, test.before)
			h.install(c, "greeter/server.sh")
			want := strings.NewReplacer("CONCH", binary(t), "SCRIPT", h.script).Replace(test.after)
			if got := h.read(c.user); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestNothingToRemove(t *testing.T) {
	each(t, func(t *testing.T, c known) {
		h := newHome(t)
		want := "nothing to remove: there is no greeter in " + h.path(c.user) + "\n"
		if said := h.install(c, "--uninstall", "greeter/server.sh"); said != want {
			t.Errorf("it said %s", said)
		}
		h.found(c)
		for name, text := range c.texts() {
			h.write(c.user, text)
			if said := h.install(c, "--uninstall", "--name", "greeter"); said != want || h.read(c.user) != text {
				t.Errorf("%s: it said %s", name, said)
			}
		}
		h.wantNothingBeside(c.user)
	})
}

func TestARemovalThatIsRegrettedCanBeUndone(t *testing.T) {
	h := newHome(t)
	cursor := client("cursor")
	text := `{"mcpServers": {"greeter": {"command": "x", "env": {"TOKEN": "t"}}}}`
	h.write(cursor.user, text)
	h.install(cursor, "--uninstall", "--name", "greeter")
	if got := h.read(cursor.user); got != `{"mcpServers": {}}` {
		t.Errorf("left is %s", got)
	}
	if got := h.read(cursor.user + ".conch.bak"); got != text {
		t.Errorf("the backup is %s", got)
	}
}
