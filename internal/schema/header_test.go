package schema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestASchemaAsksForHeaders(t *testing.T) {
	tests := []struct {
		name, schema string
		want         []Header
	}{
		{"none", `{"type":"object","properties":{"a":{"type":"string"}}}`, nil},
		{"in the order of appearance", `{"properties":{"z":{"type":"string","x-mcp-header":"Zone"},"a":{"x-mcp-header":"Count","type":"integer"},"m":{"type":"boolean","x-mcp-header":"Dry-Run"}}}`,
			[]Header{{"Zone", []string{"z"}, "string"}, {"Count", []string{"a"}, "integer"}, {"Dry-Run", []string{"m"}, "boolean"}}},
		{"in nested objects", `{"properties":{"a":{"type":"object","properties":{"b":{"properties":{"c":{"type":"string","x-mcp-header":"C"}}},"d":{"type":"string","x-mcp-header":"D"}}}}}`,
			[]Header{{"C", []string{"a", "b", "c"}, "string"}, {"D", []string{"a", "d"}, "string"}}},
		{"every character of a token", "{\"properties\":{\"a\":{\"type\":\"string\",\"x-mcp-header\":\"!#$%&'*+-.^_`|~09azAZ\"}}}",
			[]Header{{"!#$%&'*+-.^_`|~09azAZ", []string{"a"}, "string"}}},
		{"a property of that name", `{"properties":{"x-mcp-header":{"type":"string","x-mcp-header":"X"},"properties":{"type":"string","x-mcp-header":"P"},"default":{"type":"string","x-mcp-header":"D"}}}`,
			[]Header{{"X", []string{"x-mcp-header"}, "string"}, {"P", []string{"properties"}, "string"}, {"D", []string{"default"}, "string"}}},
		{"data is no schema", `{"default":{"x-mcp-header":"A"},"properties":{"a":{"type":"string","const":{"x-mcp-header":"A"},"enum":[{"x-mcp-header":"A"}],"examples":[{"x-mcp-header":"A"}]}}}`, nil},
		{"twice what has none", `{"type":"object","type":"object","properties":{"b":{"title":"1","title":"2","type":"string","x-mcp-header":"B"},"a":{},"a":{}}}`, []Header{{"B", []string{"b"}, "string"}}},
		{"a schema that is none", `[1]`, nil},
		{"text that is no JSON", `{"properties":`, nil},
		{"nothing", ``, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, problems := Headers(json.RawMessage(tt.schema))
			if !reflect.DeepEqual(got, tt.want) || problems != nil {
				t.Errorf("got %+v, %q", got, problems)
			}
		})
	}
}

