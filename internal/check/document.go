package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// node is a value in a file of JSON, and where it is.
type node struct {
	file  *file
	value *hujson.Value
	name  *hujson.Value // of the member that it is; nil for none
}

// fault is why a text is no JSON, and where.
type fault struct {
	offset int
	text   string
}

// parseJSON reads a document that holds one object.
func parseJSON(f *file) (root node, wrong *fault) {
	text := f.text
	if !utf8.Valid(text) {
		return root, &fault{firstInvalid(text), "it is not valid UTF-8"}
	}
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		return root, &fault{0, "it begins with a byte order mark; save it without"}
	}
	var any json.RawMessage
	if err := json.Unmarshal(text, &any); err != nil {
		offset := len(text)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			offset = int(syntax.Offset)
		}
		if strings.Contains(err.Error(), "unexpected end") {
			return root, &fault{len(bytes.TrimRight(text, " \t\r\n")), "it is no JSON: it ends too early, within an object or an array perhaps"}
		}
		return root, &fault{max(offset-1, 0), "it is no JSON: " + trailingComma(text, offset-1, err.Error())}
	}
	value, err := hujson.Parse(text)
	if err != nil {
		return root, &fault{0, "it is no JSON: " + err.Error()}
	}
	root = node{file: f, value: &value}
	if _, ok := value.Value.(*hujson.Object); !ok {
		return root, &fault{value.StartOffset, "it does not hold a JSON object"}
	}
	return root, nil
}

// trailingComma names the commonest mistake.
func trailingComma(text []byte, at int, problem string) string {
	if at > 0 && at < len(text) && (text[at] == '}' || text[at] == ']') && bytes.HasSuffix(bytes.TrimRight(text[:at], " \t\r\n"), []byte(",")) {
		return "there is a comma before the " + string(text[at])
	}
	return problem
}

func firstInvalid(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return 0
}

// at is a finding at the value.
func (n node) at(rule string) Finding {
	from := n.value.StartOffset
	if n.name != nil {
		from = n.name.StartOffset
	}
	to := n.value.EndOffset
	f := n.file.at(rule, from, to)
	if f.EndLine > f.Line && n.name != nil {
		f.EndLine, f.EndColumn = n.file.position(n.name.EndOffset)
	} else if f.EndLine > f.Line {
		f.EndLine, f.EndColumn = 0, 0
	}
	return f
}

// raw is the value's own text.
func (n node) raw() json.RawMessage {
	return json.RawMessage(n.file.text[n.value.StartOffset:n.value.EndOffset])
}

func (n node) kind() byte { return byte(n.value.Value.Kind()) }

func (n node) isObject() bool { return n.kind() == '{' }

// member is the member of an object, the last of that name.
func (n node) member(name string) (found node, ok bool) {
	for _, m := range n.members() {
		if m.key() == name {
			found, ok = m, true
		}
	}
	return found, ok
}

// members are those of an object, in their order; none of anything else.
func (n node) members() (list []node) {
	object, ok := n.value.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	for i := range object.Members {
		m := &object.Members[i]
		list = append(list, node{file: n.file, value: &m.Value, name: &m.Name})
	}
	return list
}

// key is the name of the member that the value is.
func (n node) key() string {
	if n.name == nil {
		return ""
	}
	return node{file: n.file, value: n.name}.text()
}

// elements are those of an array; none of anything else.
func (n node) elements() (list []node) {
	array, ok := n.value.Value.(*hujson.Array)
	if !ok {
		return nil
	}
	for i := range array.Elements {
		list = append(list, node{file: n.file, value: &array.Elements[i]})
	}
	return list
}

// text is the value of a string, "" of anything else.
func (n node) text() (text string) {
	_ = json.Unmarshal(n.raw(), &text)
	return text
}

// number is the value of a number.
func (n node) number() (number float64, ok bool) {
	return number, n.kind() == '0' && json.Unmarshal(n.raw(), &number) == nil
}
