package schema

import (
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// FuzzCheck draws a schema and arguments from the fuzzer's bytes and compares the
// verdict with a second, plain implementation of the keywords drawn.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{"", "\x01\x02\x03\x04\x05\x06\x07\x08", "schema and arguments", strings.Repeat("\x03\x09\x01\x05\x0b", 40), strings.Repeat("\xff\x00\x7f", 30)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		d := drawer{choices: choices}
		schema := d.objectSchema(3)
		arguments := d.object(3)
		s, err := Compile(encode(schema))
		if err != nil {
			t.Fatalf("Compile(%s): %v", encode(schema), err)
		}
		got := s.Check(encode(arguments))
		requireSentence(t, got)
		if want := plainlyValid(schema, arguments); (got == "") != want {
			t.Errorf("schema %s\narguments %s\nvalid %v, but got %q", encode(schema), encode(arguments), want, got)
		}
	})
}

// FuzzCompile feeds any text, and where both can judge it compares with the verdict
// of the library that compiled the schema.
func FuzzCompile(f *testing.F) {
	for _, text := range []string{
		strictSchema, typedSchema, unionSchema, rangedSchema, nestedSchema, `{"$ref":"#"}`, `true`, `{"$dynamicRef":"#a","$dynamicAnchor":"a"}`,
		`{"$id":"https://example.com/s","$defs":{"a":{"$id":"a","$anchor":"b"}},"$ref":"a#b"}`,
		`{"patternProperties":{"^a":{"minimum":1e999999999}},"propertyNames":{"maxLength":3},"unevaluatedProperties":false}`,
		`{"if":{"required":["a"]},"then":{"minProperties":2},"else":{"not":{"required":["b"]}},"dependentRequired":{"a":["c"]}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"items":[{"format":"ipv4"}],"additionalItems":false,"contains":{"const":1}}},"dependencies":{"a":["b"]}}`,
		`{"oneOf":[{"properties":{"a":{"uniqueItems":true,"minItems":1}}},{"allOf":[{"$ref":"#/$defs/x"}]}],"$defs":{"x":{"anyOf":[{"maxProperties":1},false]}}}`,
	} {
		for _, arguments := range []string{`{}`, `{"a":[1,1.0,{"b":null}],"name":"x","count":5.5}`, `{"number":"1","a":"abc","limit":0}`} {
			f.Add(text, arguments)
		}
	}
	f.Fuzz(func(t *testing.T, text, arguments string) {
		s, err := Compile(json.RawMessage(text))
		if err != nil {
			if !utf8.ValidString(err.Error()) || strings.Contains(err.Error(), baseURL) {
				t.Errorf("error %q", err)
			}
			return
		}
		if !json.Valid([]byte(arguments)) {
			return
		}
		s.limits.steps = 200_000
		got := s.Check(json.RawMessage(arguments))
		requireSentence(t, got)
		compareWithLibrary(t, text, arguments, got)
	})
}

func requireSentence(t *testing.T, got string) {
	t.Helper()
	if got == "" {
		return
	}
	if !strings.HasSuffix(got, ".") || strings.HasSuffix(got, "..") || !utf8.ValidString(got) || len(got) > 8<<10 {
		t.Errorf("no single bounded sentence: %q", got)
	}
	if strings.Contains(got, "without a reason") {
		t.Errorf("no reason: %q", got)
	}
}

