package stdio_test

import (
	"strings"
	"testing"
)

func TestUnknownMethodsAreRefused(t *testing.T) {
	methods := []string{
		"", " ", "no/such", "Ping", "PING", "ping ", "tools", "tools/", "tools/List", "tools/call ", "/tools/call", "initialized", "rpc.discover",
		"resources", "resources/list ",
		"roots/list", "sampling/createMessage", "elicitation/create",
		"tasks/get", "tasks/list", "tasks/cancel", "tasks/result",
		"notifications/initialized", "notifications/cancelled", "notifications/progress", "notifications/roots/list_changed", "notifications/message", "notifications/none",
		"a\u0000b", "😀", "<script>", strings.Repeat("m", 100000),
	}
	legacyOnes := append([]string{"subscriptions/listen"}, methods...)
	modernOnes := append([]string{"initialize", "ping", "logging/setLevel"}, methods...)
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			c := fixture(t)
			state.reach(c)
			for _, method := range legacyOnes {
				c.unknown(method, request("7", method, `{}`))
			}
			for _, method := range modernOnes {
				c.unknown(method, modernRequest("7", method, ""))
			}
		})
	}
}

func (c *client) unknown(method, line string) {
	c.t.Helper()
	if r := c.ask(line); r.Error == nil || r.Error.Code != -32601 || string(r.ID) != "7" {
		c.t.Errorf("method %.100q: %.2000s", method, r.Raw)
	}
	c.alive()
}

func TestNothingAnswersANotification(t *testing.T) {
	deep := nested(mostDepth + 1)
	lines := []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized","params":null}`,
		notification("notifications/initialized", `{"_meta":`+modernMeta+`}`),
		notification("notifications/roots/list_changed", `{}`),
		notification("notifications/progress", `{"progressToken":1,"progress":1}`),
		notification("notifications/none", `{}`),
		notification("no/such", `{}`),
		notification("", `{}`),
		notification("ping", `{}`),
		notification("tools/list", `{}`),
		notification("server/discover", `{"_meta":`+modernMeta+`}`),
		notification("logging/setLevel", `{"level":"loud"}`),
		notification("initialize", `{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"a","version":"1"}}`),
		notification("tools/call", `{"name":"touch","arguments":{"name":"notified"}}`),
		notification("tools/call", `{"name":"touch","arguments":{"name":"notified"},"_meta":`+modernMeta+`}`),
		notification("tools/call", `{"name":"no such"}`),
		notification("no/such", `{"_meta":{"`+metaVersion+`":"1999-01-01","`+metaCapabilities+`":{}}}`),
		notification("no/such", `{"_meta":{"`+metaVersion+`":7}}`),
		notification("notifications/initialized", `[]`),
		notification("notifications/initialized", `"`+canary+`"`),
		notification("notifications/cancelled", `[1]`),
		notification("no/such", `7`),
		notification("no/such", `{"deep":`+deep+`}`),
		notification("notifications/cancelled", `{"requestId":`+deep+`}`),
	}
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			c := fixture(t)
			state.reach(c)
			for _, line := range lines {
				c.silent(line)
			}
			c.works()
			c.absent("notified.touched")
		})
	}
}

func TestNothingAnswersAResponseNobodyAskedFor(t *testing.T) {
	lines := []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`,
		`{"jsonrpc":"2.0","id":"x","result":{"roots":[]}}`,
		`{"jsonrpc":"2.0","id":1,"result":null}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"` + canary + `"}}`,
		`{"jsonrpc":"2.0","id":1,"error":null}`,
		`{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`,
		`{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`,
		`{"jsonrpc":"2.0","id":"held","result":{}}`,
	}
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			c := fixture(t)
			gate := c.gate()
			state.reach(c)
			c.send(callNamed(`"held"`, "gate", "call"))
			for _, line := range lines {
				c.silent(line)
			}
			pass(t, gate, 1)
			wantText(t, c.reply(), `"held"`, "through call")
		})
	}
}

func TestALegacyRequestBeforeInitializeIsServed(t *testing.T) {
	tests := map[string]string{
		"ping":             `{}`,
		"tools/list":       `{}`,
		"tools/call":       `{"name":"echo","arguments":{"a":1}}`,
		"logging/setLevel": `{"level":"debug"}`,
	}
	for method, params := range tests {
		t.Run(method, func(t *testing.T) {
			c := fixture(t)
			if r := c.ask(request("1", method, params)); r.Error != nil {
				t.Errorf("not served: %s", r.Raw)
			}
			c.works()
			if r := c.initialize("2025-06-18"); member(t, r.Result, "protocolVersion") != "2025-06-18" {
				t.Errorf("no handshake afterwards: %s", r.Raw)
			}
			c.works()
		})
	}
}
