package wire

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/message"
)

func statelessOnly() []string { return []string{message.Revision20260728} }

// serveServerBashSDK returns what comes back from a server with the manner
// ServerBashSDK.
func serveServerBashSDK(t *testing.T, in io.Reader, oneRequest bool, supported func() []string) string {
	t.Helper()
	var out safeBuffer
	ts := newSDKTools()
	close(ts.let)
	opts := options()
	opts.MaxLine, opts.CallTool, opts.Supported = fuzzMaxLine, ts.call, supported
	opts.Manner = &ServerBashSDK{OneRequest: oneRequest}
	guard(t, func() {
		if err := Serve(t.Context(), tools{}.server(), in, &out, opts); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return out.String()
}

func TestLinesOfServerBashSDK(t *testing.T) {
	const (
		meta        = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
		refused     = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`
		unsupported = `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":`
	)
	tests := []struct{ name, line, want string }{
		{"white space", " \t\r", ""},
		{"no JSON", `garbage`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		{"two documents", `{"jsonrpc":"2.0","id":1,"method":"x"}{}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		{"a list", `[]`, refused}, {"a number", `5`, refused}, {"null", `null`, refused},
		{"no id", `{}`, ""},
		{"no id, and another jsonrpc", `{"jsonrpc":"1.0","method":"tools/list"}`, ""},
		{"no id, and params that are a list", `{"jsonrpc":"2.0","method":"x","params":[]}`, ""},
		{"no id, and a member twice", `{"jsonrpc":"2.0","jsonrpc":"2.0","method":"x"}`, ""},
		{"an id that is null", `{"jsonrpc":"2.0","id":null,"method":"server/discover"}`, refused},
		{"an id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"server/discover"}`, refused},
		{"a response", `{"jsonrpc":"2.0","id":1,"result":{}}`, ""},
		{"another jsonrpc", `{"jsonrpc":"1.0","id":1,"method":"server/discover"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,`},
		{"discover without metadata", `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`, `{"jsonrpc":"2.0","id":1,"result":{`},
		{"discover for another revision", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}}}`, `{"jsonrpc":"2.0","id":1,"result":{`},
		{"no revision", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, unsupported + `""}`},
		{"no revision, and no method", `{"jsonrpc":"2.0","id":1,"method":"nonsense"}`, unsupported + `""}`},
		{"a revision that is a number", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":5}}}`, unsupported + `""}`},
		{"an older revision", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-06-18"}}}`, unsupported + `"2025-06-18"}`},
		{"initialize", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`, unsupported + `"2025-06-18"}`},
		{"no client's capabilities", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`, `{"jsonrpc":"2.0","id":1,"result":{`},
		{"a method of no framework's", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{` + meta + `}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, in := range []string{tt.line + "\n", tt.line} {
				for _, oneRequest := range []bool{false, true} {
					out := serveServerBashSDK(t, strings.NewReader(in), oneRequest, statelessOnly)
					if (out == "") != (tt.want == "") || !strings.HasPrefix(out, tt.want) || strings.Count(out, "\n") > 1 {
						t.Errorf("%q: %q, want %q", in, out, tt.want)
					}
				}
			}
		})
	}
}

func TestServerBashSDKServesOlderErasWhereTheyAreSupported(t *testing.T) {
	in := initialize(message.Revision20250618) + "\n" + ping("2") + "\n" + `{"jsonrpc":"2.0","id":3,"method":"server/discover"}` + "\n"
	out := serveServerBashSDK(t, strings.NewReader(in), false, message.Revisions)
	if strings.Count(out, `"result":`) != 3 || strings.Count(out, "\n") != 3 {
		t.Errorf("got %s", out)
	}
}

// FuzzServeServerBashSDK feeds any lines to a server with the manner
// ServerBashSDK. Every answer has an id, and what has none is not answered.
func FuzzServeServerBashSDK(f *testing.F) {
	for _, tt := range sdkLines {
		f.Add([]byte(tt.line))
	}
	for _, line := range []string{
		`{}`, `{"jsonrpc":"1.0"}`, `{"id":1}`, `{"id":null,"method":"x"}`, `[{"id":1}]`, call("1", "fast", modernMeta),
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":[]}`, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{` + modernMeta + `}}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		line = bytes.ReplaceAll(line, []byte("\n"), []byte(" "))
		out := serveServerBashSDK(t, bytes.NewReader(line), false, statelessOnly)
		if strings.Count(out, "\n") > 1 || out != "" && !strings.HasPrefix(out, `{"jsonrpc":"2.0","id":`) {
			t.Errorf("no answer with an id: %q", out)
		}
		if message.Check(line) != nil {
			return
		}
		if e, isObject := message.ReadLoosely(line); isObject && !e.HasID && out != "" {
			t.Errorf("%q has no id, and is answered: %s", line, out)
		}
	})
}
