package schema

import (
	"encoding/json"
	"strings"
	"testing"
)

func runLenientChecks(t *testing.T, cases []checkCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := compileLenient(t, c.schema).Judge(json.RawMessage(c.arguments))
			if got != c.want || err != nil {
				t.Errorf("Judge(%s)\n got %s, %v\nwant %s", c.arguments, got, err, c.want)
			}
		})
	}
}

func parameter(rules string) string { return `{"properties":{"a":` + rules + `}}` }

func TestALenientSchemaLeavesMalformedKeywordsOut(t *testing.T) {
	for _, rules := range []string{
		`{"type":null}`, `{"type":false}`, `{"type":[]}`, `{"type":["string",7]}`, `{"type":7}`, `{"type":{"x":1}}`,
		`{"minimum":"3"}`, `{"maximum":null}`, `{"exclusiveMinimum":true}`, `{"exclusiveMaximum":false}`, `{"multipleOf":0}`, `{"multipleOf":"2"}`,
		`{"pattern":null}`, `{"pattern":false}`, `{"enum":null}`, `{"enum":false}`, `null`, `[]`,
		`{"required":true}`, `{"required":"a"}`, `{"properties":"b"}`, `{"properties":{"b":5}}`, `{"additionalProperties":"no"}`,
		`{"minLength":"3"}`, `{"minLength":-1}`, `{"minLength":1.5}`, `{"maxItems":null}`, `{"minItems":9e-1}`, `{"uniqueItems":"yes"}`,
		`{"format":5}`, `{"title":5,"description":[],"examples":1,"default":{},"deprecated":"x","$comment":1}`,
		`{"anyOf":[]}`, `{"anyOf":[5]}`, `{"allOf":{}}`, `{"not":5}`, `{"if":1,"then":false}`, `{"contains":"x"}`, `{"propertyNames":[]}`,
		`{"$ref":5}`, `{"$ref":"%zz"}`, `{"$ref":"#/nowhere"}`, `{"$ref":"#nowhere"}`, `{"$ref":"https://example.com/x.json"}`, `{"$ref":"file:///etc/passwd"}`,
		`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"$dynamicRef":"#x"}`, `{"$recursiveRef":5}`, `{"$recursiveAnchor":true}`,
		`{"$id":5}`, `{"$id":"#a"}`, `{"$id":"a\\b"}`, `{"$anchor":"1"}`, `{"$schema":"https://example.com/own"}`, `{"$vocabulary":{"x":1}}`,
		`{"$defs":5}`, `{"$defs":{"x":5}}`, `{"definitions":{"x":{"type":"int"}}}`, `{"dependencies":{"a":5}}`, `{"dependentRequired":{"a":5}}`, `{"dependentSchemas":[]}`,
		`{"patternProperties":{"(":{}}}`, `{"patternProperties":{"b":5}}`,
		`{"items":{"type":[]}}`, `{"items":{"type":["string",7]}}`, `{"items":{"enum":null}}`, `{"items":{"pattern":"("}}`, `{"items":{"items":{"type":"int"}}}`,
		`{"items":null}`, `{"items":[]}`, `{"items":{"properties":7}}`, `{"properties":{"b":{"type":"int","pattern":"(","enum":5}}}`,
	} {
		s := compileLenient(t, parameter(rules))
		for _, value := range []string{`1`, `"x"`, `[1,"x",[2]]`, `{"b":1}`, `null`} {
			if got, err := s.Judge(json.RawMessage(`{"a":` + value + `}`)); got != "" || err != nil {
				t.Errorf("%s with %s: %q, %v", value, rules, got, err)
			}
		}
	}
}

