package schema

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxValueRunes = 200
	maxPathRunes  = 300
	maxNameRunes  = 80
	// maxSegments is more than a path of maxPathRunes can show, as no segment is
	// shorter than two characters.
	maxSegments = 160
	ellipsis    = "…"
	rootSubject = "the arguments object"
)

// segment is one step of the path to a value: into an object, into an array, or,
// as text, the start at something that is no value of its own.
type segment struct {
	name  string
	index int
	kind  segmentKind
}

type segmentKind uint8

const (
	memberSegment segmentKind = iota
	elementSegment
	textSegment
)

func renderPath(path []segment) string {
	var out strings.Builder
	for i, step := range path {
		switch {
		case step.kind == elementSegment:
			out.WriteString("[" + strconv.Itoa(step.index) + "]")
		case step.kind == textSegment:
			out.WriteString(step.name)
		case !isPlainName(step.name) && i == 0:
			out.WriteString(quote(step.name, maxNameRunes))
		case !isPlainName(step.name):
			out.WriteString("[" + quote(step.name, maxNameRunes) + "]")
		case i == 0:
			out.WriteString(shorten(step.name, maxNameRunes))
		default:
			out.WriteString("." + shorten(step.name, maxNameRunes))
		}
		if out.Len() > maxPathRunes*utf8.UTFMax {
			break
		}
	}
	return shorten(out.String(), maxPathRunes)
}

func isPlainName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return name != ""
}

// comparePaths orders names by code point, indexes by number and a value before
// what it contains.
func comparePaths(a, b []segment) int {
	for i := range min(len(a), len(b)) {
		if order := strings.Compare(a[i].name, b[i].name); order != 0 {
			return order
		}
		if a[i].index != b[i].index {
			return a[i].index - b[i].index
		}
	}
	return len(a) - len(b)
}

// subject is how a sentence begins that is about the value at path.
func subject(path []segment) string {
	if len(path) == 0 {
		return rootSubject
	}
	return renderPath(path)
}

// subjectWithValue leaves the value out at the root, where it would repeat the
// whole of what was sent.
func subjectWithValue(path []segment, value any) string {
	if len(path) == 0 {
		return rootSubject
	}
	return renderPath(path) + "=" + renderJSON(value)
}

func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	default:
		return "object"
	}
}

func renderJSON(value any) string {
	r := renderer{limit: maxValueRunes * utf8.UTFMax}
	r.value(value)
	return shorten(string(r.out), maxValueRunes)
}

// renderPlain is renderJSON for a list of alternatives: strings as they are.
func renderPlain(value any) string {
	if text, ok := value.(string); ok {
		return shorten(text, maxValueRunes)
	}
	return renderJSON(value)
}

// renderer writes compact JSON and stops once there is more than will be shown.
type renderer struct {
	out   []byte
	limit int
}

func (r *renderer) full() bool { return len(r.out) > r.limit }

func (r *renderer) value(value any) {
	switch value := value.(type) {
	case nil:
		r.out = append(r.out, "null"...)
	case bool:
		r.out = strconv.AppendBool(r.out, value)
	case json.Number:
		r.out = append(r.out, value[:min(len(value), r.limit+1)]...)
	case string:
		r.out = append(r.out, quote(value, r.limit)...)
	case []any:
		r.array(value)
	case map[string]any:
		r.object(value)
	}
}

func (r *renderer) array(array []any) {
	r.out = append(r.out, '[')
	for i, item := range array {
		if i > 0 {
			r.out = append(r.out, ',')
		}
		if r.full() {
			return
		}
		r.value(item)
	}
	r.out = append(r.out, ']')
}

func (r *renderer) object(object map[string]any) {
	r.out = append(r.out, '{')
	for i, name := range leadingNames(object, r.limit) {
		if i > 0 {
			r.out = append(r.out, ',')
		}
		if r.full() {
			return
		}
		r.out = append(r.out, quote(name, r.limit)...)
		r.out = append(r.out, ':')
		r.value(object[name])
	}
	r.out = append(r.out, '}')
}

// leadingNames returns the first limit names in order, without sorting the rest.
func leadingNames(object map[string]any, limit int) []string {
	if len(object) <= limit {
		return sortedKeys(object)
	}
	leading := make([]string, 0, limit+1)
	for name := range object {
		if len(leading) == limit && name >= leading[limit-1] {
			continue
		}
		at, _ := slices.BinarySearch(leading, name)
		leading = slices.Insert(leading, at, name)
		leading = leading[:min(len(leading), limit)]
	}
	return leading
}

func sortedKeys[V any](object map[string]V) []string {
	names := make([]string, 0, len(object))
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// quote returns text as a JSON string, cut short after limit characters.
func quote(text string, limit int) string {
	shown, cut := truncate(text, limit)
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	// A string always encodes.
	_ = encoder.Encode(shown)
	quoted := strings.TrimSuffix(out.String(), "\n")
	if cut {
		return strings.TrimSuffix(quoted, `"`) + ellipsis + `"`
	}
	return quoted
}

func shorten(text string, limit int) string {
	shown, cut := truncate(text, limit)
	if cut {
		return shown + ellipsis
	}
	return shown
}

func truncate(text string, limit int) (shown string, cut bool) {
	if len(text) <= limit {
		return text, false
	}
	runes := 0
	for at := range text {
		if runes == limit {
			return text[:at], true
		}
		runes++
	}
	return text, false
}

// renderPattern shows a pattern as written unless its last character would be
// taken for the end of the sentence.
func renderPattern(source string) string {
	shown := shorten(source, maxValueRunes)
	if shown == "" || strings.HasSuffix(shown, ".") {
		return quote(source, maxValueRunes)
	}
	return shown
}
