package tags

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/schema"
)

// schemaOf is the input schema of a command, which must be one.
func schemaOf(t testing.TB, c Command) string {
	t.Helper()
	text, err := c.InputSchema()
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	if _, err := schema.Compile(text); err != nil {
		t.Fatalf("%s: %v in %s", c.Name, err, text)
	}
	return string(text)
}

func TestSchemasOfProperties(t *testing.T) {
	for _, test := range []struct{ tag, want string }{
		{"@option --a", `{"type":"string"}`},
		{"@option --a  What <b> & c are", `{"type":"string","description":"What <b> & c are"}`},
		{"@option --a <INT>", `{"type":"integer"}`},
		{"@option --a <int>", `{"type":"integer"}`},
		{"@option --a <NUM>", `{"type":"number"}`},
		{"@option --a <URL>", `{"type":"string","format":"uri"}`},
		{"@option --a <DATE>", `{"type":"string","format":"date"}`},
		{"@option --a <JSON> x", `{"description":"x"}`},
		{"@option --a <FILE>", `{"type":"string"}`},
		{"@option --a <DIR>", `{"type":"string"}`},
		{"@option --a <PATH>", `{"type":"string"}`},
		{"@option --a <INTERVAL>", `{"type":"string"}`},
		{"@option --int", `{"type":"string"}`},
		{"@arg a <INT>", `{"type":"integer"}`},
		{"@arg a <INT+>", `{"type":"integer"}`},
		{"@option --a=b", `{"type":"string","default":"b"}`},
		{"@option --a=", `{"type":"string","default":""}`},
		{"@option --a=2 <INT> Levels", `{"type":"integer","description":"Levels","default":2}`},
		{"@option --a=007 <INT>", `{"type":"integer","default":7}`},
		{"@option --a=+5 <INT>", `{"type":"integer","default":5}`},
		{"@option --a=-123456789012345678901234567890 <INT>", `{"type":"integer","default":-123456789012345678901234567890}`},
		{"@option --a=1.50 <NUM>", `{"type":"number","default":1.50}`},
		{"@option --a=.5 <NUM>", `{"type":"number","default":0.5}`},
		{"@option --a=-05. <NUM>", `{"type":"number","default":-5}`},
		{"@option --a=+1e-3 <NUM>", `{"type":"number","default":1e-3}`},
		{`@option --a='{"b": [1]}' <JSON>`, `{"default":{"b":[1]}}`},
		{"@option --a=2 <PORT>", `{"type":"string","default":"2"}`},
		{"@option --a=`fn` <INT>", `{"type":"integer"}`},
		{"@option --a[x|y]", `{"type":"string","enum":["x","y"]}`},
		{"@option --a[=x|y|x]", `{"type":"string","enum":["x","y"],"default":"x"}`},
		{"@option --a[=1|2] <INT>", `{"type":"integer","enum":[1,2],"default":1}`},
		{"@option --a[true|null] <JSON>", `{"enum":[true,null]}`},
		{"@option --a[`fn`]", `{"type":"string"}`},
		{"@option --a[?`fn`]", `{"type":"string"}`},
		{"@option --a*", `{"type":"array","items":{"type":"string"}}`},
		{"@option --a* <INT> x", `{"type":"array","items":{"type":"integer"},"description":"x"}`},
		{"@option --a+", `{"type":"array","items":{"type":"string"},"minItems":1}`},
		{"@option --a*,", `{"type":"array","items":{"type":"string"}}`},
		{"@option --a+,[x|y]", `{"type":"array","items":{"type":"string","enum":["x","y"]},"minItems":1}`},
		{"@option --a*[=x|y]", `{"type":"array","items":{"type":"string","enum":["x","y"]},"default":["x"]}`},
		{"@option --a+[=1|2] <INT>", `{"type":"array","items":{"type":"integer","enum":[1,2]},"default":[1]}`},
		{"@arg a*", `{"type":"array","items":{"type":"string"}}`},
		{"@arg a+ <FILE>", `{"type":"array","items":{"type":"string"},"minItems":1}`},
		{"@arg a~", `{"type":"array","items":{"type":"string"}}`},
		{"@option --a~", `{"type":"array","items":{"type":"string"},"minItems":1}`},
		{"@option --a~ <X> <Y>", `{"type":"array","prefixItems":[{"title":"X","type":"string"},{"title":"Y","type":"string"}],"items":{"type":"string"},"minItems":2}`},
		{"@option --a <X> <X>", `{"type":"array","items":{"type":"string"},"minItems":2,"maxItems":2}`},
		{"@option --a <X> <INT> x", `{"type":"array","prefixItems":[{"title":"X","type":"string"},{"title":"INT","type":"integer"}],"minItems":2,"maxItems":2,"description":"x"}`},
		{"@option --a <X> <INT?>", `{"type":"array","prefixItems":[{"title":"X","type":"string"},{"title":"INT","type":"integer"}],"minItems":1,"maxItems":2}`},
		{"@option --a <X> <INT+>", `{"type":"array","prefixItems":[{"title":"X","type":"string"},{"title":"INT","type":"integer"}],"items":{"type":"integer"},"minItems":2}`},
		{"@option --a <X> <INT*>", `{"type":"array","prefixItems":[{"title":"X","type":"string"},{"title":"INT","type":"integer"}],"items":{"type":"integer"},"minItems":1}`},
		{"@option --a <X?>", `{"type":"string"}`},
		{"@option --a <INT*>", `{"type":"array","items":{"type":"integer"}}`},
		{"@option --a <INT+>", `{"type":"array","items":{"type":"integer"},"minItems":1}`},
		{"@option --a=1 <INT+>", `{"type":"array","items":{"type":"integer"},"minItems":1,"default":[1]}`},
		{"@option --a=1 <INT> <INT>", `{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2}`},
		{"@option --a* <X+>", `{"type":"array","items":{"type":"string"}}`},
		{"@option --a* <X> <X>", `{"type":"array","items":{"type":"array","items":{"type":"string"},"minItems":2,"maxItems":2}}`},
		{"@option --a+ <X> <Y+>", `{"type":"array","items":{"type":"array","prefixItems":[{"title":"X","type":"string"},{"title":"Y","type":"string"}],"items":{"type":"string"},"minItems":2},"minItems":1}`},
		{"@option -D-", `{"type":"object","additionalProperties":{"type":"string"},"maxProperties":1}`},
		{"@option -D-+ <INT>", `{"type":"object","additionalProperties":{"type":"integer"},"minProperties":1}`},
		{"@option -D-*[=x|y]", `{"type":"object","additionalProperties":{"type":"string","enum":["x","y"]}}`},
		{"@flag --a", `{"type":"boolean"}`},
		{"@flag --a  x", `{"type":"boolean","description":"x"}`},
		{"@flag --a*", `{"type":"integer","minimum":0}`},
		{"@option --a <JSON> x\n# @schema a {\"type\": \"object\",\n#   \"minProperties\": 1}", `{"type":"object","minProperties":1,"description":"x"}`},
		{"@option --a=[] <JSON> x\n# @schema --a {\"description\": \"y\"}", `{"description":"y","default":[]}`},
		{"@option --a x\n# @schema a {}", `{"description":"x"}`},
		{"@option --a x\n# @schema a true", `true`},
	} {
		got := schemaOf(t, one(t, "# "+test.tag))
		_, got, _ = strings.Cut(got, `"properties":{`)
		got, _, _ = strings.Cut(got, `},"required"`)
		got = strings.TrimSuffix(got, `},"additionalProperties":false}`)
		_, got, _ = strings.Cut(got, ":")
		if got != test.want {
			t.Errorf("%s:\n%s, want\n%s", test.tag, got, test.want)
		}
	}
}

