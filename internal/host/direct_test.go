package host

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/engine"
)

func TestValidateTellsWhatIsWrongWithArguments(t *testing.T) {
	const strict = `{"name":"strict","inputSchema":{"type":"object","required":["number"],"properties":{"number":{"type":"string"}}}}`
	const noVerdict = "Cannot validate arguments for strict: they could not be evaluated against its schema."
	tests := []struct{ name, file, tool, arguments, want string }{
		{"151: they conform", strict, "strict", `{"number":"5"}`, ""},
		{"149: they do not", strict, "strict", `{}`, "Missing required parameter(s): number."},
		{"227: no object", strict, "strict", `"oops"`, "Invalid arguments: expected a JSON object, got string."},
		{"229: null", strict, "strict", `null`, "Invalid arguments: expected a JSON object, got null."},
		{"153: not declared", strict, "nonexistent", `{}`, "Cannot validate arguments for nonexistent: the tool list at tools.json does not declare it."},
		{"a name that no tool can have", strict, "a b", `{}`, "Cannot validate arguments for a b: the tool list at tools.json does not declare it."},
		{"154: no schema", `{"name":"bare"}`, "bare", `{}`, "Cannot validate arguments for bare: its entry in tools.json declares no inputSchema."},
		{"declared twice", strict + "," + strict, "strict", `{}`, "Cannot validate arguments for strict: the tool list at tools.json declares it more than once."},
		{"235: no usable list", "1", "strict", `{}`, "Cannot validate arguments for strict: the tool list at tools.json does not hold a usable tools list."},
		{"232: half a list", strict + "!", "strict", `{}`, "Cannot validate arguments for strict: the tool list at tools.json is missing or does not hold one JSON object."},
		{"231: no JSON", strict, "strict", `{not valid json`, noVerdict},
		{"nothing", strict, "strict", ``, noVerdict},
		{"two documents", strict, "strict", `{"number":"5"}{}`, noVerdict},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSDKStage(t, `{"tools":[`+tt.file+`]}`, `{}`)
			s.functions = nil
			if got := s.host.Validate(tt.tool, json.RawMessage(tt.arguments)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestValidateTellsThatTheListIsMissing(t *testing.T) {
	s := newSDKStage(t, `{}`, `{}`)
	s.spoil("tools.json", "")
	want := "Cannot validate arguments for strict: the tool list at tools.json is missing or does not hold one JSON object."
	if got := s.host.Validate("strict", json.RawMessage(`{}`)); got != want {
		t.Errorf("233: got %q, want %q", got, want)
	}
}

func TestTheDirectFunctionsAnswerLikeTheMethods(t *testing.T) {
	s := newSDKStage(t, listX, `{}`)
	results := []struct {
		name, want string
		ask        func() (json.RawMessage, error)
	}{
		{"initialize", `{"protocolVersion":"2024-11-05","serverInfo":` + defaultServer + `,"capabilities":{"tools":{}}}`,
			func() (json.RawMessage, error) { return s.host.Initialize(json.RawMessage(`nonsense`)) }},
		{"initialize with a revision", `{"protocolVersion":"2025-06-18","serverInfo":` + defaultServer + `,"capabilities":{"tools":{}}}`,
			func() (json.RawMessage, error) {
				return s.host.Initialize(json.RawMessage(`{"protocolVersion":"2025-06-18"}`))
			}},
		{"tools/list", listX, func() (json.RawMessage, error) { return s.host.ListTools(false) }},
		{"tools/call", `{"content":[{"type":"text","text":"hello"}],"isError":false}`,
			func() (json.RawMessage, error) { return s.callDirectly(json.RawMessage(`{"name":"x"}`)) }},
	}
	for _, tt := range results {
		if got, err := tt.ask(); err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.name, got, err, tt.want)
		}
	}
	s.write("tools.json", `5`)
	s.write("config.json", `5`)
	for text, ask := range map[string]func() (json.RawMessage, error){
		"Cannot read tools list: tools.json":            func() (json.RawMessage, error) { return s.host.ListTools(false) },
		"Cannot read server configuration: config.json": func() (json.RawMessage, error) { return s.host.Initialize(nil) },
	} {
		_, err := ask()
		requireCode(t, err, -32603, text)
	}
}

func (s *sdkStage) callDirectly(params json.RawMessage) (json.RawMessage, error) {
	return s.host.CallTool(s.t.Context(), engine.ToolCall{Params: params, Queued: func() {}})
}

func requireCode(t *testing.T, err error, code int64, text string) {
	t.Helper()
	var known *jsonrpc.Error
	if !errors.As(err, &known) || known.Code != code || known.Message != text {
		t.Errorf("got %v, want %d %q", err, code, text)
	}
}

func TestParamsOfADirectCallMayBeAnyText(t *testing.T) {
	s := newSDKStage(t, listX, `{}`)
	for _, params := range []string{``, `5`, `nonsense`, `{"name":"x"`, `{"name":"x"} {}`, `[]`} {
		_, err := s.callDirectly(json.RawMessage(params))
		requireCode(t, err, -32602, "Invalid params: expected an object")
	}
	for _, params := range []json.RawMessage{nil, []byte(" null "), []byte(`false`), []byte(`{}`)} {
		_, err := s.callDirectly(params)
		requireCode(t, err, -32602, "Invalid tool name: ")
	}
	if result, err := s.callDirectly([]byte(" {\"name\":\n\"x\"}")); err != nil {
		t.Errorf("got %s, %v", result, err)
	}
}

// Conch's own manners tell a client what its script logs, where there is one.
func TestACallWithoutASessionTellsNobody(t *testing.T) {
	s := newStage(t, greetList, `{}`)
	s.run = func(context.Context, string, json.RawMessage) (call.Outcome, error) {
		return call.Outcome{Status: 1}, nil
	}
	result, err := s.host.CallTool(t.Context(), engine.ToolCall{Params: json.RawMessage(`{"name":"greet"}`), Queued: func() {}})
	if want := `{"content":[{"type":"text","text":"Error executing greet: it ended with status 1 and printed nothing"}],"isError":true}`; err != nil || string(result) != want {
		t.Errorf("got %s, %v", result, err)
	}
}
