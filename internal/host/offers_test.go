package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/shell"
)

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// offering is a stage with resources and prompts, whose functions print how they
// were called.
func offering(t *testing.T) *stage {
	t.Helper()
	s := newStage(t, greetList, `{}`)
	s.functions = append(s.functions, "resource_note", "resource_row", "prompt_hello", "complete_prompt_hello_who", "complete_resource_row_id")
	s.write("resources.json", `{
		"resources":[{"uri":"x://note","name":"note"},{"uri":"x://file","name":"file","file":"a.md","_meta":{"ui":{}}},
			{"uri":"x://png","name":"png","file":"a.png"},{"uri":"x://lost","name":"lost","file":"lost.txt"},{"uri":"x://none","name":"none"}],
		"resourceTemplates":[{"uriTemplate":"x://rows/{id}{?q}","name":"row"},{"uriTemplate":"x://files/{name}","name":"files","file":"sub/{name}.txt","complete":{"name":["ada","alan","bob"]}}]}`)
	s.write("prompts.json", `{"prompts":[{"name":"hello","description":"Says hello.","arguments":[{"name":"who","required":true},{"name":"how","complete":["warmly","warily"]}]},
		{"name":"letter","file":"letter.md","arguments":[{"name":"to"},{"name":"from"}]}]}`)
	s.write("a.md", "# A\n")
	s.write("a.png", "\x89PNG")
	s.write("letter.md", "{{to}}, {{ to }}, {{from}} {{unknown}} {{}}\n")
	s.run = func(_ context.Context, function string, arguments json.RawMessage) (call.Outcome, error) {
		return call.Outcome{Output: fmt.Appendf(nil, "%s %s\n", function, arguments)}, nil
	}
	return s
}

func TestContentIsWhatAFunctionPrintsOrAFileHolds(t *testing.T) {
	s := offering(t)
	s.write("../outside", "secret")
	for uri, want := range map[string]string{
		"x://note":             `{"uri":"x://note","mimeType":"text/plain","text":"resource_note {\"uri\":\"x://note\"}\n"}`,
		"x://rows/1":           `{"uri":"x://rows/1","mimeType":"text/plain","text":"resource_row {\"id\":\"1\",\"uri\":\"x://rows/1\"}\n"}`,
		"x://rows/a%2Fb?q=%3C": `{"uri":"x://rows/a%2Fb?q=%3C","mimeType":"text/plain","text":"resource_row {\"id\":\"a/b\",\"q\":\"<\",\"uri\":\"x://rows/a%2Fb?q=%3C\"}\n"}`,
		"x://file":             `{"uri":"x://file","mimeType":"text/markdown","text":"# A\n","_meta":{"ui":{}}}`,
		"x://png":              `{"uri":"x://png","mimeType":"image/png","blob":"iVBORw=="}`,
	} {
		if r := s.ask("resources/read", fmt.Sprintf(`{"uri":%q}`, uri)); string(r.Result) != `{"contents":[`+want+`]}` {
			t.Errorf("%s: %s, %+v", uri, r.Result, r.Error)
		}
	}
	r := s.ask("resources/read", `{"uri":"x://file",`+modernMeta+`}`)
	if want := `],"ttlMs":0,"cacheScope":"public","resultType":"complete","_meta":{`; !strings.Contains(string(r.Result), want) {
		t.Errorf("the result of the stateless era lacks %s: %s", want, r.Result)
	}
}

func TestWhatIsNotThereIsToldInTheWordsOfTheEra(t *testing.T) {
	s := offering(t)
	for _, uri := range []string{"x://none", "x://gone", "x://lost", "x://files/..%2F..%2Foutside", "x://files/..", "x://files/.hidden", "x://files/a%00", "x://files/", "x://files/x", ""} {
		for params, code := range map[string]int{`{"uri":%q}`: -32002, `{"uri":%q,` + modernMeta + `}`: -32602} {
			r := s.ask("resources/read", fmt.Sprintf(params, uri))
			if r.Error == nil || r.Error.Code != code || string(r.Error.Data) != fmt.Sprintf(`{"uri":%q}`, uri) {
				t.Errorf("%s: %s, %+v", uri, r.Result, r.Error)
			}
		}
	}
}