func TestSchemasOfAllArguments(t *testing.T) {
	for _, test := range []struct{ name, tags, want string }{
		{"no parameters", "# @describe x", `{"type":"object","properties":{},"additionalProperties":false}`},
		{"the order of the tags", "# @flag --b\n# @arg a\n# @option --c", `{"type":"object","properties":{"b":{"type":"boolean"},"a":{"type":"string"},"c":{"type":"string"}},"additionalProperties":false}`},
		{"what is required", "# @option --a-b!\n# @arg c!\n# @option --d\n# @arg e+", `{"type":"object","properties":{"a_b":{"type":"string"},"c":{"type":"string"},"d":{"type":"string"},"e":{"type":"array","items":{"type":"string"},"minItems":1}},"required":["a_b","c","e"],"additionalProperties":false}`},
		{"what has a default", "# @option --a![=b|c]", `{"type":"object","properties":{"a":{"type":"string","enum":["b","c"],"default":"b"}},"additionalProperties":false}`},
		{"what the environment may give", "# @option --a! $$", `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`},
		{"a whole schema", "# @option --a!\n# @schema { \"type\": \"object\",\n#   \"properties\": {\"b\": {}} }\n# words", `{"type":"object","properties":{"b":{}}}`},
	} {
		if got := schemaOf(t, one(t, test.tags)); got != test.want {
			t.Errorf("%s:\n%s, want\n%s", test.name, got, test.want)
		}
	}
}

