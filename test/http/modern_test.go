package http_test

import (
	"context"
	"encoding/base64"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

func TestTheStatelessEraIsAnsweredWithOneDocument(t *testing.T) {
	e := serve(t)
	answer := e.post("1", "tools/call", `"name":"echo","arguments":{"n":9007199254740993.10}`, nil)
	if answer.status != 200 || answer.header.Get("Content-Type") != "application/json" {
		t.Fatalf("got %+v", answer)
	}
	if strings.Contains(answer.body, "\n") || !strings.Contains(answer.body, `"text":"{\"n\":9007199254740993.10}"`) || !strings.Contains(answer.body, `"resultType":"complete"`) {
		t.Errorf("got %s", answer.body)
	}
	if listed := e.post("1", "tools/list", "", nil); listed.status != 200 || !strings.Contains(listed.body, `"cacheScope":"public"`) {
		t.Errorf("tools/list: %+v", listed)
	}
	if found := e.post("1", "server/discover", "", nil); found.status != 200 || !strings.Contains(found.body, `"supportedVersions":["2026-07-28",`) {
		t.Errorf("server/discover: %+v", found)
	}
	if failed := e.post("1", "tools/call", `"name":"fail"`, nil); failed.status != 200 || !strings.Contains(failed.body, `"isError":true`) {
		t.Errorf("a tool that fails: %+v", failed)
	}
	e.Terminate()
}

func TestIDsKeepTypeAndDigits(t *testing.T) {
	e := serve(t)
	for _, id := range []string{`1`, `-7`, `9007199254740993`, `123456789012345678901234567890`, `"a"`, `"\u0041"`, `1.0`} {
		for _, method := range []string{"tools/list", "tools/call"} {
			params := ""
			if method == "tools/call" {
				params = `"name":"echo"`
			}
			if answer := e.post(id, method, params, nil); !strings.HasPrefix(answer.body, `{"jsonrpc":"2.0","id":`+id+`,"result"`) {
				t.Errorf("%s of %s: %s", method, id, answer.body)
			}
		}
	}
}

// What a modern request is answered that has something wrong with it.
func TestModernRequestsAreRefusedWithTheStatusOfTheTable(t *testing.T) {
	e := serve(t)
	b64 := func(s string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" }
	type header = map[string]string
	noMeta := func(h header) sent {
		return sent{header: h, body: `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`}
	}
	version := func(v string) sent {
		s := modernRequest("1", "tools/list", "", header{"MCP-Protocol-Version": v})
		s.body = strings.ReplaceAll(s.body, modern, v)
		return s
	}
	call := func(h header) sent { return modernRequest("1", "tools/call", `"name":"echo"`, h) }
	tests := []struct {
		name   string
		sent   sent
		status int
		want   string // part of the body
	}{
		{"an unknown method", modernRequest("1", "nope", "", nil), 404, `"code":-32601`},
		{"ping, which this era has not", modernRequest("1", "ping", "", nil), 404, `"code":-32601`},
		{"initialize, likewise", modernRequest("1", "initialize", "", nil), 404, `"code":-32601`},
		{"logging/setLevel, likewise", modernRequest("1", "logging/setLevel", `"level":"info"`, nil), 404, `"code":-32601`},
		{"an unknown tool", modernRequest("1", "tools/call", `"name":"gone"`, nil), 400, `"code":-32602`},
		{"no _meta", noMeta(header{"MCP-Protocol-Version": modern, "Mcp-Method": "tools/list"}), 400, `"id":1,"error":{"code":-32602`},
		{"a version that does not exist yet, and no _meta", noMeta(header{"MCP-Protocol-Version": "2030-01-01", "Mcp-Method": "tools/list"}), 400, `"code":-32602`},
		{"no version header", modernRequest("1", "tools/list", "", header{"MCP-Protocol-Version": ""}), 400, `"code":-32020`},
		{"another version in the header", modernRequest("1", "tools/list", "", header{"MCP-Protocol-Version": newestLegacy}), 400, `"code":-32020`},
		{"two version headers", modernRequest("1", "tools/list", "", header{"MCP-Protocol-Version": modern + "\n" + modern}), 400, `"code":-32020`},
		{"a version that is not served", version("2030-01-01"), 400, `"code":-32022`},
		{"a version that is none", version("banana"), 400, `"code":-32022`},
		{"no Mcp-Method", modernRequest("1", "tools/list", "", header{"Mcp-Method": ""}), 400, `"code":-32020`},
		{"another Mcp-Method", modernRequest("1", "tools/list", "", header{"Mcp-Method": "Tools/List"}), 400, `"code":-32020`},
		{"no Mcp-Name", call(header{"Mcp-Name": ""}), 400, `"code":-32020`},
		{"another Mcp-Name", call(header{"Mcp-Name": "fail"}), 400, `"code":-32020`},
		{"two of it", call(header{"Mcp-Name": "echo\necho"}), 400, `"code":-32020`},
		{"one in base64", call(header{"Mcp-Name": b64("echo")}), 200, `"result"`},
		{"another in base64", call(header{"Mcp-Name": b64("fail")}), 400, `"code":-32020`},
		{"bad base64", call(header{"Mcp-Name": "=?base64?ZWNobw?="}), 400, `"code":-32020`},
		{"base64 without its end", call(header{"Mcp-Name": "=?base64?ZWNobw=="}), 400, `"code":-32020`},
		{"base64 in capitals, which is a strange name", call(header{"Mcp-Name": "=?BASE64?ZWNobw==?="}), 400, `"code":-32020`},
		{"space around a value", call(header{"Mcp-Name": "  echo  "}), 200, `"result"`},
		{"a session id, which means nothing", call(header{"Mcp-Session-Id": "x", "Last-Event-ID": "1-1"}), 200, `"result"`},
		{"a response", sent{header: header{"MCP-Protocol-Version": modern}, body: `{"jsonrpc":"2.0","id":1,"result":{}}`}, 400, `"code":-32600`},
		{"a notification", sent{header: header{"MCP-Protocol-Version": modern}, body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`}, 202, ``},
		{"a batch", sent{header: header{"MCP-Protocol-Version": modern}, body: `[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]`}, 400, `"code":-32600`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer := e.send(tt.sent)
			if answer.status != tt.status || !strings.Contains(answer.body, tt.want) {
				t.Errorf("got %d %s", answer.status, answer.body)
			}
		})
	}
}

func TestASilentCallIsKeptAliveByComments(t *testing.T) {
	e := serve(t, "--keep-alive", "100ms")
	file := filepath.Join(t.TempDir(), "f")
	r := e.open(modernRequest("1", "tools/call", `"name":"wait","arguments":{"file":"`+file+`"}`, nil))
	if r.Header.Get("Content-Type") != "text/event-stream" || r.Header.Get("X-Accel-Buffering") != "no" {
		t.Fatalf("got %v", r.Header)
	}
	for range 2 {
		if f, ok := r.next(); !ok || f.comment == "" || f.id != "" {
			t.Fatalf("got %+v", f)
		}
	}
	remove(t, file)
	if f := r.message(); !strings.Contains(f.data, `"text":"waited"`) || f.id != "" {
		t.Errorf("got %+v", f)
	}
	if f, ok := r.next(); ok {
		t.Errorf("behind the response comes %+v", f)
	}
}

func TestWhoeverLeavesHasItsCallCancelled(t *testing.T) {
	e := serve(t)
	file := filepath.Join(t.TempDir(), "f")
	ctx, leave := context.WithCancel(context.Background())
	var gone sync.WaitGroup
	gone.Go(func() {
		resp, err := http.DefaultClient.Do(modernRequest("1", "tools/call", `"name":"wait","arguments":{"file":"`+file+`"}`, nil).request(ctx, e))
		if err == nil {
			resp.Body.Close()
		}
	})
	awaitFile(t, file)
	leave()
	gone.Wait()
	harness.Eventually(t, 10*time.Second, "the call has ended", func() bool { return !runs(t, file) })
	// The server is there for others.
	if answer := e.post("2", "tools/call", `"name":"echo"`, nil); answer.status != 200 {
		t.Errorf("got %+v", answer)
	}
	e.Terminate()
	if !exists(file) {
		t.Error("the call went on to its end")
	}
}

func TestOlderClientsAreNotServedWithoutLegacy(t *testing.T) {
	e := serve(t, "--legacy=false")
	tests := []struct {
		name   string
		sent   sent
		status int
		want   string
	}{
		{"initialize", sent{body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`}, 400, `"code":-32022`},
		{"a request", sent{body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`}, 400, `"code":-32602`},
		{"GET", sent{method: "GET", header: map[string]string{"Mcp-Session-Id": "x"}}, 405, ``},
		{"DELETE", sent{method: "DELETE", header: map[string]string{"Mcp-Session-Id": "x"}}, 405, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer := e.send(tt.sent)
			if answer.status != tt.status || !strings.Contains(answer.body, tt.want) {
				t.Errorf("got %d %s", answer.status, answer.body)
			}
			if tt.status == 405 && answer.header.Get("Allow") != "POST" {
				t.Errorf("Allow is %q", answer.header.Get("Allow"))
			}
		})
	}
	if answer := e.post("1", "tools/call", `"name":"echo"`, nil); answer.status != 200 {
		t.Errorf("got %+v", answer)
	}
}
