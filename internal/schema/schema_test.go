package schema

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/dlclark/regexp2"
)

func TestMain(m *testing.M) {
	code := m.Run()
	// The engine's clock is the only goroutine this package can leave behind.
	regexp2.StopTimeoutClock()
	os.Exit(code)
}

const (
	strictSchema = `{"type":"object","required":["number"],"additionalProperties":false,"properties":{
		"number":{"type":"string"},
		"repo":{"type":"string","enum":["a/b","c/d"]},
		"mode":{"type":"string","enum":["development","production"]}}}`
	typedSchema = `{"type":"object","required":["name"],"properties":{
		"name":{"type":"string","pattern":"^[a-z]+$"},
		"count":{"type":"integer"},
		"active":{"type":"boolean"},
		"tags":{"type":"array","items":{"type":"string","enum":["a","b","c"]}}}}`
	unionSchema = `{"type":"object","properties":{
		"count":{"type":["integer","string"]},
		"choice":{"type":["string"],"enum":["a","b"]},
		"values":{"type":"array","items":{"type":["integer","string"]}}}}`
	rangedSchema = `{"type":"object","properties":{
		"limit":{"type":"integer","minimum":1,"maximum":50},
		"score":{"type":"number","minimum":1},
		"above":{"type":"number","exclusiveMinimum":0},
		"below":{"type":"number","exclusiveMaximum":100},
		"untyped":{"minimum":3}}}`
	nestedSchema = `{"type":"object","additionalProperties":false,"properties":{
		"user":{"type":"object","required":["name","id"],"additionalProperties":false,"properties":{
			"name":{"type":"string"},"id":{"type":"integer"},"x y":{"type":"string"}}},
		"rows":{"type":"array","items":{"type":"object","required":["k"],"properties":{
			"k":{"type":"string"},"grid":{"type":"array","items":{"type":"array","items":{"type":"integer"}}}}}}}}`
)

type checkCase struct {
	name, schema, arguments, want string
}

func runChecks(t *testing.T, cases []checkCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := compile(t, c.schema).Check(json.RawMessage(c.arguments))
			if got != c.want {
				t.Errorf("Check(%s)\n got %s\nwant %s", c.arguments, got, c.want)
			}
		})
	}
}

func compile(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Compile(json.RawMessage(text))
	if err != nil {
		t.Fatalf("Compile: %v", err)
	}
	return s
}

func TestArgumentsMustBeAnObject(t *testing.T) {
	for arguments, kind := range map[string]string{
		`null`: "null", `true`: "boolean", `1e2`: "number", `"{}"`: "string", `[]`: "array",
	} {
		want := "Invalid arguments: expected a JSON object, got " + kind + "."
		if got := compile(t, `{}`).Check(json.RawMessage(arguments)); got != want {
			t.Errorf("Check(%s) = %q, want %q", arguments, got, want)
		}
	}
}

func TestArgumentsThatAreNoJSON(t *testing.T) {
	for _, arguments := range []string{"", "{"} {
		want := "Invalid arguments: expected a JSON object, got text that could not be read as JSON."
		if got := compile(t, `{}`).Check(json.RawMessage(arguments)); got != want {
			t.Errorf("Check(%q) = %q, want %q", arguments, got, want)
		}
	}
}