func TestAHeaderThatBreaksARuleIsNotUsed(t *testing.T) {
	property := func(text string) string {
		return `{"properties":{"ok":{"type":"string","x-mcp-header":"Ok"},"a":` + text + `}}`
	}
	tests := []struct {
		name, schema string
		places       []string // that problems name, and what they say there
	}{
		{"an empty name", property(`{"type":"string","x-mcp-header":""}`), []string{"at /properties/a must be a text of letters"}},
		{"a name with a space", property(`{"type":"string","x-mcp-header":"My Region"}`), []string{"at /properties/a must be"}},
		{"a name with a line end", property(`{"type":"string","x-mcp-header":"A\r\nB"}`), []string{"at /properties/a must be"}},
		{"a name beyond ASCII", property(`{"type":"string","x-mcp-header":"Größe"}`), []string{"at /properties/a must be"}},
		{"a name with a colon", property(`{"type":"string","x-mcp-header":"a:b"}`), []string{"at /properties/a must be"}},
		{"no text", property(`{"type":"string","x-mcp-header":true}`), []string{"at /properties/a must be"}},
		{"no type", property(`{"x-mcp-header":"A"}`), []string{`at /properties/a needs a "type"`}},
		{"a number", property(`{"type":"number","x-mcp-header":"A"}`), []string{`at /properties/a needs a "type"`}},
		{"an object", property(`{"type":"object","x-mcp-header":"A"}`), []string{`at /properties/a needs a "type"`}},
		{"several types", property(`{"type":["string","null"],"x-mcp-header":"A"}`), []string{`at /properties/a needs a "type"`}},
		{"at the root", `{"type":"string","x-mcp-header":"A","properties":{"ok":{"type":"string","x-mcp-header":"Ok"}}}`, []string{"at the root belongs to no property"}},
		{"under items", property(`{"items":{"type":"string","x-mcp-header":"A"}}`), []string{"at /properties/a/items cannot be reached"}},
		{"properties under items", property(`{"items":{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}}`), []string{"being under items"}},
		{"under allOf", property(`{"allOf":[{},{"type":"string","x-mcp-header":"A"}]}`), []string{"at /properties/a/allOf/1 cannot be reached"}},
		{"under $defs", `{"$defs":{"d":{"type":"string","x-mcp-header":"A"}},"properties":{"ok":{"type":"string","x-mcp-header":"Ok"},"a":{"$ref":"#/$defs/d"}}}`, []string{"at /$defs/d cannot be reached"}},
		{"under a definition called properties", `{"$defs":{"properties":{"type":"string","x-mcp-header":"A"}},"properties":{"ok":{"type":"string","x-mcp-header":"Ok"}}}`, []string{"at /$defs/properties cannot be reached"}},
		{"under patternProperties", property(`{"patternProperties":{"^b":{"type":"string","x-mcp-header":"A"}}}`), []string{"being under patternProperties"}},
		{"under additionalProperties", property(`{"additionalProperties":{"type":"string","x-mcp-header":"A"}}`), []string{"being under additionalProperties"}},
		{"under if, then and else", property(`{"if":{"x-mcp-header":"A"},"then":{"x-mcp-header":"B"},"else":{"x-mcp-header":"C"}}`), []string{"being under if", "being under then", "being under else"}},
		{"under what nobody knows", property(`{"x-more":{"deep":[{"x-mcp-header":"A"}]}}`), []string{"at /properties/a/x-more/deep/0 cannot be reached"}},
		{"properties that are a list", property(`{"properties":[{"type":"string","x-mcp-header":"A"}]}`), []string{"at /properties/a/properties/0 cannot be reached"}},
		{"the key twice", property(`{"type":"string","x-mcp-header":"A","x-mcp-header":"A"}`), []string{"at /properties/a occurs twice"}},
		{"the type twice", property(`{"type":"string","type":"string","x-mcp-header":"A"}`), []string{`"type" beside it occurs twice`}},
		{"the property twice", property(`{"type":"string","x-mcp-header":"A"},"a":{"type":"string"}`), []string{`the key "a" on the way to it occurs twice`}},
		{"an object above it twice", property(`{"properties":{"b":{"type":"string","x-mcp-header":"A"}},"properties":{}}`), []string{`the key "properties" on the way`}},
		{"the same twice", property(`{"type":"string","x-mcp-header":"Rgn"},"b":{"type":"string","x-mcp-header":"rGN"}`), []string{"at /properties/a is also that at /properties/b", "at /properties/b is also that at /properties/a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, problems := Headers(json.RawMessage(tt.schema))
			if want := []Header{{"Ok", []string{"ok"}, "string"}}; !reflect.DeepEqual(got, want) {
				t.Errorf("got the headers %+v", got)
			}
			if len(problems) != len(tt.places) {
				t.Fatalf("got the problems %q", problems)
			}
			for i, place := range tt.places {
				if !strings.Contains(problems[i], place) || !strings.HasSuffix(problems[i], "it is not used") {
					t.Errorf("got %q, which lacks %q", problems[i], place)
				}
			}
		})
	}
}

func TestDecodeHeader(t *testing.T) {
	tests := []struct {
		value, want string
		ok          bool
	}{
		{"plain", "plain", true},
		{"", "", true},
		{"=?base64?SGVsbG8=?=", "Hello", true},
		{"=?base64?w6TDtsO8?=", "äöü", true},
		{"=?base64??=", "", true},
		{"=?base64?PT9iYXNlNjQ/YT89?=", "=?base64?a?=", true},
		// Not both markers as they have to be: a text like others.
		{"=?base64?SGVsbG8=", "=?base64?SGVsbG8=", true},
		{"=?base64?=", "=?base64?=", true},
		{"=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?=", true},
		{"=?Base64?SGVsbG8=?=", "=?Base64?SGVsbG8=?=", true},
		{"=?utf-8?B?SGVsbG8=?=", "=?utf-8?B?SGVsbG8=?=", true},
		{"SGVsbG8=", "SGVsbG8=", true},
		{"=?base64?SGVsbG8?=", "", false},   // no padding
		{"=?base64?SGVsbG9=?=", "", false},  // bits that belong to nothing
		{"=?base64?SGVs bG8=?=", "", false}, // a space
		{"=?base64?SGVs\nbG8=?=", "", false},
		{"=?base64?_-8=?=", "", false},      // the alphabet for URLs
		{"=?base64?/w==?=", "", false},      // not UTF-8
		{"=?base64?SGVsbG8==?=", "", false}, // padded too much
	}
	for _, tt := range tests {
		if got, ok := DecodeHeader(tt.value); got != tt.want || ok != tt.ok {
			t.Errorf("DecodeHeader(%q): got %q, %v", tt.value, got, ok)
		}
	}
}

