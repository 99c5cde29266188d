package schema

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// headerKeyword asks clients that speak HTTP to repeat an argument in a header
// (MCP 2026-07-28, "Streamable HTTP").
const headerKeyword = "x-mcp-header"

const headerPrefix = "Mcp-Param-"

// Header is an argument that clients repeat in a header.
type Header struct {
	Name string   // the header is Mcp-Param-Name; a token
	Path []string // the names that lead to the argument, never empty
	Type string   // "string", "integer" or "boolean"
}

// Headers returns the headers that a schema asks for, in the order in which it
// does. Problems are sentences for its author, one for each header that is not
// among them. Text that is no JSON object asks for none; [Compile] says what is
// wrong with it.
func Headers(inputSchema json.RawMessage) (headers []Header, problems []string) {
	root, ok := decodeOrdered(inputSchema).(orderedObject)
	if !ok {
		return nil, nil
	}
	var f headerFinder
	f.inSchema(root, spot{})
	return f.unique(), f.problems
}

// headerFinder walks a schema.
type headerFinder struct {
	found    []foundHeader
	problems []string
}

type foundHeader struct {
	Header
	pointer string
}

// spot is where in a schema the walk is.
type spot struct {
	pointer string
	depth   int
	path    []string // to the argument, where properties alone have led here
	barrier string   // the first keyword on the way that is none of them
	twice   string   // a key on the way that its object has twice
}

func (s spot) below(key string) spot {
	s.pointer = appendToken(s.pointer, key)
	s.depth++
	return s
}

// inSchema looks at a value where a schema stands.
func (f *headerFinder) inSchema(value any, at spot) {
	if at.depth > maxSchemaDepth {
		return
	}
	switch value := value.(type) {
	case orderedObject:
		if value.times[headerKeyword] > 0 {
			f.annotation(value, at)
		}
		for _, m := range value.members {
			f.inKeyword(value, m, at)
		}
	case []any:
		for i, item := range value {
			f.inSchema(item, at.below(fmt.Sprint(i)))
		}
	}
}

// inKeyword goes on below a keyword of schema. What it has not heard of may
// hold schemas too; what is data holds none.
func (f *headerFinder) inKeyword(schema orderedObject, keyword orderedMember, at spot) {
	next := at.below(keyword.key)
	next.onlyOnce(schema, keyword.key)
	named, isObject := keyword.value.(orderedObject)
	switch keyword.key {
	case headerKeyword, "const", "default", "enum", "examples":
		return
	case "properties":
		if isObject {
			break
		}
		fallthrough
	default:
		next.blocked(keyword.key)
	}
	if !isObject || !holdsNamed(keyword.key) {
		f.inSchema(keyword.value, next)
		return
	}
	for _, m := range named.members {
		below := next.below(m.key)
		below.path = append(slices.Clip(next.path), m.key)
		below.onlyOnce(named, m.key)
		f.inSchema(m.value, below)
	}
}

// holdsNamed tells the keywords whose members have names and not keywords for
// keys.
func holdsNamed(keyword string) bool {
	return slices.Contains([]string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}, keyword)
}

// onlyOnce notes a key that its object has twice.
func (s *spot) onlyOnce(object orderedObject, key string) {
	if object.times[key] > 1 && s.twice == "" {
		s.twice = key
	}
}

// blocked notes a keyword that is none of properties.
func (s *spot) blocked(keyword string) {
	if s.barrier == "" {
		s.barrier = keyword
	}
}

// annotation judges the x-mcp-header of a schema.
func (f *headerFinder) annotation(property orderedObject, at spot) {
	if defect := annotationDefect(property, at); defect != "" {
		f.problem(at.pointer, defect)
		return
	}
	name, _ := property.first(headerKeyword).(string)
	kind, _ := property.first("type").(string)
	f.found = append(f.found, foundHeader{Header{name, at.path, kind}, at.pointer})
}

func annotationDefect(property orderedObject, at spot) string {
	name, _ := property.first(headerKeyword).(string)
	kind, _ := property.first("type").(string)
	switch {
	case at.barrier != "":
		return "cannot be reached from the root through properties alone, being under " + shorten(at.barrier, maxNameRunes)
	case len(at.path) == 0:
		return "belongs to no property"
	case at.twice != "":
		return fmt.Sprintf("is in doubt, since the key %s on the way to it occurs twice", quote(at.twice, maxNameRunes))
	case property.times[headerKeyword] > 1:
		return "occurs twice"
	case property.times["type"] > 1:
		return `is in doubt, since the key "type" beside it occurs twice`
	case !isToken(name):
		return "must be a text of letters, digits and !#$%&'*+-.^_`|~, and not empty"
	case !slices.Contains([]string{"string", "integer", "boolean"}, kind):
		return `needs a "type" beside it that is "string", "integer" or "boolean"`
	}
	return ""
}

func (f *headerFinder) problem(pointer, what string) {
	f.problems = append(f.problems, fmt.Sprintf("%s at %s %s; it is not used", headerKeyword, describePointer(pointer), what))
}