func TestParameters(t *testing.T) {
	runChecks(t, []checkCase{
		{"all there", strictSchema, `{"number":"5","repo":"a/b"}`, ""},
		{"missing", strictSchema, `{"repo":"a/b"}`, "Missing required parameter(s): number."},
		{"missing before unknown", strictSchema, `{"pr":1}`, "Missing required parameter(s): number."},
		{"missing in schema order", `{"required":["z","a","m"]}`, `{"a":1}`, "Missing required parameter(s): z, m."},
		{"missing below", nestedSchema, `{"user":{},"rows":[{"k":""},{}]}`,
			"Missing required parameter(s): rows[1].k, user.name, user.id."},
		{"missing with an odd name", `{"required":["x y"],"properties":{"a":{"required":["."]}}}`, `{"a":{}}`,
			`Missing required parameter(s): "x y", a["."].`},
		{"missing by allOf and $ref once", `{"allOf":[{"required":["a"]},{"$ref":"#/$defs/a"}],"$defs":{"a":{"required":["a"]}}}`, `{}`,
			"Missing required parameter(s): a."},
		{"unknown", strictSchema, `{"number":"5","pr":339}`,
			"Unknown parameter(s): pr. Allowed parameters: mode, number, repo."},
		{"several unknown", strictSchema, `{"number":"5","z":1,"a b":2}`,
			`Unknown parameter(s): "a b", z. Allowed parameters: mode, number, repo.`},
		{"unknown below", nestedSchema, `{"user":{"name":"n","id":1,"x":2}}`,
			`Unknown parameter(s): user.x. Allowed parameters: user.id, user.name, user["x y"].`},
		{"nothing allowed", `{"additionalProperties":false}`, `{"a":1}`,
			"Unknown parameter(s): a. Allowed parameters: none."},
		{"allowed by pattern", `{"additionalProperties":false,"properties":{"p":true},"patternProperties":{"^x-":true}}`, `{"x-a":1,"y":2}`,
			"Unknown parameter(s): y. Allowed parameters: p, names matching ^x-."},
		{"unevaluated", `{"unevaluatedProperties":false,"properties":{"a":true},"allOf":[{"properties":{"b":true}}]}`, `{"a":1,"b":2,"c":3}`,
			"Unknown parameter(s): c. Allowed parameters: a, b."},
		{"failed but looked at", `{"unevaluatedProperties":false,"allOf":[{"properties":{"b":{"type":"string"}}}]}`, `{"b":2}`,
			"Invalid type(s): b expected string, got number (2)."},
	})
}

func TestTypes(t *testing.T) {
	runChecks(t, []checkCase{
		{"wrong type", strictSchema, `{"number":"5","mode":5}`, "Invalid type(s): mode expected string, got number (5)."},
		{"type before enum", strictSchema, `{"number":5,"mode":"x"}`, "Invalid type(s): number expected string, got number (5)."},
		{"not an integer", typedSchema, `{"name":"a","count":5.5}`,
			"Invalid type(s): count expected integer, got number (non-integer) (5.5)."},
		{"several", typedSchema, `{"name":"a","count":"5","active":1}`,
			`Invalid type(s): active expected boolean, got number (1); count expected integer, got string ("5").`},
		{"union in schema order", unionSchema, `{"count":null}`, "Invalid type(s): count expected integer or string, got null (null)."},
		{"union, string first", `{"properties":{"c":{"type":["string","integer"]}}}`, `{"c":1.50}`,
			"Invalid type(s): c expected string or integer, got number (non-integer) (1.50)."},
		{"list of one type", unionSchema, `{"choice":1}`, "Invalid type(s): choice expected string, got number (1)."},
		{"object for string", typedSchema, `{"name":{"b":[1.10,"<&>"],"a":null}}`,
			`Invalid type(s): name expected string, got object ({"a":null,"b":[1.10,"<&>"]}).`},
		{"member of an array's object", nestedSchema, `{"rows":[{"k":1}]}`, "Invalid type(s): rows[0].k expected string, got number (1)."},
		{"last of two equal names", typedSchema, `{"name":1,"name":"a"}`, ""},
	})
}

func TestRanges(t *testing.T) {
	runChecks(t, []checkCase{
		{"below", rangedSchema, `{"limit":0}`, "Out-of-range value(s): limit=0 below minimum 1."},
		{"two", rangedSchema, `{"above":0,"limit":999}`,
			"Out-of-range value(s): above=0 not above exclusiveMinimum 0; limit=999 above maximum 50."},
		{"exclusive maximum", rangedSchema, `{"below":1e2}`, "Out-of-range value(s): below=1e2 not below exclusiveMaximum 100."},
		{"just inside", rangedSchema, `{"limit":50,"score":1,"above":1e-400,"below":99.99999999999999999999}`, ""},
		{"no number", rangedSchema, `{"untyped":"ab"}`, ""},
		{"untyped number", rangedSchema, `{"untyped":2.9}`, "Out-of-range value(s): untyped=2.9 below minimum 3."},
		{"every bound", `{"properties":{"a":{"exclusiveMinimum":9,"minimum":5}}}`, `{"a":1}`,
			"Out-of-range value(s): a=1 below minimum 5; a=1 not above exclusiveMinimum 9."},
		{"range before enum", `{"properties":{"a":{"minimum":5},"b":{"enum":[1]}}}`, `{"a":1,"b":2}`,
			"Out-of-range value(s): a=1 below minimum 5."},
		{"draft 4 flag", `{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"minimum":5,"exclusiveMinimum":true}}}`, `{"a":5}`,
			"Out-of-range value(s): a=5 not above exclusiveMinimum 5."},
	})
}

