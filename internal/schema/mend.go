package schema

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// mender makes a schema a valid one by leaving out what JSON Schema does not
// allow. It changes values only where they are a keyword's.
type mender struct {
	patterns *patternCompiler
	marks    map[string]mark
	// draft4 tells that the exclusive bounds are flags on the others.
	draft4 bool
	// names are the identifiers and anchors that are taken.
	names map[string]struct{}
}

func newMender(root map[string]any) *mender {
	dialect, _ := root["$schema"].(string)
	return &mender{
		patterns: newPatternCompiler(fromOniguruma),
		marks:    map[string]mark{},
		names:    map[string]struct{}{},
		draft4:   strings.Contains(dialect, "//json-schema.org/draft-04/schema"),
	}
}

func (m *mender) schema(keywords map[string]any, at position) {
	m.modernize(keywords)
	for _, keyword := range sortedKeys(keywords) {
		if mended, ok := m.keyword(keyword, keywords[keyword], at); ok {
			keywords[keyword] = mended
		} else {
			delete(keywords, keyword)
		}
	}
}

// modernize spells as 2020-12 does what older drafts say in another way.
func (m *mender) modernize(keywords map[string]any) {
	if tuple, ok := keywords["items"].([]any); ok {
		delete(keywords, "items")
		if rest, limited := keywords["additionalItems"]; limited {
			keywords["items"] = rest
		}
		if _, ok := keywords["prefixItems"]; !ok {
			keywords["prefixItems"] = tuple
		}
	}
	if !m.draft4 {
		return
	}
	for exclusive, inclusive := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		if limit, ok := keywords[inclusive].(json.Number); ok && keywords[exclusive] == true {
			keywords[exclusive] = limit
			delete(keywords, inclusive)
		}
	}
}

// unusable notes that nothing can be said of a value at the place. The first
// reason stays.
func (m *mender) unusable(at position, reason error) {
	found := m.marks[at.pointer]
	if found.broken == nil {
		found.broken = reason
	}
	m.marks[at.pointer] = found
}

func wrongKind(keyword, wanted string, value any, at position) error {
	return fmt.Errorf("%s at %s must be %s, got %s", keyword, describePointer(at.pointer), wanted, typeName(value))
}

// isNothing tells whether a value is one the framework takes for an absent one, or
// the empty object as PHP may write it.
func isNothing(value any) bool {
	list, isList := value.([]any)
	return value == nil || value == false || isList && len(list) == 0
}

// keyword returns the value to take for a keyword, and false for none.
func (m *mender) keyword(keyword string, value any, at position) (any, bool) {
	switch keyword {
	case "type":
		return m.types(value, at)
	case "enum":
		return m.enum(value, at)
	case "pattern":
		return m.pattern(value, at)
	case "required":
		return m.required(value, at)
	case "properties":
		return m.properties(value, at)
	case "items":
		return m.items(value, at)
	default:
		return m.unread(keyword, value)
	}
}

func (m *mender) types(value any, at position) (any, bool) {
	names := namesIn(value)
	if name, ok := value.(string); ok {
		names = []any{name}
	}
	switch {
	case len(names) == 0:
		return nil, false
	case at.level == rootLevel:
		return names, isKnown(names) && slices.Contains(names, any("object"))
	case isKnown(names):
		return names, true
	case at.isAmong(parameterLevel, itemLevel):
		found := m.marks[at.pointer]
		found.types = stringsOf(names)
		m.marks[at.pointer] = found
	}
	return nil, false
}

// namesIn returns a list of strings, each once, and nothing for any other value.
func namesIn(value any) []any {
	list, _ := value.([]any)
	var names []any
	for _, member := range list {
		if _, ok := member.(string); !ok {
			return nil
		}
		if !slices.Contains(names, member) {
			names = append(names, member)
		}
	}
	return names
}

func isKnown(types []any) bool {
	for _, name := range types {
		switch name {
		case "array", "boolean", "integer", "null", "number", "object", "string":
		default:
			return false
		}
	}
	return true
}

func (m *mender) enum(value any, at position) (any, bool) {
	switch value := value.(type) {
	case []any:
		return value, true
	case string:
		return []any{value}, at.isAmong(parameterLevel, itemLevel)
	}
	if at.isAmong(parameterLevel, itemLevel) && !isNothing(value) {
		m.unusable(at, wrongKind("enum", "an array", value, at))
	}
	return nil, false
}

func (m *mender) pattern(value any, at position) (any, bool) {
	source, ok := value.(string)
	if !ok {
		if at.level == parameterLevel && !isNothing(value) {
			m.unusable(at, wrongKind("pattern", "a string", value, at))
		}
		return nil, false
	}
	_, err := m.patterns.compile(source)
	if err != nil && at.level == parameterLevel {
		m.unusable(at, badPattern(source, appendToken(at.pointer, "pattern"), err))
	}
	return source, err == nil
}

func (m *mender) required(value any, at position) (any, bool) {
	if object, ok := value.(map[string]any); ok && at.level == rootLevel {
		value = valuesOf(object)
	}
	names := namesIn(value)
	if names == nil && at.level == rootLevel && !isNothing(value) {
		m.unusable(at, wrongKind("required", "an array of names", value, at))
	}
	return names, names != nil
}