// unique returns what was found but for headers that more than one property
// asks for: a request has no place for two values.
func (f *headerFinder) unique() []Header {
	byName := map[string][]foundHeader{}
	for _, h := range f.found {
		name := strings.ToLower(h.Name)
		byName[name] = append(byName[name], h)
	}
	var headers []Header
	for _, h := range f.found {
		same := byName[strings.ToLower(h.Name)]
		if len(same) == 1 {
			headers = append(headers, h.Header)
			continue
		}
		other := same[0].pointer
		if other == h.pointer {
			other = same[1].pointer
		}
		f.problem(h.pointer, "is also that at "+describePointer(other)+", upper and lower case being the same")
	}
	return headers
}

// isToken reports whether text is a token (RFC 9110, section 5.6.2).
func isToken(text string) bool {
	for i := range len(text) {
		c := text[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return text != ""
}

// Markers of a header's value that is base64 (MCP 2026-07-28, "Streamable
// HTTP", "Value encoding").
const (
	encodedBegin = "=?base64?"
	encodedEnd   = "?="
)

// DecodeHeader returns what a header's value stands for: the text in it, if it
// is marked as base64, and itself otherwise. ok is false for base64 that is not
// padded text in UTF-8.
func DecodeHeader(value string) (text string, ok bool) {
	rest, begins := strings.CutPrefix(value, encodedBegin)
	encoded, ends := strings.CutSuffix(rest, encodedEnd)
	if !begins || !ends {
		return value, true
	}
	// The decoder passes over them.
	if strings.ContainsAny(encoded, "\r\n") {
		return "", false
	}
	decoded, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || !utf8.Valid(decoded) {
		return "", false
	}
	return string(decoded), true
}

// Differs tells in what the values that a request has for the header, one for
// each time it occurs, are not what its arguments say, "" when they agree. An
// argument that is null or not there has no header.
func (h Header) Differs(arguments json.RawMessage, values []string) (reason string) {
	header, argument := headerPrefix+shorten(h.Name, maxNameRunes), renderPath(h.segments())
	value := valueAt(arguments, h.Path)
	switch {
	case isNull(value) && len(values) == 0:
		return ""
	case isNull(value):
		return fmt.Sprintf("%s is there, but the argument %s is not", header, argument)
	case len(values) == 0:
		return fmt.Sprintf("%s is missing; it must repeat the argument %s", header, argument)
	case len(values) > 1:
		return fmt.Sprintf("%s occurs %d times", header, len(values))
	}
	text, ok := DecodeHeader(values[0])
	switch {
	case !ok:
		return fmt.Sprintf("%s is not padded base64 of UTF-8 text between %s and %s", header, encodedBegin, encodedEnd)
	case !h.isOfType(value):
		return fmt.Sprintf("%s repeats the argument %s, which is not of type %s", header, argument, h.Type)
	case !h.says(text, value):
		return fmt.Sprintf("%s is %s, but the argument %s is %s", header, brief(text), argument, brief(bareText(value)))
	}
	return ""
}

func (h Header) segments() []segment {
	path := make([]segment, len(h.Path))
	for i, name := range h.Path {
		path[i] = segment{name: name, kind: memberSegment}
	}
	return path
}

// valueAt follows names through objects; nil where they lead nowhere.
func valueAt(object json.RawMessage, path []string) json.RawMessage {
	for _, name := range path {
		var members map[string]json.RawMessage
		if json.Unmarshal(object, &members) != nil {
			return nil
		}
		object = members[name]
	}
	return object
}

func isNull(value json.RawMessage) bool { return value == nil || string(value) == "null" }

// isOfType reports whether a value is what the schema says that it is.
func (h Header) isOfType(value json.RawMessage) bool {
	switch h.Type {
	case "string":
		return value[0] == '"'
	case "boolean":
		return value[0] == 't' || value[0] == 'f'
	}
	return isIntegerText(string(value))
}

func isIntegerText(text string) bool {
	if text == "" || text[0] != '-' && !isDigit(text[0]) || !isDigit(text[len(text)-1]) || !json.Valid([]byte(text)) {
		return false
	}
	return parseNumber(text).isInteger()
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// says reports whether text stands for a value of the header's type.
func (h Header) says(text string, value json.RawMessage) bool {
	if h.Type != "integer" {
		return text == bareText(value)
	}
	return isIntegerText(text) &&
		string(parseNumber(text).appendKey(nil)) == string(parseNumber(string(value)).appendKey(nil))
}

// bareText is a string without its quotes, and the text of any other value.
func bareText(value json.RawMessage) string {
	var text string
	if value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// brief shows the beginning of a text from a client.
func brief(text string) string {
	const most = 40
	if len(text) <= most {
		return quote(text, most)
	}
	shown := quote(strings.ToValidUTF8(text[:most], ""), most)
	return strings.TrimSuffix(shown, `"`) + ellipsis + `"`
}
