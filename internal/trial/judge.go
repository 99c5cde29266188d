package trial

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/conch-mcp/conch/internal/casefile"
)

// judge compares what came with what was expected. came is what the call said,
// unless the problems show it.
func judge(e casefile.Expect, o Outcome) (problems []Problem, came string) {
	j := &judgement{problems: o.Faults}
	switch {
	case o.Err != nil:
		j.problem(e.Line, "%v", o.Err)
		return j.problems, ""
	case o.Refusal != nil:
		j.refusal(e, *o.Refusal)
	default:
		j.result(e, o.Result)
	}
	j.inTurn("progress", e.Progress, o.Progress)
	j.inTurn("logs", e.Logs, o.Logs)
	if len(j.problems) == 0 || j.shown {
		return j.problems, ""
	}
	return j.problems, j.came
}

type judgement struct {
	problems []Problem
	came     string // what the call said
	shown    bool   // a problem shows it
}

func (j *judgement) problem(line int, format string, args ...any) {
	j.problems = append(j.problems, Problem{line, fmt.Sprintf(format, args...)})
}

// refusal judges an error of the protocol.
func (j *judgement) refusal(e casefile.Expect, got Refusal) {
	want := e.Error
	switch {
	case want == nil:
		j.problem(e.Line, "the call was refused with the error %d: %s", got.Code, got.Message)
	case want.Code != nil && *want.Code != got.Code:
		j.problem(want.Line, "the error %d was expected, and %d came: %s", *want.Code, got.Code, got.Message)
	case want.Message != nil && !strings.Contains(got.Message, *want.Message):
		j.problem(want.Line, "%q is not in the message of the error %d: %s", *want.Message, got.Code, got.Message)
	}
}

// result is what is looked at of a tool's result.
type result struct {
	Content           []json.RawMessage
	StructuredContent json.RawMessage
	IsError           bool
}

// text is that of all items of text, each on lines of its own.
func (r result) text() string {
	var texts []string
	for _, raw := range r.Content {
		var item struct{ Type, Text string }
		if json.Unmarshal(raw, &item) == nil && item.Type == "text" {
			texts = append(texts, item.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func (j *judgement) result(e casefile.Expect, raw json.RawMessage) {
	var r result
	if err := json.Unmarshal(raw, &r); err != nil {
		j.problem(e.Line, "what came is no result of a tool: %v", err)
		return
	}
	text := r.text()
	if j.came = text; j.came == "" {
		j.came = string(raw)
	}
	switch {
	case e.Error != nil:
		j.problem(e.Error.Line, "an error of the protocol was expected, and a result came")
		return
	case r.IsError && !e.IsError:
		j.problem(e.Line, "the tool failed")
	case !r.IsError && e.IsError:
		j.problem(e.Line, "the tool was expected to fail, and did not")
	}
	j.text(e, text)
	j.json(e.JSON, r, text)
	j.inTurn("content", e.Content, r.Content)
}

// text judges the text. Newlines at its end do not count: they are easily there
// and easily gone.
func (j *judgement) text(e casefile.Expect, text string) {
	if e.Text != nil {
		if want, got := strings.TrimRight(e.Text.Value, "\n"), strings.TrimRight(text, "\n"); want != got {
			j.problem(e.Text.Line, "%s", difference(want, got))
			j.shown = true
		}
	}
	for _, part := range e.Contains {
		if !strings.Contains(text, part.Value) {
			j.problem(part.Line, "%q is not in the text", part.Value)
		}
	}
	for _, pattern := range e.Regexp {
		if !pattern.MatchString(text) {
			j.problem(pattern.Line, "the text does not match %s", pattern)
		}
	}
}

// json judges the structured content or, where there is none, the text.
func (j *judgement) json(want *casefile.Value, r result, text string) {
	if want == nil {
		return
	}
	got := r.StructuredContent
	if got == nil {
		got = json.RawMessage(text)
	}
	value, err := decode(got)
	if err != nil {
		j.problem(want.Line, "there is no structured content, and the text is no JSON")
		return
	}
	if lack := lacks(mustDecode(want.JSON), value, ""); lack != "" {
		j.problem(want.Line, "%s", lack)
		j.came, j.shown = string(got), false
	}
}

// inTurn looks for values among those that came: all of them, in this order, and
// others may be between.
func (j *judgement) inTurn(what string, wanted []casefile.Value, came []json.RawMessage) {
	next := 0
	for i, want := range wanted {
		value := mustDecode(want.JSON)
		found := false
		for ; next < len(came) && !found; next++ {
			got, err := decode(came[next])
			found = err == nil && lacks(value, got, "") == ""
		}
		if !found {
			j.problem(want.Line, "%s has no %s%s", what, want.JSON, listed(came, i > 0))
			return
		}
	}
}

// listed shows what came instead. Some of it may have been found already.
func listed(came []json.RawMessage, some bool) string {
	if len(came) == 0 {
		return "; nothing came"
	}
	var b strings.Builder
	if some {
		b.WriteString(" behind the one before it")
	}
	b.WriteString("; this came:")
	for _, raw := range came {
		b.WriteString("\n  " + string(raw))
	}
	return b.String()
}