func TestAHeaderRepeatsItsArgument(t *testing.T) {
	tests := []struct {
		kind, arguments string
		values          []string
		reason          string // the beginning of it; "" when they agree
	}{
		{"string", `{"a":"eu"}`, []string{"eu"}, ""},
		{"string", ` { "a" : "eu" } `, []string{"eu"}, ""},
		{"string", `{"a":"\u0065u"}`, []string{"eu"}, ""},
		{"string", `{"a":"us","a":"eu"}`, []string{"eu"}, ""},
		{"string", `{"a":""}`, []string{""}, ""},
		{"string", `{"a":"ä"}`, []string{"=?base64?w6Q=?="}, ""},
		{"string", `{"a":" eu\n"}`, []string{"=?base64?IGV1Cg==?="}, ""},
		{"string", `{"a":"=?base64?w6Q=?="}`, []string{"=?base64?PT9iYXNlNjQ/dzZRPT89?="}, ""},
		{"string", `{"a":"=?base64?w6Q=?="}`, []string{"=?base64?w6Q=?="}, `Mcp-Param-Region is "ä", but the argument a is`},
		{"string", `{"a":"eu"}`, []string{"us"}, `Mcp-Param-Region is "us", but the argument a is "eu"`},
		{"string", `{"a":"eu"}`, []string{"EU"}, `Mcp-Param-Region is "EU", but`},
		{"string", `{"a":"eu"}`, nil, "Mcp-Param-Region is missing; it must repeat the argument a"},
		{"string", `{"a":""}`, nil, "Mcp-Param-Region is missing"},
		{"string", `{"a":"eu"}`, []string{"eu", "eu"}, "Mcp-Param-Region occurs 2 times"},
		{"string", `{"a":"eu"}`, []string{"=?base64?ZXU?="}, "Mcp-Param-Region is not padded base64"},
		{"string", `{"a":5}`, []string{"5"}, "Mcp-Param-Region repeats the argument a, which is not of type string"},
		{"string", `{"a":["eu"]}`, []string{"eu"}, "Mcp-Param-Region repeats the argument a, which"},
		// Null or not there.
		{"string", `{"a":null}`, nil, ""},
		{"string", `{}`, nil, ""},
		{"string", ``, nil, ""},
		{"string", `[]`, nil, ""},
		{"string", `{"A":"eu"}`, nil, ""},
		{"string", `{"a":null}`, []string{"null"}, "Mcp-Param-Region is there, but the argument a is not"},
		{"string", `{}`, []string{""}, "Mcp-Param-Region is there, but"},
		{"string", `{"A":"eu"}`, []string{"eu"}, "Mcp-Param-Region is there, but"},
		// Integers.
		{"integer", `{"a":42}`, []string{"42"}, ""},
		{"integer", `{"a":42.0}`, []string{"42"}, ""},
		{"integer", `{"a":100}`, []string{"1e2"}, ""},
		{"integer", `{"a":1E+2}`, []string{"100.00"}, ""},
		{"integer", `{"a":-0}`, []string{"0"}, ""},
		{"integer", `{"a":-7}`, []string{"-7"}, ""},
		{"integer", `{"a":9007199254740993}`, []string{"9007199254740993"}, ""},
		{"integer", `{"a":9007199254740993}`, []string{"9007199254740992"}, `Mcp-Param-Region is "9007199254740992", but the argument a is "9007199254740993"`},
		{"integer", `{"a":1e999999999}`, []string{"10e999999998"}, ""},
		{"integer", `{"a":1e999999999}`, []string{"1e999999998"}, "Mcp-Param-Region is"},
		{"integer", `{"a":42}`, []string{"-42"}, "Mcp-Param-Region is"},
		{"integer", `{"a":42}`, []string{"+42"}, "Mcp-Param-Region is"},
		{"integer", `{"a":42}`, []string{"042"}, "Mcp-Param-Region is"},
		{"integer", `{"a":42}`, []string{"0x2a"}, "Mcp-Param-Region is"},
		{"integer", `{"a":42}`, []string{" 42"}, "Mcp-Param-Region is"},
		{"integer", `{"a":42}`, []string{"42\n"}, "Mcp-Param-Region is"},
		{"integer", `{"a":42}`, []string{"42.5"}, "Mcp-Param-Region is"},
		{"integer", `{"a":42}`, []string{""}, "Mcp-Param-Region is"},
		{"integer", `{"a":42}`, []string{"-"}, "Mcp-Param-Region is"},
		{"integer", `{"a":1.5}`, []string{"1.5"}, "Mcp-Param-Region repeats the argument a, which is not of type integer"},
		{"integer", `{"a":"42"}`, []string{"42"}, "Mcp-Param-Region repeats the argument a, which"},
		// Booleans.
		{"boolean", `{"a":true}`, []string{"true"}, ""},
		{"boolean", `{"a":false}`, []string{"false"}, ""},
		{"boolean", `{"a":true}`, []string{"True"}, "Mcp-Param-Region is"},
		{"boolean", `{"a":true}`, []string{"1"}, "Mcp-Param-Region is"},
		{"boolean", `{"a":false}`, []string{"true"}, "Mcp-Param-Region is"},
		{"boolean", `{"a":"true"}`, []string{"true"}, "Mcp-Param-Region repeats"},
	}
	for _, tt := range tests {
		h := Header{"Region", []string{"a"}, tt.kind}
		got := h.Differs(json.RawMessage(tt.arguments), tt.values)
		if (got == "") != (tt.reason == "") || !strings.HasPrefix(got, tt.reason) {
			t.Errorf("%s, %s with %q: got %q, want %q", tt.kind, tt.arguments, tt.values, got, tt.reason)
		}
	}
}