func TestALenientSchemaIsMalformedInOneKeywordOnly(t *testing.T) {
	runLenientChecks(t, []checkCase{
		{"type", parameter(`{"type":"string","minimum":"3"}`), `{"a":1}`, "Invalid type(s): a expected string, got number (1)."},
		{"range", parameter(`{"type":[],"minimum":3}`), `{"a":1}`, "Out-of-range value(s): a=1 below minimum 3."},
		{"sibling of a reference", parameter(`{"$ref":"other.json","enum":["x"]}`), `{"a":1}`, "Invalid value(s): a=1 (allowed: x)."},
		{"one of two references", `{"properties":{"a":{"allOf":[{"$ref":"#/$defs/x"},{"$ref":"#/$defs/y"}]}},"$defs":{"y":{"type":"null"}}}`, `{"a":1}`,
			"Invalid type(s): a expected null, got number (1)."},
		{"unknown name beside a malformed schema", `{"additionalProperties":false,"properties":{"a":null,"b":"x","c":false}}`, `{"z":1}`,
			"Unknown parameter(s): z. Allowed parameters: a, b."},
	})
}

func TestALenientSchemaLeavesDataAlone(t *testing.T) {
	for _, rules := range []string{`{"enum":[{"type":"int","minimum":"3"}]}`, `{"const":{"type":"int","minimum":"3"}}`} {
		s := compileLenient(t, parameter(rules))
		if got, err := s.Judge(json.RawMessage(`{"a":{"type":"int","minimum":"3"}}`)); got != "" || err != nil {
			t.Errorf("%s: %q, %v", rules, got, err)
		}
		if got, err := s.Judge(json.RawMessage(`{"a":{}}`)); got == "" || err != nil {
			t.Errorf("%s accepts another value: %v", rules, err)
		}
	}
	runLenientChecks(t, []checkCase{
		{"names of keywords", `{"properties":{"type":{"type":"integer"},"enum":{"type":"string"},"title":{"type":"null"}}}`,
			`{"type":"x","enum":"y","title":1}`, `Invalid type(s): title expected null, got number (1); type expected integer, got string ("x").`},
	})
}

func TestIdentifiersOfALenientSchemaMayRepeat(t *testing.T) {
	runLenientChecks(t, []checkCase{
		{"$id", `{"properties":{"a":{"$id":"x","type":"null"},"b":{"$id":"x","type":"null"}}}`, `{"b":1}`, "Invalid type(s): b expected null, got number (1)."},
		{"$anchor", `{"properties":{"a":{"$ref":"#x"},"b":{"$anchor":"x","type":"null"},"c":{"$anchor":"x"}}}`, `{"a":1}`,
			"Invalid type(s): a expected null, got number (1)."},
	})
}

func TestATypeThatDoesNotExistHasNoValues(t *testing.T) {
	runLenientChecks(t, []checkCase{
		{"parameter", parameter(`{"type":"int"}`), `{"a":1}`, "Invalid type(s): a expected int, got number (1)."},
		{"empty", parameter(`{"type":""}`), `{"a":1}`, "Invalid type(s): a expected , got number (1)."},
		{"beside another", parameter(`{"type":["int","null"]}`), `{"a":1}`, "Invalid type(s): a expected int or null, got number (1)."},
		{"which counts", parameter(`{"type":["int","null"]}`), `{"a":null}`, ""},
		{"item", parameter(`{"items":{"type":"str"}}`), `{"a":["x"]}`, `Invalid array item(s): a[0] expected str, got string ("x").`},
		{"absent", parameter(`{"type":"int"}`), `{}`, ""},
		{"odd name", `{"properties":{"x/y ~%é":{"type":"int"}}}`, `{"x/y ~%é":1}`, `Invalid type(s): "x/y ~%é" expected int, got number (1).`},
		{"same name twice", parameter(`{"type":["null","null"]}`), `{"a":1}`, "Invalid type(s): a expected null, got number (1)."},
	})
}

