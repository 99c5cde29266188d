package tester

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/casefile"
	"github.com/conch-mcp/conch/internal/trial"
)

// connect begins a session with a server that has these tools.
func connect(t *testing.T, cases []casefile.Case, tools map[string]mcp.ToolHandler) *Session {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	for name, handler := range tools {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, handler)
	}
	far, near := mcp.NewInMemoryTransports()
	serving, err := server.Connect(t.Context(), far, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Connect(t.Context(), near, Options{Version: "1", Cases: cases, Explain: func(err error) error { return errors.Join(errGone, err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Close()
		_ = serving.Wait()
	})
	return s
}

var errGone = errors.New("gone")

func textResult(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func TestACallSendsArgumentsAsTheyAreAndKeepsWhatComes(t *testing.T) {
	s := connect(t, nil, map[string]mcp.ToolHandler{
		"echo": func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: r.Params.Arguments}, nil
		},
		"refuse": func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, &jsonrpc.Error{Code: -5, Message: "no"}
		},
	})
	o := s.Call(t.Context(), casefile.Case{Tool: "echo", Args: json.RawMessage(`{"n":12345678901234567890,"x":1.50}`), Within: time.Minute})
	if o.Err != nil || !strings.Contains(string(o.Result), `"structuredContent":{"n":12345678901234567890,"x":1.50}`) {
		t.Errorf("%v, %s", o.Err, o.Result)
	}
	o = s.Call(t.Context(), casefile.Case{Tool: "refuse", Args: json.RawMessage(`{}`), Within: time.Minute})
	if o.Err != nil || o.Refusal == nil || *o.Refusal != (trial.Refusal{Code: -5, Message: "no"}) || o.Result != nil {
		t.Errorf("%+v", o)
	}
}

func TestACallEndsWithItsTimeAndWithItsContext(t *testing.T) {
	s := connect(t, nil, map[string]mcp.ToolHandler{
		"hang": func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	})
	hang := casefile.Case{Tool: "hang", Args: json.RawMessage(`{}`), Within: 50 * time.Millisecond}
	if o := s.Call(t.Context(), hang); o.Err == nil || o.Err.Error() != "no result came within 50ms" {
		t.Errorf("it says %v", o.Err)
	}
	hang.Within = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if o := s.Call(ctx, hang); !errors.Is(o.Err, context.Canceled) {
		t.Errorf("it says %v", o.Err)
	}
}

func TestAServerThatIsGoneIsExplained(t *testing.T) {
	s := connect(t, nil, nil)
	_ = s.Close()
	if o := s.Call(t.Context(), casefile.Case{Tool: "t", Args: json.RawMessage(`{}`), Within: time.Minute}); !errors.Is(o.Err, errGone) {
		t.Errorf("it says %v", o.Err)
	}
}

func TestProgressAndLogsAreTheCalls(t *testing.T) {
	s := connect(t, nil, map[string]mcp.ToolHandler{
		"tell": func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: 1})
			return textResult("a"), err
		},
	})
	o := s.Call(t.Context(), casefile.Case{Tool: "tell", Args: json.RawMessage(`{}`), Within: time.Minute})
	if o.Err != nil || len(o.Progress) != 1 || !strings.Contains(string(o.Progress[0]), `"progress":1`) {
		t.Errorf("%v, %s", o.Err, o.Progress)
	}
}

func TestQuestionsAreTakenOutOfResultsThatAsk(t *testing.T) {
	list, state := questionsIn([]byte(`{"resultType":"input_required","requestState":"s","inputRequests":{
		"b":{"method":"sampling/createMessage","params":{"messages":[{"content":{"type":"text","text":"one"}},{"content":[{"type":"text","text":"two"}]}]}},
		"a":{"method":"elicitation/create","params":{"message":"sure?"}}}}`))
	if state != "s" || len(list) != 2 || list[0].key != "a" || list[0].text() != "sure?" || list[1].text() != "one\ntwo" {
		t.Errorf("%q, %+v", state, list)
	}
	for _, result := range []string{`{"content":[]}`, `{"resultType":"complete"}`, `[]`, ``} {
		if list, _ := questionsIn([]byte(result)); list != nil {
			t.Errorf("%s asks %+v", result, list)
		}
	}
	if list, _ := questionsIn([]byte(`{"resultType":"input_required"}`)); list == nil || len(list) != 0 {
		t.Errorf("it asks %+v", list)
	}
}

func TestAnswersAreThoseOfTheCase(t *testing.T) {
	c := &call{used: map[casefile.Question]bool{}, Case: casefile.Case{Answers: casefile.Answers{
		Elicit: []casefile.Elicitation{
			{Question: casefile.Question{Key: "k"}, Action: "accept", Content: json.RawMessage(`{"n":1.0}`)},
			{Question: casefile.Question{Message: "sure"}, Action: "decline"},
		},
		Sample: []casefile.Sampling{{Text: "words"}},
		Roots:  []string{"file:///a"},
	}}}
	tests := []struct{ about, key, method, params, want string }{
		{"by its key", "k", methodElicit, `{"message":"x"}`, `{"action":"accept","content":{"n":1.0}}`},
		{"by its text", "", methodElicit, `{"message":"Are you sure?"}`, `{"action":"decline"}`},
		{"of the model", "", methodSample, `{}`, `{"content":{"text":"words","type":"text"},"model":"conch-test","role":"assistant","stopReason":"endTurn"}`},
		{"of roots", "", methodRoots, `{}`, `{"roots":[{"uri":"file:///a"}]}`},
		{"nobody has", "", methodElicit, `{"message":"x"}`, `it asked "x", and no answer of the case is for that`},
		{"nobody has, of a key", "l", methodElicit, `{"message":"x"}`, `it asked "x" (key l), and no answer of the case is for that`},
		{"to something new", "", "other/method", `{}`, `it asked other/method, and no answer of the case is for that`},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			answer, err := c.answer(question{tt.key, tt.method, json.RawMessage(tt.params)})
			got := string(answer.text)
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("it is %s", got)
			}
		})
	}
	if o := c.outcome(nil, 0); len(o.Faults) != 0 {
		t.Errorf("the faults are %+v", o.Faults)
	}
	c.used = map[casefile.Question]bool{}
	if o := c.outcome(nil, 0); len(o.Faults) != 3 {
		t.Errorf("the faults are %+v", o.Faults)
	}
}

func TestNothingIsDeclaredThatNobodyAnswers(t *testing.T) {
	for want, answers := range map[string]casefile.Answers{
		`{}`:                                   {},
		`{"sampling":{}}`:                      {Sample: []casefile.Sampling{}},
		`{"roots":{}}`:                         {Roots: []string{}},
		`{"elicitation":{"form":{},"url":{}}}`: {Elicit: []casefile.Elicitation{}},
	} {
		got, err := json.Marshal(capabilities(declared(casefile.Case{Answers: answers})))
		if err != nil || string(got) != want {
			t.Errorf("%s, not %s; %v", got, want, err)
		}
	}
}
