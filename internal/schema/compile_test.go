package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestCompileErrors(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"absent", ``, "the schema is missing"},
		{"null", ` null `, "the schema is missing"},
		{"no JSON", `{`, "the schema is not valid JSON"},
		{"space that JSON does not know", "\v{}", "the schema is not valid JSON"},
		{"boolean", `true`, "the schema must be a JSON object, got boolean"},
		{"array", `[]`, "the schema must be a JSON object, got array"},
		{"root type", `{"type":"string"}`, `the root "type" must be "object", got "string"`},
		{"root types", `{"type":["object","null"]}`, `the root "type" must be "object", got ["object","null"]`},
		{"unknown type", `{"properties":{"a":{"type":"strin"}}}`,
			`the schema has a bad value at /properties/a/type: it must be one of array, boolean, integer, null, number, object, string, got "strin"`},
		{"bad count", `{"properties":{"a":{"minLength":-1}}}`, "the schema has a bad value at /properties/a/minLength: it must be at least 0"},
		{"huge bad count", `{"properties":{"a":{"minLength":-1e999999999}}}`, "the schema has a bad value at /properties/a/minLength: it must be at least 0"},
		{"two bad counts", `{"properties":{"b":{"minLength":-1},"a":{"minItems":"x"}}}`,
			"the schema has a bad value at /properties/a/minItems: it must be of type integer, got string; the schema has a bad value at /properties/b/minLength: it must be at least 0"},
		{"two bad keywords of one schema", `{"properties":{"a":{"type":["strin"],"items":{"enum":1}}}}`,
			"the schema has a bad value at /properties/a/items/enum: it must be of type array, got number; the schema has a bad value at /properties/a/type: it must be one of array, boolean, integer, null, number, object, string, got [\"strin\"]"},
		{"two bad patterns", `{"properties":{"a":{"pattern":"a("},"b":{"pattern":"["}}}`,
			`the pattern "a(" at /properties/a/pattern does not compile: missing closing ); the pattern "[" at /properties/b/pattern does not compile: unterminated [] set`},
		{"many bad counts", `{"allOf":[` + strings.Repeat(`{"minItems":-1},`, 7) + `{}]}`,
			strings.Join([]string{badCount(0), badCount(1), badCount(2), badCount(3), badCount(4), "and 2 more"}, "; ")},
		{"bad required", `{"required":"a"}`, "the schema has a bad value at /required: it must be of type array, got string"},
		{"zero divisor", `{"properties":{"a":{"multipleOf":0e999999999}}}`, "the schema has a bad value at /properties/a/multipleOf: it must be greater than 0"},
		{"long divisor", `{"properties":{"a":{"multipleOf":` + strings.Repeat("1", 1001) + `}}}`,
			"multipleOf at /properties/a must be a positive number of at most 1000 digits"},
		{"pattern", `{"properties":{"a":{"pattern":"a("}}}`, `the pattern "a(" at /properties/a/pattern does not compile: missing closing )`},
		{"patternProperties", `{"patternProperties":{"[":true}}`, `the pattern "[" at /patternProperties does not compile: unterminated [] set`},
		{"pointer", `{"properties":{"a":{"$ref":"#/$defs/b"}}}`, `$ref "#/$defs/b" at /properties/a does not resolve: the schema has no such place`},
		{"anchor", `{"properties":{"a":{"$ref":"#b"}}}`, `$ref "#b" at /properties/a does not resolve: the schema has no such place`},
		{"file", `{"properties":{"a":{"$ref":"file:///etc/passwd"}}}`,
			`$ref "file:///etc/passwd" at /properties/a leads outside the schema; references are never fetched`},
		{"relative", `{"$id":"https://example.com/a/b","properties":{"a":{"$ref":"../defs.json#/x"}}}`,
			`$ref "../defs.json#/x" at /properties/a leads outside the schema; references are never fetched`},
		{"metaschema", `{"properties":{"a":{"$ref":"https://json-schema.org/draft/2020-12/schema"}}}`,
			`$ref "https://json-schema.org/draft/2020-12/schema" at /properties/a leads outside the schema; references are never fetched`},
		{"dialect", `{"$schema":"https://example.com/own"}`, `$schema "https://example.com/own" at the root names no known version of JSON Schema`},
		{"loop", `{"$ref":"#"}`, "the schema at the root refers to itself without end"},
		{"loop of three", `{"properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"allOf":[{"$ref":"#/$defs/c"}]},"c":{"not":{"$ref":"#/$defs/b"}}}}`,
			"the schema at /$defs/b refers to itself without end"},
		{"deep", strings.Repeat(`{"not":`, 200) + `{}` + strings.Repeat(`}`, 200), "the schema is nested deeper than 128 levels"},
		{"too deep to read", strings.Repeat(`{"not":`, 20000) + `{}` + strings.Repeat(`}`, 20000), "the schema is not valid JSON"},
		{"wide", `{"anyOf":[{}` + strings.Repeat(`,{}`, 10000) + `]}`, "the schema holds more than 10000 objects"},
		{"long", `{"title":"` + strings.Repeat("x", 1<<20) + `"}`, "the schema is 1048588 bytes long, more than the 1048576 allowed"},
		{"long names", longNames(), "the schema nests names that are too long"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Compile(json.RawMessage(c.schema))
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func badCount(i int) string {
	return fmt.Sprintf("the schema has a bad value at /allOf/%d/minItems: it must be at least 0", i)
}

func longNames() string {
	name := strings.Repeat("x", 500_000)
	return `{"properties":{"` + name + `":{"anyOf":[{}` + strings.Repeat(`,{}`, 100) + `]}}}`
}

func TestReferencesInside(t *testing.T) {
	runChecks(t, []checkCase{
		{"tree", `{"properties":{"v":{"type":"integer"},"sub":{"$ref":"#"}}}`, `{"sub":{"sub":{"v":"x"}}}`,
			`Invalid type(s): sub.sub.v expected integer, got string ("x").`},
		{"id and anchor", `{"$id":"https://example.com/s","properties":{"a":{"$ref":"d#x"}},"$defs":{"d":{"$id":"d","$defs":{"e":{"$anchor":"x","type":"null"}}}}}`,
			`{"a":1}`, "Invalid type(s): a expected null, got number (1)."},
		{"escaped pointer", `{"properties":{"a":{"$ref":"#/$defs/x~1y%20z"}},"$defs":{"x/y z":{"minimum":2e0}}}`, `{"a":1}`,
			"Out-of-range value(s): a=1 below minimum 2e0."},
		{"dynamic", `{"$id":"https://example.com/strict","$dynamicAnchor":"node","$ref":"tree","unevaluatedProperties":false,
			"$defs":{"tree":{"$id":"tree","$dynamicAnchor":"node","properties":{"kids":{"type":"array","items":{"$dynamicRef":"#node"}}}}}}`,
			`{"kids":[{"kid":1}]}`, "Unknown parameter(s): kids[0].kid. Allowed parameters: kids[0].kids."},
		{"recursive", `{"$schema":"https://json-schema.org/draft/2019-09/schema","$id":"https://example.com/strict","$recursiveAnchor":true,
			"$ref":"tree","unevaluatedProperties":false,
			"$defs":{"tree":{"$id":"tree","$recursiveAnchor":true,"properties":{"kids":{"type":"array","items":{"$recursiveRef":"#"}}}}}}`,
			`{"kids":[{"kid":1}]}`, "Unknown parameter(s): kids[0].kid. Allowed parameters: kids[0].kids."},
		{"dynamic loop", `{"$dynamicAnchor":"a","$dynamicRef":"#a"}`, `{}`,
			"Invalid value(s): the arguments object could not be accepted: the schema refers to itself without end."},
		{"dynamic loop within not", `{"$dynamicAnchor":"a","not":{"$dynamicRef":"#a"}}`, `{}`,
			"Invalid value(s): the arguments object could not be accepted: the schema refers to itself without end."},
		{"draft 7 $ref alone", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/n","maximum":1}},"definitions":{"n":{"type":"number"}}}`,
			`{"a":5}`, ""},
		{"draft 7 tuple", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"items":[{"type":"null"}],"additionalItems":{"type":"string"}}}}`,
			`{"a":[1,2]}`, "Invalid array item(s): a[0] expected null, got number (1); a[1] expected string, got number (2)."},
	})
}

func TestLargestSchemasCompileInTime(t *testing.T) {
	nested := strings.Repeat(`{"properties":{"a":`, 60) + `{}` + strings.Repeat(`}}`, 60)
	for name, text := range map[string]string{
		"flat":   `{"anyOf":[{"type":"object"}` + strings.Repeat(`,{"minimum":1}`, 4000) + `]}`,
		"nested": `{"anyOf":[` + nested + strings.Repeat(","+nested, 40) + `]}`,
		"ids":    `{"anyOf":[{}` + manyIDs(1500) + `]}`,
		"enum":   `{"properties":{"a":{"enum":[0` + strings.Repeat(`,1e999999999,"x"`, 20_000) + `]}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			if _, err := Compile(json.RawMessage(text)); err != nil {
				t.Error(err)
			}
			took := time.Since(began)
			t.Logf("%d bytes in %v", len(text), took)
			if took > 15*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func manyIDs(count int) string {
	var out strings.Builder
	for i := range count {
		out.WriteString(`,{"$id":"i` + decimal(i) + `"}`)
	}
	return out.String()
}
