package shell

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A Job is what one call asks of the shell.
type Job struct {
	Tool      string          // the function is tool_<Tool>; never empty, no newline
	Dir       string          // MCP_CALL_TMPDIR; absolute, exists
	Arguments json.RawMessage // one JSON object, the tool's $1
}

// encode writes the job file that the runtime's _conch_take_job reads.
func (j Job) encode(buf *bytes.Buffer) error {
	if strings.ContainsAny(j.Tool+j.Dir, "\n\x00") {
		return fmt.Errorf("the name or directory of the call holds a newline or NUL: %q, %q", j.Tool, j.Dir)
	}
	buf.WriteString(j.Tool)
	buf.WriteByte('\n')
	buf.WriteString(j.Dir)
	buf.WriteByte('\n')
	if err := json.Compact(buf, j.Arguments); err != nil {
		return fmt.Errorf("encode the arguments of %s: %w", j.Tool, err)
	}
	buf.WriteByte('\n')
	return encodeVariables(buf, j.Arguments)
}

// encodeVariables writes one entry for every top-level argument whose name can
// be part of a shell variable's: scalars as text, arrays of scalars as arrays,
// all else as JSON text.
func encodeVariables(buf *bytes.Buffer, arguments json.RawMessage) error {
	members, err := members(arguments)
	if err != nil {
		return err
	}
	for _, m := range members {
		if !isIdentifierPart(m.name) {
			continue
		}
		if err := encodeVariable(buf, m); err != nil {
			return fmt.Errorf("argument %s: %w", m.name, err)
		}
	}
	return nil
}

type member struct {
	name  string
	value json.RawMessage
}

// members lists the members of a JSON object in their order. Of a name that
// occurs twice the last counts.
func members(object json.RawMessage) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("read the arguments: not a JSON object")
	}
	var list []member
	seen := map[string]int{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("read the arguments: %w", err)
		}
		name, _ := key.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("read the arguments: %w", err)
		}
		if at, twice := seen[name]; twice {
			list[at].value = value
			continue
		}
		seen[name] = len(list)
		list = append(list, member{name, value})
	}
	return list, nil
}

func encodeVariable(buf *bytes.Buffer, m member) error {
	if m.value[0] == '[' {
		var items []json.RawMessage
		if err := json.Unmarshal(m.value, &items); err != nil {
			return err
		}
		if allScalars(items) {
			return encodeArray(buf, m.name, items)
		}
	}
	text, err := scalarText(m.value)
	if err != nil {
		return err
	}
	buf.WriteString(m.name)
	buf.WriteByte('=')
	writeEscaped(buf, text)
	buf.WriteByte('\n')
	return nil
}

func encodeArray(buf *bytes.Buffer, name string, items []json.RawMessage) error {
	buf.WriteString(name)
	buf.WriteByte(':')
	buf.WriteString(strconv.Itoa(len(items)))
	buf.WriteByte('\n')
	for _, item := range items {
		text, err := scalarText(item)
		if err != nil {
			return err
		}
		writeEscaped(buf, text)
		buf.WriteByte('\n')
	}
	return nil
}

func allScalars(items []json.RawMessage) bool {
	for _, item := range items {
		if item[0] == '{' || item[0] == '[' {
			return false
		}
	}
	return true
}

// scalarText is what a shell variable holds of a value: a string's text, the
// empty text for null, and the JSON text of anything else.
func scalarText(value json.RawMessage) (string, error) {
	switch value[0] {
	case '"':
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			return "", err
		}
		if strings.ContainsRune(s, 0) {
			return "", ErrNUL
		}
		return s, nil
	case 'n':
		return "", nil
	case '{', '[':
		var compact bytes.Buffer
		err := json.Compact(&compact, value)
		return compact.String(), err
	}
	return string(value), nil
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
