package message

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// An Envelope is the top level of a message as a lenient reader sees it: the
// last of several members with one name counts, members that have no meaning
// are nobody's business, and what is no text is read as if it were one.
type Envelope struct {
	JSONRPC  string
	Method   string
	ID       ID // zero where there is none, or none that may be one
	HasID    bool
	Params   json.RawMessage // any JSON value; nil when absent, null or false
	Response bool            // has a result or an error, and no method
	TooDeep  bool            // nests deeper than [MaxDepth]; Params is cut there
}

// ReadLoosely reads the envelope of text, which holds one JSON document as
// [Documents] counts them; ok is false when that is no object.
func ReadLoosely(text []byte) (e Envelope, ok bool) {
	text = withoutMark(text)
	pruned := shallow(text)
	e.TooDeep = len(pruned) < len(text)
	hasMethod := false
	var id json.RawMessage
	ok = eachMember(pruned, func(key []byte, _ int, value json.RawMessage) {
		switch string(key) {
		case "jsonrpc":
			e.JSONRPC = rendered(value)
		case "method":
			e.Method, hasMethod = rendered(value), true
		case "id":
			id, e.HasID = value, true
		case "params":
			e.Params = value
		case "result", "error":
			e.Response = true
		}
	})
	e.Response = e.Response && !hasMethod
	if usable, ok := ParseID(id); ok {
		e.ID = usable
	}
	if isNothing(e.Params) {
		e.Params = nil
	}
	return e, ok
}

// rendered is a JSON value as a shell script that asked for a text gets it.
func rendered(value json.RawMessage) string {
	switch {
	case isNothing(value):
		return ""
	case value[0] == '"':
		// No variable of a shell holds a NUL, and command substitution takes
		// newlines off the end.
		return strings.TrimRight(strings.ReplaceAll(Text(value), "\x00", ""), "\n")
	}
	var b bytes.Buffer
	_ = json.Compact(&b, value)
	return b.String()
}

func isNothing(value json.RawMessage) bool {
	return string(value) == "null" || string(value) == "false"
}

// Documents counts the JSON documents in text, which may be none. readable is
// false when there is anything in it that belongs to no document. A byte order
// mark before them is no fault.
func Documents(text []byte) (n int, readable bool) {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return 0, false
	}
	text = shallow(withoutMark(text))
	if json.Valid(text) {
		return 1, true
	}
	var document json.RawMessage
	for d := json.NewDecoder(bytes.NewReader(text)); ; n++ {
		err := d.Decode(&document)
		if errors.Is(err, io.EOF) {
			return n, true
		}
		if err != nil {
			return n, false
		}
	}
}

func withoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }
