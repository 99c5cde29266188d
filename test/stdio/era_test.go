package stdio_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

func TestInitializeSettlesOnTheRevisionAskedForOrTheNewestOfItsEra(t *testing.T) {
	tests := map[string]string{modern: newestLegacy, "": newestLegacy, "1999-01-01": newestLegacy, "2025-11-26": newestLegacy, "2099-12-31": newestLegacy, "draft": newestLegacy, "2025-06-18 ": newestLegacy}
	for _, revision := range legacyRevisions {
		tests[revision] = revision
	}
	for asked, want := range tests {
		t.Run(asked, func(t *testing.T) {
			c := fixture(t)
			wantResult(t, c.initialize(asked), "1",
				`{"protocolVersion":"`+want+`","capabilities":{"logging":{},"tools":{"listChanged":true},"resources":{}},"serverInfo":{"name":"server","version":"1.0.0"}}`)
			c.works()
			wantResult(t, c.ask(request("2", "logging/setLevel", `{"level":"debug"}`)), "2", `{}`)
			if r := c.ask(request("3", "tools/list", `{}`)); !strings.HasPrefix(string(r.Result), `{"tools":[{"name":"echo",`) {
				t.Errorf("no list: %s", r.Raw)
			}
			wantError(t, c.ask(request("4", "no/such", `{}`)), "4", -32601)
			wantError(t, c.ask("not JSON"), "", -32700)
		})
	}
}

func TestAHandshakeMayBeRepeatedWithAnotherRevision(t *testing.T) {
	c := fixture(t)
	for _, revision := range append(slices.Clone(legacyRevisions), "2025-11-25", "2024-11-05", "2025-03-26", "2024-11-05") {
		r := c.initialize(revision)
		if got := member(t, r.Result, "protocolVersion"); got != revision {
			t.Errorf("asked for %s, got %s", revision, r.Raw)
		}
		c.works()
		wantError(t, c.ask("not JSON"), "", -32700)
		c.askModern()
	}
}

func TestAHandshakeMayBeRepeatedWithACallInFlight(t *testing.T) {
	c := fixture(t)
	gate := c.gate()
	c.initialize("2024-11-05")
	c.send(callNamed(`"held"`, "gate", "call"))
	c.awaitFile("call.began")
	c.initialize("2025-06-18")
	c.works()
	pass(t, gate, 1)
	wantText(t, c.reply(), `"held"`, "through call")
	c.works()
}

func TestAHandshakeThatFailsLeavesTheConnectionAsItWas(t *testing.T) {
	handshakes := []string{
		`{"protocolVersion":7,"capabilities":{},"clientInfo":{"name":"` + canary + `","version":"1"}}`,
		`{"protocolVersion":["` + canary + `"],"capabilities":{},"clientInfo":{"name":"a","version":"1"}}`,
		`{"protocolVersion":"2025-06-18","capabilities":"` + canary + `","clientInfo":{"name":"a","version":"1"}}`,
		`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":["` + canary + `"]}`,
		`["2025-06-18"]`,
	}
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			for _, params := range handshakes {
				c := fixture(t)
				state.reach(c)
				wantError(t, c.ask(request("7", "initialize", params)), "7", -32602)
				wantText(t, c.ask(callNamed("8", "echo", "a")), "8", `{"name":"a"}`)
				wantError(t, c.ask("not JSON"), "", -32700)
			}
		})
	}
}

func (c *client) askModern() {
	c.t.Helper()
	c.serial++
	id := fmt.Sprintf(`"modern %d"`, c.serial)
	wantText(c.t, c.ask(modernRequest(id, "tools/call", `"name":"echo","arguments":{"n":1}`)), id, `{"n":1}`)
}

// The exact answers of the fixture to the stateless era's methods.
const (
	modernEnd      = `"resultType":"complete","_meta":{"` + metaServerInfo + `":{"name":"server","version":"1.0.0"}}}`
	discoverResult = `{"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],` +
		`"capabilities":{"logging":{},"tools":{"listChanged":true},"resources":{}},"ttlMs":0,"cacheScope":"public",` + modernEnd
)

