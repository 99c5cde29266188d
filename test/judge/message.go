package judge

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// leaks are traces of the implementation.
var leaks = regexp.MustCompile(`mcp\.|\*|unmarshal|(^|[^.\w])json:|jsonrpc2|\bstruct\b|goroutine|interface \{\}|\.go:|handling '`)

// message is any message of a server's.
type message struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// Message holds one message of a server's to its revision. method is what a
// response answers.
func Message(t testing.TB, revision, method, text string) {
	t.Helper()
	var m message
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Errorf("not JSON: %v: %.2000s", err, text)
		return
	}
	if strings.ContainsAny(text, "\n\r") {
		t.Errorf("a line break in a message: %.2000q", text)
	}
	switch {
	case m.Method != "":
		judgeMethod(t, revision, m, text)
	case m.Error != nil:
		judgeError(t, revision, m, text)
	default:
		Conforms(t, revision, ResultDefinition(revision), text)
		judgeResult(t, revision, method, string(m.Result))
	}
}

// spoken names the definitions of what a server says of its own.
var spoken = map[string]string{
	"notifications/progress":  "ProgressNotification",
	"notifications/message":   "LoggingMessageNotification",
	"notifications/cancelled": "CancelledNotification",
	"elicitation/create":      "ElicitRequest",
	"sampling/createMessage":  "CreateMessageRequest",
	"roots/list":              "ListRootsRequest",
}

func judgeMethod(t testing.TB, revision string, m message, text string) {
	t.Helper()
	definition := spoken[m.Method]
	if definition == "" {
		t.Errorf("nothing that a server says of its own: %.2000s", text)
		return
	}
	if revision == Modern && m.ID != nil {
		t.Errorf("a request of a server's in the stateless era: %.2000s", text)
	}
	Conforms(t, revision, definition, text)
}

func judgeError(t testing.TB, revision string, m message, text string) {
	t.Helper()
	if leak := leaks.FindString(m.Error.Message + string(m.Error.Data)); leak != "" {
		t.Errorf("the error shows %q: %.2000s", leak, text)
	}
	if m.Error.Message == "" || len(m.Error.Message) > 500 || strings.Contains(m.Error.Message, "\n") {
		t.Errorf("the message is no concise sentence: %.2000s", text)
	}
	Conforms(t, revision, ErrorDefinition(revision), text)
}

// judgeResult also tells the results of the two eras apart by their members.
func judgeResult(t testing.TB, revision, method, result string) {
	t.Helper()
	definition := MethodResults[method]
	if definition == "" {
		t.Errorf("a result of %q, which has none: %.2000s", method, result)
		return
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(result), &members); err != nil {
		t.Errorf("a result that is no object: %.2000s", result)
		return
	}
	kind := string(members["resultType"])
	switch {
	case kind == `"input_required"`:
		definition = "InputRequiredResult"
	case (kind == `"complete"`) != (revision == Modern):
		t.Errorf("resultType %s in revision %s: %.2000s", kind, revision, result)
	}
	if _, meta := members["_meta"]; meta != (revision == Modern) {
		t.Errorf("_meta belongs to the stateless era: %.2000s", result)
	}
	if members["structuredContent"] != nil && revision < "2025-06-18" {
		t.Errorf("structuredContent in revision %s: %.2000s", revision, result)
	}
	Conforms(t, revision, definition, result)
}
