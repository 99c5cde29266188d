package http_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

const rootsScript = `
tool_paths() { printf '%s' "$MCP_ROOTS_PATHS"; }
tool_listed() { mcp_roots_list; }`

const rootsTools = `{"tools":[{"name":"paths","inputSchema":{"type":"object"}},{"name":"listed","inputSchema":{"type":"object"}}]}`

// rooted begins a session of a client that has roots.
func (e *endpoint) rooted() *client {
	e.t.Helper()
	answer := e.send(sent{body: `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"t","version":"1"}}}`})
	c := &client{e, answer.header.Get("Mcp-Session-Id"), newestLegacy}
	c.tells("notifications/initialized")
	return c
}

func (c *client) tells(method string) {
	c.t.Helper()
	if got := c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, method)); got.status != 202 {
		c.t.Fatalf("%s: %+v", method, got)
	}
}

// asked is the id of the next message of a stream, which must ask for the roots.
func (r *response) asked() string {
	r.t.Helper()
	f := r.message()
	var m struct{ ID, Method string }
	if json.Unmarshal([]byte(f.data), &m) != nil || m.Method != "roots/list" || m.ID == "" {
		r.t.Fatalf("roots/list was expected: %+v", f)
	}
	return m.ID
}

func (c *client) names(id, dir string) {
	c.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"roots":[{"uri":"file://%s"}]}}`, id, dir)
	if got := c.send(body); got.status != 202 {
		c.t.Fatalf("the answer: %+v", got)
	}
}

// becomes waits until calls are told a root.
func (c *client) becomes(dir string) {
	c.t.Helper()
	harness.Eventually(c.t, harness.Deadline, "the root is "+dir, func() bool {
		return strings.Contains(c.send(harness.Call(1, "paths", `{}`)).body, `"text":"`+dir+`"`)
	})
}

func TestAClientIsAskedForItsRootsOnItsStream(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	e := serveScript(t, rootsScript, rootsTools, "{}")
	c, other := e.rooted(), e.initialize(newestLegacy)
	unasked := c.open(sent{method: http.MethodGet, header: c.header()})
	c.names(unasked.asked(), a)
	c.becomes(a)
	for range 10 {
		c.tells("notifications/roots/list_changed")
	}
	c.names(unasked.asked(), b)
	c.becomes(b)
	if got := other.send(harness.Call(1, "paths", `{}`)); strings.Contains(got.body, a) || strings.Contains(got.body, b) {
		t.Errorf("a session has the roots of another: %+v", got)
	}
	e.Terminate()
}

func TestAClientWithoutAStreamIsAskedWithItsFirstCall(t *testing.T) {
	a := t.TempDir()
	e := serveScript(t, rootsScript, rootsTools, "{}")
	c := e.rooted()
	call := c.open(sent{header: c.header(), body: harness.Call(1, "paths", `{}`)})
	c.names(call.asked(), a)
	if f := call.message(); !strings.Contains(f.data, `"text":"`+a+`"`) {
		t.Errorf("got %+v", f)
	}
	if got := c.send(harness.Call(2, "paths", `{}`)); !strings.Contains(got.body, `"text":"`+a+`"`) {
		t.Errorf("got %+v", got)
	}
	e.Terminate()
}

func TestASessionMayEndWhileItsClientIsAsked(t *testing.T) {
	e := serveScript(t, rootsScript, rootsTools, "{}")
	c := e.rooted()
	unasked := c.open(sent{method: http.MethodGet, header: c.header()})
	unasked.asked()
	if got := e.send(sent{method: http.MethodDelete, header: c.header()}); got.status != 204 {
		t.Errorf("DELETE: %+v", got)
	}
	silent := e.rooted()
	silent.open(sent{method: http.MethodGet, header: silent.header()}).asked()
	e.Terminate()
}

func TestAStatelessClientIsAskedForItsRootsInTheResult(t *testing.T) {
	a := t.TempDir()
	e := serveScript(t, rootsScript, rootsTools, "{}")
	params := `"name":"listed","arguments":{}`
	capable := func(s sent) sent {
		s.body = strings.Replace(s.body, `clientCapabilities":{}`, `clientCapabilities":{"roots":{}}`, 1)
		return s
	}
	got := e.send(capable(modernRequest("1", "tools/call", params, nil)))
	var reply struct {
		Result struct {
			InputRequests map[string]struct{ Method string }
			RequestState  string
		}
	}
	if err := json.Unmarshal([]byte(got.body), &reply); err != nil || len(reply.Result.InputRequests) != 1 {
		t.Fatalf("got %+v", got)
	}
	for key := range reply.Result.InputRequests {
		params += fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:{"roots":[{"uri":"file://%s"}]}}`, reply.Result.RequestState, key, a)
	}
	if got := e.send(capable(modernRequest("2", "tools/call", params, nil))); !strings.Contains(got.body, `"text":"`+a+`"`) {
		t.Errorf("got %+v", got)
	}
	e.Terminate()
}
