package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
)

// sdkLines are lines with what scripts of bash-mcp-sdk answer, "" for nothing,
// and what their journal says beside the line itself and the answer.
var sdkLines = []struct{ name, line, answer, journal string }{
	{"an empty line", "", "", ""},
	{"no JSON", `nonsense`, refused("null", -32700, noJSON), "ERROR Invalid JSON received"},
	{"half a request", ping("1")[:20], refused("null", -32700, noJSON), "ERROR Invalid JSON received"},
	{"single quotes", `{'jsonrpc':'2.0'}`, refused("null", -32700, noJSON), "ERROR Invalid JSON received"},
	{"bytes that are no UTF-8", "\"\xff\"", refused("null", -32700, noJSON), "ERROR Invalid JSON received"},
	{"a NUL", "{}\x00", refused("null", -32700, noJSON), "ERROR Invalid JSON received"},
	{"two documents", ping("1601") + ping("1602"), refused("null", -32700, noDocument), "ERROR Received a line holding 2 JSON documents; expected exactly one"},
	{"three documents", `1 2 3`, refused("null", -32700, noDocument), "ERROR Received a line holding 3 JSON documents; expected exactly one"},
	{"blanks", `   `, refused("null", -32700, noDocument), "ERROR Received a line holding 0 JSON documents; expected exactly one"},
	{"a tab", "\t", refused("null", -32700, noDocument), "ERROR Received a line holding 0 JSON documents; expected exactly one"},
	{"a carriage return", "\r", refused("null", -32700, noDocument), "ERROR Received a line holding 0 JSON documents; expected exactly one"},
	{"an array", `[1,2]`, refused("null", -32600, noObject), "ERROR JSON-RPC request is not a JSON object"},
	{"a batch", "[" + ping("1") + "]", refused("null", -32600, noObject), "ERROR JSON-RPC request is not a JSON object"},
	{"a string", `"x"`, refused("null", -32600, noObject), "ERROR JSON-RPC request is not a JSON object"},
	{"a number", `5`, refused("null", -32600, noObject), "ERROR JSON-RPC request is not a JSON object"},
	{"true", `true`, refused("null", -32600, noObject), "ERROR JSON-RPC request is not a JSON object"},
	{"false", `false`, refused("null", -32600, noObject), "ERROR JSON-RPC request is not a JSON object"},
	{"null", `null`, refused("null", -32600, noObject), "ERROR JSON-RPC request is not a JSON object"},
	{"no version", `{"id":1,"method":"ping"}`, refused("1", -32600, noVersion), "ERROR Invalid JSON-RPC version: "},
	{"a version that is null", `{"jsonrpc":null,"id":"a","method":"ping"}`, refused(`"a"`, -32600, noVersion), "ERROR Invalid JSON-RPC version: "},
	{"another version", `{"jsonrpc":"1.0","id":7,"method":"ping"}`, refused("7", -32600, noVersion), "ERROR Invalid JSON-RPC version: 1.0"},
	{"a version that is another number", `{"jsonrpc":2,"id":7,"method":"ping"}`, refused("7", -32600, noVersion), "ERROR Invalid JSON-RPC version: 2"},
	{"another version and no id", `{"jsonrpc":"1.0","method":"ping"}`, refused("null", -32600, noVersion), "ERROR Invalid JSON-RPC version: 1.0"},
	{"another version and no usable id", `{"jsonrpc":"1.0","id":false,"method":"ping"}`, refused("null", -32600, noVersion), "ERROR Invalid JSON-RPC version: 1.0"},
	{"a cancellation without a version", `{"method":"notifications/cancelled","params":{"requestId":1}}`, refused("null", -32600, noVersion), "ERROR Invalid JSON-RPC version: "},
	{"a version that is the number", `{"jsonrpc":2.0,"id":7,"method":"ping"}`, empty("7"), ""},
	{"a version that ends with a newline", `{"jsonrpc":"2.0\n","id":7,"method":"ping\n"}`, empty("7"), ""},
	{"a ping without an id", `{"jsonrpc":"2.0","method":"ping"}`, "", "INFO Received notification: ping"},
	{"a call without an id", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"slow"}}`, "", "INFO Received notification: tools/call"},
	{"initialize without an id", `{"jsonrpc":"2.0","method":"initialize"}`, "", "INFO Received notification: initialize"},
	{"no id, and params that are none", `{"jsonrpc":"2.0","method":"x","params":[1]}`, "", "INFO Received notification: x"},
	{"nothing but a version", `{"jsonrpc":"2.0"}`, "", "INFO Received notification: "},
	{"notifications/initialized", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "", "INFO Client initialized"},
	{"a cancellation of nothing", cancelled("1"), "", "INFO Cancellation received with nothing in flight; dropped"},
	{"a cancellation that names nothing", `{"jsonrpc":"2.0","method":"notifications/cancelled"}`, "", "INFO Cancellation received with nothing in flight; dropped"},
	{"an id that is null", ping("null"), refused("null", -32600, noID), "ERROR Request id must be a string or an integer"},
	{"an id that is false", ping("false"), refused("null", -32600, noID), "ERROR Request id must be a string or an integer"},
	{"an id that is true", ping("true"), refused("null", -32600, noID), "ERROR Request id must be a string or an integer"},
	{"an id that is a fraction", ping("1.5"), refused("null", -32600, noID), "ERROR Request id must be a string or an integer"},
	{"an id that is nearly an integer", ping("4503599627370496.5"), refused("null", -32600, noID), "ERROR Request id must be a string or an integer"},
	{"an id that is an object", ping("{}"), refused("null", -32600, noID), "ERROR Request id must be a string or an integer"},
	{"an id that is an array", ping("[1]"), refused("null", -32600, noID), "ERROR Request id must be a string or an integer"},
	{"an empty id", ping(`""`), empty(`""`), ""},
	{"an id that is text", ping(`"7"`), empty(`"7"`), ""},
	{"an id of many digits", ping("9007199254740993"), empty("9007199254740993"), ""},
	{"an id with a fraction of nothing", ping("1.0"), empty("1.0"), ""},
	{"an id with an exponent", ping("1e2"), empty("1e2"), ""},
	{"a ping", ping("1"), empty("1"), ""},
	{"a ping with params that are null", `{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`, empty("1"), ""},
	{"a ping with params that are false", `{"jsonrpc":"2.0","id":1,"method":"ping","params":false}`, empty("1"), ""},
	{"a ping with params that are a number", `{"jsonrpc":"2.0","id":1,"method":"ping","params":5}`, empty("1"), ""},
	{"a ping with params that are a string", `{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}`, empty("1"), ""},
	{"a ping with params of the wrong type", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":5}}`, empty("1"), ""},
	{"another method", `{"jsonrpc":"2.0","id":1,"method":"no/such"}`, refused("1", -32601, "Method not found: no/such"), "ERROR Unknown method: no/such"},
	{"another method with params", `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":5}}`, refused("1", -32601, "Method not found: resources/read"), "ERROR Unknown method: resources/read"},
	{"no method", `{"jsonrpc":"2.0","id":1}`, refused("1", -32601, "Method not found: "), "ERROR Unknown method: "},
	{"a method that is null", `{"jsonrpc":"2.0","id":1,"method":null}`, refused("1", -32601, "Method not found: "), "ERROR Unknown method: "},
	{"a method that is a number", `{"jsonrpc":"2.0","id":1,"method":5}`, refused("1", -32601, "Method not found: 5"), "ERROR Unknown method: 5"},
	{"notifications/initialized with an id", `{"jsonrpc":"2.0","id":1301,"method":"notifications/initialized"}`, refused("1301", -32601, "Method not found: notifications/initialized"), "ERROR Unknown method: notifications/initialized"},
	{"a cancellation with an id", `{"jsonrpc":"2.0","id":472,"method":"notifications/cancelled","params":{"requestId":471}}`, refused("472", -32601, "Method not found: notifications/cancelled"), "ERROR Unknown method: notifications/cancelled"},
	{"a call", call("2", "fast", ""), empty("2"), ""},
	{"a call of an unknown tool", call("2", "O'Brien ✓ ünïcödé", ""), refused("2", -32601, "Tool not found: O'Brien ✓ ünïcödé"), ""},
	{"a call without params", `{"jsonrpc":"2.0","id":2,"method":"tools/call"}`, refused("2", -32601, "Tool not found: "), ""},
	{"a line that ends in CRLF", ping("1") + "\r", empty("1"), ""},
	{"a byte order mark", "\ufeff" + ping("1"), empty("1"), ""},
	{"members twice", `{"jsonrpc":"1.0","id":1,"method":"x","jsonrpc":"2.0","id":2,"method":"ping"}`, empty("2"), ""},
	{"members in another case", `{"jsonrpc":"2.0","id":1,"ID":2,"METHOD":"x","method":"ping"}`, empty("1"), ""},
	// Two peers that answered each other's responses would go on for ever.
	{"a response", `{"jsonrpc":"2.0","id":1,"result":{}}`, "", "INFO Dropped a response to nothing that was asked"},
}