func TestAFunctionThatFailsIsAnError(t *testing.T) {
	for name, tt := range map[string]struct {
		outcome call.Outcome
		err     error
		code    int
		want    string
	}{
		"it fails":                {call.Outcome{Status: 1, Output: []byte("no\n\nluck \xff\n")}, nil, -32603, "Cannot read the resource: no luck \uFFFD"},
		"it fails without a word": {call.Outcome{Status: 2}, nil, -32603, "Cannot read the resource: it ended with status 2 and printed nothing"},
		"it says much":            {call.Outcome{Status: 1, Output: []byte(strings.Repeat("é", 500))}, nil, -32603, "Cannot read the resource: " + strings.Repeat("é", 150) + "…"},
		"it has nothing":          {call.Outcome{Status: 3, Output: []byte("x")}, nil, -32002, "Resource not found"},
		"it takes too long":       {call.Outcome{End: call.TimedOut}, nil, -32603, "Cannot read the resource: it was stopped after 3s, the limit set by --timeout"},
		"it prints too much":      {call.Outcome{End: call.Overflowed}, nil, -32603, "Cannot read the resource: it was stopped because it printed more than 100 bytes, the limit set by --max-output"},
		"its shell is killed":     {call.Outcome{End: call.Lost}, nil, -32603, "Cannot read the resource: the shell that ran it was killed"},
		"it cannot take a NUL":    {call.Outcome{}, fmt.Errorf("x: %w", shell.ErrNUL), -32002, "Resource not found"},
		"it could not be run":     {call.Outcome{}, errors.New("/secret"), -32603, "Cannot read the resource: the server could not start the function. Its log says why"},
	} {
		t.Run(name, func(t *testing.T) {
			s := offering(t)
			s.run = func(context.Context, string, json.RawMessage) (call.Outcome, error) { return tt.outcome, tt.err }
			if r := s.ask("resources/read", `{"uri":"x://note"}`); r.Error == nil || r.Error.Code != tt.code || r.Error.Message != tt.want {
				t.Errorf("got %+v, %s", r.Error, r.Result)
			}
		})
	}
}

func TestAFileIsBoundedAsOutputIs(t *testing.T) {
	s := offering(t)
	s.write("a.md", strings.Repeat("x", 101))
	if r := s.ask("resources/read", `{"uri":"x://file"}`); r.Error == nil || !strings.Contains(r.Error.Message, "--max-output") {
		t.Errorf("got %+v", r)
	}
}

func TestAPromptIsOneMessageOfTheUser(t *testing.T) {
	s := offering(t)
	for params, want := range map[string]string{
		`{"name":"hello","arguments":{"who":"<you>","extra":"x"}}`:             `{"description":"Says hello.","messages":[{"role":"user","content":{"type":"text","text":"prompt_hello {\"who\":\"<you>\"}"}}]}`,
		`{"name":"letter","arguments":{"to":"{{from}} \\n $x","unknown":"y"}}`: `{"messages":[{"role":"user","content":{"type":"text","text":"{{from}} \\n $x, {{from}} \\n $x,  {{unknown}} {{}}"}}]}`,
	} {
		if r := s.ask("prompts/get", params); string(r.Result) != want {
			t.Errorf("%s: %s, %+v", params, r.Result, r.Error)
		}
	}
	for params, want := range map[string]string{
		`{"name":"hello"}`:                        `needs the argument "who"`,
		`{"name":"hello","arguments":{"how":""}}`: `needs the argument "who"`,
		`{"name":"hello","arguments":{"who":7}}`:  "wrong type",
		`{"name":"gone"}`:                         `unknown prompt "gone"`,
		`{}`:                                      `unknown prompt ""`,
	} {
		if r := s.ask("prompts/get", params); r.Error == nil || r.Error.Code != -32602 || !strings.Contains(r.Error.Message, want) {
			t.Errorf("%s: %s, %+v", params, r.Result, r.Error)
		}
	}
}

