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
	"testing"
	"time"
	"unicode/utf8"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/catalog/bashsdk"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/shell"
	"github.com/conch-mcp/conch/internal/wire"
)

// stage is a host over two files and a runner that runs nothing.
type stage struct {
	t         *testing.T
	host      *Host
	dir       string
	functions []string
	log       bytes.Buffer
	trace     shell.Trace // of the last call
	run       func(ctx context.Context, tool string, arguments json.RawMessage) (call.Outcome, error)
}

const greetList = `{"tools":[{"name":"greet","inputSchema":{"type":"object","properties":{"name":{"type":"string"}}}}]}`

func newStage(t *testing.T, tools, config string) *stage {
	t.Helper()
	s := &stage{t: t, dir: t.TempDir(), functions: []string{"greet"}}
	s.write("tools.json", tools)
	s.write("config.json", config)
	s.run = func(context.Context, string, json.RawMessage) (call.Outcome, error) {
		return call.Outcome{Output: []byte("hello\n")}, nil
	}
	list := bashsdk.NewToolsFile(filepath.Join(s.dir, "tools.json"), false)
	resources := bashsdk.NewResourcesFile(filepath.Join(s.dir, "resources.json"), true)
	prompts := bashsdk.NewPromptsFile(filepath.Join(s.dir, "prompts.json"), true)
	description := bashsdk.NewConfigFile(filepath.Join(s.dir, "config.json"), message.Revisions(), false)
	s.host = New(Options{
		Name: "stage", Tools: list.Read, Resources: resources.Read, Prompts: prompts.Read, Config: description.Read,
		Functions: func() []string { return s.functions },
		Exists:    func(tool string) bool { return slices.Contains(s.functions, tool) },
		Defined:   func(function string) bool { return slices.Contains(s.functions, function) },
		Folder:    s.dir, PageSize: 2,
		Run: func(ctx context.Context, c call.Call) (call.Outcome, error) {
			s.trace = c.Trace
			return s.run(ctx, strings.TrimPrefix(c.Function, "tool_"), c.Arguments)
		},
		Limits: call.Limits{Timeout: 3 * time.Second, MaxOutput: 100},
		Log:    slog.New(slog.NewTextHandler(&s.log, nil)),
	})
	return s
}

func (s *stage) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

