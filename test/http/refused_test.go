package http_test

import (
	"net/http"
	"strings"
	"testing"
)

// What is no message, for clients of either era: an answer of the protocol's,
// and a server that goes on.
func TestWhatIsNoMessageIsAnsweredAsSuch(t *testing.T) {
	e := serve(t, "--max-body", "64KiB")
	tests := []struct {
		name, body string
		status     int
		code       string
	}{
		{"nothing", "", 400, "-32700"},
		{"white space", " \n", 400, "-32700"},
		{"not JSON", "x", 400, "-32700"},
		{"half a document", `{"jsonrpc":"2.0"`, 400, "-32700"},
		{"two documents", `{"jsonrpc":"2.0","id":1,"method":"ping"} {}`, 400, "-32700"},
		{"garbage behind one", `{"jsonrpc":"2.0","id":1,"method":"ping"}x`, 400, "-32700"},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", 400, "-32700"},
		{"a NUL", "{\"jsonrpc\":\"2.0\",\x00\"id\":1,\"method\":\"ping\"}", 400, "-32700"},
		{"a number", `5`, 400, "-32600"},
		{"null", `null`, 400, "-32600"},
		{"an empty batch", `[]`, 400, "-32600"},
		{"no jsonrpc", `{"id":1,"method":"ping"}`, 400, "-32600"},
		{"another jsonrpc", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, 400, "-32600"},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, 400, "-32600"},
		{"id 1.5", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, 400, "-32600"},
		{"id true", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, 400, "-32600"},
		{"a member twice", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}`, 400, "-32600"},
		{"a member in another case", `{"jsonrpc":"2.0","id":1,"Method":"ping"}`, 400, "-32600"},
		{"params that are no object", `{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}`, 400, "-32602"},
		{"too large", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 64<<10) + `"}`, 413, "-32600"},
	}
	for _, tt := range tests {
		for _, version := range []string{"", modern, newestLegacy} {
			t.Run(tt.name+" "+version, func(t *testing.T) {
				answer := e.send(sent{header: map[string]string{"MCP-Protocol-Version": version}, body: tt.body})
				if answer.status != tt.status || !strings.Contains(answer.body, `"error":{"code":`+tt.code) || answer.header.Get("Content-Type") != "application/json" {
					t.Errorf("got %d %s", answer.status, answer.body)
				}
				if noID := `{"jsonrpc":"2.0","error"`; version != "" && !strings.Contains(answer.body, `"id":1`) && !strings.HasPrefix(answer.body, noID) {
					t.Errorf("an error without an id is %s", answer.body)
				}
			})
		}
	}
	if answer := e.post("1", "tools/call", `"name":"echo"`, nil); answer.status != 200 {
		t.Errorf("the server does not go on: %+v", answer)
	}
}

func TestTheEndpointIsStrictAboutHTTP(t *testing.T) {
	e := serve(t)
	type header = map[string]string
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	tests := []struct {
		name   string
		sent   sent
		status int
		header header // that the answer has
	}{
		{"another path", sent{path: "/", body: ping}, 404, nil},
		{"a path below", sent{path: "/mcp/x", body: ping}, 404, nil},
		{"a query, which means nothing", sent{path: "/mcp?x=1", body: ping}, 400, nil},
		{"GET", sent{method: http.MethodGet}, 405, header{"Allow": "GET, POST, DELETE"}},
		{"GET of the stateless era", sent{method: http.MethodGet, header: header{"MCP-Protocol-Version": modern, "Mcp-Session-Id": "x"}}, 405, header{"Allow": "GET, POST, DELETE"}},
		{"DELETE of the stateless era", sent{method: http.MethodDelete, header: header{"MCP-Protocol-Version": modern, "Mcp-Session-Id": "x"}}, 405, nil},
		{"PUT", sent{method: http.MethodPut, body: ping}, 405, nil},
		{"no Content-Type", sent{header: header{"Content-Type": ""}, body: ping}, 415, nil},
		{"another Content-Type", sent{header: header{"Content-Type": "text/plain"}, body: ping}, 415, nil},
		{"a form", sent{header: header{"Content-Type": "application/x-www-form-urlencoded"}, body: ping}, 415, nil},
		{"another charset", sent{header: header{"Content-Type": "application/json; charset=latin1"}, body: ping}, 415, nil},
		{"its charset", sent{header: header{"Content-Type": "Application/JSON; charset=UTF-8"}, body: ping}, 400, nil},
		{"no stream accepted", sent{header: header{"Accept": "application/json"}, body: ping}, 406, nil},
		{"no JSON accepted", sent{header: header{"Accept": "text/event-stream"}, body: ping}, 406, nil},
		{"JSON refused", sent{header: header{"Accept": "*/*, application/json;q=0"}, body: ping}, 406, nil},
		{"anything accepted", sent{header: header{"Accept": "*/*"}, body: ping}, 400, nil},
		{"nothing said about it", sent{header: header{"Accept": ""}, body: ping}, 400, nil},
		{"ranges", sent{header: header{"Accept": "text/*;q=0.5, application/*"}, body: ping}, 400, nil},
		{"an old client that names a version not served", sent{header: header{"MCP-Protocol-Version": "2020-01-01", "Mcp-Session-Id": "x"}, body: ping}, 400, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer := e.send(tt.sent)
			if answer.status != tt.status || !strings.HasPrefix(answer.body, `{"jsonrpc":"2.0"`) {
				t.Errorf("got %d %s", answer.status, answer.body)
			}
			for name, want := range tt.header {
				if answer.header.Get(name) != want {
					t.Errorf("%s is %q, want %q", name, answer.header.Get(name), want)
				}
			}
		})
	}
}
