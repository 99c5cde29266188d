package inplace

import (
	"fmt"
	"strings"
)

// writeSection writes a table as one or more sections, without the last line
// end.
func writeSection(path []string, table Table, end string) string {
	var lines, sections []string
	for _, m := range table {
		if inner, ok := m.Value.(Table); ok {
			sections = append(sections, writeSection(append(path[:len(path):len(path)], m.Name), inner, end))
			continue
		}
		lines = append(lines, writeKey([]string{m.Name})+" = "+writeValue(m.Value))
	}
	if len(lines) > 0 || len(sections) == 0 {
		own := append([]string{"[" + writeKey(path) + "]"}, lines...)
		sections = append([]string{strings.Join(own, end)}, sections...)
	}
	return strings.Join(sections, end+end)
}

// writeValue writes a value on one line.
func writeValue(value any) string {
	switch v := value.(type) {
	case string:
		return writeString(v)
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = writeString(s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case Table:
		if len(v) == 0 {
			return "{}"
		}
		members := make([]string, len(v))
		for i, m := range v {
			members[i] = writeKey([]string{m.Name}) + " = " + writeValue(m.Value)
		}
		return "{ " + strings.Join(members, ", ") + " }"
	}
	return `""`
}

// writeKey writes names with dots between them, in quotes where they need some.
func writeKey(names []string) string {
	keys := make([]string, len(names))
	for i, name := range names {
		keys[i] = name
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !isBare(r) }) {
			keys[i] = writeString(name)
		}
	}
	return strings.Join(keys, ".")
}

func isBare(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}

func writeString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