func valuesOf(object map[string]any) []any {
	values := []any{}
	for _, name := range sortedKeys(object) {
		values = append(values, object[name])
	}
	return values
}

func (m *mender) properties(value any, at position) (any, bool) {
	members, ok := value.(map[string]any)
	if !ok {
		if at.level == rootLevel && !isNothing(value) {
			m.unusable(at, wrongKind("properties", "an object", value, at))
		}
		return nil, false
	}
	for _, name := range sortedKeys(members) {
		members[name] = m.part(members[name], at.member(name))
	}
	return members, true
}

func (m *mender) items(value any, at position) (any, bool) {
	return m.part(value, at.items()), true
}

// part mends the schema of a parameter or an item. It never leaves it out: a
// parameter stays known, and there must be a place for the mark.
func (m *mender) part(value any, at position) any {
	mended, ok := m.subschema(value, at)
	if ok {
		return mended
	}
	if at.level != otherLevel && !isNothing(value) {
		m.unusable(at, wrongKind("the schema", "an object or a boolean", value, at))
	}
	return map[string]any{}
}

// unread mends the keywords that bash-mcp-sdk never looks at.
func (m *mender) unread(keyword string, value any) (any, bool) {
	switch keyword {
	case "$schema", "$vocabulary", "$recursiveRef", "$recursiveAnchor", "$comment", "title", "description", "default", "examples",
		"deprecated", "readOnly", "writeOnly", "format", "contentEncoding", "contentMediaType", "contentSchema":
		return nil, false
	case "$ref", "$dynamicRef":
		return value, isReference(value)
	case "$id":
		return value, isReference(value) && !strings.Contains(value.(string), "#") && m.claim("$id", value)
	case "$anchor":
		return value, isAnchor(value) && m.claim("$anchor", value)
	case "$dynamicAnchor":
		return value, isAnchor(value)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		_, ok := value.(json.Number)
		return value, ok
	case "multipleOf":
		return value, isDivisor(value)
	case "minLength", "maxLength", "minItems", "maxItems", "minContains", "maxContains", "minProperties", "maxProperties":
		return value, isCount(value)
	case "uniqueItems":
		_, ok := value.(bool)
		return value, ok
	default:
		return m.applicator(keyword, value)
	}
}

func (m *mender) applicator(keyword string, value any) (any, bool) {
	switch keyword {
	case "additionalProperties", "unevaluatedProperties", "propertyNames", "contains", "unevaluatedItems", "not", "if", "then", "else":
		return m.subschema(value, position{})
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return m.list(value)
	case "$defs", "definitions", "dependentSchemas":
		return named(value, m.orAnything)
	case "patternProperties":
		return named(value, m.ofPattern)
	case "dependentRequired":
		return named(value, dependentNamesOf)
	case "dependencies":
		return named(value, m.dependency)
	default:
		return value, true
	}
}

func (m *mender) subschema(value any, at position) (any, bool) {
	switch value := value.(type) {
	case map[string]any:
		m.schema(value, at)
		return value, true
	case bool:
		return value, true
	default:
		return nil, false
	}
}

func (m *mender) list(value any) (any, bool) {
	list, _ := value.([]any)
	for i, member := range list {
		mended, ok := m.subschema(member, position{})
		if !ok {
			return nil, false
		}
		list[i] = mended
	}
	return list, len(list) > 0
}

// named mends an object whose members have names that are no keywords.
func named(value any, mend func(name string, member any) (any, bool)) (any, bool) {
	members, ok := value.(map[string]any)
	for _, name := range sortedKeys(members) {
		if mended, ok := mend(name, members[name]); ok {
			members[name] = mended
		} else {
			delete(members, name)
		}
	}
	return members, ok
}

func (m *mender) orAnything(_ string, member any) (any, bool) {
	return m.part(member, position{}), true
}

func (m *mender) ofPattern(source string, member any) (any, bool) {
	if _, err := m.patterns.compile(source); err != nil {
		return nil, false
	}
	return m.orAnything(source, member)
}

func dependentNamesOf(_ string, member any) (any, bool) {
	names := namesIn(member)
	return names, names != nil
}

func (m *mender) dependency(name string, member any) (any, bool) {
	if names, ok := dependentNamesOf(name, member); ok {
		return names, true
	}
	return m.subschema(member, position{})
}

// claim takes a name for the first schema that has it.
func (m *mender) claim(keyword string, value any) bool {
	key := fmt.Sprint(keyword, " ", value)
	_, taken := m.names[key]
	m.names[key] = struct{}{}
	return !taken
}

func isReference(value any) bool {
	text, ok := value.(string)
	if !ok || strings.Contains(text, `\`) {
		return false
	}
	_, err := url.Parse(text)
	return err == nil
}

func isAnchor(value any) bool {
	text, _ := value.(string)
	for i, c := range []byte(text) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '-' && c != '.') {
			return false
		}
	}
	return text != ""
}

func isDivisor(value any) bool {
	literal, ok := value.(json.Number)
	if !ok {
		return false
	}
	n := parseNumber(string(literal))
	return n.sign() > 0 && len(n.digits) <= maxDivisorDigits
}

func isCount(value any) bool {
	literal, ok := value.(json.Number)
	if !ok {
		return false
	}
	n := parseNumber(string(literal))
	return n.isInteger() && !n.neg
}
