package host

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/catalog/bashsdk"
	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
)

// newFunctionStage is a stage whose host answers as scripts of
// mcp-server-bash-sdk expect it. The functions are those of x and y.
func newFunctionStage(t *testing.T, tools, config string, change func(*Options)) *stage {
	t.Helper()
	s := newStage(t, tools, config)
	opts := s.host.opts
	opts.Manner, opts.Name, opts.Version, opts.TTLMs = MCPServerBashSDK, "fallback", "0.0.0", 60000
	opts.Tools = bashsdk.NewVerbatimToolsFile(filepath.Join(s.dir, "tools.json"), "tools.json").Read
	opts.Config = bashsdk.NewVerbatimConfigFile(filepath.Join(s.dir, "config.json"), "config.json", message.Revisions()).Read
	if change != nil {
		change(&opts)
	}
	s.functions = []string{"x", "y"}
	s.host = New(opts)
	return s
}

// callFunction has the host answer a call, and returns the text of its result,
// or of its error.
func (s *stage) callFunction(params string) (text string, isError bool, err error) {
	s.t.Helper()
	result, err := s.host.CallTool(s.t.Context(), engine.ToolCall{Params: json.RawMessage(params), Queued: func() {}})
	if err != nil {
		return "", false, err
	}
	var r struct {
		Content []struct{ Text string }
		IsError bool
	}
	if json.Unmarshal(result, &r) != nil || len(r.Content) != 1 {
		s.t.Fatalf("no result: %s", result)
	}
	return r.Content[0].Text, r.IsError, nil
}

func TestAToolIsThereWhenItsFunctionIs(t *testing.T) {
	s := newFunctionStage(t, `{"tools":[{"name":"z","inputSchema":{}}]}`, `{}`, nil)
	tests := []struct {
		params string
		code   int64
		text   string
	}{
		{`{"name":"x"}`, 0, "hello"},
		{`{"name":"z"}`, -32602, "Tool not found: z"},
		{`{"name":"x y"}`, -32600, "Invalid tool name: x y"},
		{`{"name":""}`, -32600, "Invalid tool name: "},
		{`{"name":5}`, -32600, "Invalid tool name: "},
		{`{}`, -32600, "Invalid tool name: "},
		{`{"name":"x","arguments":[1]}`, -32602, "Invalid params: arguments must be an object"},
		{`{"name":"x","arguments":null}`, 0, "hello"},
	}
	for _, tt := range tests {
		text, _, err := s.callFunction(tt.params)
		if tt.code != 0 {
			requireCode(t, err, tt.code, tt.text)
		} else if err != nil || text != tt.text {
			t.Errorf("%s: %q, %v", tt.params, text, err)
		}
	}
}

func TestArgumentsAreHeldAgainstTheListWhereItSpeaksOfThem(t *testing.T) {
	const x = `{"name":"x","inputSchema":{"required":["n"]}}`
	tests := []struct{ name, tools, arguments, refused string }{
		{"they conform", `{"tools":[` + x + `]}`, `{"n":1}`, ""},
		{"one is missing", `{"tools":[` + x + `]}`, `{}`, "Missing required parameter(s): n."},
		{"no entry", `{"tools":[]}`, `{}`, ""},
		{"no schema", `{"tools":[{"name":"x"}]}`, `{}`, ""},
		{"two entries", `{"tools":[` + x + `,` + x + `]}`, `{"n":1}`, "declares it more than once. (MCP_VALIDATE=0"},
		{"no list", `nonsense`, `{"n":1}`, "tools.json"},
		{"an odd entry beside it", `{"tools":[5,` + x + `]}`, `{}`, "Missing required"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newFunctionStage(t, tt.tools, `{}`, nil)
			text, isError, err := s.callFunction(`{"name":"x","arguments":` + tt.arguments + `}`)
			if err != nil || isError != (tt.refused != "") || isError && !strings.Contains(text, tt.refused) {
				t.Errorf("%q, %t, %v", text, isError, err)
			}
			s = newFunctionStage(t, tt.tools, `{}`, func(o *Options) { o.Unchecked = true })
			if text, isError, err := s.callFunction(`{"name":"x","arguments":` + tt.arguments + `}`); err != nil || isError {
				t.Errorf("unchecked: %q, %t, %v", text, isError, err)
			}
		})
	}
}

