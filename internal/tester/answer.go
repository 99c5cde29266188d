package tester

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/casefile"
	"github.com/conch-mcp/conch/internal/message"
)

const (
	methodElicit = "elicitation/create"
	methodSample = "sampling/createMessage"
	methodRoots  = "roots/list"
)

// question is what a tool wants to know of its client.
type question struct {
	key    string // "" in the older era, which has none
	method string
	params json.RawMessage
}

// questionsIn takes the questions out of a result that asks instead of answering;
// nil where it does not.
func questionsIn(result json.RawMessage) (list []question, state string) {
	var r struct {
		ResultType    string
		RequestState  string
		InputRequests map[string]struct {
			Method string
			Params json.RawMessage
		}
	}
	if json.Unmarshal(result, &r) != nil || r.ResultType != "input_required" {
		return nil, ""
	}
	list = []question{}
	for _, key := range slices.Sorted(maps.Keys(r.InputRequests)) {
		list = append(list, question{key, r.InputRequests[key].Method, r.InputRequests[key].Params})
	}
	return list, r.RequestState
}

// text is what a person, or a model, would read.
func (q question) text() string {
	if q.method == methodElicit {
		return message.Text(message.Member(q.params, "message"))
	}
	var asked struct {
		Messages []struct{ Content json.RawMessage }
	}
	_ = json.Unmarshal(q.params, &asked)
	var texts []string
	for _, m := range asked.Messages {
		texts = append(texts, textsOf(m.Content)...)
	}
	return strings.Join(texts, "\n")
}

// textsOf are the texts of a message's content, which is an item or a list.
func textsOf(content json.RawMessage) (texts []string) {
	var list []json.RawMessage
	if json.Unmarshal(content, &list) != nil {
		list = []json.RawMessage{content}
	}
	for _, item := range list {
		if text := message.Text(message.Member(item, "text")); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// unansweredError is a question for which a case has no answer, or one that was
// asked again, as it is where the answer is not of the kind that was asked for.
type unansweredError struct {
	question
	again bool
}

func (e *unansweredError) Error() string {
	what := "it asked " + e.method
	if text := e.text(); text != "" {
		what = fmt.Sprintf("it asked %q", text)
	}
	if e.key != "" {
		what += fmt.Sprintf(" (key %s)", e.key)
	}
	if e.again {
		return what + " again: the answer of the case is not what was asked for"
	}
	return what + ", and no answer of the case is for that"
}

// rawAnswer is an answer as it goes to the server. Nothing of what it embeds does,
// which is there for the SDK alone.
type rawAnswer struct {
	*mcp.ElicitResult
	text json.RawMessage
}

// MarshalJSON implements [json.Marshaler].
func (a rawAnswer) MarshalJSON() ([]byte, error) { return a.text, nil }

func newAnswer(value any) (rawAnswer, error) {
	text, err := json.Marshal(value)
	return rawAnswer{&mcp.ElicitResult{}, text}, err
}

// answer answers a question as the case says.
func (c *call) answer(q question) (rawAnswer, error) {
	switch q.method {
	case methodElicit:
		for _, a := range c.Answers.Elicit {
			if a.Fits(q.key, q.text()) {
				c.use(a.Question)
				if a.Content == nil {
					return newAnswer(map[string]any{"action": a.Action})
				}
				return newAnswer(map[string]any{"action": a.Action, "content": a.Content})
			}
		}
	case methodSample:
		for _, a := range c.Answers.Sample {
			if a.Fits(q.key, q.text()) {
				c.use(a.Question)
				return newAnswer(map[string]any{
					"role": "assistant", "content": map[string]string{"type": "text", "text": a.Text}, "model": "conch-test", "stopReason": "endTurn",
				})
			}
		}
	case methodRoots:
		return newRoots(c.Answers.Roots)
	}
	return rawAnswer{}, &unansweredError{question: q}
}

func (c *call) use(q casefile.Question) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used[q] = true
}

func newRoots(uris []string) (rawAnswer, error) {
	roots := []map[string]string{}
	for _, uri := range uris {
		roots = append(roots, map[string]string{"uri": uri})
	}
	return newAnswer(map[string]any{"roots": roots})
}

// errNobody refuses a question of a server while no call, or more than one, may
// have asked it.
var errNobody = errors.New("no case is there to answer")

// answering answers the requests of servers of the older era.
func (s *Session) answering(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case methodRoots:
			return newRoots(s.roots())
		case methodElicit, methodSample:
		default:
			return next(ctx, method, req)
		}
		one := s.only()
		if one == nil {
			return nil, errNobody
		}
		params, err := json.Marshal(req.GetParams())
		if err != nil {
			return nil, err
		}
		answer, err := one.answer(question{method: method, params: params})
		if err != nil {
			one.stop(err)
			return nil, err
		}
		return answer, nil
	}
}
