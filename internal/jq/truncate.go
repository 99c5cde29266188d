package jq

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// Truncated is what Truncate made of a JSON text.
type Truncated struct {
	Result    json.RawMessage `json:"result"`
	Truncated bool            `json:"truncated"`
	Kept      *int            `json:"kept,omitempty"`
	Total     *int            `json:"total,omitempty"`
	Warning   string          `json:"_warning,omitempty"`
	Error     *TruncateError  `json:"error,omitempty"`
}

// TruncateError says why there is no result.
type TruncateError struct {
	Type    string  `json:"type"`
	Message string  `json:"message"`
	Raw     *string `json:"raw,omitempty"`
}

// arrayPath is a path of Truncate's: .name, or .name.name and so on.
var arrayPath = regexp.MustCompile(`^(\.[A-Za-z_][A-Za-z0-9_]*)+$`)

// Truncate takes items from the end of an array until the whole has at most limit
// bytes, compact. The array is that at the path; without one it is the whole text,
// or its member results, and only looked for when the text is too long. Digits and
// the order of members stay.
func Truncate(text []byte, limit int, path string) Truncated {
	value, problem := single(text)
	switch {
	case problem != nil:
		return Truncated{Error: problem}
	case path != "" && !arrayPath.MatchString(path):
		return failed("invalid_path_syntax", "Invalid path syntax: %s (must be .key or .key.nested)", path)
	case path == "" && len(value) <= limit:
		return Truncated{Result: value}
	}
	var names []string
	switch {
	case path != "":
		names = strings.Split(path[1:], ".")
	case value[0] == '{':
		names = []string{"results"}
	}
	array, err := arrayAt(value, names)
	switch {
	case err == nil:
		return array.truncate(limit, path)
	case path == "":
		return failed("output_too_large", "Response too large (%d bytes) and cannot be safely truncated (not an array)", len(value))
	case errors.Is(err, errNoArray):
		return failed("invalid_array_path", "Path is not an array: %s", path)
	}
	return failed("path_not_found", "Path not found: %s", path)
}

func failed(kind, format string, args ...any) Truncated {
	return Truncated{Error: &TruncateError{Type: kind, Message: fmt.Sprintf(format, args...)}}
}

// single returns the one JSON value of a text, compact.
func single(text []byte) (json.RawMessage, *TruncateError) {
	var out bytes.Buffer
	if Valid(text) && json.Compact(&out, text) == nil {
		return out.Bytes(), nil
	}
	raw := strings.ToValidUTF8(string(text), "\uFFFD")
	message := "Invalid JSON: parse error"
	if strings.TrimSpace(raw) == "" {
		message = "Empty input: expected exactly one JSON value"
	} else if n := count(text); n > 1 {
		message = fmt.Sprintf("Multiple JSON values found (%d): expected exactly one", n)
	}
	return nil, &TruncateError{Type: "invalid_json", Message: message, Raw: &raw}
}

// count is how many values a text holds; 0 if it is no JSON.
func count(text []byte) int {
	d := json.NewDecoder(bytes.NewReader(text))
	for n := 0; ; n++ {
		var value json.RawMessage
		switch err := d.Decode(&value); {
		case errors.Is(err, io.EOF):
			return n
		case err != nil:
			return 0
		}
	}
}

var (
	errNoPath  = errors.New("there is nothing")
	errNoArray = errors.New("there is no array")
)

// array is an array within a text.
type array struct {
	text       []byte
	start, end int   // of the array, brackets included
	ends       []int // of its items, from start
}

// arrayAt finds an array by the names of members that lead to it. Of members with
// one name it is the last. null is nothing.
func arrayAt(text []byte, names []string) (*array, error) {
	a := &array{text: text, end: len(text)}
	for _, name := range names {
		if text[a.start] != '{' {
			return nil, errNoPath
		}
		start, end, ok := member(text[a.start:a.end], name)
		if !ok {
			return nil, errNoPath
		}
		a.start, a.end = a.start+start, a.start+end
	}
	switch text[a.start] {
	case '[':
		a.ends = items(text[a.start:a.end])
		return a, nil
	case 'n':
		return nil, errNoPath
	}
	return nil, errNoArray
}

// member finds the last member of a name in an object, compact JSON.
func member(object []byte, name string) (start, end int, ok bool) {
	d := json.NewDecoder(bytes.NewReader(object))
	_, _ = d.Token()
	for d.More() {
		given, _ := d.Token()
		from, to := next(d)
		if given == name {
			start, end, ok = from, to, true
		}
	}
	return start, end, ok
}

// items are where the items of an array end, compact JSON.
func items(array []byte) (ends []int) {
	d := json.NewDecoder(bytes.NewReader(array))
	_, _ = d.Token()
	for d.More() {
		_, end := next(d)
		ends = append(ends, end)
	}
	return ends
}

// next passes over a value of JSON that is known to be valid.
func next(d *json.Decoder) (start, end int) {
	var value json.RawMessage
	_ = d.Decode(&value)
	end = int(d.InputOffset())
	return end - len(value), end
}

// truncate keeps as many items as fit. A text that is the array itself is never
// too long: it has none, then.
func (a *array) truncate(limit int, path string) Truncated {
	total, kept := len(a.ends), len(a.ends)
	for kept > 0 && a.size(kept) > limit {
		kept--
	}
	isAll := a.end-a.start == len(a.text)
	if a.size(kept) > limit && !isAll {
		if path == "" {
			path = ".results"
		}
		return failed("output_too_large", "Response too large (%d bytes) even with empty array at %s", a.size(0), path)
	}
	t := Truncated{Truncated: kept < total, Kept: &kept, Total: &total}
	items := a.start + len("[") + a.inside(kept)
	t.Result = append(bytes.Clone(a.text[:items]), a.text[a.end-len("]"):]...)
	if kept == 0 && total > 0 && isAll {
		t.Warning = "individual items exceed max_bytes"
	}
	return t
}

// inside is the length of so many items and what is between them.
func (a *array) inside(kept int) int {
	if kept == 0 {
		return 0
	}
	return a.ends[kept-1] - len("[")
}

// size is the length of the whole with so many items.
func (a *array) size(kept int) int {
	return len(a.text) - (a.end - a.start) + len("[]") + a.inside(kept)
}
