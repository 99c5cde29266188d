// Package message cuts one JSON-RPC message out of bytes and says what is
// wrong with bytes that are none. It keeps ids and parameters as they were
// written, to the digit.
//
// It knows the envelope (JSON-RPC 2.0, and section "Base protocol" of the MCP
// specification) and which era a request belongs to; it knows no method and
// no transport.
package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how deep the JSON of a message may nest.
const MaxDepth = 1000

// Kind tells what a message is.
type Kind int

const (
	Request      Kind = iota // has a method and an id
	Notification             // has a method and no id
	Response                 // has a result or an error, and no method
)

// A Message is one JSON-RPC message.
type Message struct {
	Kind   Kind
	ID     ID // zero for a notification
	Method string
	Params json.RawMessage // a JSON object, or nil when absent or null
	// Result and Error are a response's; one of them is nil as a rule.
	Result, Error json.RawMessage
}

// Error is why bytes are not a message: what the sender is to be told.
type Error struct {
	Code    int
	Message string
	ID      ID // zero where no usable id was found
	Data    json.RawMessage
}

func (e *Error) Error() string { return e.Message }

// JSON-RPC 2.0, section 5.1.
const (
	CodeParseError     = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternalError  = -32603
)

func parseError(text string) *Error { return &Error{Code: CodeParseError, Message: text} }

func invalidRequest(id ID, format string, args ...any) *Error {
	return &Error{Code: CodeInvalidRequest, Message: "Invalid Request: " + fmt.Sprintf(format, args...), ID: id}
}

// Check reports what keeps text from being exactly one JSON value.
func Check(text []byte) *Error {
	switch {
	case !utf8.Valid(text):
		return parseError("Parse error: the message is not valid UTF-8")
	case bytes.IndexByte(text, 0) >= 0:
		return parseError("Parse error: the message holds a NUL byte")
	case json.Valid(shallow(text)):
		return nil
	case bytes.HasPrefix(text, []byte("\ufeff")):
		return parseError("Parse error: the message begins with a byte order mark")
	}
	return parseError("Parse error: expected exactly one JSON document per line")
}

// Parse cuts a message out of text, which [Check] has let pass. With an error
// that concerns params alone it returns the message all the same.
func Parse(text []byte) (Message, *Error) {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 || text[0] != '{' {
		return Message{}, invalidRequest(ID{}, "expected a JSON object")
	}
	pruned := shallow(text)
	e, err := cutEnvelope(pruned)
	if err != nil {
		return Message{}, err
	}
	m, err := e.message()
	if err == nil && len(pruned) < len(text) {
		err = &Error{Code: CodeInvalidParams, Message: fmt.Sprintf("Invalid params: the message nests deeper than %d levels", MaxDepth), ID: e.id}
	}
	return m, err
}

// envelope is the top level of a message, uninterpreted.
type envelope struct {
	id                             ID
	badID                          bool
	jsonrpc, rawID, method, params json.RawMessage
	result, error                  json.RawMessage
}

// cutEnvelope finds the members JSON-RPC gives a meaning to.
func cutEnvelope(text []byte) (envelope, *Error) {
	var e envelope
	var wrong string
	seen := map[string]bool{}
	ok := eachMember(text, func(name []byte, _ int, value json.RawMessage) {
		key := string(name)
		if seen[key] {
			wrong = fmt.Sprintf("the member %q occurs twice", Clip(key))
			e.badID = e.badID || key == "id"
		}
		seen[key] = true
		switch key {
		case "jsonrpc":
			e.jsonrpc = value
		case "id":
			e.rawID = value
		case "method":
			e.method = value
		case "params":
			e.params = value
		case "result":
			e.result = value
		case "error":
			e.error = value
		default:
			if name := strings.ToLower(key); isMember(name) {
				wrong = fmt.Sprintf("the member %q must be written %q", Clip(key), name)
			}
		}
	})
	if !ok {
		return e, parseError("Parse error: expected exactly one JSON document per line")
	}
	if e.rawID != nil && !e.badID {
		e.id, e.badID = parseID(e.rawID)
	}
	if wrong != "" {
		return e, invalidRequest(e.usableID(), "%s", wrong)
	}
	return e, nil
}

func isMember(name string) bool {
	switch name {
	case "jsonrpc", "id", "method", "params", "result", "error":
		return true
	}
	return false
}

func (e envelope) usableID() ID {
	if e.badID {
		return ID{}
	}
	return e.id
}

func (e envelope) message() (Message, *Error) {
	if string(e.jsonrpc) != `"2.0"` && Text(e.jsonrpc) != "2.0" {
		return Message{}, invalidRequest(e.usableID(), `jsonrpc must be "2.0"`)
	}
	if e.method == nil && (e.result != nil || e.error != nil) {
		// Never to be answered, whatever its id: two peers that did would go
		// on for ever.
		return Message{Kind: Response, ID: e.usableID(), Result: e.result, Error: e.error}, nil
	}
	if e.badID {
		return Message{}, invalidRequest(ID{}, "id must be a string or an integer")
	}
	if e.method == nil {
		return Message{}, invalidRequest(e.id, "there is no method")
	}
	if e.method[0] != '"' {
		return Message{}, invalidRequest(e.id, "method must be a string")
	}
	m := Message{Kind: Request, ID: e.id, Method: Text(e.method), Params: e.params}
	if e.rawID == nil {
		m.Kind = Notification
	}
	if string(m.Params) == "null" {
		m.Params = nil
	}
	if m.Params != nil && m.Params[0] != '{' {
		return m, &Error{Code: CodeInvalidParams, Message: "Invalid params: expected an object", ID: e.id}
	}
	return m, nil
}

// Text is the text of a JSON string, and "" for anything else.
func Text(raw json.RawMessage) string {
	s, _ := unquote(raw)
	return s
}

// Clip keeps what an error message repeats of a client's text within bounds.
func Clip(s string) string {
	const most = 100
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