func TestItemsAndEnums(t *testing.T) {
	runChecks(t, []checkCase{
		{"item type", typedSchema, `{"name":"a","tags":["a",5]}`, "Invalid array item(s): tags[1] expected string, got number (5)."},
		{"item enum", typedSchema, `{"name":"a","tags":["a","z"]}`, `Invalid array item(s): tags[1]="z" (allowed: a, b, c).`},
		{"items in order", typedSchema, `{"name":"a","tags":["z","a",5]}`,
			`Invalid array item(s): tags[0]="z" (allowed: a, b, c); tags[2] expected string, got number (5).`},
		{"index by number", `{"properties":{"a":{"items":{"type":"null"}}}}`, `{"a":[null,null,1,null,null,null,null,null,null,null,2]}`,
			"Invalid array item(s): a[2] expected null, got number (1); a[10] expected null, got number (2)."},
		{"item union", unionSchema, `{"values":[1,"a",1.5]}`,
			"Invalid array item(s): values[2] expected integer or string, got number (non-integer) (1.5)."},
		{"nested item", nestedSchema, `{"rows":[{"k":"","grid":[[1],[2,"3"]]}]}`,
			`Invalid array item(s): rows[0].grid[1][1] expected integer, got string ("3").`},
		{"one defect per item", `{"properties":{"a":{"items":{"allOf":[{"enum":["x"]},{"type":"string"}]}}}}`, `{"a":[5]}`,
			"Invalid array item(s): a[0] expected string, got number (5)."},
		{"enum", strictSchema, `{"number":"5","mode":"test","repo":"x"}`,
			`Invalid value(s): mode="test" (allowed: development, production); repo="x" (allowed: a/b, c/d).`},
		{"enum shows strings raw", `{"properties":{"a":{"enum":["b\"",1.0,null,{"k":[true]}]}}}`, `{"a":"\"<\u00e9"}`,
			`Invalid value(s): a=""<é" (allowed: b", 1.0, null, {"k":[true]}).`},
		{"enum by value", `{"properties":{"a":{"enum":[1.0,{"x":[1e1]}]}}}`, `{"a":{"x":[10.0]}}`, ""},
		{"enum at the root", `{"enum":["x."]}`, `{}`, "Invalid value(s): the arguments object is none of the allowed values (allowed: x.)."},
		{"enum of another type", `{"properties":{"a":{"enum":["1"]}}}`, `{"a":1}`, "Invalid value(s): a=1 (allowed: 1)."},
	})
}

