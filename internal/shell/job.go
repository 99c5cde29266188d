package shell

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/conch-mcp/conch/internal/invocation"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/process"
)

// A Job is what one call asks of the shell.
type Job struct {
	Function  string          // what is called; never empty, no newline
	Dir       string          // MCP_CALL_TMPDIR; absolute, exists
	Arguments json.RawMessage // one JSON object, the function's $1; nil: it is empty
	Trace     Trace
	Meta      json.RawMessage // the request's metadata, a JSON object; nil is none
	// Before has the script's mcp_before_tool_call asked first; Function is
	// tool_<name> then.
	Before bool
	// Roots is what is in scope, where that is not what the shell was started
	// with.
	Roots Roots
	// Invocation is what runs in the place of Function, whose name is the call's
	// all the same; nil for Function itself.
	Invocation *invocation.Invocation

	group process.Group // the subshell it is for
}

// Trace is what of a trace a call finds in its environment, by the names of the
// variables. An empty one is not there. They hold no control characters.
type Trace struct{ Traceparent, Tracestate, Baggage string }

// inlineLimit is the size of a value up to which it goes into the job itself.
// Bash reads larger ones faster from the second file.
const inlineLimit = 4 << 10

// usualJob is as long as the names, or the values, of most jobs.
const usualJob = 256

// unitSeparator stands between the values of a job.
const unitSeparator = 0x1f

// encoding is a job as the runtime reads it: names, values, and the lines of
// the second file, empty when there is none.
type encoding struct {
	names, values, more bytes.Buffer
}

// encode writes what the runtime's _conch_worker and _conch_take_more read.
func (j Job) encode() (*encoding, error) {
	if strings.ContainsAny(j.Function+j.Dir, "\n\x00") {
		return nil, fmt.Errorf("the function or directory of the call holds a newline or NUL: %q, %q", j.Function, j.Dir)
	}
	arguments, members, err := j.arguments()
	if err != nil {
		return nil, fmt.Errorf("encode the arguments of %s: %w", j.Function, err)
	}
	var e encoding
	e.names.Grow(usualJob)
	e.values.Grow(usualJob)
	e.scalar("_conch_group", strconv.Itoa(int(j.group)))
	if j.Invocation == nil {
		e.scalar("_conch_function", j.Function)
	} else {
		e.scalar("_conch_called", j.Function)
		if j.Invocation.HasJSON {
			e.texts("_conch_words", []string{arguments})
			e.scalar("_conch_errexit", "")
		}
		if err := e.invocation(j.Invocation); err != nil {
			return nil, err
		}
	}
	e.scalar("MCP_CALL_TMPDIR", j.Dir)
	e.scalar("_conch_arguments", arguments)
	if j.Before {
		e.scalar("_conch_before", "mcp_before_tool_call")
	}
	if j.Meta != nil {
		var meta bytes.Buffer
		if err := json.Compact(&meta, j.Meta); err != nil {
			return nil, fmt.Errorf("encode the metadata of %s: %w", j.Function, err)
		}
		e.scalar("_conch_meta", meta.String())
	}
	e.trace(j.Trace)
	e.roots(j.Roots)
	for _, m := range members {
		if !isIdentifierPart(m.name) {
			continue
		}
		err := e.argument(m)
		if errors.Is(err, ErrNUL) && j.Invocation != nil && !j.Invocation.HasJSON {
			// The hook alone would have seen it there.
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", m.name, err)
		}
	}
	e.names.WriteString("_conch_more\n")
	if e.more.Len() > 0 {
		// No digit: the runtime has it behind the number of the group.
		e.values.WriteByte('m')
	}
	// The last variable would keep a separator that nothing follows.
	e.values.WriteByte(0)
	return &e, nil
}

// arguments is the text that the function gets, and its members one by one.
func (j Job) arguments() (string, []member, error) {
	if j.Arguments == nil {
		return "", nil, nil
	}
	var text bytes.Buffer
	if err := json.Compact(&text, j.Arguments); err != nil {
		return "", nil, err
	}
	list, err := members(j.Arguments)
	return text.String(), list, err
}

