// Package talk_test holds the built binary to what calls can do besides
// printing: tell of their progress, log, make results of their own, and ask
// their clients; over both transports, in both eras.
//
// Every message a server sends in this suite is held to the official JSON Schema
// of its revision, and every server must leave nothing behind.
package talk_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
	"github.com/conch-mcp/conch/test/judge"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

const modern = judge.Modern

// way is a way to speak to a server.
type way struct {
	transport string // stdio or http
	revision  string
}

func (w way) String() string { return w.transport + " " + w.revision }

func (w way) isModern() bool { return w.revision == modern }

// ways are both transports in both eras.
var ways = []way{{"stdio", judge.NewestLegacy}, {"stdio", modern}, {"http", judge.NewestLegacy}, {"http", modern}}

// each runs a test in every way.
func each(t *testing.T, ways []way, test func(t *testing.T, w way)) {
	for _, w := range ways {
		t.Run(w.String(), func(t *testing.T) { test(t, w) })
	}
}

// everyWay is every revision over stdio, and both eras over HTTP.
func everyWay() []way {
	all := []way{ways[2], ways[3]}
	for _, r := range judge.Revisions {
		all = append(all, way{"stdio", r})
	}
	return all
}

// fixture is a server of a test's own. Each function tool_<name> of its script
// is a tool; entries has further members of their entries in the list.
type fixture struct {
	script  string
	entries map[string]string
	flags   []string
	env     []string
	caps    string // of the client; {} without
}

var toolFunction = regexp.MustCompile(`(?m)^tool_(\w+)\(\)`)

func (f fixture) tools() string {
	var entries []string
	for _, found := range toolFunction.FindAllStringSubmatch(f.script, -1) {
		members := f.entries[found[1]]
		if members != "" {
			members = "," + members
		}
		entries = append(entries, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}%s}`, found[1], members))
	}
	return `{"tools":[` + strings.Join(entries, ",") + `]}`
}

// write puts the fixture into a new directory.
func (f fixture) write(t testing.TB) (script string) {
	t.Helper()
	return harness.Script(t, f.script, f.tools(), "{}")
}

// serve starts the fixture, and a client in some way.
func (f fixture) serve(t testing.TB, w way) *client {
	t.Helper()
	return f.serveScript(t, w, f.write(t))
}

func (f fixture) serveScript(t testing.TB, w way, script string) *client {
	t.Helper()
	for _, pair := range f.env {
		name, value, _ := strings.Cut(pair, "=")
		t.(*testing.T).Setenv(name, value)
	}
	args := append(append([]string{}, f.flags...), script)
	c := &client{t: t, way: w, caps: f.caps, byID: map[string]*pending{}, byToken: map[string]*pending{}}
	if c.caps == "" {
		c.caps = "{}"
	}
	if w.transport == "http" {
		s := harness.ServeHTTP(t, args...)
		c.server, c.url = s.Server, s.URL()
	} else {
		c.server = harness.Serve(t, args...)
		go c.readLines()
	}
	t.Cleanup(func() {
		if !t.Failed() && !c.ended {
			c.end()
		}
	})
	c.begin()
	return c
}

// end ends the server, which must leave nothing.
func (c *client) end() {
	c.t.Helper()
	c.ended = true
	if c.transport == "http" {
		if err := c.server.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
			c.t.Fatal(err)
		}
	} else {
		c.server.CloseInput()
	}
	if state := c.server.Wait(); state.ExitCode() != 0 {
		c.t.Errorf("the server ended with %v; it said:\n%s", state, c.server.Stderr())
	}
	c.server.Left(c.t)
}

// quote is the JSON of a value.
func quote(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// member is a member of an object, raw; nil when there is none.
func member(object json.RawMessage, path ...string) json.RawMessage {
	for _, name := range path {
		var members map[string]json.RawMessage
		if json.Unmarshal(object, &members) != nil {
			return nil
		}
		object = members[name]
	}
	return object
}

// text is a member that is a string; "" when there is none.
func text(object json.RawMessage, path ...string) string {
	var s string
	_ = json.Unmarshal(member(object, path...), &s)
	return s
}

// sameJSON compares values.
func sameJSON(t testing.TB, what string, got json.RawMessage, want string) {
	t.Helper()
	plain := func(text []byte) string {
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			return "not JSON: " + string(text)
		}
		return quote(v)
	}
	if g, w := plain(got), plain([]byte(want)); g != w {
		t.Errorf("%s is %.2000s, want %.2000s", what, g, w)
	}
}