func TestLinesOfBashSDKAreAnsweredToTheByte(t *testing.T) {
	for _, tt := range sdkLines {
		var answers []string
		var journal string
		if tt.line != "" {
			journal = "INFO Received: " + begins(tt.line)
		}
		if tt.journal != "" {
			journal += "\n" + tt.journal
		}
		if tt.answer != "" {
			answers = append(answers, tt.answer)
			journal += "\nRESPONSE " + begins(tt.answer)
		}
		t.Run(tt.name+" in a stream", func(t *testing.T) {
			c := connectSDK(t, 1)
			c.send(tt.line)
			for _, want := range answers {
				if got := c.line(); got != want {
					t.Errorf("answered by\n%s\nwant\n%s", got, want)
				}
			}
			c.ask(ping(`"next"`), empty(`"next"`))
			if got, _, _ := strings.Cut(c.journal.String(), "INFO Received: "+ping(`"next"`)); strings.Trim(got, "\n") != journal {
				t.Errorf("the journal is\n%s\nwant\n%s", got, journal)
			}
		})
		t.Run(tt.name+" as the whole input", func(t *testing.T) {
			var out safeBuffer
			opts := options()
			opts.CallTool, opts.Manner = newSDKTools().call, &BashSDK{Log: func(string, string) {}, AlwaysAnswerLast: true}
			if err := Serve(t.Context(), tools{}.server(), strings.NewReader(tt.line), &out, opts); err != nil {
				t.Fatal(err)
			}
			if got, want := strings.TrimSpace(out.String()), strings.Join(answers, ""); got != want {
				t.Errorf("answered by\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func begins(text string) string {
	if runes := []rune(text); len(runes) > 100 {
		text = string(runes[:100])
	}
	return text + "..."
}

func TestTheJournalShowsTheFirstHundredCharacters(t *testing.T) {
	line := `{"jsonrpc":"2.0","id":"` + strings.Repeat("é", 200) + `","method":"ping"}`
	c := connectSDK(t, 1)
	c.ask(line, `"result":{}`)
	c.answers()
	prefix := `INFO Received: {"jsonrpc":"2.0","id":"`
	c.logged(1, prefix+strings.Repeat("é", 100-len(prefix)+len("INFO Received: "))+"...")
}

func TestInitializeOfBashSDKTakesAnyParams(t *testing.T) {
	for _, params := range []string{
		``, `,"params":null`, `,"params":false`, `,"params":5`, `,"params":[]`, `,"params":{}`,
		`,"params":{"protocolVersion":5,"capabilities":"x","clientInfo":[]}`,
		`,"params":{"protocolVersion":"\u0000\u001f","_meta":7}`,
	} {
		c := connectSDK(t, 1)
		c.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize"`+params+`}`, `{"jsonrpc":"2.0","id":1,"result":{`)
		c.ask(`{"jsonrpc":"2.0","id":2,"method":"initialize"`+params+`}`, `{"jsonrpc":"2.0","id":2,"result":{`)
		c.ask(`{"jsonrpc":"2.0","id":3,"method":"tools/list"`+params+`}`, `{"jsonrpc":"2.0","id":3,"result":{`)
		c.answers()
	}
}

// The client's revision must reach the engine, with whatever else it says.
func TestInitializeOfBashSDKNegotiates(t *testing.T) {
	for _, revision := range message.Revisions()[1:] {
		c := connectSDK(t, 1)
		c.ask(initialize(revision), `"protocolVersion":"`+revision+`"`)
		c.answers()
	}
}

func TestBashSDKServesTheStatelessEra(t *testing.T) {
	c := connectSDK(t, 1)
	c.ask(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{`+modernMeta+`}}}`, `{"jsonrpc":"2.0","id":1,"result":{`)
	c.ask(call("2", "fast", modernMeta), empty("2"))
	c.ask(`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{`+modernMeta+`}}}`, `{"jsonrpc":"2.0","id":3,"result":{`)
	c.ask(call("4", "fast", strings.Replace(modernMeta, "2026-07-28", "2099-01-01", 1)), `{"jsonrpc":"2.0","id":4,"error":{"code":-32022`)
	c.answers()
}

func TestBashSDKTakesBatchesInTheirRevisionAlone(t *testing.T) {
	c := connectSDK(t, 1)
	c.ask("["+ping("1")+"]", refused("null", -32600, noObject))
	c.ask(initialize(message.Revision20250326), `"2025-03-26"`)
	// In whatever order.
	c.send("[" + ping("1") + "," + call("2", "fast", "") + `,5,{"jsonrpc":"2.0","method":"x"}]`)
	line := c.line()
	answers := []string{empty("1"), empty("2"), refused("null", -32600, noObject)}
	for _, want := range answers {
		if !strings.Contains(line, want) || len(line) != len("[]")+len(strings.Join(answers, ",")) {
			t.Errorf("the batch is answered by %s, without %s", line, want)
		}
	}
	c.ask("["+ping("1")+",]", refused("null", -32700, noJSON))
	c.ask("["+ping("1")+"] []", refused("null", -32700, noDocument))
	c.ask(initialize(message.Revision20250618), `"2025-06-18"`)
	c.ask("["+ping("1")+"]", refused("null", -32600, noObject))
	c.answers()
}

func TestParamsThatAreNoObjectReachACallOfBashSDK(t *testing.T) {
	for _, params := range []string{`5`, `"x"`, `[1,2]`, `true`, `0`} {
		var got string
		opts := options()
		opts.Manner = &BashSDK{Log: func(string, string) {}}
		opts.CallTool = func(_ context.Context, asked engine.ToolCall) (json.RawMessage, error) {
			got = string(asked.Params)
			return json.RawMessage(`{}`), nil
		}
		var out safeBuffer
		input := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + "}\n"
		if err := Serve(t.Context(), tools{}.server(), strings.NewReader(input), &out, opts); err != nil || got != params {
			t.Errorf("%s arrives as %s, with %v; the answer is %s", params, got, err, out.String())
		}
	}
}

func TestALineOfBashSDKThatIsTooLongIsAnsweredInItsTurn(t *testing.T) {
	ts, j := newSDKTools(), &journal{}
	opts := options()
	opts.MaxLine, opts.CallTool, opts.Manner = 200, ts.call, &BashSDK{Log: j.log}
	c := &sdkClient{connect(t, tools{}.server(), opts), ts, j}
	c.begin("1", "slow")
	c.send(strings.Repeat("x", 201), ping("2"))
	c.queued(2)
	c.end()
	c.answers(empty("1"), refused("null", -32700, "Parse error: the line is longer than 200 bytes (--max-line)"), empty("2"))
	c.logged(1, "ERROR Received a line that is too long")
}

func TestARequestOfBashSDKThatNestsTooDeepIsRefusedUnderItsID(t *testing.T) {
	deep := strings.Repeat("[", message.MaxDepth) + strings.Repeat("]", message.MaxDepth)
	c := connectSDK(t, 1)
	c.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":`+deep+`}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602`)
	c.send(`{"jsonrpc":"2.0","method":"x","params":{"a":` + deep + `}}`)
	c.answers()
}

// A text that a script gives to process_request may be written over several
// lines, and may lack its end.
func TestAWholeInputIsOneLine(t *testing.T) {
	longest := `"` + strings.Repeat("x", 200-len(ping(`""`))) + `"`
	tests := []struct{ name, input, want string }{
		{"nothing", "", ""},
		{"a newline", "\n", ""},
		{"two newlines", "\n\n", refused("null", -32700, noDocument) + "\n"},
		{"a request over several lines", strings.ReplaceAll(ping("1"), ",", ",\n"), empty("1") + "\n"},
		{"a request and a newline", ping("1") + "\n", empty("1") + "\n"},
		{"two requests on two lines", ping("1") + "\n" + ping("2"), refused("null", -32700, noDocument) + "\n"},
		{"garbage", ping("1")[:9], refused("null", -32700, noJSON) + "\n"},
		{"as much as may be", ping(longest), empty(longest) + "\n"},
		{"too much", strings.Repeat("x", 201) + "\n", refused("null", -32700, "Parse error: the line is longer than 200 bytes (--max-line)") + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out safeBuffer
			opts := options()
			opts.MaxLine, opts.Manner = 200, &BashSDK{Log: func(string, string) {}, AlwaysAnswerLast: true}
			if err := Serve(t.Context(), tools{}.server(), bytes.NewReader([]byte(tt.input)), &out, opts); err != nil || out.String() != tt.want {
				t.Errorf("Serve: %v; it says %q, want %q", err, out.String(), tt.want)
			}
		})
	}
}
