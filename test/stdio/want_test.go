package stdio_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

// Members of params._meta in the stateless era.
const (
	metaPrefix       = "io.modelcontextprotocol/"
	metaVersion      = metaPrefix + "protocolVersion"
	metaCapabilities = metaPrefix + "clientCapabilities"
	metaClientInfo   = metaPrefix + "clientInfo"
	metaServerInfo   = metaPrefix + "serverInfo"
	subscriptionID   = metaPrefix + "subscriptionId"
)

const modernMeta = `{"` + metaVersion + `":"` + modern + `","` + metaCapabilities + `":{}}`

// request is a request line; id and params are JSON.
func request(id, method, params string) string {
	name, _ := json.Marshal(method)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%s,"params":%s}`, id, name, params)
}

func notification(method, params string) string {
	name, _ := json.Marshal(method)
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":%s,"params":%s}`, name, params)
}

// modernRequest is a request line of the stateless era; members are those of
// params besides _meta.
func modernRequest(id, method, members string) string {
	if members != "" {
		members = "," + members
	}
	return request(id, method, `{"_meta":`+modernMeta+members+`}`)
}

func initialize(id, revision string) string {
	name, _ := json.Marshal(revision)
	return request(id, "initialize", fmt.Sprintf(`{"protocolVersion":%s,"capabilities":{},"clientInfo":{"name":"suite","version":"1"}}`, name))
}

// callNamed calls a tool of the fixture that takes a name.
func callNamed(id, tool, name string) string {
	return request(id, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"name":%q}}`, tool, name))
}

func cancel(id string) string {
	return notification("notifications/cancelled", `{"requestId":`+id+`}`)
}

// wantError holds a reply to a code and an id as JSON; "" means that there must
// be none, which is null or absent as client.judge demands.
func wantError(t testing.TB, r harness.Reply, id string, code int) {
	t.Helper()
	if r.Error == nil || r.Error.Code != code {
		t.Errorf("want error %d: %.2000s", code, r.Raw)
	}
	if got := string(r.ID); got != id && (id != "" || got != "null") {
		t.Errorf("want id %q: %.2000s", id, r.Raw)
	}
}

func wantResult(t testing.TB, r harness.Reply, id, result string) {
	t.Helper()
	if want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result); r.Raw != want {
		t.Errorf("got  %.2000s\nwant %.2000s", r.Raw, want)
	}
}

// wantText holds a reply to the text of a tool that has not failed.
func wantText(t testing.TB, r harness.Reply, id, want string) {
	t.Helper()
	text, isError := r.ToolText(t)
	if text != want || isError || string(r.ID) != id {
		t.Errorf("want id %s and text %.1000q: %.2000s", id, want, r.Raw)
	}
}

// member is a member of an object that is a string.
func member(t testing.TB, object json.RawMessage, name string) string {
	t.Helper()
	var members map[string]json.RawMessage
	var s string
	if json.Unmarshal(object, &members) != nil || json.Unmarshal(members[name], &s) != nil {
		t.Fatalf("there is no string %s: %.2000s", name, object)
	}
	return s
}