func TestEveryEndOfAFunctionHasItsWords(t *testing.T) {
	tests := []struct {
		name    string
		outcome call.Outcome
		err     error
		want    string
		isError bool
	}{
		{"success", call.Outcome{Output: []byte("a\x00b\n\n")}, nil, "ab", false},
		{"a failure with words", call.Outcome{Status: 1, Output: []byte("why\n")}, nil, "why", true},
		{"a failure without", call.Outcome{Status: 7}, nil, "Tool 'x' failed with exit status 7", true},
		{"newlines are no words", call.Outcome{Status: 1, Output: []byte("\n")}, nil, "Tool 'x' failed with exit status 1", true},
		{"a signal", call.Outcome{Status: 137}, nil, "Tool 'x' failed with exit status 137", true},
		{"the time limit", call.Outcome{End: call.TimedOut}, nil, "Error executing x: it was stopped after 3s, the limit set by --timeout", true},
		{"the hook", call.Outcome{Status: 1, Hook: &call.HookEnd{Status: 1, Output: []byte("no")}}, nil, "Error executing x: no", true},
		{"it did not run", call.Outcome{}, errors.New("secret"), "Cannot run x: the server could not start it. Its log says why.", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newFunctionStage(t, `{}`, `{}`, nil)
			s.run = func(context.Context, string, json.RawMessage) (call.Outcome, error) { return tt.outcome, tt.err }
			if text, isError, err := s.callFunction(`{"name":"x"}`); err != nil || text != tt.want || isError != tt.isError {
				t.Errorf("%q, %t, %v; want %q", text, isError, err, tt.want)
			}
		})
	}
}

func TestFilesOfAServerOfFunctionsAreCompleted(t *testing.T) {
	const ends = `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":`
	tests := []struct{ name, tools, config, discover, list string }{
		{"nothing said", `{}`, `{}`,
			`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":60000,"cacheScope":"public",` + ends + `{"name":"fallback","version":"0.0.0"}}}`,
			`{"tools":[],"ttlMs":60000,"cacheScope":"public",` + ends + `{"name":"fallback","version":"0.0.0"}}}`},
		{"all said", `{"tools":[{"name":"a"}],"ttlMs":0,"cacheScope":"public"}`,
			`{"supportedVersions":["2025-11-25","2026-07-28","1999-01-01"],"capabilities":{},"ttlMs":5,"cacheScope":"private","instructions":"i","serverInfo":{"name":"n","version":"2"}}`,
			`{"supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{},"instructions":"i","ttlMs":5,"cacheScope":"private",` + ends + `{"name":"n","version":"2"}}}`,
			`{"tools":[{"name":"a"}],"ttlMs":0,"cacheScope":"public",` + ends + `{"name":"n","version":"2"}}}`},
		{"the list says nothing of caching", `{}`, `{"ttlMs":5,"cacheScope":"private"}`, "",
			`{"tools":[],"ttlMs":5,"cacheScope":"private",` + ends + `{"name":"fallback","version":"0.0.0"}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newFunctionStage(t, tt.tools, tt.config, nil)
			if got, err := s.host.Discover(); tt.discover != "" && (err != nil || string(got) != tt.discover) {
				t.Errorf("discover: %s, %v; want %s", got, err, tt.discover)
			}
			if got, err := s.host.ListTools(true); err != nil || string(got) != tt.list {
				t.Errorf("list: %s, %v; want %s", got, err, tt.list)
			}
		})
	}
}

func TestAResultIsCompleted(t *testing.T) {
	s := newFunctionStage(t, `{}`, `{"serverInfo":{"name":"n","version":"2"}}`, nil)
	const info = `"io.modelcontextprotocol/serverInfo":{"name":"n","version":"2"}`
	tests := []struct{ result, want string }{
		{`{}`, `{"resultType":"complete","_meta":{` + info + `}}`},
		{`{"a":1.50}`, `{"a":1.50,"resultType":"complete","_meta":{` + info + `}}`},
		{`{"resultType":null,"_meta":5}`, `{"resultType":"complete","_meta":{` + info + `}}`},
		{`{"resultType":"other","_meta":{"x":1}}`, `{"resultType":"other","_meta":{"x":1,` + info + `}}`},
		{`{"_meta":{"io.modelcontextprotocol/serverInfo":"old","x":1}}`, `{"_meta":{` + info + `,"x":1},"resultType":"complete"}`},
	}
	for _, tt := range tests {
		if got := string(s.host.Completed(json.RawMessage(tt.result))); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.result, got, tt.want)
		}
	}
}