func TestTheTypeOfALenientSchemaItselfIsNotRead(t *testing.T) {
	for _, root := range []string{`"string"`, `"array"`, `["object","null"]`, `"int"`, `null`, `["object",5]`, `[]`, `5`} {
		s := compileLenient(t, `{"type":`+root+`,"required":["a"]}`)
		for arguments, want := range map[string]string{
			`{"a":1}`: "",
			`{}`:      "Missing required parameter(s): a.",
			`"x"`:     "Invalid arguments: expected a JSON object, got string.",
			`null`:    "Invalid arguments: expected a JSON object, got null.",
		} {
			if got, err := s.Judge(json.RawMessage(arguments)); got != want || err != nil {
				t.Errorf("%s with type %s: %q, %v", arguments, root, got, err)
			}
		}
	}
}

func TestALenientSchemaKeepsTheRulesOfJSONSchema(t *testing.T) {
	runLenientChecks(t, []checkCase{
		{"nested", nestedSchema, `{"user":{"name":1,"id":1}}`, "Invalid type(s): user.name expected string, got number (1)."},
		{"reference", `{"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"integer"}}}`, `{"a":"x"}`,
			`Invalid type(s): a expected integer, got string ("x").`},
		{"tree", `{"type":"object","properties":{"v":{"type":"integer"},"sub":{"$ref":"#"}}}`, `{"sub":{"sub":1}}`, "Invalid type(s): sub.sub expected object, got number (1)."},
		{"true", parameter(`true`), `{"a":1}`, ""},
		{"false", parameter(`false`), `{"a":1}`, "Invalid value(s): a=1 is not allowed here."},
		{"tuple", parameter(`{"items":[{"type":"null"}],"additionalItems":{"type":"string"}}`), `{"a":[1,2]}`,
			"Invalid array item(s): a[0] expected null, got number (1); a[1] expected string, got number (2)."},
		{"closed tuple", parameter(`{"items":[{"type":"null"}],"additionalItems":false}`), `{"a":[null,2]}`, "Invalid value(s): a[1]=2 is not allowed here."},
		{"draft 4 flag", `{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"minimum":5,"exclusiveMinimum":true}}}`, `{"a":5}`,
			"Out-of-range value(s): a=5 not above exclusiveMinimum 5."},
		{"draft 4 flag that is not set", `{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"maximum":5,"exclusiveMaximum":false}}}`, `{"a":6}`,
			"Out-of-range value(s): a=6 above maximum 5."},
		{"sibling of a reference in draft 7", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$ref":"#/definitions/n","maximum":1}},"definitions":{"n":{"type":"number"}}}`,
			`{"a":5}`, "Out-of-range value(s): a=5 above maximum 1."},
		{"format is an annotation in every draft", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"format":"ipv4"}}}`, `{"a":"x"}`, ""},
		{"enum by value", parameter(`{"enum":[["x"],1.0]}`), `{"a":["x"]}`, ""},
		{"no part of an enum", parameter(`{"enum":["a","b"]}`), `{"a":["a"]}`, `Invalid value(s): a=["a"] (allowed: a, b).`},
		{"enum of one", parameter(`{"enum":"abc"}`), `{"a":"b"}`, `Invalid value(s): a="b" (allowed: abc).`},
		{"required of an object", `{"required":{"y":"b","x":"a"}}`, `{}`, "Missing required parameter(s): a, b."},
		{"required twice", `{"required":["a","a"]}`, `{}`, "Missing required parameter(s): a."},
		{"nothing required", `{"required":[],"properties":[]}`, `{"a":1}`, ""},
	})
}

func TestADefectOfOneParameterIsNoVerdictOnItAlone(t *testing.T) {
	for _, c := range []struct{ rules, value, want string }{
		{`{"enum":5}`, `1`, "enum at /properties/a must be an array, got number"},
		{`{"enum":true}`, `1`, "enum at /properties/a must be an array, got boolean"},
		{`{"pattern":5}`, `"x"`, "pattern at /properties/a must be a string, got number"},
		{`{"pattern":"a("}`, `"x"`, `the pattern "a(" at /properties/a/pattern does not compile: missing closing )`},
		{`"string"`, `1`, "the schema at /properties/a must be an object or a boolean, got string"},
		{`7`, `1`, "the schema at /properties/a must be an object or a boolean, got number"},
		{`["string"]`, `1`, "the schema at /properties/a must be an object or a boolean, got array"},
		{`{"items":"string"}`, `[1]`, "the schema at /properties/a/items must be an object or a boolean, got string"},
		{`{"items":{"enum":5}}`, `[1]`, "enum at /properties/a/items must be an array, got number"},
	} {
		t.Run(c.rules, func(t *testing.T) {
			s := compileLenient(t, `{"required":["b"],"properties":{"a":`+c.rules+`}}`)
			if got, err := s.Judge(json.RawMessage(`{"b":1}`)); got != "" || err != nil {
				t.Errorf("without the parameter: %q, %v", got, err)
			}
			if got, err := s.Judge(json.RawMessage(`{}`)); got != "Missing required parameter(s): b." || err != nil {
				t.Errorf("rejected for another: %q, %v", got, err)
			}
			for _, other := range []string{`,"b":1`, ``} {
				got, err := s.Judge(json.RawMessage(`{"a":` + c.value + other + `}`))
				if got != "" || err == nil || err.Error() != c.want {
					t.Errorf("got %q, %v\nwant %s", got, err, c.want)
				}
			}
			if got := s.Check(json.RawMessage(`{"a":` + c.value + `}`)); got != "Invalid arguments: they could not be judged: "+c.want+"." {
				t.Errorf("Check: %s", got)
			}
		})
	}
}

func TestADefectIsNotTurnedAroundByNot(t *testing.T) {
	s := compileLenient(t, `{"properties":{"a":{"enum":5},"b":{"not":{"$ref":"#/properties/a"}}}}`)
	if got, err := s.Judge(json.RawMessage(`{"b":1}`)); got != "" || err == nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestLenientCompileErrors(t *testing.T) {
	for text, want := range map[string]string{
		``:                         "the schema is missing",
		`null`:                     "the schema is missing",
		`{`:                        "the schema is not valid JSON",
		`true`:                     "the schema must be a JSON object, got boolean",
		`"x"`:                      "the schema must be a JSON object, got string",
		`[{}]`:                     "the schema must be a JSON object, got array",
		`5`:                        "the schema must be a JSON object, got number",
		`{"properties":"a"}`:       "properties at the root must be an object, got string",
		`{"properties":5}`:         "properties at the root must be an object, got number",
		`{"properties":[{}]}`:      "properties at the root must be an object, got array",
		`{"required":"a"}`:         "required at the root must be an array of names, got string",
		`{"required":5}`:           "required at the root must be an array of names, got number",
		`{"required":["a",5]}`:     "required at the root must be an array of names, got array",
		`{"required":{"a":[]}}`:    "required at the root must be an array of names, got array",
		`{"anyOf":[{"$ref":"#"}]}`: "the schema at the root refers to itself without end",
	} {
		if _, err := CompileLenient(json.RawMessage(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestReferencesThatLeadNowhereAreBounded(t *testing.T) {
	var members strings.Builder
	for i := range maxStrayReferences + 1 {
		members.WriteString(`,{"$ref":"#/$defs/` + decimal(i) + `"}`)
	}
	_, err := CompileLenient(json.RawMessage(`{"anyOf":[{}` + members.String() + `]}`))
	if err == nil || err.Error() != "the schema holds too many references that cannot be followed" {
		t.Errorf("got %v", err)
	}
	same := strings.Repeat(`,{"$ref":"defs.json"}`, 1000)
	if got := compileLenient(t, `{"anyOf":[{"required":["a"]}`+same+`]}`).Check(json.RawMessage(`{}`)); got != "" {
		t.Errorf("got %s", got)
	}
}

func TestNumbersAreSpelledInScientificNotation(t *testing.T) {
	for literal, want := range map[string]string{
		"1e2": "1E+2", "123e3": "1.23E+5", "1e-5": "0.00001", "1e-6": "0.000001", "0.0000001": "1E-7", "1.10": "1.10", "1.5e-7": "1.5E-7",
		"1.5e3": "1.5E+3", "1.50e1": "15.0", "10e-1": "1.0", "0.1e1": "1", "-0": "-0", "0": "0", "0.00": "0.00", "0e5": "0E+5", "0e-9": "0E-9",
		"100000000000000000000": "100000000000000000000", "-12.5E-1": "-1.25", "-4503599627370496.5e0": "-4503599627370496.5",
		"0.05": "0.05", "1.5e-400": "1.5E-400", "1e999999999": "1E+999999999", "1e99999999999999999999": "1e99999999999999999999",
	} {
		got := scientific(json.Number(literal))
		if string(got) != want {
			t.Errorf("scientific(%s) = %s, want %s", literal, got, want)
		}
		if parseNumber(string(got)).compare(parseNumber(literal)) != 0 {
			t.Errorf("%s and %s are not equal", literal, got)
		}
	}
	runLenientChecks(t, []checkCase{
		{"within", parameter(`{"type":"string"}`), `{"a":{"x":[1e2,1.10]}}`, `Invalid type(s): a expected string, got object ({"x":[1E+2,1.10]}).`},
		{"bound", parameter(`{"minimum":1e3}`), `{"a":5e1}`, "Out-of-range value(s): a=5E+1 below minimum 1E+3."},
		{"enum", parameter(`{"enum":[1e3]}`), `{"a":5e1}`, "Invalid value(s): a=5E+1 (allowed: 1E+3)."},
	})
}

func TestPatternsMayBeOniguruma(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{`^[[:alpha:]]+$`, "aé", true}, {`^[[:alpha:]]+$`, "a1", false}, {`^[[:alnum:]_-]+$`, "a1_-", true}, {`^[^[:space:]]+$`, "a\u00a0b", false},
		{`^[[:upper:][:digit:]]+$`, "É٣", true}, {`^[[:lower:]]$`, "E", false}, {`^[[:punct:]]+$`, "-_!", true}, {`^[[:xdigit:]]+$`, "0fA", true},
		{`^[[:xdigit:]]+$`, "g", false}, {`^[[:blank:]]$`, "\t", true}, {`^[[:cntrl:]]$`, "\x1b", true}, {`^[[:word:]]+$`, "é_1", true},
		{`^[[:ascii:]]+$`, "é", false}, {`^[[:graph:]]+$`, "é!", true}, {`^[[:graph:]]+$`, " ", false}, {`^[[:print:]]+$`, "é !", true},
		{`^a++ab$`, "aaab", false}, {`^a++b$`, "aaab", true}, {`^(?:ab)*+ab$`, "abab", false}, {`^[ab]?+a$`, "a", false}, {`^\d++1$`, "121", false},
		{`^\p{L}++a$`, "bba", false}, {`^x\u0041*+$`, "xAA", true}, {`^a+?b$`, "aab", true},
		{`^a\Q.[\Eb$`, "a.[b", true}, {`^a\Q.\Eb$`, "axb", false}, {`^\Qab`, "ab", true},
		{`^\x{41}$`, "A", true}, {`^[\x{61}-\x{63}]$`, "b", true}, {`^\x41$`, "A", true}, {`^a\Rb$`, "a\r\nb", true}, {`^a\Kb$`, "ab", true},
		{`^[]a]+$`, "]a", true}, {`^[^]a]$`, "]", false}, {`^[a[]$`, "[", true}, {`^[a&&b]+$`, "&", true}, {`^[a-z]]$`, "a]", true},
		{`^(?#a [note)b$`, "b", true}, {`(?i)^abc$`, "ABC", true}, {`\Aabc\z`, "abc", true}, {`\Aabc\z`, "abc\n", false},
		{`^(?<n>a)\k<n>$`, "aa", true}, {`^(.)\1$`, "xx", true}, {`(?<!x)y`, "xy", false}, {`a{,3}`, "a{,3}", true}, {``, "x", true},
		{`^[[:alpha:]-]+$`, "a-", true}, {`^\[x\]$`, "[x]", true}, {`^(?>a+)b$`, "aab", true},
	} {
		quoted, _ := json.Marshal(c.pattern)
		got, err := compileLenient(t, parameter(`{"pattern":`+string(quoted)+`}`)).Judge(encode(map[string]any{"a": c.text}))
		if err != nil || (got == "") != c.want {
			t.Errorf("%q with %s: %q, %v", c.text, c.pattern, got, err)
		}
	}
}