func TestTheStatelessEraIsServedWithoutAHandshake(t *testing.T) {
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			c := fixture(t)
			state.reach(c)
			wantResult(t, c.ask(modernRequest("1", "server/discover", "")), "1", discoverResult)
			wantResult(t, c.ask(modernRequest(`"2"`, "tools/call", `"name":"echo"`)), `"2"`, `{"content":[{"type":"text","text":"{}"}],"isError":false,`+modernEnd)
			r := c.ask(modernRequest("3", "tools/list", ""))
			if text := string(r.Result); !strings.HasPrefix(text, `{"tools":[{"name":"echo",`) || !strings.HasSuffix(text, `],"ttlMs":0,"cacheScope":"public",`+modernEnd) {
				t.Errorf("no list of the stateless era: %s", r.Raw)
			}
			r = c.ask(modernRequest("4", "tools/call", `"name":"fail"`))
			if text, isError := r.ToolText(t); !isError || text != "Error executing fail: it went wrong" {
				t.Errorf("not what a failure looks like: %s", r.Raw)
			}
			wantError(t, c.ask(modernRequest("5", "tools/call", `"name":"no such"`)), "5", -32602)
			for _, method := range []string{"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"} {
				wantError(t, c.ask(modernRequest("6", method, "")), "6", -32601)
			}
			c.works()
		})
	}
}

func TestBothErasShareAConnectionWithoutBleeding(t *testing.T) {
	for _, revision := range append([]string{""}, legacyRevisions...) {
		t.Run("after "+revision, func(t *testing.T) {
			c := fixture(t)
			if revision != "" {
				c.initialize(revision)
			}
			for range 3 {
				// judge tells the eras apart by every answer's members.
				c.askModern()
				c.works()
				c.ask(modernRequest("1", "tools/list", ""))
				c.ask(request("1", "tools/list", `{}`))
				c.ask(modernRequest("1", "server/discover", ""))
				wantResult(t, c.ask(request("1", "logging/setLevel", `{"level":"debug"}`)), "1", `{}`)
				wantError(t, c.ask(modernRequest("1", "logging/setLevel", `"level":"debug"`)), "1", -32601)
				wantError(t, c.ask("not JSON"), "", -32700)
			}
		})
	}
}

func TestBothErasShareAConnectionAtTheSameTime(t *testing.T) {
	c := fixture(t)
	c.initialize("2025-06-18")
	gate := c.gate()
	const each = 10
	for i := range each {
		c.send(callNamed(fmt.Sprint(i), "gate", fmt.Sprintf("legacy%d", i)))
		c.send(modernRequest(fmt.Sprintf(`"%d"`, i), "tools/call", fmt.Sprintf(`"name":"gate","arguments":{"name":"modern%d"}`, i)))
	}
	// A request that needs no turn passes those that do.
	c.alive()
	pass(t, gate, 2*each)
	byID := c.replies(2 * each)
	for i := range each {
		wantText(t, byID[fmt.Sprint(i)], fmt.Sprint(i), fmt.Sprintf("through legacy%d", i))
		id := fmt.Sprintf(`"%d"`, i)
		wantText(t, byID[id], id, fmt.Sprintf("through modern%d", i))
	}
}

func TestADiscoverWithoutMetadataIsRefused(t *testing.T) {
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			c := fixture(t)
			state.reach(c)
			for _, params := range []string{``, `,"params":null`, `,"params":{}`, `,"params":{"_meta":{}}`, `,"params":{"_meta":null}`, `,"params":{"_meta":{"progressToken":1}}`} {
				wantError(t, c.ask(`{"jsonrpc":"2.0","id":7,"method":"server/discover"`+params+`}`), "7", -32602)
			}
			wantResult(t, c.ask(modernRequest("8", "server/discover", "")), "8", discoverResult)
		})
	}
}