// job is the text of the job file.
func (e *encoding) job() []byte { return append(e.names.Bytes(), e.values.Bytes()...) }

// trace enters variables that the runtime has exported beforehand.
func (e *encoding) trace(t Trace) {
	for _, v := range []struct{ name, value string }{{"TRACEPARENT", t.Traceparent}, {"TRACESTATE", t.Tracestate}, {"BAGGAGE", t.Baggage}} {
		if v.value != "" {
			e.scalar(v.name, v.value)
		}
	}
}

// scalar enters one variable.
func (e *encoding) scalar(name, value string) {
	if len(value) > inlineLimit || !isPlain(value) {
		e.more.WriteString("=" + name + " ")
		writeEscaped(&e.more, value)
		e.more.WriteByte('\n')
		return
	}
	e.names.WriteString(name)
	e.names.WriteByte(' ')
	e.values.WriteString(value)
	e.values.WriteByte(unitSeparator)
}

// isPlain reports whether Bash's read takes s as it is: without the separator,
// and without the two bytes that Bash uses to quote others inside.
func isPlain(s string) bool { return !strings.ContainsAny(s, "\x01\x1f\x7f") }

// argument enters one top-level argument: a scalar as text, an array of
// scalars as an array, all else as JSON text.
func (e *encoding) argument(m member) error {
	name := "arg_" + m.name
	if m.value[0] == '[' {
		var items []json.RawMessage
		if err := json.Unmarshal(m.value, &items); err != nil {
			return err
		}
		if allScalars(items) {
			return e.array(name, items)
		}
	}
	text, err := scalarText(m.value)
	if err != nil {
		return err
	}
	e.scalar(name, text)
	return nil
}

func (e *encoding) array(name string, items []json.RawMessage) error {
	var texts []string
	for _, item := range items {
		text, err := scalarText(item)
		if err != nil {
			return err
		}
		texts = append(texts, text)
	}
	e.texts(name, texts)
	return nil
}

// texts enters an array.
func (e *encoding) texts(name string, texts []string) {
	fmt.Fprintf(&e.more, ":%s %d\n", name, len(texts))
	for _, text := range texts {
		writeEscaped(&e.more, text)
		e.more.WriteByte('\n')
	}
}

type member struct {
	name  string
	value json.RawMessage
}

// members lists the members of a valid JSON object in their order. Of a name that
// occurs twice the last counts.
func members(object json.RawMessage) ([]member, error) {
	var list []member
	seen := map[string]int{}
	isObject := message.EachMember(object, func(name string, value json.RawMessage) {
		if at, twice := seen[name]; twice {
			list[at].value = value
			return
		}
		seen[name] = len(list)
		list = append(list, member{name, value})
	})
	if !isObject {
		return nil, errors.New("read the arguments: not a JSON object")
	}
	return list, nil
}

func allScalars(items []json.RawMessage) bool {
	for _, item := range items {
		if item[0] == '{' || item[0] == '[' {
			return false
		}
	}
	return true
}

// scalarText is what a shell variable holds of a value.
func scalarText(value json.RawMessage) (string, error) {
	text := invocation.TextOf(value)
	if strings.ContainsRune(text, 0) {
		return "", ErrNUL
	}
	return text, nil
}

// writeEscaped writes s so that printf %b gives it back and it holds no
// newline.
func writeEscaped(buf *bytes.Buffer, s string) {
	for {
		i := strings.IndexAny(s, "\\\n")
		if i < 0 {
			buf.WriteString(s)
			return
		}
		buf.WriteString(s[:i])
		if s[i] == '\n' {
			buf.WriteString(`\n`)
		} else {
			buf.WriteString(`\\`)
		}
		s = s[i+1:]
	}
}

// isIdentifierPart reports whether arg_<s> is a shell variable's name.
func isIdentifierPart(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return s != ""
}
