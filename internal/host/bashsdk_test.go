package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/catalog/bashsdk"
	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/wire"
)

// sdkStage is a stage whose host answers as scripts of bash-mcp-sdk expect it.
type sdkStage struct {
	*stage
	journal journal
}

// journal is a log that keeps lines as such scripts get to see them.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (*journal) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (j *journal) Handle(_ context.Context, r slog.Record) error {
	line := r.Level.String() + " " + r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, line)
	return nil
}

func (j *journal) WithAttrs([]slog.Attr) slog.Handler { return j }
func (j *journal) WithGroup(string) slog.Handler      { return j }

func newSDKStage(t *testing.T, tools, config string) *sdkStage {
	t.Helper()
	s := &sdkStage{stage: newStage(t, tools, config)}
	opts := s.host.opts
	opts.Manner, opts.Log = BashMCPSDK, slog.New(&s.journal)
	opts.Tools = bashsdk.NewVerbatimToolsFile(filepath.Join(s.dir, "tools.json"), "tools.json").Read
	opts.Config = bashsdk.NewVerbatimConfigFile(filepath.Join(s.dir, "config.json"), "config.json", message.Revisions()).Read
	s.functions = []string{"x"}
	s.host = New(opts)
	return s
}

// line sends one line through a connection of its own, and returns all that
// comes back.
func (s *sdkStage) line(line string) string {
	s.t.Helper()
	var out bytes.Buffer
	err := wire.Serve(s.t.Context(), s.host.Server(), strings.NewReader(line+"\n"), &out, wire.Options{
		Drain: math.MaxInt64, Supported: s.host.Supported, CallTool: s.host.CallTool, Log: slog.New(slog.DiscardHandler),
		Manner: &wire.BashSDK{Log: func(string, string) {}},
	})
	if err != nil {
		s.t.Fatalf("%s: %v", line, err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// request sends a request with the id 1. No params are none.
func (s *sdkStage) request(method, params string) string {
	s.t.Helper()
	if params != "" {
		params = `,"params":` + params
	}
	return s.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q%s}`, method, params))
}

func (s *sdkStage) requireAnswer(what, got, want string) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("%s: the answer is\n%s, want\n%s", what, got, want)
	}
}

func (s *sdkStage) requireJournal(want ...string) {
	s.t.Helper()
	if !slices.Equal(s.journal.lines, want) {
		s.t.Errorf("the journal is\n%s\nwant\n%s", strings.Join(s.journal.lines, "\n"), strings.Join(want, "\n"))
	}
}

func okAnswer(result string) string { return `{"jsonrpc":"2.0","id":1,"result":` + result + `}` }

func errorAnswer(code int, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"error":{"code":%d,"message":%s}}`, code, marshal(text))
}

func toolAnswer(text string, isError bool) string {
	return okAnswer(fmt.Sprintf(`{"content":[{"type":"text","text":%s}],"isError":%v}`, marshal(text), isError))
}

const (
	defaultServer = `{"name":"mcp-server","version":"1.0.0"}`
	toolsAlone    = `{"tools":{}}`
)

func TestAScriptOfBashSDKInitializesWithItsConfiguration(t *testing.T) {
	handshake := func(revision, server, capabilities string) string {
		return okAnswer(fmt.Sprintf(`{"protocolVersion":%s,"serverInfo":%s,"capabilities":%s}`, revision, server, capabilities))
	}
	plain := handshake(`"2024-11-05"`, defaultServer, toolsAlone)
	newest := handshake(`"2025-11-25"`, defaultServer, toolsAlone)
	asks := func(revision string) string {
		return `{"protocolVersion":` + revision + `,"capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"c","version":"1"}}`
	}
	tests := []struct{ name, config, params, want string }{
		{"104: nothing given, nothing asked for", `{}`, ``, plain},
		{"params without a revision", `{}`, `{}`, plain},
		{"params that are none", `{}`, `5`, plain},
		{"params that are null", `{}`, `null`, plain},
		{"a revision that is no string", `{}`, asks(`5`), plain},
		{"params of other types", `{}`, `{"capabilities":5,"clientInfo":[],"_meta":false}`, plain},
		{"the oldest revision", `{}`, asks(`"2024-11-05"`), plain},
		{"a newer revision", `{}`, asks(`"2025-06-18"`), handshake(`"2025-06-18"`, defaultServer, toolsAlone)},
		{"the newest revision with a handshake", `{}`, asks(`"2025-11-25"`), newest},
		{"an unknown revision", `{}`, asks(`"1999-01-01"`), newest},
		{"the revision without a handshake", `{}`, asks(`"2026-07-28"`), newest},
		{"278: all of it", `{"serverInfo":{"name":"probe","version":"9.9.9"},"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":false}}}`, ``,
			handshake(`"2025-06-18"`, `{"name":"probe","version":"9.9.9"}`, `{"tools":{"listChanged":false}}`)},
		{"a pinned revision that the client does not ask for", `{"protocolVersion":"2024-11-05"}`, asks(`"2025-06-18"`), plain},
		{"a pinned revision that nobody knows", `{"protocolVersion":"2030-01-01"}`, asks(`"2025-06-18"`), handshake(`"2030-01-01"`, defaultServer, toolsAlone)},
		{"null", `{"protocolVersion":null,"serverInfo":null,"capabilities":null}`, ``, plain},
		{"false", `{"protocolVersion":false,"serverInfo":false,"capabilities":false}`, ``, plain},
		{"in the author's order, with his digits", "{\"serverInfo\": {\"version\": 2.50,\n\"name\": \"é<\\u0041\"}, \"capabilities\": []}", ``, handshake(`"2024-11-05"`, `{"version":2.50,"name":"é<\u0041"}`, `[]`)},
		{"what is no object at all", `{"serverInfo":"me","capabilities":5}`, ``, handshake(`"2024-11-05"`, `"me"`, `5`)},
		{"instructions", `{"instructions":"Ask."}`, ``, okAnswer(`{"protocolVersion":"2024-11-05","serverInfo":` + defaultServer + `,"capabilities":{"tools":{}},"instructions":"Ask."}`)},
		{"members that mean something else to the script", `{"instructions":[1],"ttlMs":"x","cacheScope":5,"supportedVersions":{}}`, ``, plain},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSDKStage(t, `{}`, tt.config)
			s.requireAnswer(tt.params, s.request("initialize", tt.params), tt.want)
			s.requireJournal("INFO Handling initialize request")
		})
	}
}

// unreadable are files that hold no object, with what the journal says of them.
var unreadable = []struct{ name, text, brief string }{
	{"273, 279: missing", "", "File not found: "},
	{"274, 280: broken", `{ not json`, "Not exactly one parseable JSON object: "},
	{"275, 281: empty", " ", "Not exactly one parseable JSON object: "},
	{"276, 282: two documents", `{}{}`, "Not exactly one parseable JSON object: "},
	{"277: an array", `[1,2]`, "Not exactly one parseable JSON object: "},
	{"283: a number", `5`, "Not exactly one parseable JSON object: "},
}

func (s *sdkStage) spoil(file, text string) {
	s.t.Helper()
	if text != "" {
		s.write(file, text)
		return
	}
	must(s.t, os.Remove(filepath.Join(s.dir, file)))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAScriptOfBashSDKNamesAFileThatCannotBeRead(t *testing.T) {
	for _, tt := range unreadable {
		t.Run(tt.name, func(t *testing.T) {
			s := newSDKStage(t, listX, `{}`)
			s.spoil("config.json", tt.text)
			want := errorAnswer(-32603, "Cannot read server configuration: config.json")
			s.requireAnswer("initialize", s.request("initialize", ``), want)
			s.requireAnswer("server/discover", s.request("server/discover", modern), want)
			s.requireAnswer("tools/call", s.request("tools/call", `{"name":"x"}`), toolAnswer("hello", false))
			s.requireBriefs("ERROR " + tt.brief + "config.json")

			s = newSDKStage(t, listX, `{}`)
			s.spoil("tools.json", tt.text)
			s.requireAnswer("tools/list", s.request("tools/list", ``), errorAnswer(-32603, "Cannot read tools list: tools.json"))
			s.requireAnswer("tools/list", s.request("tools/list", ``), errorAnswer(-32603, "Cannot read tools list: tools.json"))
			s.requireAnswer("294: ping", s.request("ping", ``), okAnswer(`{}`))
			s.requireBriefs("ERROR " + tt.brief + "tools.json")
			s.write("tools.json", listX)
			s.requireAnswer("tools/list", s.request("tools/list", ``), okAnswer(listX))
		})
	}
}

// requireBriefs requires a line for each of two answers, and once the reason.
func (s *sdkStage) requireBriefs(brief string) {
	s.t.Helper()
	briefs, reasons := 0, 0
	for _, line := range s.journal.lines {
		switch {
		case line == brief:
			briefs++
		case strings.HasPrefix(line, "WARN Cannot read "):
			reasons++
		}
	}
	if briefs != 2 || reasons != 1 {
		s.t.Errorf("the journal says %q %d times, and %d times why: %q", brief, briefs, reasons, s.journal.lines)
	}
}

// modern are params of a request of the stateless era.
const modern = `{"_meta":{"` + message.MetaProtocolVersion + `":"2026-07-28","` + message.MetaClientCapabilities + `":{}}}`

const (
	listX   = `{"tools":[` + entryX + `]}`
	entryX  = `{"name":"x","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}}`
	cannotX = "Cannot validate arguments for x: "
)

func TestAScriptOfBashSDKListsWhatItsFileHolds(t *testing.T) {
	tests := []struct{ name, file, want string }{
		{"a tool", listX, `[` + entryX + `]`},
		{"284: neither schema nor function", `{"tools":[{"name":"greet"}]}`, `[{"name":"greet"}]`},
		{"anything in an array", "{\"tools\": [1, null, \"x\",\n {\"name\": 5}], \"a\": 1}", `[1,null,"x",{"name":5}]`},
		{"the author's order and digits", `{"tools":[{"z":1.50,"name":"é\u0041","a":1e400}]}`, `[{"z":1.50,"name":"é\u0041","a":1e400}]`},
		{"an object", `{"tools":{"b":{},"a":1}}`, `{"b":{},"a":1}`},
		{"a string", `{"tools":"x"}`, `"x"`}, {"a number", `{"tools":5}`, `5`}, {"true", `{"tools":true}`, `true`},
		{"missing", `{"Tools":[1]}`, `[]`}, {"null", `{"tools":null}`, `[]`}, {"false", `{"tools":false}`, `[]`},
		{"a byte order mark", "\ufeff" + `{"tools":[2]}`, `[2]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSDKStage(t, tt.file, `{}`)
			s.requireAnswer(tt.file, s.request("tools/list", `{"cursor":5}`), okAnswer(`{"tools":`+tt.want+`}`))
			s.requireJournal("INFO Handling tools/list request")
		})
	}
}

func TestAScriptOfBashSDKGuardsItsToolsInOrder(t *testing.T) {
	notFound := errorAnswer(-32601, "Tool not found: x")
	noObject := toolAnswer(cannotX+"the tool list at tools.json is missing or does not hold one JSON object.", true)
	unusable := toolAnswer(cannotX+"the tool list at tools.json does not hold a usable tools list.", true)
	twice := toolAnswer(cannotX+"the tool list at tools.json declares it more than once.", true)
	noSchema := toolAnswer(cannotX+"its entry in tools.json declares no inputSchema.", true)
	noVerdict := toolAnswer(cannotX+"they could not be evaluated against its schema.", true)
	noParams := errorAnswer(-32602, "Invalid params: expected an object")
	done := toolAnswer("hello", false)
	list := func(entries string) string { return `{"tools":` + entries + `}` }
	const open = `{"name":"x","inputSchema":{}}`
	const needsN = `{"name":"x","inputSchema":{"required":["n"]}}`
	tests := []struct{ name, file, params, want string }{
		{"307: params that are a number", list(`[]`), `5`, noParams},
		{"308: params that are a string", list(`[]`), `"x"`, noParams},
		{"309: params that are an array", list(`[]`), `[1,2]`, noParams},
		{"params that are true", list(`[]`), `true`, noParams},
		{"no params", list(`[]`), ``, errorAnswer(-32602, "Invalid tool name: ")},
		{"params that are null", list(`[]`), `null`, errorAnswer(-32602, "Invalid tool name: ")},
		{"params that are false", list(`[]`), `false`, errorAnswer(-32602, "Invalid tool name: ")},
		{"298: a name with a hyphen", list(`[]`), `{"name":"a-b"}`, errorAnswer(-32602, "Invalid tool name: a-b")},
		{"103: any name", list(`[]`), `{"name":"O'Brien ✓ ünïcödé"}`, errorAnswer(-32602, "Invalid tool name: O'Brien ✓ ünïcödé")},
		{"a name that begins with a digit", listX, `{"name":"1x"}`, errorAnswer(-32602, "Invalid tool name: 1x")},
		{"a name that is null", listX, `{"name":null}`, errorAnswer(-32602, "Invalid tool name: ")},
		{"a name that is a number", listX, `{"name":5.0}`, errorAnswer(-32602, "Invalid tool name: 5.0")},
		{"a name that is an object", listX, `{"name":{"a": 1}}`, errorAnswer(-32602, `Invalid tool name: {"a":1}`)},
		{"a name before an unreadable list", `5`, `{"name":"a b"}`, errorAnswer(-32602, "Invalid tool name: a b")},
		{"a name as a shell reads it", list(`[` + open + `]`), `{"name":"\u0000x\n\n"}`, done},
		{"303: an unreadable list before a function that is missing", ``, `{"name":"x"}`, noObject},
		{"a list that is no object", `5`, `{"name":"x"}`, noObject},
		{"304: an entry that has no members", list(`[1]`), `{"name":"x"}`, unusable},
		{"an entry that is a string", list(`[` + open + `,"x"]`), `{"name":"x"}`, unusable},
		{"an entry that is an array", list(`[[],` + open + `]`), `{"name":"x"}`, unusable},
		{"an entry that is true", list(`{"a":true}`), `{"name":"x"}`, unusable},
		{"an entry that is null", list(`[null,` + open + `]`), `{"name":"x"}`, done},
		{"entries without a usable name", list(`[{},{"name":5},{"name":null},` + open + `]`), `{"name":"x"}`, done},
		{"296: a function that is not declared", list(`[]`), `{"name":"x"}`, notFound},
		{"297: a function beside a declared tool", list(`[{"name":"foo","inputSchema":{}}]`), `{"name":"foo_cancel"}`, errorAnswer(-32601, "Tool not found: foo_cancel")},
		{"no list", `{}`, `{"name":"x"}`, notFound},
		{"a list that is a number", list(`5`), `{"name":"x"}`, notFound},
		{"a list that is a string", list(`"x"`), `{"name":"x"}`, notFound},
		{"301: declared twice", list(`[` + open + `,` + open + `]`), `{"name":"x"}`, twice},
		{"declared twice, without schemas", list(`{"a":{"name":"x"},"b":{"name":"x"}}`), `{"name":"x"}`, twice},
		{"299: no schema", list(`[{"name":"x"}]`), `{"name":"x"}`, noSchema},
		{"300: a schema that is null", list(`[{"name":"x","inputSchema":null}]`), `{"name":"x"}`, noSchema},
		{"no schema before no function", list(`[{"name":"y"}]`), `{"name":"y"}`, strings.ReplaceAll(noSchema, "for x", "for y")},
		{"305: no function", list(`[{"name":"y","inputSchema":{}}]`), `{"name":"y"}`, errorAnswer(-32601, "Tool not found: y")},
		{"295: declared and implemented", list(`[` + open + `]`), `{"name":"x"}`, done},
		{"302: an object whose values are the entries", list(`{"any":` + needsN + `}`), `{"name":"x","arguments":{}}`, toolAnswer("Missing required parameter(s): n.", true)},
		{"a call of such", list(`{"any":` + needsN + `}`), `{"name":"x","arguments":{"n":1}}`, done},
		{"23: arguments that do not conform", listX, `{"name":"x","arguments":{"n":"seven"}}`, toolAnswer(`Invalid type(s): n expected integer, got string ("seven").`, true)},
		{"240: arguments that are null", listX, `{"name":"x","arguments":null}`, toolAnswer("Invalid arguments: expected a JSON object, got null.", true)},
		{"241: arguments that are false", listX, `{"name":"x","arguments":false}`, toolAnswer("Invalid arguments: expected a JSON object, got boolean.", true)},
		{"243: arguments that are a number", listX, `{"name":"x","arguments":0}`, toolAnswer("Invalid arguments: expected a JSON object, got number.", true)},
		{"245: arguments that are an array", listX, `{"name":"x","arguments":[1,2]}`, toolAnswer("Invalid arguments: expected a JSON object, got array.", true)},
		{"246: no arguments", listX, `{"name":"x"}`, done},
		{"a schema that is true", list(`[{"name":"x","inputSchema":true}]`), `{"name":"x"}`, noVerdict},
		{"a schema with a pattern that is none", list(`[{"name":"x","inputSchema":{"properties":{"a":{"pattern":"("}}}}]`), `{"name":"x","arguments":{"a":"b"}}`, noVerdict},
		{"a schema that JSON Schema does not allow", list(`[{"name":"x","inputSchema":{"type":"object","properties":{"a":{"minimum":"3"}}}}]`), `{"name":"x","arguments":{"a":1}}`, done},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSDKStage(t, tt.file, `{}`)
			s.functions = []string{"x", "foo", "foo_cancel"}
			if tt.file == "" {
				s.functions = nil
				s.spoil("tools.json", "")
			}
			ran := false
			s.run = func(context.Context, string, json.RawMessage) (call.Outcome, error) {
				ran = true
				return call.Outcome{Output: []byte("hello\n")}, nil
			}
			s.requireAnswer(tt.params, s.request("tools/call", tt.params), tt.want)
			if ran != (tt.want == done) {
				t.Errorf("the tool has run: %v", ran)
			}
		})
	}
}

func TestBothErasGuardToolsOfBashSDKAlike(t *testing.T) {
	s := newSDKStage(t, `{"tools":[{"name":"bare"}]}`, `{}`)
	of := func(name string) string { return modern[:len(modern)-1] + `,"name":"` + name + `"}` }
	s.requireAnswer("row 2", s.request("tools/call", of("a-b")), errorAnswer(-32602, "Invalid tool name: a-b"))
	s.requireAnswer("row 5", s.request("tools/call", of("x")), errorAnswer(-32601, "Tool not found: x"))
	const info = `"resultType":"complete","_meta":{"` + message.MetaServerInfo + `":` + defaultServer + `}}`
	s.requireAnswer("row 7", s.request("tools/call", of("bare")),
		okAnswer(`{"content":[{"type":"text","text":"Cannot validate arguments for bare: its entry in tools.json declares no inputSchema."}],"isError":true,`+info))
	s.requireAnswer("tools/list", s.request("tools/list", modern), okAnswer(`{"tools":[{"name":"bare"}],"ttlMs":0,"cacheScope":"public",`+info))
	s.write("config.json", `{"protocolVersion":"2024-11-05","serverInfo":"me","capabilities":5}`)
	s.requireAnswer("server/discover", s.request("server/discover", modern),
		okAnswer(`{"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"public",`+info))
}

func TestEveryEndOfACallHasItsResultAndItsLineInTheJournal(t *testing.T) {
	hook := func(how call.HookHow, status int, output string) call.Outcome {
		return call.Outcome{Status: status, Hook: &call.HookEnd{How: how, Status: status, Output: []byte(output)}}
	}
	tests := []struct {
		name    string
		outcome call.Outcome
		err     error
		want    string
		isError bool
		line    string
	}{
		{"1: it returned", call.Outcome{Output: []byte("tool output\n\n")}, nil, "tool output", false, ""},
		{"it said nothing", call.Outcome{}, nil, "", false, ""},
		{"it failed", call.Outcome{Status: 4, Output: []byte("no\n")}, nil, "Error executing x: no", true, "ERROR Tool x failed with exit code 4"},
		{"it failed without a word", call.Outcome{Status: 1}, nil, "Error executing x: ", true, "ERROR Tool x failed with exit code 1"},
		{"21: it killed itself", call.Outcome{Status: 137}, nil, "Error executing x: ", true, "ERROR Tool x failed with exit code 137"},
		{"14: the hook refused it", hook(call.HookRefused, 3, "denied by policy\n"), nil, "Error executing x: denied by policy", true, "ERROR before-tool hook refused tool x (status 3)"},
		{"16: the hook refused it without a word", hook(call.HookRefused, 3, ""), nil, "Error executing x: ", true, "ERROR before-tool hook refused tool x (status 3)"},
		{"17: the hook ended the shell well", hook(call.HookExited, 0, ""), nil, "mcp_before_tool_call ended the call instead of returning; tool x did not run.", true, "ERROR Before-tool hook mcp_before_tool_call for tool x ended the call (status 0)"},
		{"18: the hook ended the shell with a word", hook(call.HookExited, 4, "X\n"), nil, "mcp_before_tool_call ended the call instead of returning; tool x did not run.\nX", true, "ERROR Before-tool hook mcp_before_tool_call for tool x ended the call (status 4)"},
		{"20: the hook was killed", hook(call.HookKilled, 9, "X\n"), nil, "mcp_before_tool_call was killed by signal 9; tool x did not run.", true, "ERROR Before-tool hook mcp_before_tool_call for tool x was killed (status 137)"},
		{"it took too long", call.Outcome{End: call.TimedOut, Output: []byte("half\n")}, nil, "Error executing x: it was stopped after 3s, the limit set by --timeout. It had printed:\nhalf", true, "WARN Tool x did not end: it was stopped after 3s, the limit set by --timeout"},
		{"it printed too much", call.Outcome{End: call.Overflowed}, nil, "Error executing x: it was stopped because it printed more than 100 bytes, the limit set by --max-output", true, "WARN Tool x did not end: it was stopped because it printed more than 100 bytes, the limit set by --max-output"},
		{"its shell was killed", call.Outcome{End: call.Lost}, nil, "Error executing x: the shell that ran it was killed", true, "WARN Tool x did not end: the shell that ran it was killed"},
		{"49: no directory", call.Outcome{}, fmt.Errorf("cannot create it in /t: %w", call.ErrDirectory), "Cannot run x: its call directory could not be created.", true, "ERROR Tool x not run: cannot create it in /t: its call directory could not be created"},
		{"any other failure", call.Outcome{}, errors.New("too many open files"), "Cannot run x: the server could not start it. Its log says why.", true, "ERROR Tool x not run: too many open files"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSDKStage(t, listX, `{}`)
			s.run = func(context.Context, string, json.RawMessage) (call.Outcome, error) { return tt.outcome, tt.err }
			// One answer and no notification, whatever a client might ask for.
			s.requireAnswer("tools/call", s.request("tools/call", `{"name":"x"}`), toolAnswer(tt.want, tt.isError))
			s.requireAnswer("logging/setLevel", s.request("logging/setLevel", `{"level":"debug"}`), errorAnswer(-32601, "Method not found: logging/setLevel"))
			journal := []string{"INFO Handling tools/call: x"}
			if tt.line != "" {
				journal = append(journal, tt.line)
			}
			s.requireJournal(journal...)
		})
	}
}

func TestTheJournalSaysWhyAToolHasNotRun(t *testing.T) {
	for params, want := range map[string][]string{
		`5`:                                {"ERROR tools/call params is not a JSON object"},
		`{"name":"a-b"}`:                   {"INFO Handling tools/call: a-b"},
		`{"name":"gone"}`:                  {"INFO Handling tools/call: gone"},
		`{"name":"bare"}`:                  {"INFO Handling tools/call: bare", "ERROR Tool bare argument validation failed: Cannot validate arguments for bare: its entry in tools.json declares no inputSchema."},
		`{"name":"x","arguments":[]}`:      {"INFO Handling tools/call: x", "ERROR Tool x argument validation failed: Invalid arguments: expected a JSON object, got array."},
		`{"name":"x","arguments":{"n":1}}`: {"INFO Handling tools/call: x"},
	} {
		s := newSDKStage(t, `{"tools":[{"name":"bare"},`+entryX+`]}`, `{}`)
		s.request("tools/call", params)
		s.requireJournal(want...)
	}
}

func TestACancelledCallIsNotLoggedAsFailed(t *testing.T) {
	s := newSDKStage(t, listX, `{}`)
	ctx, cancel := context.WithCancel(t.Context())
	s.run = func(context.Context, string, json.RawMessage) (call.Outcome, error) {
		cancel()
		return call.Outcome{End: call.Cancelled, Status: 143}, nil
	}
	result, err := s.host.CallTool(ctx, engine.ToolCall{Params: json.RawMessage(`{"name":"x"}`), Queued: func() {}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %s, %v", result, err)
	}
	s.requireJournal("INFO Handling tools/call: x")
}

func TestToolsOfBashSDKGetTheirArgumentsInOneForm(t *testing.T) {
	s := newSDKStage(t, `{"tools":[{"name":"x","inputSchema":{}}]}`, `{}`)
	var got string
	s.run = func(_ context.Context, _ string, arguments json.RawMessage) (call.Outcome, error) {
		got = string(arguments)
		return call.Outcome{}, nil
	}
	for arguments, want := range map[string]string{
		``:                              `{}`,      // 246
		`,"arguments":{"n": 7}`:         `{"n":7}`, // 6
		`,"arguments":{ }`:              `{}`,
		`,"arguments":{"a":"\u00e9\/"}`: `{"a":"é/"}`,
	} {
		s.request("tools/call", `{"name":"x"`+arguments+`}`)
		if got != want {
			t.Errorf("%s: the tool gets %s, want %s", arguments, got, want)
		}
	}
}

func TestProblemsOfABashSDKScriptSayWhatBecomesOfTheTool(t *testing.T) {
	s := newSDKStage(t, `{"tools":[{"name":"x"},{"name":"y","inputSchema":{}},{"name":"z","inputSchema":[]},{"name":"twice","inputSchema":{}},{"name":"twice"}]}`, `{"ttlMs":-1}`)
	s.functions = []string{"x", "z", "other"}
	problems, err := s.host.Problems()
	want := []string{
		"entry 1 of the tools list (x) declares no inputSchema; calls are refused",
		"entry 5 of the tools list (twice) declares no inputSchema; calls are refused",
		"the tools list declares twice 2 times; calls are refused",
		"the tools list declares y, but there is no function tool_y; it is listed, and calls are refused",
		"the inputSchema of z cannot be used: ",
		"there is a function tool_other, but the tools list does not declare other; it is not served",
		"ttlMs must be an integer of at least 0",
	}
	if err != nil || !slices.EqualFunc(problems, want, func(p, w string) bool { return p == w || strings.HasSuffix(w, ": ") && strings.HasPrefix(p, w) }) {
		t.Errorf("%v: the problems are\n%s\nwant\n%s", err, strings.Join(problems, "\n"), strings.Join(want, "\n"))
	}
	s.request("tools/list", "")
	s.requireJournal("INFO Handling tools/list request")
}