func TestModernRequestsWithoutTheirMetadataAreRefused(t *testing.T) {
	version, capabilities := `"`+metaVersion+`":"`+modern+`"`, `"`+metaCapabilities+`":{}`
	metas := []string{
		version,
		capabilities,
		`"` + metaVersion + `":null,` + capabilities,
		`"` + metaVersion + `":20260728,` + capabilities,
		`"` + metaVersion + `":["` + modern + `"],` + capabilities,
		`"` + metaVersion + `":{"` + canary + `":1},` + capabilities,
		version + `,"` + metaCapabilities + `":null`,
		version + `,"` + metaCapabilities + `":[]`,
		version + `,"` + metaCapabilities + `":true`,
		version + `,"` + metaCapabilities + `":"` + canary + `"`,
		version + `,` + capabilities + `,"` + metaClientInfo + `":"` + canary + `"`,
		version + `,` + capabilities + `,"` + metaClientInfo + `":[]`,
		`"` + metaVersion + `":"1999-01-01"`,
	}
	for _, method := range []string{"tools/list", "tools/call", "server/discover", "ping", "initialize", "no/such"} {
		t.Run(method, func(t *testing.T) {
			c := fixture(t)
			for _, meta := range metas {
				r := c.ask(request("7", method, `{"name":"echo","_meta":{`+meta+`}}`))
				if wantError(t, r, "7", -32602); !strings.Contains(r.Error.Message, metaPrefix) {
					t.Errorf("%s: the message does not name the member: %s", meta, r.Raw)
				}
			}
			c.askModern()
			c.works()
		})
	}
}

func TestWhatElseIsInTheMetadataDoesNoHarm(t *testing.T) {
	c := fixture(t)
	for _, more := range []string{
		`"` + metaClientInfo + `":{"name":"a","version":"1"}`,
		`"` + metaClientInfo + `":{"name":"a","version":"1","title":"A","icons":[],"unknown":{"a":1}}`,
		`"progressToken":1`, `"progressToken":"a"`, `"progressToken":9007199254740993`, `"progressToken":1.5`, `"progressToken":1e400`,
		`"progressToken":""`,
		`"` + metaPrefix + `logLevel":"debug"`,
		`"` + metaPrefix + `unknown":[1]`,
		`"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`,
		`"unknown":9007199254740993.5`,
		`"com.example/a":{"b":null}`,
	} {
		r := c.ask(request("7", "tools/call", `{"name":"echo","_meta":{"`+metaVersion+`":"`+modern+`","`+metaCapabilities+`":{"roots":{},"sampling":{"tools":{}}},`+more+`}}`))
		wantText(t, r, "7", `{}`)
		wantText(t, c.ask(request("8", "tools/call", `{"name":"echo","_meta":{`+strings.ReplaceAll(more, metaPrefix, "x/")+`}}`)), "8", `{}`)
		if t.Failed() {
			t.Fatalf("that was %s", more)
		}
	}
}

func TestAnUnsupportedVersionIsAnsweredWithThoseThatAreServed(t *testing.T) {
	versions := append(slices.Clone(legacyRevisions), "", "2027-01-01", "1999-01-01", "draft", "2026-07-28 ", "<2026>")
	for _, method := range []string{"tools/list", "tools/call", "server/discover", "ping", "initialize", "no/such"} {
		c := fixture(t)
		for _, version := range versions {
			r := c.ask(request("7", method, `{"name":"echo","_meta":{"`+metaVersion+`":"`+version+`","`+metaCapabilities+`":{}}}`))
			wantUnsupported(t, r, "7", version, modern)
		}
		c.askModern()
		c.works()
	}
}

// wantUnsupported holds a reply to -32022 with what was asked for and what is
// served.
func wantUnsupported(t testing.TB, r harness.Reply, id, requested string, supported ...string) {
	t.Helper()
	wantError(t, r, id, -32022)
	var data struct {
		Supported []string
		Requested *string
	}
	if r.Error == nil || json.Unmarshal(r.Error.Data, &data) != nil || data.Requested == nil ||
		*data.Requested != requested || !slices.Equal(data.Supported, supported) {
		t.Errorf("want %q requested and %q supported: %s", requested, supported, r.Raw)
	}
}