func TestPatternsAreShownAsWritten(t *testing.T) {
	runLenientChecks(t, []checkCase{
		{"bracket", parameter(`{"pattern":"^[[:alpha:]]++$"}`), `{"a":"1"}`, `Invalid value(s): a="1" does not match pattern ^[[:alpha:]]++$.`},
	})
}

func TestPatternsThatCannotBeRewrittenAreRefused(t *testing.T) {
	for pattern, reason := range map[string]string{
		`\X`: `\X is not supported`, `(?<n>a)\g<n>`: `\g is not supported`, `[[:foo:]]`: `[:foo:] is not supported`,
		`[[:^alpha:]]`: `[:^alpha:] is not supported`, `[a`: "unterminated [] set", `[]`: "unterminated [] set", `a\`: "illegal \\ at end of pattern",
	} {
		quoted, _ := json.Marshal(pattern)
		_, err := compileLenient(t, parameter(`{"pattern":`+string(quoted)+`}`)).Judge(json.RawMessage(`{"a":"x"}`))
		want := "the pattern " + string(quoted) + " at /properties/a/pattern does not compile: " + reason
		want = strings.ReplaceAll(strings.ReplaceAll(want, `\u003c`, "<"), `\u003e`, ">")
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", pattern, err, want)
		}
	}
}

// FuzzCompileLenient feeds any schema: what is no JSON Schema must not keep one
// from compiling, and what is compiled must give an answer.
func FuzzCompileLenient(f *testing.F) {
	for _, text := range []string{
		strictSchema, typedSchema, unionSchema, nestedSchema, malformedSchema, badRangeSchema, `{"$ref":"#/x"}`, `{"required":5}`,
		parameter(`{"type":"int","enum":7,"pattern":"[[:alpha:]]++","items":[1],"$id":"x","$anchor":5,"dependencies":{"b":["c",1]}}`),
		`{"$schema":"http://json-schema.org/draft-04/schema#","properties":{"a":{"minimum":1,"exclusiveMinimum":true,"items":[{}],"additionalItems":false}}}`,
	} {
		for _, arguments := range []string{`{}`, `{"a":[1,1.0,{"b":null}],"name":"x","count":5.5}`, `{"a":"x"}`} {
			f.Add(text, arguments)
		}
	}
	f.Fuzz(func(t *testing.T, text, arguments string) {
		s, err := CompileLenient(json.RawMessage(text))
		if err != nil {
			requireAllowed(t, text, err)
			return
		}
		s.limits.steps = 200_000
		got, err := s.Judge(json.RawMessage(arguments))
		if err != nil && got != "" {
			t.Errorf("both %q and %v", got, err)
		}
		requireSentence(t, got)
	})
}

// requireAllowed knows what only a whole schema can be refused for.
func requireAllowed(t *testing.T, text string, err error) {
	t.Helper()
	for _, allowed := range []string{
		"the schema is missing", "is not valid JSON", "must be a JSON object", "at the root must be", "to itself without end",
		"more than", "nested deeper", "too long", "too many references",
	} {
		if strings.Contains(err.Error(), allowed) {
			return
		}
	}
	t.Errorf("%s: %v", text, err)
}
