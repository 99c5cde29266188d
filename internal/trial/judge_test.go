package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/casefile"
)

// expecting is what a case file with this member expect says.
func expecting(t *testing.T, expect string) casefile.Expect {
	t.Helper()
	f, err := casefile.Parse("x", []byte("- name: a\n  tool: t\n  expect: "+expect+"\n"), "")
	if err != nil {
		t.Fatal(err)
	}
	return f.Cases[0].Expect
}

func saying(text string) Outcome {
	quoted, _ := json.Marshal(text)
	return Outcome{Result: fmt.Appendf(nil, `{"content":[{"type":"text","text":%s}]}`, quoted)}
}

func TestJudgements(t *testing.T) {
	told := []json.RawMessage{[]byte(`{"progress":1}`), []byte(`{"progress":2}`), []byte(`{"progress":3}`)}
	tests := []struct {
		about, expect string
		outcome       Outcome
		says, came    string
	}{
		{"nothing", "{}", saying("a"), "", ""},
		{"a text but for its newlines", `{text: "a\n\n"}`, saying("a\n"), "", ""},
		{"a text but for blanks", `{text: "a "}`, saying("a"), "the text is not what was expected\n- a \n+ a", ""},
		{"a longer text", `{text: "a\nb"}`, saying("a\nc"), "the text is not what was expected\n--- expected\n+++ came\n@@ -1,2 +1,2 @@\n a\n-b\n+c", ""},
		{"texts of several items", `{text: "a\nb"}`, Outcome{Result: []byte(`{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}`)}, "", ""},
		{"no text", `{contains: a}`, Outcome{Result: []byte(`{"content":[]}`)}, `"a" is not in the text`, `{"content":[]}`},
		{"structured content before the text", `{json: {a: 1}}`, Outcome{Result: []byte(`{"content":[{"type":"text","text":"{\"a\":2}"}],"structuredContent":{"a":1}}`)}, "", ""},
		{"both a text and JSON", `{text: b, json: {a: 2}}`, saying(`{"a":1}`), "the text is not what was expected\n- b\n+ {\"a\":1}|.a is 1, and not 2", `{"a":1}`},
		{"no result of a tool", "{}", Outcome{Result: []byte(`[]`)}, "what came is no result of a tool: json: cannot unmarshal array into Go value of type trial.result", ""},
		{"no answer", "{text: a}", Outcome{Err: errors.New("it is gone")}, "it is gone", ""},
		{"any error", "{error: {}}", Outcome{Refusal: &Refusal{-1, "no"}}, "", ""},
		{"an error and progress", "{error: {}, progress: [{progress: 4}]}", Outcome{Refusal: &Refusal{-1, "no"}}, `progress has no {"progress":4}; nothing came`, ""},
		{"some of what is told", "{progress: [{progress: 1}, {progress: 3}]}", Outcome{Result: []byte("{}"), Progress: told}, "", ""},
		{"what is told in another order", "{logs: [{progress: 3}, {progress: 1}]}", Outcome{Result: []byte("{}"), Logs: told},
			"logs has no {\"progress\":1} behind the one before it; this came:\n  {\"progress\":1}\n  {\"progress\":2}\n  {\"progress\":3}", "{}"},
		{"what is told twice and came once", "{logs: [{progress: 1}, {progress: 1}]}", Outcome{Result: []byte("{}"), Logs: told[:1]},
			"logs has no {\"progress\":1} behind the one before it; this came:\n  {\"progress\":1}", "{}"},
		{"a fault of the questions", "{text: a}", Outcome{Result: saying("a").Result, Faults: []Problem{{7, "nobody asked"}}}, "nobody asked", "a"},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			problems, came := judge(expecting(t, tt.expect), tt.outcome)
			var says []string
			for _, p := range problems {
				says = append(says, p.Text)
			}
			if got := strings.Join(says, "|"); got != tt.says || came != tt.came {
				t.Errorf("it says %q, not %q; %q came, not %q", got, tt.says, came, tt.came)
			}
		})
	}
}