func TestSchemasOfParametersAboveACommand(t *testing.T) {
	script := parse(t, "# @schema a {\"const\":1}\n# @option --a <JSON>\n# @option --b <JSON>\n# @cmd\nx() { :; }\n# @cmd\n# @option --a\n# @schema b {\"const\":2}\ny() { :; }")
	for i, want := range []string{
		`{"type":"object","properties":{"a":{"const":1},"b":{}},"additionalProperties":false}`,
		`{"type":"object","properties":{"b":{"const":2},"a":{"type":"string"}},"additionalProperties":false}`,
	} {
		if got := schemaOf(t, script.Commands[i]); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestArgumentsThatConform(t *testing.T) {
	c := one(t, "# @option --path!\n# @option --depth=2 <INT>\n# @option --pair <X> <INT>\n# @option -D-*\n# @flag --all\n# @flag --loud*\n# @option --skip+")
	compiled, err := schema.Compile(json.RawMessage(schemaOf(t, c)))
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]bool{
		`{"path":"a","skip":["b"]}`: true,
		`{"path":"a","skip":["b"],"depth":3,"pair":["c",1],"D":{"e":"f"},"all":true,"loud":2}`: true,
		`{"path":"a"}`:                                     false,
		`{"path":"a","skip":[]}`:                           false,
		`{"path":"a","skip":["b"],"depth":"3"}`:            false,
		`{"path":"a","skip":["b"],"pair":["c"]}`:           false,
		`{"path":"a","skip":["b"],"pair":["c",1,2]}`:       false,
		`{"path":"a","skip":["b"],"pair":["c","d"]}`:       false,
		`{"path":"a","skip":["b"],"loud":-1}`:              false,
		`{"path":"a","skip":["b"],"D":{"e":1}}`:            false,
		`{"path":"a","skip":["b"],"something_else":"yes"}`: false,
	} {
		if got := compiled.Check(json.RawMessage(arguments)); (got == "") != want {
			t.Errorf("%s: %q", arguments, got)
		}
	}
}

func TestASchemaOfParametersThatWereNotParsed(t *testing.T) {
	c := Command{Name: "a", Params: []Param{{Kind: Option, Property: "b", Line: 7, Notations: named("INT"), Value: byDefault("x")}}}
	if _, err := c.InputSchema(); err == nil || !strings.Contains(err.Error(), "line 7") || !strings.Contains(err.Error(), "no whole number") {
		t.Error(err)
	}
	c.Params[0].Value, c.Params[0].Schema = Value{}, json.RawMessage{}
	if _, err := c.InputSchema(); err != nil {
		t.Error(err)
	}
}