func TestAHeaderRepeatsANestedArgument(t *testing.T) {
	h := Header{"Zone", []string{"place", "zone"}, "string"}
	tests := []struct {
		arguments string
		values    []string
		agree     bool
	}{
		{`{"place":{"zone":"a"}}`, []string{"a"}, true},
		{`{"place":{"zone":"a"}}`, nil, false},
		{`{"place":{"zone":"b"},"place":{"zone":"a"}}`, []string{"a"}, true},
		{`{"place":{"zone":"a"},"place":{}}`, []string{"a"}, false},
		{`{"place":{"zone":null}}`, nil, true},
		{`{"place":null}`, nil, true},
		{`{"place":null}`, []string{"a"}, false},
		{`{"place":"zone"}`, nil, true},
		{`{"zone":"a"}`, []string{"a"}, false},
	}
	for _, tt := range tests {
		if got := h.Differs(json.RawMessage(tt.arguments), tt.values); (got == "") != tt.agree {
			t.Errorf("%s with %q: %q", tt.arguments, tt.values, got)
		}
	}
}

func TestAReasonRepeatsLittle(t *testing.T) {
	const long = 5000
	h := Header{"Region", []string{"a"}, "string"}
	for _, char := range []string{"x", "ä", "日", "\x01", "\xff", `"`} {
		text := strings.Repeat(char, long)
		argument, err := json.Marshal(map[string]string{"a": text + "y"})
		if err != nil {
			t.Fatal(err)
		}
		got := h.Differs(argument, []string{text})
		if got == "" || len(got) > 700 || !utf8.ValidString(got) || strings.Count(got, char) > 100/len(char) {
			t.Errorf("%q: the reason is %q", char, got)
		}
	}
}

// FuzzHeaders reads any text as a schema, and holds what it asks for against
// any arguments.
func FuzzHeaders(f *testing.F) {
	for _, schema := range []string{
		`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"properties":{"c":{"type":"integer","x-mcp-header":"C"}}}}}`,
		`{"properties":{"a":{"type":"boolean","x-mcp-header":"A","x-mcp-header":"B"}},"allOf":[{"x-mcp-header":"C"}]}`,
		`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`,
		`[[{"x-mcp-header":1}]]`,
	} {
		for _, arguments := range []string{`{"a":"x","b":{"c":1e2}}`, `{"a":null}`, `{"a":true,"a":[]}`, `x`} {
			f.Add(schema, arguments, "x")
			f.Add(schema, arguments, "=?base64?eA==?=")
		}
	}
	f.Fuzz(func(t *testing.T, schema, arguments, value string) {
		headers, problems := Headers(json.RawMessage(schema))
		if (len(headers) > 0 || len(problems) > 0) && !json.Valid([]byte(schema)) {
			t.Fatalf("headers of text that is no JSON: %v %q", headers, problems)
		}
		var names []string
		for _, h := range headers {
			if !isToken(h.Name) || len(h.Path) == 0 || slices.Contains(names, strings.ToLower(h.Name)) {
				t.Errorf("the header %+v", h)
			}
			names = append(names, strings.ToLower(h.Name))
			for _, values := range [][]string{nil, {value}, {value, value}} {
				if reason := h.Differs(json.RawMessage(arguments), values); !utf8.ValidString(reason) || len(reason) > 4<<10 {
					t.Errorf("the reason %q", reason)
				}
			}
			missing, there := h.Differs(json.RawMessage(arguments), nil), h.Differs(json.RawMessage(arguments), []string{value})
			if missing == "" && there == "" {
				t.Errorf("%+v is as good as not there for %s with %q", h, arguments, value)
			}
		}
		if text, ok := DecodeHeader(value); ok && text != value && !utf8.ValidString(text) {
			t.Errorf("%q decodes to %q", value, text)
		}
	})
}
