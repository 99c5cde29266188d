package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// The limits keep the cost of compiling a hostile schema small. They lie far above
// what a schema written for people or models needs.
const (
	maxSchemaBytes   = 1 << 20
	maxSchemaDepth   = 128
	maxSchemaObjects = 10_000
	maxPointerBytes  = 8 << 20
	maxDivisorDigits = 1_000
)

// baseURL names the schema to the library. It cannot be loaded from anywhere.
const baseURL = "schema:///arguments"

// document is a schema as written and, for the library, the same schema with
// stand-ins for the numbers that would cost it too much.
type document struct {
	original  map[string]any
	tractable any
	patterns  *patternCompiler
	// marks are set, by JSON pointer, where the schema was mended.
	marks map[string]mark
}

func readDocument(raw json.RawMessage) (*document, error) {
	d, err := readDocumentOfAny(raw)
	if err != nil {
		return nil, err
	}
	return d, checkRootType(d.original)
}

// readDocumentOfAny is readDocument for a schema of what need not be an object.
func readDocumentOfAny(raw json.RawMessage) (*document, error) {
	original, err := readObject(raw)
	if err != nil {
		return nil, err
	}
	d := &document{original: original, patterns: newPatternCompiler(fromECMAScript)}
	return d, d.survey()
}

func readObject(raw json.RawMessage) (map[string]any, error) {
	text := bytes.Trim(raw, " \t\r\n")
	if len(text) == 0 || string(text) == "null" {
		return nil, errors.New("the schema is missing")
	}
	if len(text) > maxSchemaBytes {
		return nil, fmt.Errorf("the schema is %d bytes long, more than the %d allowed", len(text), maxSchemaBytes)
	}
	if !json.Valid(text) {
		return nil, errors.New("the schema is not valid JSON")
	}
	value, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("the schema could not be read: %w", err)
	}
	original, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the schema must be a JSON object, got %s", typeName(value))
	}
	return original, nil
}

func checkRootType(root map[string]any) error {
	declared, ok := root["type"]
	if !ok || declared == "object" {
		return nil
	}
	return fmt.Errorf(`the root "type" must be "object", got %s`, renderJSON(declared))
}

// survey makes what the library gets of the original.
func (d *document) survey() (err error) {
	s := surveyor{}
	d.tractable, err = s.copy(d.original, place{})
	return err
}

// surveyor copies a schema for the library, counting as it goes.
type surveyor struct {
	objects      int
	pointerBytes int
	standIns     int
}

// place is how deep in the schema a value is and how long the pointer to it is.
type place struct {
	depth   int
	pointer int
}

func (p place) below(name string) place {
	return place{depth: p.depth + 1, pointer: p.pointer + 1 + len(name)}
}

func (s *surveyor) copy(value any, at place) (any, error) {
	if at.depth > maxSchemaDepth {
		return nil, fmt.Errorf("the schema is nested deeper than %d levels", maxSchemaDepth)
	}
	switch value := value.(type) {
	case map[string]any:
		return s.copyObject(value, at)
	case []any:
		return s.copyArray(value, at)
	case bool:
		return value, s.count(at)
	case json.Number:
		return s.tractable(value), nil
	default:
		return value, nil
	}
}

func (s *surveyor) copyObject(object map[string]any, at place) (any, error) {
	if err := s.count(at); err != nil {
		return nil, err
	}
	result := make(map[string]any, len(object))
	for name, member := range object {
		copied, err := s.copy(member, at.below(name))
		if err != nil {
			return nil, err
		}
		result[name] = copied
	}
	return result, nil
}

func (s *surveyor) copyArray(array []any, at place) (any, error) {
	result := make([]any, len(array))
	for i, item := range array {
		copied, err := s.copy(item, at.below(""))
		if err != nil {
			return nil, err
		}
		result[i] = copied
	}
	return result, nil
}

// count bounds what can be a subschema: the library takes quadratic time in their
// number and keeps the full pointer to each.
func (s *surveyor) count(at place) error {
	s.objects++
	s.pointerBytes += at.pointer
	if s.objects > maxSchemaObjects {
		return fmt.Errorf("the schema holds more than %d objects", maxSchemaObjects)
	}
	if s.pointerBytes > maxPointerBytes {
		return errors.New("the schema nests names that are too long")
	}
	return nil
}

// tractable replaces a number the library would have to write out by one that
// agrees with it in all a metaschema asks of a number: its sign, whether it is an
// integer, and not being equal to another.
func (s *surveyor) tractable(literal json.Number) json.Number {
	const longest, farthest = 64, 300
	n := parseNumber(string(literal))
	if n.isZero() {
		return "0"
	}
	if len(literal) <= longest && n.exp <= farthest && n.exp >= -farthest {
		return literal
	}
	s.standIns++
	sign := ""
	if n.neg {
		sign = "-"
	}
	form := "%s0.5%019d1"
	if n.isInteger() {
		form = "%s1%019d"
	}
	return json.Number(fmt.Sprintf(form, sign, s.standIns))
}

// at returns the object a JSON pointer leads to; anything else has no keywords.
func (d *document) at(pointer string) map[string]any {
	var value any = d.original
	for _, token := range pointerTokens(pointer) {
		switch container := value.(type) {
		case map[string]any:
			value = container[token]
		case []any:
			index, err := strconv.Atoi(token)
			if err != nil || index < 0 || index >= len(container) {
				return nil
			}
			value = container[index]
		default:
			return nil
		}
	}
	object, _ := value.(map[string]any)
	return object
}

func pointerTokens(pointer string) []string {
	if pointer == "" {
		return nil
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, token := range tokens {
		tokens[i] = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
	}
	return tokens
}

func appendToken(pointer, token string) string {
	return pointer + "/" + strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

// pointerFromLocation undoes the escaping of a location the library reports. ok is
// false for a location outside the schema.
func pointerFromLocation(location string) (pointer string, ok bool) {
	fragment, inside := strings.CutPrefix(location, baseURL+"#")
	if !inside {
		return "", false
	}
	pointer, err := url.PathUnescape(fragment)
	return pointer, err == nil && (pointer == "" || pointer[0] == '/')
}

func locationOf(pointer string) string {
	tokens := strings.Split(pointer, "/")
	for i, token := range tokens {
		tokens[i] = url.PathEscape(token)
	}
	return baseURL + "#" + strings.Join(tokens, "/")
}

// describePointer names a place in the schema in a sentence.
func describePointer(pointer string) string {
	if pointer == "" {
		return "the root"
	}
	return shorten(pointer, maxPathRunes)
}
