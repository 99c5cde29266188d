package install_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// texts are what a configuration may be. SERVERS stands for the member that has
// the client's servers.
var jsonTexts = map[string]string{
	"empty":                "",
	"white space":          "\n\n",
	"only a comment":       "// nothing yet\n",
	"an empty object":      "{}",
	"blanks in an object":  "{\n}\n",
	"no servers":           "{\n  \"theme\": \"dark\", // at night\n  \"size\": 1.50\n}\n",
	"an empty table":       "{\"SERVERS\": {}}\n",
	"an empty table, open": "{\n  \"SERVERS\": {\n  }\n}\n",
	"comments": "// My settings.\n{\n  /* first */ \"a\": [1, 2, /* three */ 3],\n  \"SERVERS\": {\n    // the database\n    \"db\": {\n      \"command\": \"npx\", // by npm\n" +
		"      \"args\": [\"-y\", \"db-server\"]\n    } // db\n    // \"old\": {}\n  },\n  // last\n  \"z\": null\n}\n// end\n",
	"trailing commas":   "{\n  \"SERVERS\": {\n    \"db\": {\"command\": \"x\",},\n  },\n}\n",
	"tabs":              "{\n\t\"SERVERS\": {\n\t\t\"db\": {\n\t\t\t\"command\": \"x\"\n\t\t}\n\t}\n}\n",
	"four blanks":       "{\n    \"SERVERS\": {\n        \"db\": {\n            \"command\": \"x\"\n        }\n    }\n}\n",
	"CRLF":              "{\r\n  \"SERVERS\": {\r\n    \"db\": { \"command\": \"x\" } // c\r\n  }\r\n}\r\n",
	"a BOM":             "\ufeff{\n  \"SERVERS\": {\n    \"db\": { \"command\": \"x\" }\n  }\n}\n",
	"no final newline":  "{\n  \"SERVERS\": {\n    \"db\": { \"command\": \"x\" }\n  }\n}",
	"one line":          "{\"numStartups\":17,\"SERVERS\":{\"db\":{\"command\":\"x\"}},\"history\":[\"a//b\",\"/*c\"]}",
	"numbers and names": "{\n  \"n\": [1e400, -0.0, 12345678901234567890],\n  \"\\u0061\": \"\\/\",\n  \"a\": 1, \"a\": 2,\n  \"SERVERS\": { \"d b\": {} }\n}\n",
}

var tomlTexts = map[string]string{
	"empty":          "",
	"white space":    "\n\n",
	"only a comment": "# nothing yet",
	"no servers":     "model = \"m\" # the large one\nlist = [\n  1, # one\n]\n\n[tui]\ntheme = 'dark'\n",
	"comments": "# My settings.\n\n[SERVERS.db] # the database\ncommand = \"npx\"\nargs = [\n  \"-y\", # yes\n  \"db-server\",\n]\n\n  [SERVERS.db.env]\n  A = '''\nb'''\n\n" +
		"# Of the profile.\n[profiles.one]\nx = 0x10\n\n[[list]]\na = 1\n[[list]]\n",
	"a table":          "[SERVERS]\n\n[tui]\n",
	"dots":             "SERVERS.db.command = \"x\"\nSERVERS.db.args = []\n",
	"an inline table":  "SERVERS = { db = { command = \"x\" } } # all\n",
	"an empty inline":  "SERVERS = { }\n",
	"CRLF":             "a = 1\r\n\r\n[SERVERS.db]\r\ncommand = \"x\"\r\n",
	"a BOM":            "\ufeff[SERVERS.db]\ncommand = \"x\"\n",
	"no final newline": "[SERVERS.db]\ncommand = \"x\"",
	"tabs":             "[SERVERS.db]\n\tcommand = \"x\"\n",
}

func (c known) texts() map[string]string {
	texts := map[string]string{}
	from := jsonTexts
	if c.isTOML {
		from = tomlTexts
	}
	for name, text := range from {
		texts[name] = strings.ReplaceAll(text, "SERVERS", c.servers)
	}
	return texts
}

func TestTheRestOfTheFileStays(t *testing.T) {
	each(t, func(t *testing.T, c known) {
		for name, before := range c.texts() {
			h := newHome(t)
			h.found(c)
			h.write(c.user, before)
			said := h.install(c, "--env", "A=b", "greeter/server.sh")
			after := h.read(c.user)
			if c.entry(t, after, "greeter").Env["A"] != "b" {
				t.Errorf("%s: no variable in\n%s", name, after)
			}
			if !isWithin(before, after) {
				t.Errorf("%s:\n%q\nhas lost something of\n%q", name, after, before)
			}
			if strings.Contains(before, "db\"") || strings.Contains(before, "db]") {
				c.entry(t, after, "db")
			}
			if lineEnds(before) != "" && lineEnds(after) != lineEnds(before) {
				t.Errorf("%s: line ends are mixed:\n%q", name, after)
			}
			if backup := h.read(c.user + ".conch.bak"); backup != before || !strings.Contains(said, h.path(c.user)+".conch.bak") {
				t.Errorf("%s: the backup is %q; it said %s", name, backup, said)
			}
			h.install(c, "--uninstall", "greeter/server.sh")
			if back := h.read(c.user); back != before {
				t.Errorf("%s: there and back is\n%q\nand was\n%q", name, back, before)
			}
		}
	})
}

// isWithin reports whether a text is another with something put in.
func isWithin(less, more string) bool {
	for i := range len(more) {
		if less != "" && less[0] == more[i] {
			less = less[1:]
		}
	}
	return less == ""
}