type reply struct {
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// ask sends one request through a connection of its own.
func (s *stage) ask(method, params string) reply {
	s.t.Helper()
	var out bytes.Buffer
	in := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`+"\n", method, params)
	err := wire.Serve(s.t.Context(), s.host.Server(), strings.NewReader(in), &out, wire.Options{Drain: math.MaxInt64, Supported: s.host.Supported, Log: slog.New(slog.DiscardHandler)})
	var r reply
	if err != nil || json.Unmarshal(out.Bytes(), &r) != nil {
		s.t.Fatalf("%s %s: %v: %q", method, params, err, out.String())
	}
	return r
}

// call calls greet and returns the text of the result.
func (s *stage) call(arguments string) (text string, isError bool) {
	s.t.Helper()
	r := s.ask("tools/call", `{"name":"greet","arguments":`+arguments+`}`)
	var result struct {
		Content []struct{ Type, Text string }
		IsError bool
	}
	if r.Error != nil || json.Unmarshal(r.Result, &result) != nil || len(result.Content) != 1 || result.Content[0].Type != "text" {
		s.t.Fatalf("no result: %+v, %s", r.Error, r.Result)
	}
	return result.Content[0].Text, result.IsError
}

func TestEveryEndOfACallHasItsResult(t *testing.T) {
	tests := []struct {
		name    string
		outcome call.Outcome
		err     error
		want    string
		isError bool
	}{
		{"it returned", call.Outcome{Output: []byte("hi\n\n")}, nil, "hi", false},
		{"it said nothing", call.Outcome{}, nil, "", false},
		{"it failed", call.Outcome{Status: 1, Output: []byte("no such city\n")}, nil, "Error executing greet: no such city", true},
		{"it failed without a word", call.Outcome{Status: 3}, nil, "Error executing greet: it ended with status 3 and printed nothing", true},
		{"it was killed", call.Outcome{Status: 137}, nil, "Error executing greet: it ended with status 137 and printed nothing", true},
		{"it took too long", call.Outcome{End: call.TimedOut, Status: 143}, nil, "Error executing greet: it was stopped after 3s, the limit set by --timeout", true},
		{"it took too long and had spoken", call.Outcome{End: call.TimedOut, Output: []byte("half\n")}, nil, "Error executing greet: it was stopped after 3s, the limit set by --timeout. It had printed:\nhalf", true},
		{"it took too long and ended well", call.Outcome{End: call.TimedOut, Status: 0}, nil, "Error executing greet: it was stopped after 3s, the limit set by --timeout", true},
		{"it printed too much", call.Outcome{End: call.Overflowed, Output: []byte("xxx")}, nil, "Error executing greet: it was stopped because it printed more than 100 bytes, the limit set by --max-output", true},
		{"its shell was killed", call.Outcome{End: call.Lost}, nil, "Error executing greet: the shell that ran it was killed", true},
		{"its shell was killed and it had spoken", call.Outcome{End: call.Lost, Output: []byte("half\x00\n")}, nil, "Error executing greet: the shell that ran it was killed. It had printed:\nhalf", true},
		{"the hook refused it", call.Outcome{Status: 3, Hook: &call.HookEnd{How: call.HookRefused, Status: 3, Output: []byte("not you\n")}}, nil, "Error executing greet: not you", true},
		{"the hook ended the shell", call.Outcome{Hook: &call.HookEnd{How: call.HookExited, Output: []byte("bye\n")}}, nil, "mcp_before_tool_call ended the call instead of returning; tool greet did not run.\nbye", true},
		{"the hook was killed", call.Outcome{Status: 143, Hook: &call.HookEnd{How: call.HookKilled, Status: 15}}, nil, "mcp_before_tool_call was killed by signal 15; tool greet did not run.", true},
		{"no directory", call.Outcome{}, fmt.Errorf("run greet: %w: mkdir /secret: no space", call.ErrDirectory), "Cannot run greet: its call directory could not be created.", true},
		{"a NUL in an argument", call.Outcome{}, fmt.Errorf("argument name: %w", shell.ErrNUL), "Cannot run greet: argument name: it holds a NUL character, which no shell variable can.", true},
		{"any other failure", call.Outcome{}, errors.New("open /secret: too many open files"), "Cannot run greet: the server could not start it. Its log says why.", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, greetList, `{}`)
			s.run = func(context.Context, string, json.RawMessage) (call.Outcome, error) { return tt.outcome, tt.err }
			if text, isError := s.call(`{}`); text != tt.want || isError != tt.isError {
				t.Errorf("got %q, %v; want %q, %v", text, isError, tt.want, tt.isError)
			}
			if tt.outcome.Hook != nil && !strings.Contains(s.log.String(), "hook") {
				t.Errorf("the log does not speak of the hook: %s", s.log.String())
			}
			// What a client did wrong is no business of the log's.
			if tt.err != nil && !errors.Is(tt.err, shell.ErrNUL) && !strings.Contains(s.log.String(), strings.TrimPrefix(tt.err.Error(), "argument ")) {
				t.Errorf("the log does not say why: %s", s.log.String())
			}
		})
	}
}

func TestArgumentsReachTheToolByteForByte(t *testing.T) {
	s := newStage(t, `{"tools":[{"name":"greet","inputSchema":{}}]}`, `{}`)
	var got string
	s.run = func(_ context.Context, _ string, arguments json.RawMessage) (call.Outcome, error) {
		got = string(arguments)
		return call.Outcome{}, nil
	}
	for _, arguments := range []string{`{}`, `{"b":1.50,"a":9007199254740993,"c":1e400}`, `{"x":"\u003c\/é<"}`, `{"a": [1,  2]}`} {
		if s.call(arguments); got != arguments {
			t.Errorf("%s arrives as %s", arguments, got)
		}
	}
	got = ""
	if r := s.ask("tools/call", `{"name":"greet"}`); r.Error != nil || got != `{}` {
		t.Errorf("without arguments the tool gets %q, and the client %+v", got, r.Error)
	}
}

func TestArgumentsThatDoNotConformNeverReachTheTool(t *testing.T) {
	s := newStage(t, greetList, `{}`)
	s.run = func(context.Context, string, json.RawMessage) (call.Outcome, error) {
		t.Error("the tool runs")
		return call.Outcome{}, nil
	}
	for _, arguments := range []string{`{"name":5}`, `[]`, `"x"`} {
		if text, isError := s.call(arguments); !isError || text == "" {
			t.Errorf("%s gives %q, %v", arguments, text, isError)
		}
	}
}

func TestASchemaIsTheOneOfTheListAsItIsNow(t *testing.T) {
	s := newStage(t, greetList, `{}`)
	requireCall := func(want string) {
		t.Helper()
		text, _ := s.call(`{"name":5}`)
		if !strings.Contains(text, want) {
			t.Errorf("got %q, want %q", text, want)
		}
	}
	requireCall("name")
	s.write("tools.json", strings.Replace(greetList, `"string"`, `"number"`, 1))
	requireCall("hello")
	s.write("tools.json", `{"tools":[{"name":"greet"}]}`)
	requireCall("Cannot validate arguments for greet: its entry in the tools list declares no inputSchema.")
	s.write("tools.json", `{"tools":[{"name":"greet","inputSchema":{"type":"object","minProperties":"x"}}]}`)
	requireCall("Cannot validate arguments for greet: ")
	s.write("tools.json", greetList)
	requireCall("name")
}

func TestAFileThatCannotBeReadIsAnErrorAndTheServerGoesOn(t *testing.T) {
	s := newStage(t, greetList, `{}`)
	s.write("tools.json", `[]`)
	for _, method := range []string{"tools/list", "tools/call"} {
		r := s.ask(method, `{"name":"greet"}`)
		if r.Error == nil || r.Error.Code != message.CodeInternalError || !strings.Contains(r.Error.Message, filepath.Join(s.dir, "tools.json")) {
			t.Errorf("%s gives %+v", method, r.Error)
		}
	}
	s.write("tools.json", greetList)
	s.write("config.json", `nonsense`)
	r := s.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
	if r.Error == nil || r.Error.Code != message.CodeInternalError || !strings.Contains(r.Error.Message, filepath.Join(s.dir, "config.json")) {
		t.Errorf("initialize gives %+v", r.Error)
	}
	if text, isError := s.call(`{}`); text != "hello" || isError {
		t.Errorf("a call gives %q, %v", text, isError)
	}
}

func TestAPanicIsAnInternalErrorAndTheServerGoesOn(t *testing.T) {
	s := newStage(t, greetList, `{}`)
	fine := s.run
	s.run = func(context.Context, string, json.RawMessage) (call.Outcome, error) { panic("secret") }
	r := s.ask("tools/call", `{"name":"greet","arguments":{}}`)
	if r.Error == nil || r.Error.Code != message.CodeInternalError || r.Error.Message != "Internal error" {
		t.Errorf("got %+v, %s", r.Error, r.Result)
	}
	if !strings.Contains(s.log.String(), "secret") {
		t.Errorf("the log says nothing of it: %s", s.log.String())
	}
	s.run = fine
	if text, isError := s.call(`{}`); text != "hello" || isError {
		t.Errorf("the next call gives %q, %v", text, isError)
	}
}

func TestAToolThatIsNotThereIsAnErrorOfTheProtocol(t *testing.T) {
	s := newStage(t, `{"tools":[{"name":"greet","inputSchema":{}},{"name":"gone","inputSchema":{}},{"name":"twice"},{"name":"twice"}]}`, `{}`)
	s.functions = []string{"greet", "twice", "undeclared"}
	for _, name := range []string{"gone", "twice", "undeclared", "", "Greet", strings.Repeat("é", 300)} {
		r := s.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":{}}`, name))
		if r.Error == nil || r.Error.Code != message.CodeInvalidParams || !strings.HasPrefix(r.Error.Message, "Invalid params: unknown tool") || len(r.Error.Message) > 200 {
			t.Errorf("%.20q gives %+v, %s", name, r.Error, r.Result)
		}
	}
}