func TestPatterns(t *testing.T) {
	pattern := func(source string) string {
		quoted, _ := json.Marshal(source)
		return `{"properties":{"a":{"pattern":` + string(quoted) + `}}}`
	}
	runChecks(t, []checkCase{
		{"mismatch", typedSchema, `{"name":"A1"}`, `Invalid value(s): name="A1" does not match pattern ^[a-z]+$.`},
		{"not anchored", pattern("b"), `{"a":"abc"}`, ""},
		{"end is the end", typedSchema, `{"name":"abc\n"}`, `Invalid value(s): name="abc\n" does not match pattern ^[a-z]+$.`},
		{"lookahead", pattern("^(?!x)a(?=b)"), `{"a":"ab"}`, ""},
		{"lookbehind", pattern("(?<=x)y"), `{"a":"zy"}`, `Invalid value(s): a="zy" does not match pattern (?<=x)y.`},
		{"back-reference", pattern(`^(.)\1$`), `{"a":"xx"}`, ""},
		{"digits are ASCII", pattern(`^\d$`), `{"a":"٣"}`, `Invalid value(s): a="٣" does not match pattern ^\d$.`},
		{"astral character", pattern(`^.$`), `{"a":"😀"}`, ""},
		{"code point escape", pattern(`^\u{1F600}$`), `{"a":"😀"}`, ""},
		{"surrogate pair escape", pattern(`^\ud83d\ude00$`), `{"a":"😀"}`, ""},
		{"long property", pattern(`^\p{Letter}\P{General_Category=Number}\p{Script=Greek}$`), `{"a":"éxα"}`, ""},
		{"full stop at the end", pattern(`^b.`), `{"a":"a"}`, `Invalid value(s): a="a" does not match pattern "^b.".`},
		{"items too", `{"properties":{"a":{"items":{"pattern":"b"}}}}`, `{"a":["b","c"]}`, `Invalid value(s): a[1]="c" does not match pattern b.`},
		{"pattern before range", `{"properties":{"a":{"pattern":"b"},"c":{"minimum":2}}}`, `{"a":"x","c":1}`, `Invalid value(s): a="x" does not match pattern b.`},
	})
}

func TestOtherKeywords(t *testing.T) {
	one := func(rules string) string { return `{"properties":{"a":` + rules + `}}` }
	runChecks(t, []checkCase{
		{"minLength", one(`{"minLength":3}`), `{"a":"é😀"}`, `Invalid value(s): a="é😀" is shorter than minLength 3.`},
		{"maxLength", one(`{"maxLength":3}`), `{"a":"abcd"}`, `Invalid value(s): a="abcd" is longer than maxLength 3.`},
		{"minItems", one(`{"minItems":2}`), `{"a":[1]}`, "Invalid value(s): a has 1 item, fewer than minItems 2."},
		{"maxItems", one(`{"maxItems":3}`), `{"a":[1,2,3,4]}`, "Invalid value(s): a has 4 items, more than maxItems 3."},
		{"minProperties", `{"minProperties":1}`, `{}`, "Invalid value(s): the arguments object has 0 parameters, fewer than minProperties 1."},
		{"maxProperties", one(`{"maxProperties":0}`), `{"a":{"b":1}}`, "Invalid value(s): a has 1 parameter, more than maxProperties 0."},
		{"multipleOf", one(`{"multipleOf":2}`), `{"a":7}`, "Invalid value(s): a=7 is not a multiple of 2."},
		{"const", one(`{"const":"y"}`), `{"a":"x"}`, `Invalid value(s): a="x" is not "y".`},
		{"uniqueItems", one(`{"uniqueItems":true}`), `{"a":[1,{"x":1,"y":[2]},{"y":[2.0],"x":1e0}]}`,
			"Invalid value(s): a has equal items at [1] and [2] but uniqueItems is set."},
		{"false", one(`false`), `{"a":1}`, "Invalid value(s): a=1 is not allowed here."},
		{"items false", one(`{"prefixItems":[true],"items":false}`), `{"a":[1,2]}`, "Invalid value(s): a[1]=2 is not allowed here."},
		{"not", one(`{"not":{"const":1}}`), `{"a":1}`, "Invalid value(s): a=1 is not allowed here."},
		{"not at the root", `{"not":{"required":["a"]}}`, `{"a":1}`, "Invalid value(s): the arguments object is not allowed here."},
		{"contains", one(`{"contains":{"const":1}}`), `{"a":[2]}`, "Invalid value(s): a has 0 items that match contains, fewer than minContains 1."},
		{"maxContains", one(`{"contains":{"const":1},"maxContains":1}`), `{"a":[1,1]}`, "Invalid value(s): a has 2 items that match contains, more than maxContains 1."},
		{"dependentRequired", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, "Invalid value(s): b is required when a is present."},
		{"dependentSchemas", `{"dependentSchemas":{"a":{"required":["b"]}}}`, `{"a":1}`, "Missing required parameter(s): b."},
		{"propertyNames", `{"propertyNames":{"pattern":"^[a-z]+$"}}`, `{"A":1}`,
			`Invalid value(s): the parameter name "A" is not allowed in the arguments object: the name="A" does not match pattern ^[a-z]+$.`},
		{"then", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1}`, "Missing required parameter(s): b."},
		{"else", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{}`, "Missing required parameter(s): c."},
		{"anyOf", `{"properties":{"target":{"anyOf":[{"type":"object","required":["path"]},{"properties":{"url":{"type":"string"}}}]}}}`, `{"target":{"url":5}}`,
			"Invalid value(s): target matches none of the allowed alternatives: target.path is missing; target.url expected string, got number (5)."},
		{"oneOf twice", one(`{"oneOf":[{"minimum":1},{"minimum":2}]}`), `{"a":3}`,
			"Invalid value(s): a=3 matches more than one of the alternatives of which exactly one is allowed."},
		{"anyOf at the root", `{"anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`,
			"Invalid value(s): the arguments object matches none of the allowed alternatives: a is missing; b is missing."},
		{"format is an annotation", one(`{"format":"email"}`), `{"a":"x"}`, ""},
		{"format of an older draft", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"format":"ipv4"}}}`, `{"a":"x"}`,
			`Invalid value(s): a="x" is not a valid ipv4.`},
		{"default is ignored", `{"required":["a"],"properties":{"a":{"default":1}}}`, `{}`, "Missing required parameter(s): a."},
	})
}

func TestMessagesAreBounded(t *testing.T) {
	long := strings.Repeat("é", 5000)
	t.Run("value", func(t *testing.T) {
		got := compile(t, typedSchema).Check(json.RawMessage(`{"name":"a","count":"` + long + `"}`))
		want := `Invalid type(s): count expected integer, got string ("` + strings.Repeat("é", 199) + `…).`
		if got != want {
			t.Errorf("got %s", got)
		}
	})
	t.Run("list", func(t *testing.T) {
		arguments := `{"name":"a","tags":[` + strings.TrimSuffix(strings.Repeat("5,", 4000), ",") + `]}`
		got := compile(t, typedSchema).Check(json.RawMessage(arguments))
		if len(got) > 8<<10 || !strings.HasSuffix(got, " more.") {
			t.Errorf("%d bytes: …%s", len(got), got[max(0, len(got)-80):])
		}
	})
	t.Run("unknown parameters", func(t *testing.T) {
		var arguments strings.Builder
		for i := range 3000 {
			arguments.WriteString(`,"` + strings.Repeat("p", i%50) + decimal(i) + `":1`)
		}
		got := compile(t, strictSchema).Check(json.RawMessage(`{"number":""` + arguments.String() + `}`))
		if len(got) > 8<<10 || !strings.HasSuffix(got, " more. Allowed parameters: mode, number, repo.") {
			t.Errorf("%d bytes: …%s", len(got), got[max(0, len(got)-80):])
		}
	})
}