// lineEnds is how all lines end, "" if some do otherwise or there are none.
func lineEnds(text string) string {
	lines, crlf := strings.Count(text, "\n"), strings.Count(text, "\r\n")
	switch {
	case crlf > 0 && crlf == lines:
		return "\r\n"
	case crlf == 0 && lines > 0:
		return "\n"
	}
	return ""
}

// Without the backup, what holds the entry stays; all else is as it was.
func TestRemovedWithoutABackup(t *testing.T) {
	for _, c := range []known{client("claude-code"), client("codex")} {
		for name, before := range c.texts() {
			if !strings.Contains(before, "db") {
				continue
			}
			h := newHome(t)
			h.found(c)
			h.write(c.user, before)
			h.install(c, "greeter/server.sh")
			if err := os.Remove(h.path(c.user + ".conch.bak")); err != nil {
				t.Fatal(err)
			}
			h.install(c, "--uninstall", "--name", "greeter")
			if back := h.read(c.user); back != before {
				t.Errorf("%s: there and back is\n%q\nand was\n%q", name, back, before)
			}
		}
	}
}

func TestAMissingFile(t *testing.T) {
	each(t, func(t *testing.T, c known) {
		h := newHome(t)
		h.found(c)
		said := h.install(c, "greeter/server.sh")
		if want := "added greeter to " + h.path(c.user) + "\nnext: "; !strings.HasPrefix(said, want) {
			t.Errorf("it said %s", said)
		}
		info, err := os.Stat(h.path(c.user))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		said = h.install(c, "--uninstall", "greeter/server.sh")
		if want := "removed " + h.path(c.user) + ", which held greeter alone; it started "; !strings.HasPrefix(said, want) {
			t.Errorf("it said %s", said)
		}
		if _, err := os.Stat(h.path(c.user)); !os.IsNotExist(err) {
			t.Errorf("the file is still there: %v", err)
		}
	})
}

func TestABrokenFileStays(t *testing.T) {
	each(t, func(t *testing.T, c known) {
		faults := map[string]string{
			"{\n  \"SERVERS\": {\n":           ", line 3, column 1: the text ends in the middle; mend that first, nothing was changed",
			"{\n  \"a\": 1\n  \"b\": 2\n}":    ", line 3, column 3: invalid character",
			"{\n  \"SERVERS\": []\n}":         ", line 2, column " + column(c) + ": " + c.servers + " is an array, and has to be an object",
			"{\"SERVERS\": {\"greeter\": 1}}": "greeter is a number, and has to be an object",
			"[]":                              ", line 1, column 1: it is an array, and has to be an object",
		}
		if c.isTOML {
			faults = map[string]string{
				"a = 1\n[SERVERS\n":        ", line 2, column 13: ",
				"[a]\n[a]\n":               ", line 2, column 2: table a already exists",
				"\nSERVERS = 1\n":          ", line 2, column 1: mcp_servers is no table, and has to be one",
				"[SERVERS]\ngreeter = 1\n": "mcp_servers.greeter is no table, and has to be one",
				"[[SERVERS]]\n":            "mcp_servers is an array of tables, and has to be a table",
			}
		}
		for text, want := range faults {
			h := newHome(t)
			h.found(c)
			text := strings.ReplaceAll(text, "SERVERS", c.servers)
			h.write(c.user, text)
			h.conch("install", "--client", c.name, "greeter/server.sh").want(t, 2, want, h.path(c.user))
			if got := h.read(c.user); got != text {
				t.Errorf("%q has become %q", text, got)
			}
			h.wantNothingBeside(c.user)
		}
	})
}

func column(c known) string {
	return map[int]string{7: "14", 10: "17", 15: "22", 11: "18"}[len(c.servers)]
}

// wantNothingBeside says that neither a backup nor anything temporary is beside a
// file.
func (h *home) wantNothingBeside(name string) {
	h.t.Helper()
	entries, err := os.ReadDir(filepath.Dir(h.path(name)))
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), "conch") {
			h.t.Errorf("there is a %s", e.Name())
		}
	}
}

func TestAServerThatIsInAlready(t *testing.T) {
	each(t, func(t *testing.T, c known) {
		h := newHome(t)
		h.found(c)
		h.install(c, "--env", "A=b", "greeter/server.sh")
		// A user has it laid out otherwise, and has added something.
		text := strings.Replace(h.read(c.user), "\"args\": [\"serve\", ", "\"args\": [\n\"serve\" /* c */, ", 1)
		text = strings.Replace(text, "args = [\"serve\", ", "args = [ # c\n'serve', ", 1)
		h.write(c.user, text)
		before, err := os.Stat(h.path(c.user))
		if err != nil {
			t.Fatal(err)
		}
		said := h.install(c, "--env", "A=b", "greeter/server.sh")
		if want := "nothing to write: greeter is in " + h.path(c.user) + " already\n"; said != want {
			t.Errorf("it said %s", said)
		}
		after, err := os.Stat(h.path(c.user))
		if err != nil || !os.SameFile(before, after) || h.read(c.user) != text {
			t.Errorf("it was written: %v", err)
		}
		h.wantNothingBeside(c.user)

		said = h.install(c, "--env", "A=c", "greeter/server.sh")
		if e := c.entry(t, h.read(c.user), "greeter"); e.Env["A"] != "c" || !strings.HasPrefix(said, "changed greeter in ") {
			t.Errorf("%+v; it said %s", e, said)
		}
	})
}