func TestEveryMismatchOfListAndScriptIsAProblem(t *testing.T) {
	const good = `{"name":"greet","inputSchema":{"type":"object"}}`
	tests := []struct {
		name, entries string
		functions     []string
		want          []string
	}{
		{"none", good, []string{"greet"}, nil},
		{"no function", good, nil, []string{"the tools list declares greet, but there is no function tool_greet; it is not served"}},
		{"no declaration", ``, []string{"a", "b"}, []string{
			"there is a function tool_a, but the tools list does not declare a; it is not served",
			"there is a function tool_b, but the tools list does not declare b; it is not served",
		}},
		{"declared twice", good + "," + good, []string{"greet"}, []string{"the tools list declares greet 2 times; it is not served"}},
		{"a problem of the list first", `5,` + good, nil, []string{
			"entry 1 of the tools list is not a JSON object; it is not served",
			"the tools list declares greet, but there is no function tool_greet; it is not served",
		}},
		{"a header that cannot be", `{"name":"greet","inputSchema":{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}}`, []string{"greet"}, []string{
			`the inputSchema of greet: x-mcp-header at /properties/a needs a "type" beside it that is "string", "integer" or "boolean"; it is not used`,
		}},
		{"no schema", `{"name":"greet"}`, []string{"greet"}, []string{"entry 1 of the tools list (greet) declares no inputSchema; calls are refused"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, `{"tools":[`+tt.entries+`]}`, `{}`)
			s.functions = tt.functions
			problems, err := s.host.Problems()
			if err != nil || !slices.Equal(problems, tt.want) {
				t.Errorf("%v: the problems are\n%s\nwant\n%s", err, strings.Join(problems, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
	t.Run("a schema that is invalid", func(t *testing.T) {
		s := newStage(t, `{"tools":[{"name":"greet","inputSchema":{"type":"object","minProperties":-1}}]}`, `{}`)
		problems, err := s.host.Problems()
		if err != nil || len(problems) != 1 || !strings.HasPrefix(problems[0], "the inputSchema of greet cannot be used: ") || !strings.HasSuffix(problems[0], "; calls are refused") {
			t.Errorf("%v, %q", err, problems)
		}
	})
	t.Run("a list that cannot be read", func(t *testing.T) {
		if _, err := newStage(t, `[]`, `{}`).host.Problems(); err == nil {
			t.Error("there is no error")
		}
	})
}

// What a problem says of calls must be what calls do.
func TestCallsAreRefusedWhereAProblemSaysSo(t *testing.T) {
	for _, schema := range []string{`null`, `true`, `5`, `[]`, `"x"`, `{"type":"string"}`, `{"type":["object"]}`, `{"type":["object","null"]}`, `{"type":null}`, `{"type":"object"}`, `{}`, `{"type":"object","required":5}`} {
		s := newStage(t, `{"tools":[{"name":"greet","inputSchema":`+schema+`}]}`, `{}`)
		problems, err := s.host.Problems()
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Contains(strings.Join(problems, "\n"), "calls are refused")
		if text, refused := s.call(`{}`); said != refused {
			t.Errorf("inputSchema %s: the problems are %q, and a call gives %q, isError %v", schema, problems, text, refused)
		}
	}
}

func TestServerInfoHasTheMembersTheProtocolDemands(t *testing.T) {
	tests := []struct{ name, config, want string }{
		{"none", `{}`, `{"name":"stage","version":"1.0.0"}`},
		{"empty", `{"serverInfo":{}}`, `{"name":"stage","version":"1.0.0"}`},
		{"a name", `{"serverInfo":{"name":"n"}}`, `{"version":"1.0.0","name":"n"}`},
		{"all", `{"serverInfo":{"version":"2","title":"<t>","name":"n","x":1.50}}`, `{"version":"2","title":"<t>","name":"n","x":1.50}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, greetList, tt.config)
			r := s.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
			var result struct{ ServerInfo json.RawMessage }
			if r.Error != nil || json.Unmarshal(r.Result, &result) != nil || !sameMembers(result.ServerInfo, tt.want) {
				t.Errorf("%+v: %s, want %s", r.Error, result.ServerInfo, tt.want)
			}
		})
	}
}

func TestServerInfoWhoseNameIsNoStringIsAnErrorOfTheFile(t *testing.T) {
	for _, config := range []string{`{"serverInfo":{"name":null,"version":"2"}}`, `{"serverInfo":{"name":"n","version":2}}`} {
		s := newStage(t, greetList, config)
		r := s.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`)
		if r.Error == nil || r.Error.Code != message.CodeInternalError || !strings.Contains(r.Error.Message, "serverInfo must be an object") {
			t.Errorf("%s: %+v, %s", config, r.Error, r.Result)
		}
	}
}

// sameMembers ignores the order and, of members that occur twice, takes the last.
func sameMembers(got json.RawMessage, want string) bool {
	var a, b map[string]json.RawMessage
	if json.Unmarshal(got, &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
		return false
	}
	return fmt.Sprintf("%s", a) == fmt.Sprintf("%s", b)
}

// Clients drop a whole list over an outputSchema that their revision does not
// have.
func TestAnOutputSchemaIsShownToWhoCanTakeIt(t *testing.T) {
	tests := []struct{ name, schema, since string }{
		{"of objects", `{"type":"object"}`, "2025-06-18"},
		{"of arrays", `{"type":"array"}`, "2026-07-28"},
		{"of objects among others", `{"type":["object","null"]}`, "2026-07-28"},
		{"that leaves the type open", `{"required":["n"]}`, "2026-07-28"},
		{"that cannot be used", `{"type":"object","properties":7}`, "never"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newStage(t, `{"tools":[{"name":"greet","inputSchema":{"type":"object"},"outputSchema":`+tt.schema+`}]}`, `{}`)
			for _, revision := range message.Revisions() {
				list, err := s.host.list(message.Modern(revision), revision, "")
				want := `{"name":"greet","inputSchema":{"type":"object"}}`
				if revision >= tt.since {
					want = `{"name":"greet","inputSchema":{"type":"object"},"outputSchema":` + tt.schema + `}`
				}
				if got := string(message.Member(list, "tools")); err != nil || got != "["+want+"]" {
					t.Errorf("%s: %s, %v, want %s", revision, got, err, want)
				}
			}
			problems, err := s.host.Problems()
			if told := strings.Contains(strings.Join(problems, "\n"), "the outputSchema of greet cannot be used: "); err != nil || told != (tt.since == "never") {
				t.Errorf("the problems are %q, %v", problems, err)
			}
		})
	}
}

func TestOnlyTheRevisionsOfTheConfigurationAreSupported(t *testing.T) {
	s := newStage(t, greetList, `{"supportedVersions":["2025-06-18","1999-01-01","2026-07-28"]}`)
	if got := s.host.Supported(); !slices.Equal(got, []string{"2026-07-28", "2025-06-18"}) {
		t.Errorf("supported are %q", got)
	}
	s.write("config.json", `nonsense`)
	if got := s.host.Supported(); !slices.Equal(got, message.Revisions()) {
		t.Errorf("with a broken configuration supported are %q", got)
	}
}

func TestCleanMakesTextOfOutput(t *testing.T) {
	tests := []struct{ name, output, want string }{
		{"nothing", "", ""}, {"newlines alone", "\n\n", ""}, {"one trailing newline", "a\n", "a"}, {"several", "a\n\n\n", "a"},
		{"newlines inside and in front stay", "\na\n\nb", "\na\n\nb"}, {"other white space stays", " a \t\r", " a \t\r"}, {"a carriage return before the newline stays", "a\r\n", "a\r"},
		{"NULs go", "\x00a\x00b\x00", "ab"}, {"NULs among trailing newlines", "a\n\x00\n\x00", "a"}, {"NULs alone", "\x00\x00", ""},
		{"a byte that is no UTF-8", "a\xffb", "a\uFFFDb"}, {"half a character at the end", "é\xc3", "é\uFFFD"}, {"half a character and a newline", "é\xc3\n", "é\uFFFD"},
		{"a NUL inside a character", "\xc3\x00\xa9", "é"}, {"an encoded surrogate", "\xed\xa0\x80", "\uFFFD"}, {"valid UTF-8 stays", "é€𝄞\ufeff\u2028", "é€𝄞\ufeff\u2028"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := clean([]byte(tt.output)); got != tt.want {
				t.Errorf("clean(%q) = %q, want %q", tt.output, got, tt.want)
			}
		})
	}
}

func FuzzClean(f *testing.F) {
	for _, output := range []string{"", "a\n\n", "\x00\n\x00", "\xff\xfe", "é\xc3\n", "\xed\xa0\x80", "a\x00\nb"} {
		f.Add([]byte(output))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		original := bytes.Clone(output)
		text := clean(output)
		if !utf8.ValidString(text) || strings.ContainsRune(text, 0) || strings.HasSuffix(text, "\n") {
			t.Errorf("clean(%q) = %q", output, text)
		}
		if !bytes.Equal(output, original) {
			t.Errorf("clean changes its argument to %q", output)
		}
		if again := clean([]byte(text)); again != text {
			t.Errorf("clean(%q) = %q", text, again)
		}
		if want := strings.TrimRight(string(output), "\n"); utf8.ValidString(want) && !strings.ContainsRune(want, 0) && text != want {
			t.Errorf("clean(%q) = %q, though there is nothing else to clean", output, text)
		}
	})
}

func TestAListThatIsTheSameReadingKeepsItsSchemas(t *testing.T) {
	tool := &catalog.Tool{Name: "greet", Entry: json.RawMessage(`{}`), InputSchema: json.RawMessage(`{"type":"object"}`)}
	list := catalog.NewTools([]*catalog.Tool{tool}, nil, nil)
	h := newStage(t, greetList, `{}`).host
	first, err := h.schema(list, tool)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := h.schema(list, tool); err != nil || again != first {
		t.Errorf("the same list compiles its schema again: %v", err)
	}
	if other, err := h.schema(catalog.NewTools([]*catalog.Tool{tool}, nil, nil), tool); err != nil || other == first {
		t.Errorf("another list has the schema of the one before: %v", err)
	}
}
