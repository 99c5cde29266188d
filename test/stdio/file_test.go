package stdio_test

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// badFiles puts something at a path that is no file with one JSON object in it.
var badFiles = map[string]func(path string) error{
	"missing":                 func(string) error { return nil },
	"a directory":             func(path string) error { return os.Mkdir(path, 0o755) },
	"a FIFO":                  func(path string) error { return unix.Mkfifo(path, 0o644) },
	"a link to nothing":       func(path string) error { return os.Symlink("nothing", path) },
	"a link to itself":        func(path string) error { return os.Symlink(path, path) },
	"a device":                func(path string) error { return os.Symlink("/dev/zero", path) },
	"a terminal":              func(path string) error { return os.Symlink("/dev/tty", path) },
	"empty":                   text(""),
	"blank":                   text(" \n\t\n"),
	"a word":                  text(canary),
	"cut":                     text(`{"tools":[{"name":"` + canary + `"`),
	"two documents":           text(`{"tools":[]}{"tools":[]}`),
	"two documents in lines":  text("{\"tools\":[]}\n{\"tools\":[]}\n"),
	"a document and a word":   text(`{"tools":[]} ` + canary),
	"an array":                text(`[{"tools":[]}]`),
	"null":                    text(`null`),
	"a number":                text(`7`),
	"a string":                text(`"{}"`),
	"true":                    text(`true`),
	"a BOM and an object":     text(bom + `{"tools":[]}`),
	"invalid UTF-8":           text("{\"tools\":[],\"a\":\"\xff\"}"),
	"a NUL behind the object": text("{\"tools\":[]}\x00"),
	"a NUL in a string":       text("{\"tools\":[],\"a\":\"\x00\"}"),
	"a comment":               text("// tools\n{\"tools\":[]}"),
	"a comma before the end":  text(`{"tools":[],}`),
	"brackets without end":    text(strings.Repeat("[", 1000000)),
	"objects without end":     text(strings.Repeat(`{"a":`, 1000000)),
}

func text(s string) func(path string) error {
	return func(path string) error { return os.WriteFile(path, []byte(s), 0o644) }
}

func TestABadListOfToolsIsToldAndTheServerGoesOn(t *testing.T) {
	asking := []string{
		request("7", "tools/list", `{}`),
		request("7", "tools/call", `{"name":"echo"}`),
		modernRequest("7", "tools/list", ""),
		modernRequest("7", "tools/call", `"name":"echo"`),
	}
	testBadFile(t, "tools.json", fixtureTools, asking, func(c *client) {
		c.alive()
		wantResult(t, c.ask(modernRequest("8", "server/discover", "")), "8", discoverResult)
		c.initialize("2025-06-18")
	})
}

func TestABadConfigurationIsToldAndTheServerGoesOn(t *testing.T) {
	asking := []string{initialize("7", "2025-06-18"), modernRequest("7", "server/discover", "")}
	testBadFile(t, "config.json", `{}`, asking, func(c *client) {
		c.works()
		c.askModern()
	})
}

// testBadFile replaces a file of a running server by every bad one in turn.
// asking are requests with the id 7 that cannot be answered without it.
func testBadFile(t *testing.T, name, good string, asking []string, rest func(*client)) {
	for what, put := range badFiles {
		t.Run(what, func(t *testing.T) {
			c := fixture(t)
			c.passedOver = told("tools/list_changed", "", "")
			c.works()
			if err := os.Remove(c.path(name)); err != nil {
				t.Fatal(err)
			}
			if err := put(c.path(name)); err != nil {
				t.Fatal(err)
			}
			for _, line := range asking {
				r := c.ask(line)
				if wantError(t, r, "7", -32603); !strings.Contains(r.Error.Message, c.path(name)) {
					t.Errorf("the message does not name the file: %s", r.Raw)
				}
			}
			rest(c.in(t))
			if err := os.RemoveAll(c.path(name)); err != nil {
				t.Fatal(err)
			}
			c.replace(name, good)
			c.works()
			c.initialize("2025-06-18")
			wantResult(t, c.ask(modernRequest("8", "server/discover", "")), "8", discoverResult)
		})
		t.Run(what+" at the start", func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range map[string]string{"server.sh": fixtureScript, "tools.json": fixtureTools, "config.json": `{}`} {
				if err := os.WriteFile(dir+"/"+name, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Remove(dir + "/" + name); err != nil {
				t.Fatal(err)
			}
			if err := put(dir + "/" + name); err != nil {
				t.Fatal(err)
			}
			c := serve(t, dir+"/server.sh")
			wantError(t, c.ask(asking[0]), "7", -32603)
			c.alive()
			if err := os.RemoveAll(c.path(name)); err != nil {
				t.Fatal(err)
			}
			c.replace(name, good)
			c.works()
		})
	}
}

func TestFlagsNameTheFiles(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"list":  `{"tools":[{"name":"echo","description":"from the flag","inputSchema":{"type":"object"}}]}`,
		"about": `{"instructions":"from the flag"}`,
	} {
		if err := os.WriteFile(dir+"/"+name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := fixture(t, "--tools="+dir+"/list", "--config="+dir+"/about")
	c.wantFrom("from the flag")
	if err := os.Remove(dir + "/list"); err != nil {
		t.Fatal(err)
	}
	r := c.ask(request("1", "tools/list", `{}`))
	if wantError(t, r, "1", -32603); !strings.Contains(r.Error.Message, dir+"/list") {
		t.Errorf("the message does not name the file: %s", r.Raw)
	}
}

func TestVariablesOfTheScriptNameTheFiles(t *testing.T) {
	script := fixtureScript + `
cd "$here" || exit
mkdir other
printf '{"tools":[{"name":"echo","description":"from the script","inputSchema":{"type":"object"}}]}' >other/list
printf '{"instructions":"from the script"}' >other/about
MCP_TOOLS_LIST_FILE=$here/other/list
MCP_CONFIG_FILE=other/about
`
	custom(t, script, "none", "none").wantFrom("from the script")
}

func (c *client) wantFrom(where string) {
	c.t.Helper()
	if r := c.ask(request("1", "tools/list", `{}`)); !strings.Contains(r.Raw, `[{"name":"echo","description":"`+where+`"`) {
		c.t.Errorf("another list: %s", r.Raw)
	}
	if r := c.initialize("2025-06-18"); member(c.t, r.Result, "instructions") != where {
		c.t.Errorf("another configuration: %s", r.Raw)
	}
}