func TestASchemaOfAnyValueNamesIt(t *testing.T) {
	const rows = `{"type":"array","minItems":1,"items":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}}`
	tests := []struct{ name, schema, value, want string }{
		{"an array", rows, `[{"n":1},{"n":2}]`, ""},
		{"another type", rows, `{"n":1}`, `Invalid type(s): result expected array, got object ({"n":1}).`},
		{"too few items", rows, `[]`, `Invalid value(s): result has 0 items, fewer than minItems 1.`},
		{"within an item", rows, `[{"n":1},{"n":"2"}]`, `Invalid type(s): result[1].n expected integer, got string ("2").`},
		{"missing in an item", rows, `[{}]`, `Missing required parameter(s): result[0].n.`},
		{"an object", typedSchema, `{}`, `Missing required parameter(s): result.name.`},
		{"of several types", `{"type":["string","null"]}`, `null`, ""},
		{"a reference to the whole", `{"type":["array","string"],"items":{"$ref":"#"}}`, `["a",["b",[]]]`, ""},
		{"no JSON", rows, `[`, "Invalid arguments: expected a JSON object, got text that could not be read as JSON."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := CompileValue(json.RawMessage(tt.schema), "result")
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Check(json.RawMessage(tt.value)); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if _, err := CompileValue(json.RawMessage(`{"type":"array","items":7}`), "result"); err == nil {
		t.Error("what is no schema compiles")
	}
}
