package inplace

import (
	"bytes"
	"strings"
)

// A style is how a value is laid out.
type style struct {
	end    string // of a line; "" for all on one line
	unit   string // by which a level is indented
	indent string // of the line the value begins on
}

var oneLine = style{}

// style is that of the document, for a value on a line with an indentation.
func (d *jsonDocument) style(indent string) style {
	return style{lineEnd(d.text), d.unit(), indent}
}

// unit is the indentation of the first line in the root object.
func (d *jsonDocument) unit() string {
	inside := d.text[d.root.StartOffset+len("{") : d.root.EndOffset]
	_, line, ok := bytes.Cut(inside, []byte("\n"))
	if !ok {
		return "  "
	}
	line = line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
	if len(line) == 0 {
		return "  "
	}
	return string(line)
}

func (s style) deeper() style {
	s.indent += s.unit
	return s
}

func (s style) member(name string, value any) string {
	return quote(name) + ": " + s.write(value)
}

func (s style) write(value any) string {
	switch v := value.(type) {
	case string:
		return quote(v)
	case []string:
		return writeList(v)
	case Table:
		return s.writeTable(v)
	}
	return "null"
}

func writeList(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func (s style) writeTable(t Table) string {
	inner := s.deeper()
	var members []string
	for _, m := range t {
		members = append(members, inner.member(m.Name, m.Value))
	}
	switch {
	case len(t) == 0:
		return "{}"
	case s.end == "":
		return "{" + strings.Join(members, ", ") + "}"
	}
	between := s.end + inner.indent
	return "{" + between + strings.Join(members, ","+between) + s.end + s.indent + "}"
}

// What stands between two values is white space and comments, an extra.

func isSpace(extra []byte) bool { return len(bytes.TrimSpace(extra)) == 0 }

// commented is how far the last comment of an extra reaches, without the line
// end behind a line comment.
func commented(extra []byte) int {
	end, _ := lastComment(extra)
	return end
}

func endsInLineComment(extra []byte) bool {
	_, line := lastComment(extra)
	return line
}

func lastComment(extra []byte) (end int, line bool) {
	for i := 0; i < len(extra); {
		switch rest := extra[i:]; {
		case bytes.HasPrefix(rest, []byte("//")):
			text, _, _ := bytes.Cut(rest, []byte("\n"))
			i += len(text)
			end, line = i-len(text)+len(bytes.TrimSuffix(text, []byte("\r"))), true
		case bytes.HasPrefix(rest, []byte("/*")):
			i += len("/*") + bytes.Index(rest[len("/*"):], []byte("*/")) + len("*/")
			end, line = i, false
		default:
			i++
		}
	}
	return end, line
}

func startsWithLineEnd(text []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(text, " \t\r"), []byte("\n"))
}
