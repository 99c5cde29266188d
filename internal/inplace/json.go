package inplace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/tailscale/hujson"
)

// maxDepth is far more than anybody nests, and far less than the parser's stack
// has room for.
const maxDepth = 10_000

type jsonDocument struct {
	mark string        // a byte order mark, or nothing
	text []byte        // without it
	root *hujson.Value // nil where there are at most comments
}

// ParseJSON reads a JSON object, which may have comments and trailing commas. A
// text with nothing in it is that of no object yet. An error is an [Error].
func ParseJSON(text []byte) (Document, error) {
	d := &jsonDocument{}
	d.mark, d.text = cutBOM(text)
	if err := d.parse(); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *jsonDocument) parse() error {
	if err := checkDepth(d.text); err != nil {
		return err
	}
	root, err := hujson.Parse(d.text)
	if err != nil {
		// The parser wants a line end behind every line comment, even the last.
		if closed, again := hujson.Parse(append(bytes.Clone(d.text), '\n')); again == nil {
			root, err = closed, nil
		}
	}
	if err != nil && isBlank(d.text) {
		d.root = nil
		return nil
	}
	if err != nil {
		return jsonError(d.text, err)
	}
	if root.Value.Kind() != '{' {
		return errorAt(d.text, root.StartOffset, "it is %s, and has to be an object", kindOf(root))
	}
	d.root = &root
	return nil
}

func checkDepth(text []byte) error {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = behindString(text, i) - 1
		case '/':
			i = behindComment(text, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth > maxDepth {
			return errorAt(text, i, "it is nested too deeply")
		}
	}
	return nil
}

// behindString is where a string ends that begins at an offset, or the text.
func behindString(text []byte, offset int) int {
	for i := offset + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// behindComment is where a comment ends that begins at an offset, or the text.
// What begins no comment is a character by itself.
func behindComment(text []byte, offset int) int {
	ending := ""
	switch rest := text[offset:]; {
	case bytes.HasPrefix(rest, []byte("//")):
		ending = "\n"
	case bytes.HasPrefix(rest, []byte("/*")):
		ending = "*/"
	default:
		return offset + 1
	}
	start := offset + len("//")
	if i := bytes.Index(text[start:], []byte(ending)); i >= 0 {
		return start + i + len(ending)
	}
	return len(text)
}

// isBlank reports whether a text has comments and white space at most.
func isBlank(text []byte) bool {
	_, err := hujson.Parse(append(bytes.Clone(text), "\n{}"...))
	return err == nil
}

// jsonError takes the parser's error apart, whose position is in its text.
func jsonError(text []byte, err error) error {
	var line, column int
	if _, scan := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scan != nil {
		return errorAt(text, len(text), "%s", clip(err.Error()))
	}
	_, reason, _ := strings.Cut(err.Error(), ": line ")
	_, reason, _ = strings.Cut(reason, ": ")
	if errors.Is(err, io.ErrUnexpectedEOF) {
		reason = "the text ends in the middle"
	}
	return &Error{line, column, clip(reason)}
}

// Text implements [Document].
func (d *jsonDocument) Text() []byte {
	return append([]byte(d.mark), d.text...)
}

// Get implements [Document].
func (d *jsonDocument) Get(path ...string) (any, error) {
	if d.root == nil {
		return nil, nil
	}
	found, missing, err := d.find(path)
	if err != nil || len(missing) > 0 {
		return nil, err
	}
	return d.value(found), nil
}

// find follows a path as far as it leads. missing are the names it ends before.
func (d *jsonDocument) find(path []string) (found *hujson.Value, missing []string, err error) {
	found = d.root
	for i := range path {
		object, ok := found.Value.(*hujson.Object)
		if !ok {
			return nil, nil, errorAt(d.text, found.StartOffset, "%s is %s, and has to be an object", said(path[:i]), kindOf(*found))
		}
		k, err := d.member(object, path[:i+1])
		if err != nil {
			return nil, nil, err
		}
		if k < 0 {
			return found, path[i:], nil
		}
		found = &object.Members[k].Value
	}
	return found, nil, nil
}

// member is the index of the member with the last name of a path, -1 for none.
// Of two with the same name clients may take either.
func (d *jsonDocument) member(object *hujson.Object, path []string) (int, error) {
	k := -1
	for i, m := range object.Members {
		if m.Name.Value.(hujson.Literal).String() != path[len(path)-1] {
			continue
		}
		if k >= 0 {
			return 0, errorAt(d.text, m.Name.StartOffset, "%s is there twice; remove one of them", said(path))
		}
		k = i
	}
	return k, nil
}

func (d *jsonDocument) value(v *hujson.Value) any {
	switch x := v.Value.(type) {
	case hujson.Literal:
		if x.Kind() == '"' {
			return x.String()
		}
	case *hujson.Array:
		if list, ok := stringsOf(x); ok {
			return list
		}
	case *hujson.Object:
		t := Table{}
		for i := range x.Members {
			m := &x.Members[i]
			t = append(t, Member{m.Name.Value.(hujson.Literal).String(), d.value(&m.Value)})
		}
		return t
	}
	return Other(d.text[v.StartOffset:v.EndOffset])
}

func stringsOf(array *hujson.Array) (list []string, ok bool) {
	for _, e := range array.Elements {
		if e.Value.Kind() != '"' {
			return nil, false
		}
		list = append(list, e.Value.(hujson.Literal).String())
	}
	return list, true
}

func kindOf(v hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	}
	return string(v.Value.(hujson.Literal))
}

// quote writes a string as JSON does, and as people do: with < and & as they are.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// A string always has a JSON text, and a buffer takes it.
	_ = e.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}
