// Package casefile reads files of test cases: which tool to call with what, and
// what is to come of it. Every fault has its line.
//
// It knows the form of such files. It knows nothing of servers, nor of how it is
// judged what comes.
package casefile

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// A File is what a file of cases says.
type File struct {
	Path string
	// Command starts the server, where it is not a script that conch serves.
	Command []string
	Env     []string // for the server and for Setup, "name=value"
	Setup   string   // what Bash runs before the server starts
	InOrder bool     // one case begins when the one before it has ended
	Cases   []Case
}

// A Case is one call.
type Case struct {
	Name, Tool string
	Line       int
	Args       json.RawMessage // an object
	Within     time.Duration   // how long the call may take
	Answers    Answers
	Expect     Expect
}

// DefaultWithin is how long a call may take where its case does not say.
const DefaultWithin = 10 * time.Second

// Text is a text and its place.
type Text struct {
	Value string
	Line  int
}

// Value is JSON and its place.
type Value struct {
	JSON json.RawMessage
	Line int
}

// Expect is what is to come of a call. What is nil is not looked at.
type Expect struct {
	Line     int // of the case, where it expects nothing
	Text     *Text
	Contains []Text
	Regexp   []Pattern
	JSON     *Value
	Content  []Value
	IsError  bool
	Error    *Refusal
	Progress []Value
	Logs     []Value
}

// Pattern is a regular expression and its place.
type Pattern struct {
	*regexp.Regexp
	Line int
}

// Refusal is an error of the protocol that is to come in place of a result.
type Refusal struct {
	Line    int
	Code    *int64
	Message *string // is to be in the error's message
}

// Answers are what the client says when it is asked. A client whose Elicit,
// Sample or Roots is nil cannot be asked such a thing.
type Answers struct {
	Elicit []Elicitation
	Sample []Sampling
	Roots  []string // paths or URIs
}

// None reports whether the client cannot be asked anything.
func (a Answers) None() bool { return a.Elicit == nil && a.Sample == nil && a.Roots == nil }

// Question says which questions an answer is for; an empty one is for any.
type Question struct {
	Line    int
	Key     string // under which the question is asked
	Message string // is to be in the question's text
}

// Elicitation is the answer to a question for the user.
type Elicitation struct {
	Question
	Action  string          // accept, decline or cancel
	Content json.RawMessage // an object, or nil
}

// Sampling is the answer to a question for the model.
type Sampling struct {
	Question
	Text string
}

// An Error is a fault of a file.
type Error struct {
	Path string
	Line int
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.Path, e.Line, e.Text) }

// Fits reports whether an answer is for a question. One that is for a key is for
// no question without.
func (q Question) Fits(key, message string) bool {
	return (q.Key == "" || q.Key == key) && strings.Contains(message, q.Message)
}

// Questions are those that somebody is expected to ask, the roots aside.
func (a Answers) Questions() (list []Question) {
	for _, e := range a.Elicit {
		list = append(list, e.Question)
	}
	for _, s := range a.Sample {
		list = append(list, s.Question)
	}
	return list
}