func TestCompletionsComeFromAFunctionOrTheListAndAreNotInvented(t *testing.T) {
	s := offering(t)
	s.run = func(_ context.Context, function string, arguments json.RawMessage) (call.Outcome, error) {
		if function == "complete_resource_row_id" {
			return call.Outcome{Output: []byte(strings.Repeat("row\n\n", 130))}, nil
		}
		return call.Outcome{Output: append([]byte(function+"\r\n"), arguments...)}, nil
	}
	prompt := func(name, argument, value string) string {
		return fmt.Sprintf(`{"ref":{"type":"ref/prompt","name":%q},"argument":{"name":%q,"value":%q},"context":{"arguments":{"how":"x","value":"y"}}}`, name, argument, value)
	}
	resource := func(uri, argument, value string) string {
		return fmt.Sprintf(`{"ref":{"type":"ref/resource","uri":%q},"argument":{"name":%q,"value":%q}}`, uri, argument, value)
	}
	for params, want := range map[string]string{
		prompt("hello", "who", "v"):               `"values":["complete_prompt_hello_who","{\"how\":\"x\",\"value\":\"v\"}"],"total":2,"hasMore":false`,
		prompt("hello", "how", "war"):             `"values":["warmly","warily"],"total":2,"hasMore":false`,
		prompt("hello", "how", "wari"):            `"values":["warily"],"total":1,"hasMore":false`,
		prompt("letter", "to", ""):                `"values":[],"total":0,"hasMore":false`,
		resource("x://files/{name}", "name", "a"): `"values":["ada","alan"],"total":2,"hasMore":false`,
		resource("x://rows/{id}{?q}", "id", ""):   `"values":["row"` + strings.Repeat(`,"row"`, 99) + `],"total":130,"hasMore":true`,
	} {
		if r := s.ask("completion/complete", params); string(r.Result) != `{"completion":{`+want+`}}` {
			t.Errorf("%s: %s, %+v", params, r.Result, r.Error)
		}
	}
	for _, params := range []string{prompt("gone", "who", ""), prompt("hello", "gone", ""), resource("x://gone", "id", ""), resource("x://rows/{id}{?q}", "gone", ""), `{"argument":{"name":"a","value":""}}`, `{"ref":{"type":"ref/tool"},"argument":{"name":"a","value":""}}`} {
		if r := s.ask("completion/complete", params); r.Error == nil || r.Error.Code != -32602 {
			t.Errorf("%s: %s, %+v", params, r.Result, r.Error)
		}
	}
}

func TestAServerSaysWhatItHasAndServesNothingElse(t *testing.T) {
	s := newStage(t, greetList, `{}`)
	capabilities := func() string {
		t.Helper()
		return string(s.host.capabilities(s.host.configOrNone()))
	}
	methods := map[string]string{"resources/list": `{}`, "resources/templates/list": `{}`, "resources/read": `{"uri":"x:y"}`, "prompts/list": `{}`, "prompts/get": `{"name":"p"}`,
		"completion/complete": `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}`}
	unknown := func(want int) {
		t.Helper()
		n := 0
		for method, params := range methods {
			if r := s.ask(method, params); r.Error != nil && r.Error.Code == -32601 {
				n++
			}
		}
		if n != want {
			t.Errorf("%d methods are unknown, want %d, with %s", n, want, capabilities())
		}
	}
	if got := capabilities(); got != `{"logging":{},"tools":{}}` {
		t.Errorf("got %s", got)
	}
	unknown(6)
	s.write("resources.json", `{"resources":[]}`)
	if got := capabilities(); got != `{"logging":{},"tools":{},"resources":{}}` {
		t.Errorf("got %s", got)
	}
	unknown(3)
	s.write("prompts.json", `{"prompts":[{"name":"p","file":"x","arguments":[{"name":"a","complete":[]}]}]}`)
	s.host.Notify()
	if got := capabilities(); got != `{"logging":{},"tools":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"prompts":{"listChanged":true},"completions":{}}` {
		t.Errorf("got %s", got)
	}
	unknown(0)
	if !s.host.Tells("prompts") || !s.host.Subscribes() {
		t.Error("it does not tell of what it says it does")
	}
	s.write("config.json", `{"capabilities":{"prompts":{}}}`)
	unknown(4)
	if s.host.Tells("prompts") || s.host.Tells("tools") || s.host.Subscribes() {
		t.Error("it tells of what it does not say it does")
	}
	s.write("config.json", `{}`)
	s.write("prompts.json", `{`)
	for _, method := range []string{"prompts/list", "prompts/get"} {
		if r := s.ask(method, methods[method]); r.Error == nil || r.Error.Code != -32603 || !strings.Contains(r.Error.Message, "prompts.json") {
			t.Errorf("%s with a broken list: %+v", method, r)
		}
	}
}

func TestProblemsOfAllListsAreTold(t *testing.T) {
	s := offering(t)
	problems, err := s.host.Problems()
	want := []string{
		"the resources list declares x://lost with the file lost.txt, which cannot be read: there is no such file",
		"the resources list declares x://none, but there is no function resource_none; it is not served",
	}
	if err != nil || strings.Join(problems[len(problems)-2:], "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, %v", problems, err)
	}
	s.host.Look()
	s.host.Look()
	if n := strings.Count(s.log.String(), "resource_none"); n != 1 {
		t.Errorf("the log tells %d times: %s", n, s.log.String())
	}
}
