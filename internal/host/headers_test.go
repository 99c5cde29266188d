package host

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/schema"
	"github.com/conch-mcp/conch/internal/shell"
)

const regional = `{"tools":[{"name":"greet","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"number","x-mcp-header":"N"}}}},
	{"name":"absent","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}},
	{"name":"broken","inputSchema":{"type":"object","minProperties":-1,"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}]}`

func TestHeaderParamsAreThoseOfTheListAsItIsNow(t *testing.T) {
	s := newStage(t, regional, `{}`)
	s.functions = []string{"greet", "broken"}
	region := []schema.Header{{Name: "Region", Path: []string{"region"}, Type: "string"}}
	// One that is not served, or whose schema is not shown to clients, has none.
	for tool, want := range map[string][]schema.Header{"greet": region, "absent": nil, "broken": nil, "unheard-of": nil} {
		if got, err := s.host.HeaderParams(tool); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %+v", tool, err, got)
		}
	}
	s.write("tools.json", `{"tools":[{"name":"greet","inputSchema":{"type":"object"}}]}`+"\n")
	if got, err := s.host.HeaderParams("greet"); err != nil || got != nil {
		t.Errorf("after the list has changed: %v, %+v", err, got)
	}
	s.write("tools.json", `{`)
	if got, err := s.host.HeaderParams("greet"); err == nil {
		t.Errorf("of a list that cannot be read: %+v", got)
	}
}

func TestWhatIsWrongWithAListIsLoggedOnceHoweverOftenItIsRead(t *testing.T) {
	const odd = `{"tools":[{"name":"absent","inputSchema":{"type":"object"}}]}`
	s := newStage(t, odd, `{}`)
	logged := func(want int, when string) {
		t.Helper()
		if n := strings.Count(s.log.String(), "there is no function tool_absent"); n != want {
			t.Errorf("%s it has been logged %d times, not %d:\n%s", when, n, want, s.log.String())
		}
	}
	s.host.Look()
	// A file that has just been written is read each time.
	s.ask("tools/call", `{"name":"absent"}`)
	logged(1, "at first")
	s.write("tools.json", odd+"\n")
	for range 3 {
		s.host.Scopes("absent")
		_, _ = s.host.HeaderParams("absent")
		s.ask("tools/call", `{"name":"absent"}`)
	}
	logged(1, "after a change that mends nothing")
	s.write("tools.json", greetList)
	s.host.Look()
	s.write("tools.json", odd)
	s.host.Look()
	logged(2, "when it is wrong again")
}

func TestHeaderParamsOfAScriptOfBashSDK(t *testing.T) {
	s := newSDKStage(t, `{"tools":[{"name":"x","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}}]}`, `{}`)
	want := []schema.Header{{Name: "A", Path: []string{"a"}, Type: "string"}}
	if got, err := s.host.HeaderParams("x"); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestTheTraceOfARequestReachesTheTool(t *testing.T) {
	trace := message.Trace{Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", Tracestate: "a=b", Baggage: "c=d"}
	meta := `{"name":"greet","arguments":{},"_meta":{"traceparent":"` + trace.Traceparent + `","tracestate":"a=b","baggage":"c=d"}}`
	s := newStage(t, greetList, `{}`)
	sdk := newSDKStage(t, greetList, `{}`)
	sdk.functions = []string{"greet"}
	for _, way := range []struct {
		name  string
		stage *stage
		call  func()
	}{
		{"beside the engine", s, func() {
			_, err := s.host.CallTool(t.Context(), engine.ToolCall{Params: json.RawMessage(`{"name":"greet"}`), Trace: trace, Queued: func() {}})
			must(t, err)
		}},
		{"through the engine", s, func() { s.ask("tools/call", meta) }},
		{"of a script of bash-mcp-sdk", sdk.stage, func() { sdk.request("tools/call", meta) }},
	} {
		way.stage.trace = shell.Trace{}
		way.call()
		if way.stage.trace != shell.Trace(trace) {
			t.Errorf("%s: the trace is %+v", way.name, way.stage.trace)
		}
	}
	if s.call(`{}`); s.trace != (shell.Trace{}) {
		t.Errorf("a call without one has the trace %+v", s.trace)
	}
}
