package stdio_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// listening asks to listen, and reads the acknowledgement.
func (c *client) listening(id, filter, acknowledged string) {
	c.t.Helper()
	c.send(modernRequest(id, "subscriptions/listen", `"notifications":`+filter))
	c.hears(told("subscriptions/acknowledged", id, `"notifications":`+acknowledged))
}

// told is a notification: of a session, or under the id of what listens.
func told(method, id, members string) string {
	if id != "" {
		if members != "" {
			members = "," + members
		}
		members = `"_meta":{"` + subscriptionID + `":` + id + `}` + members
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/%s","params":{%s}}`, method, members)
}

// hears reads lines that may come in any order.
func (c *client) hears(want ...string) {
	c.t.Helper()
	var got []string
	for range want {
		got = append(got, c.line())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		c.t.Errorf("got  %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

func isReply(line string) bool { return strings.HasPrefix(line, `{"jsonrpc":"2.0","id":`) }

func isTold(notification string) func(string) bool {
	return func(line string) bool { return line == notification }
}

// linesUntil reads lines, each of which must be want, up to one that ends them.
func (c *client) linesUntil(isEnd func(string) bool, want string) (lines []string) {
	c.t.Helper()
	for {
		line := c.line()
		if isEnd(line) {
			return lines
		}
		if line != want {
			c.t.Fatalf("got  %s\nwant %s", line, want)
		}
		lines = append(lines, line)
	}
}

// endsListening closes the input, after which nothing may come but the results of
// what listens, under these ids.
func (c *client) endsListening(ids ...string) {
	c.t.Helper()
	c.server.CloseInput()
	for range ids {
		r := c.reply()
		id := string(r.ID)
		if !slices.Contains(ids, id) {
			c.t.Errorf("nobody listens under %s: %s", id, r.Raw)
		}
		wantResult(c.t, r, id, `{"resultType":"complete","_meta":{"`+metaServerInfo+`":{"name":"server","version":"1.0.0"},"`+subscriptionID+`":`+id+`}}`)
	}
	if line, more := c.server.TryLine(); more {
		c.t.Errorf("a line nobody expected: %s", line)
	}
	c.exits()
}

func TestOlderClientsAreToldWhenAListChanges(t *testing.T) {
	for _, revision := range legacyRevisions {
		t.Run(revision, func(t *testing.T) {
			c := offers(t)
			c.initialize(revision)
			c.alive()
			c.replace("tools.json", `{"tools":[]}`)
			c.hears(told("tools/list_changed", "", ""))
			wantResult(t, c.ask(request("1", "tools/list", `{}`)), "1", `{"tools":[]}`)
			c.replace("resources.json", `{"resources":[]}`)
			c.hears(told("resources/list_changed", "", ""))
			c.replace("prompts.json", `{"prompts":[]}`)
			c.hears(told("prompts/list_changed", "", ""))
		})
	}
}

func TestOneFileMayHoldAllTheLists(t *testing.T) {
	path := harness.Script(t, fixtureScript, `{"tools":[]}`, `{}`)
	file := filepath.Join(filepath.Dir(path), "all.json")
	if err := os.WriteFile(file, []byte(`{"tools":[],"resources":[],"prompts":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := serve(t, path, "--tools", file, "--resources", file, "--prompts", filepath.Dir(file)+"/./all.json")
	c.initialize(newestLegacy)
	c.alive()
	c.replace("all.json", `{"resources":[]}`)
	c.hears(told("tools/list_changed", "", ""), told("resources/list_changed", "", ""), told("prompts/list_changed", "", ""))
}

func TestAClientThatHasNotBegunIsToldOfNothing(t *testing.T) {
	c := offers(t)
	c.send(initialize("1", newestLegacy))
	c.reply()
	c.listening(`"l"`, `{"toolsListChanged":true}`, `{"toolsListChanged":true}`)
	c.replace("tools.json", `{"tools":[]}`)
	c.hears(told("tools/list_changed", `"l"`, ""))
	c.alive()
	c.endsListening(`"l"`)
}

func TestWhoListensHearsWhatItHasAskedFor(t *testing.T) {
	c := offers(t)
	const big = "12345678901234567890"
	c.listening(big, `{"toolsListChanged":true,"resourceSubscriptions":["x://text","x://gone","x://files/ada"]}`, `{"toolsListChanged":true,"resourceSubscriptions":["x://text","x://files/ada"]}`)
	c.listening(`"b"`, `{"promptsListChanged":true,"resourcesListChanged":false}`, `{"promptsListChanged":true}`)
	c.listening(`-7`, `{"toolsListChanged":true}`, `{"toolsListChanged":true}`)
	c.replace("text.md", "# Another text\n")
	c.hears(told("resources/updated", big, `"uri":"x://text"`))
	c.replace("sub/ada.txt", "Ada again")
	c.hears(told("resources/updated", big, `"uri":"x://files/ada"`))
	c.replace("tools.json", `{"tools":[]}`)
	c.hears(told("tools/list_changed", big, ""), told("tools/list_changed", "-7", ""))
	c.silent(cancel("-7"))
	c.replace("tools.json", `{"tools":[{"name":"x"}]}`)
	c.hears(told("tools/list_changed", big, ""))
	c.replace("prompts.json", `{"prompts":[]}`)
	c.hears(told("prompts/list_changed", `"b"`, ""))
	wantError(t, c.ask(modernRequest("1", "subscriptions/listen", `"notifications":{"toolsListChanged":"yes"}`)), "1", -32602)
	wantError(t, c.ask(modernRequest("1", "subscriptions/listen", ``)), "1", -32602)
	long := `"x://files/` + strings.Repeat(",", 2000) + `"`
	many := strings.Repeat(long+",", 999) + long
	if r := c.ask(modernRequest("1", "subscriptions/listen", `"notifications":{"resourceSubscriptions":[`+many+`]}`)); !strings.Contains(r.Raw, "more than 65536 bytes") {
		t.Errorf("URIs without bound: %s", r.Raw)
	}
	c.endsListening(big, `"b"`)
}

// From within a call, by a program, and from a process that the script has left
// running.
func TestAScriptTellsOfItsResources(t *testing.T) {
	c := offersWith(t, `
cd -- "${BASH_SOURCE[0]%/*}"
{ until [[ -e changed ]]; do sleep 0.01; done; mcp_resource_updated x://files/ada; } >/dev/null 2>&1 &
tool_x() { mcp_resource_updated x://text; mcp_resource_updated x://unknown; mcp_resource_updated; }
tool_program() { "$CONCH_BIN" tool resource-updated x://text; }
tool_flood() { local i; for ((i = 0; i < 5000; i++)); do mcp_resource_updated x://text; done; }
`)
	c.replace("tools.json", `{"tools":[{"name":"x","inputSchema":{"type":"object"}},{"name":"program","inputSchema":{"type":"object"}},{"name":"flood","inputSchema":{"type":"object"}}]}`)
	c.listening(`"l"`, `{"resourceSubscriptions":["x://text","x://files/ada"]}`, `{"resourceSubscriptions":["x://text","x://files/ada"]}`)
	text := told("resources/updated", `"l"`, `"uri":"x://text"`)
	for _, tool := range []string{"x", "program"} {
		c.send(modernRequest("1", "tools/call", `"name":"`+tool+`","arguments":{}`))
		if got := c.linesUntil(isReply, text); len(got) == 0 && c.line() != text {
			t.Errorf("%s has changed a resource, and nobody was told", tool)
		}
	}
	c.send(modernRequest("2", "tools/call", `"name":"flood","arguments":{}`))
	during := c.linesUntil(isReply, text)
	// The last change is told, and comes before what changes now.
	c.replace("changed", "")
	after := c.linesUntil(isTold(told("resources/updated", `"l"`, `"uri":"x://files/ada"`)), text)
	if n := len(during) + len(after); n < 1 || n > 1000 {
		t.Errorf("a resource that changed 5000 times was told of %d times", n)
	}
	c.endsListening(`"l"`)
}

func TestAnIDIsFreeAgainOnceNobodyListensUnderIt(t *testing.T) {
	c := offers(t)
	for range 3 {
		c.listening("1", `{"toolsListChanged":true}`, `{"toolsListChanged":true}`)
		c.silent(cancel("1"))
	}
}

func TestRequestsThatListenAreBounded(t *testing.T) {
	c := offers(t)
	var ids []string
	for i := range 64 {
		ids = append(ids, fmt.Sprint(i))
		c.listening(ids[i], `{}`, `{}`)
	}
	r := c.ask(modernRequest(`"more"`, "subscriptions/listen", `"notifications":{}`))
	if wantError(t, r, `"more"`, -32600); !strings.Contains(r.Error.Message, "64 requests listen already") {
		t.Errorf("it says %q", r.Error.Message)
	}
	c.alive()
	// A place is free with the line that gives it up.
	for i := range ids {
		next := fmt.Sprintf(`"again-%d"`, i)
		c.send(cancel(ids[i]))
		c.listening(next, `{}`, `{}`)
		ids[i] = next
	}
	c.endsListening(ids...)
}

func TestOlderClientsSubscribeToResources(t *testing.T) {
	c := offers(t)
	c.initialize(newestLegacy)
	wantResult(t, c.ask(request("1", "resources/subscribe", `{"uri":"x://text"}`)), "1", `{}`)
	c.replace("text.md", "other\n")
	c.hears(told("resources/updated", "", `"uri":"x://text"`))
	// It is in another file from now on.
	c.replace("resources.json", `{"resources":[{"uri":"x://text","name":"text","file":"sub/ada.txt"}]}`)
	c.hears(told("resources/list_changed", "", ""))
	c.alive()
	c.replace("sub/ada.txt", "changed")
	c.hears(told("resources/updated", "", `"uri":"x://text"`))
	wantResult(t, c.ask(request("1", "resources/unsubscribe", `{"uri":"x://text"}`)), "1", `{}`)
	c.replace("sub/ada.txt", "more")
	c.replace("prompts.json", `{"prompts":[]}`)
	c.hears(told("prompts/list_changed", "", ""))
}

func TestASteadyStreamOfChangesIsToldOfMeanwhile(t *testing.T) {
	c := offers(t)
	c.listening("1", `{"toolsListChanged":true}`, `{"toolsListChanged":true}`)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				c.replace("tools.json", `{"tools":[]}`)
			}
		}
	}()
	defer func() { <-stopped }()
	defer close(stop)
	for range 3 {
		c.hears(told("tools/list_changed", "1", ""))
	}
	c.ended = true
}