func compareWithLibrary(t *testing.T, text, arguments, got string) {
	schema, _ := decode([]byte(text))
	value, _ := decode([]byte(arguments))
	object, isObject := value.(map[string]any)
	unjudged := strings.Contains(got, "could not be")
	if !isObject || unjudged || !isTame(schema, 12) || !isTame(object, 12) {
		return
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseRegexpEngine(newPatternCompiler(fromECMAScript).compile)
	compiler.UseLoader(noLoader{})
	if err := compiler.AddResource(baseURL, schema); err != nil {
		return
	}
	compiled, err := compiler.Compile(baseURL)
	if err != nil {
		t.Fatalf("only the library refuses %s: %v", text, err)
	}
	if err := compiled.Validate(object); (err == nil) != (got == "") {
		t.Errorf("schema %s\narguments %s\nlibrary says %v, but got %q", text, arguments, err, got)
	}
}

// isTame leaves out what the library does not bound: nesting and large numbers.
func isTame(value any, depth int) bool {
	if depth == 0 {
		return false
	}
	switch value := value.(type) {
	case map[string]any:
		for _, member := range value {
			if !isTame(member, depth-1) {
				return false
			}
		}
	case []any:
		for _, item := range value {
			if !isTame(item, depth-1) {
				return false
			}
		}
	case json.Number:
		return len(value) < 16 && !strings.ContainsAny(string(value), "eE")
	}
	return true
}

func encode(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

// drawer turns bytes into choices; when they run out it always takes the first.
type drawer struct{ choices []byte }

func (d *drawer) below(count int) int {
	if len(d.choices) == 0 {
		return 0
	}
	choice := int(d.choices[0]) % count
	d.choices = d.choices[1:]
	return choice
}

func pick[T any](d *drawer, options ...T) T { return options[d.below(len(options))] }

func (d *drawer) number() json.Number {
	return pick[json.Number](d, "0", "1", "-1", "2.5", "1.0", "1e2", "10e-1", "100", "-0.0", "9007199254740993", "9007199254740992",
		"9007199254740993.5", "4503599627370496.5", "0.1", "1e-7", "123456789012345678901234567890", "1e400", "-3e-400")
}

func (d *drawer) text() string { return pick(d, "a", "b", "", "x y", "é", ".", "1") }

func (d *drawer) value(depth int) any {
	switch kind := d.below(7); {
	case kind == 0:
		return nil
	case kind == 1:
		return d.below(2) == 1
	case kind == 2:
		return d.text()
	case kind == 3 && depth > 0:
		return d.list(depth)
	case kind == 4 && depth > 0:
		return d.object(depth - 1)
	default:
		return d.number()
	}
}

func (d *drawer) list(depth int) []any {
	list := make([]any, d.below(4))
	for i := range list {
		list[i] = d.value(depth - 1)
	}
	return list
}

func (d *drawer) object(depth int) map[string]any {
	object := map[string]any{}
	for range d.below(5) {
		object[d.text()] = d.value(depth)
	}
	return object
}

func (d *drawer) objectSchema(depth int) map[string]any {
	schema := map[string]any{"type": "object"}
	properties := map[string]any{}
	for range d.below(4) {
		properties[d.text()] = d.schema(depth - 1)
	}
	schema["properties"] = properties
	if d.below(3) == 1 {
		schema["required"] = []any{d.text()}
	}
	if d.below(3) == 1 {
		schema["additionalProperties"] = false
	}
	return schema
}

func (d *drawer) schema(depth int) map[string]any {
	if depth > 0 && d.below(4) == 1 {
		return d.objectSchema(depth)
	}
	schema := map[string]any{}
	switch d.below(4) {
	case 1:
		schema["type"] = d.typeName()
	case 2:
		if first, second := d.typeName(), d.typeName(); first != second {
			schema["type"] = []any{first, second}
		}
	}
	for range d.below(3) {
		schema[pick(d, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")] = d.number()
	}
	if d.below(4) == 1 {
		schema["enum"] = append(d.list(2), d.value(1))
	}
	if depth > 0 && d.below(3) == 1 {
		schema["items"] = d.schema(depth - 1)
	}
	return schema
}

func (d *drawer) typeName() string {
	return pick(d, "integer", "number", "string", "array", "object", "boolean", "null")
}

// plainlyValid implements the keywords the drawer uses, by rationals throughout.
func plainlyValid(schema map[string]any, value any) bool {
	return plainType(schema["type"], value) && plainEnum(schema, value) && plainBounds(schema, value) &&
		plainObject(schema, value) && plainItems(schema, value)
}

func plainType(declared, value any) bool {
	switch declared := declared.(type) {
	case nil:
		return true
	case []any:
		return plainType(declared[0], value) || plainType(declared[1], value)
	default:
		literal, isNumber := value.(json.Number)
		if isNumber && declared == "integer" {
			return exact(literal).IsInt()
		}
		return declared == typeName(value)
	}
}

func plainEnum(schema map[string]any, value any) bool {
	options, present := schema["enum"].([]any)
	if !present {
		return true
	}
	for _, option := range options {
		if reflect.DeepEqual(plainForm(option), plainForm(value)) {
			return true
		}
	}
	return false
}

// plainForm gives equal numbers one form, so that DeepEqual can compare values.
func plainForm(value any) any {
	switch value := value.(type) {
	case json.Number:
		return exact(value).RatString() + " as a number"
	case []any:
		forms := []any{}
		for _, item := range value {
			forms = append(forms, plainForm(item))
		}
		return forms
	case map[string]any:
		forms := map[string]any{}
		for name, member := range value {
			forms[name] = plainForm(member)
		}
		return forms
	default:
		return value
	}
}

func plainBounds(schema map[string]any, value any) bool {
	literal, isNumber := value.(json.Number)
	if !isNumber {
		return true
	}
	holds := map[string]func(order int) bool{
		"minimum":          func(order int) bool { return order >= 0 },
		"maximum":          func(order int) bool { return order <= 0 },
		"exclusiveMinimum": func(order int) bool { return order > 0 },
		"exclusiveMaximum": func(order int) bool { return order < 0 },
	}
	for keyword, holds := range holds {
		if limit, present := schema[keyword].(json.Number); present && !holds(exact(literal).Cmp(exact(limit))) {
			return false
		}
	}
	return true
}

func plainObject(schema map[string]any, value any) bool {
	object, isObject := value.(map[string]any)
	if !isObject {
		return true
	}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, present := object[name.(string)]; !present {
			return false
		}
	}
	for name, member := range object {
		rules, declared := properties[name].(map[string]any)
		if declared && !plainlyValid(rules, member) || !declared && schema["additionalProperties"] == false {
			return false
		}
	}
	return true
}

func plainItems(schema map[string]any, value any) bool {
	list, isList := value.([]any)
	rules, present := schema["items"].(map[string]any)
	if !isList || !present {
		return true
	}
	for _, item := range list {
		if !plainlyValid(rules, item) {
			return false
		}
	}
	return true
}

// exact is safe here because no drawn exponent is beyond a few hundred.
func exact(literal json.Number) *big.Rat {
	value, ok := new(big.Rat).SetString(string(literal))
	if !ok {
		panic("no number: " + literal)
	}
	return value
}
