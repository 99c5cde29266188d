package bashsdk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/conch-mcp/conch/internal/catalog"
)

func TestToolsAreListedInTheAuthorsOrderAndBytes(t *testing.T) {
	const schema = `{"type":"object","properties":{"z":{"type":"number","minimum":1.50},"a":{"x-unknown":1e400}},"required":["z"]}`
	text := `{
  "tools": [
    {"name": "z", "inputSchema": ` + schema + `, "description": "a\/b \u003c <é>", "_meta": {"b": 1, "a": 2}},
    {"inputSchema": {"type": "object"}, "name": "a", "annotations": {"readOnlyHint": true}}
  ],
  "more": null
}`
	tools, err := parseTools([]byte(text), "")
	if err != nil || len(tools.Problems) > 0 || len(tools.List) != 2 {
		t.Fatalf("%v, %+v", err, tools)
	}
	want := []string{
		`{"name":"z","inputSchema":` + schema + `,"description":"a\/b \u003c <é>","_meta":{"b":1,"a":2}}`,
		`{"inputSchema":{"type":"object"},"name":"a","annotations":{"readOnlyHint":true}}`,
	}
	for i, tool := range tools.List {
		if string(tool.Entry) != want[i] {
			t.Errorf("entry %d is\n%s, want\n%s", i, tool.Entry, want[i])
		}
	}
	if z := tools.Lookup("z"); z.Description != "a/b < <é>" || string(z.InputSchema) != schema {
		t.Errorf("z is %+v", z)
	}
}

func TestEveryProblemOfAToolsListIsTold(t *testing.T) {
	const good = `{"name":"good","inputSchema":{"type":"object"}}`
	tests := []struct {
		name, entries string
		served        []string
		problems      []string
	}{
		{"none", good, []string{"good"}, nil},
		{"no tools", ``, nil, nil},
		{"an entry that is a string", `"x",` + good, []string{"good"}, []string{"entry 1 of the tools list is not a JSON object; it is not served"}},
		{"an entry that is null", good + `,null`, []string{"good"}, []string{"entry 2 of the tools list is not a JSON object; it is not served"}},
		{"an entry that is an array", `[` + good + `]`, nil, []string{"entry 1 of the tools list is not a JSON object; it is not served"}},
		{"no name", `{"inputSchema":{"type":"object"}}`, nil, []string{"entry 1 of the tools list has no name; it is not served"}},
		{"an empty name", `{"name":""}`, nil, []string{"entry 1 of the tools list has no name; it is not served"}},
		{"a name that is null", `{"name":null}`, nil, []string{"entry 1 of the tools list has no name; it is not served"}},
		{"a name that is a number", `{"name":5}`, nil, []string{"entry 1 of the tools list has no name; it is not served"}},
		{"a name in another case", `{"Name":"x"}`, nil, []string{"entry 1 of the tools list has no name; it is not served"}},
		{"a name with a line break", `{"name":"a\nb"}`, nil, []string{"entry 1 of the tools list has a name with a line break or NUL in it; it is not served"}},
		{"a name with a NUL", `{"name":"a\u0000"}`, nil, []string{"entry 1 of the tools list has a name with a line break or NUL in it; it is not served"}},
		{"scopes", `{"name":"x","scopes":["a","b:c"],"inputSchema":{"type":"object"}}`, []string{"x"}, nil},
		{"scopes that are a string", `{"name":"x","scopes":"a"}`, nil, []string{"entry 1 of the tools list (x) has scopes that are no array of scope names; it is not served"}},
		{"scopes that are null", `{"name":"x","scopes":null}`, nil, []string{"entry 1 of the tools list (x) has scopes that are no array of scope names; it is not served"}},
		{"a scope with a space", `{"name":"x","scopes":["a b"]}`, nil, []string{"entry 1 of the tools list (x) has scopes that are no array of scope names; it is not served"}},
		{"no schema", `{"name":"x"}`, []string{"x"}, []string{"entry 1 of the tools list (x) declares no inputSchema; calls are refused"}},
		{"a schema that is null", `{"name":"x","inputSchema":null}`, []string{"x"}, []string{"entry 1 of the tools list (x) declares no inputSchema; calls are refused"}},
		{"a schema that is a boolean", `{"name":"x","inputSchema":true}`, []string{"x"}, []string{"entry 1 of the tools list (x) has an inputSchema that is no JSON object; calls are refused"}},
		{"a schema that is an array", `{"name":"x","inputSchema":[]}`, []string{"x"}, []string{"entry 1 of the tools list (x) has an inputSchema that is no JSON object; calls are refused"}},
		{"a schema of another type", `{"name":"x","inputSchema":{"type":"string"}}`, []string{"x"}, []string{`entry 1 of the tools list (x) has an inputSchema whose type is not "object"; calls are refused`}},
		{"an outputSchema that is a boolean", `{"name":"x","inputSchema":{},"outputSchema":true}`, []string{"x"}, []string{"entry 1 of the tools list (x) has an outputSchema that is no JSON object; it is not shown, and no result is held to it"}},
		{"an outputSchema that is null", `{"name":"x","inputSchema":{},"outputSchema":null}`, []string{"x"}, []string{"entry 1 of the tools list (x) has an outputSchema that is no JSON object; it is not shown, and no result is held to it"}},
		{"requires", `{"name":"x","inputSchema":{"type":"object"},"requires":["elicitation","roots"]}`, []string{"x"}, nil},
		{"requires that is a string", `{"name":"x","inputSchema":{"type":"object"},"requires":"elicitation"}`, []string{"x"}, []string{`entry 1 of the tools list (x) has a requires that is no array of strings; nothing is required`}},
		{"requires with a number", `{"name":"x","inputSchema":{"type":"object"},"requires":["roots",1]}`, []string{"x"}, []string{`entry 1 of the tools list (x) has a requires that is no array of strings; nothing is required`}},
		{"requires what there is not", `{"name":"x","inputSchema":{"type":"object"},"requires":["bogus","roots"]}`, []string{"x"}, []string{`entry 1 of the tools list (x) requires "bogus", which is nothing that clients declare; it is not required`}},
		{"declared twice", good + `,{"name":"a","inputSchema":{}},` + good, []string{"a"}, []string{"the tools list declares good 2 times; it is not served"}},
		{"declared three times", good + `,` + good + `,` + good, nil, []string{"the tools list declares good 3 times; it is not served"}},
		{"several", `5,{"name":"b"},` + good + `,` + good, []string{"b"}, []string{
			"entry 1 of the tools list is not a JSON object; it is not served",
			"entry 2 of the tools list (b) declares no inputSchema; calls are refused",
			"the tools list declares good 2 times; it is not served",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tools, err := parseTools([]byte(`{"tools":[`+tt.entries+`]}`), "")
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(names(tools), tt.served) {
				t.Errorf("served are %q, want %q", names(tools), tt.served)
			}
			if !slices.Equal(tools.Problems, tt.problems) {
				t.Errorf("the problems are\n%s\nwant\n%s", strings.Join(tools.Problems, "\n"), strings.Join(tt.problems, "\n"))
			}
		})
	}
}

func names(tools *catalog.Tools) (names []string) {
	for _, tool := range tools.List {
		names = append(names, tool.Name)
	}
	return names
}

func TestAListThatIsNoneIsAnError(t *testing.T) {
	for text, want := range map[string]string{
		`{"tools":{}}`: `the value of "tools" is not an array`, `{"tools":5}`: `the value of "tools" is not an array`, `{"tools":"[]"}`: `the value of "tools" is not an array`,
		`{}`: "", `{"tools":null}`: "", `{"tools":[]}`: "", `{"Tools":5}`: "",
	} {
		tools, err := parseTools([]byte(text), "")
		if want == "" && (err != nil || len(tools.List)+len(tools.Problems) > 0) || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v, %+v", text, err, tools)
		}
	}
}

func TestListingShowsASchemaThatClientsAccept(t *testing.T) {
	tests := []struct{ name, entry, want string }{
		{"as it was", `{"name":"x","inputSchema":{"type":"object","a":1},"z":1}`, `{"name":"x","inputSchema":{"type":"object","a":1},"z":1}`},
		{"with the type behind", `{"inputSchema":{"a":1,"type":"object"},"name":"x"}`, `{"inputSchema":{"a":1,"type":"object"},"name":"x"}`},
		{"white space goes", "{ \"name\" : \"x\" ,\n\"inputSchema\" : { \"type\" : \"object\" } }", `{"name":"x","inputSchema":{"type":"object"}}`},
		{"the type is added", `{"name":"x","inputSchema":{"properties":{"b":1.50}},"z":"\u00e9"}`, `{"name":"x","inputSchema":{"type":"object","properties":{"b":1.50}},"z":"\u00e9"}`},
		{"the type is added to nothing", `{"inputSchema":{ },"name":"x"}`, `{"inputSchema":{"type":"object"},"name":"x"}`},
		{"none", `{"name":"x"}`, `{"name":"x","inputSchema":{"type":"object"}}`},
		{"null", `{"name":"x","inputSchema":null,"z":1}`, `{"name":"x","inputSchema":{"type":"object"},"z":1}`},
		{"another type", `{"inputSchema":{"type":"array"},"name":"x"}`, `{"inputSchema":{"type":"object"},"name":"x"}`},
		{"no object", `{"name":"x","inputSchema":[{"a":"]"}],"z":[1]}`, `{"name":"x","inputSchema":{"type":"object"},"z":[1]}`},
		{"not one deeper down", `{"name":"x","_meta":{"inputSchema":5},"inputSchema":5}`, `{"name":"x","_meta":{"inputSchema":5},"inputSchema":{"type":"object"}}`},
		{"a key with escapes", `{"name":"x","input\u0053chema":5}`, `{"name":"x","input\u0053chema":{"type":"object"}}`},
		{"an outputSchema", `{"name":"x","outputSchema":{"type":"array"},"inputSchema":{}}`, `{"name":"x","outputSchema":{"type":"array"},"inputSchema":{"type":"object"}}`},
		{"an outputSchema that is none", `{"outputSchema":7,"name":"x","inputSchema":{"type":"object"},"outputSchema":[]}`, `{"name":"x","inputSchema":{"type":"object"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tools, err := parseTools([]byte(`{"tools":[`+tt.entry+`]}`), "")
			if err != nil || len(tools.List) != 1 {
				t.Fatalf("%v, %+v", err, tools)
			}
			if got := string(tools.List[0].Entry); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestATypeOfResultsThatClientsDoNotHaveCanBeLeftOut(t *testing.T) {
	tools, err := parseTools([]byte(`{"tools":[{"\u006eame":"x","outputSchema":{"a":1.50},"inputSchema":{"b":1.50},"z":"\u00e9"}]}`), "")
	if err != nil || len(tools.List) != 1 {
		t.Fatalf("%v, %+v", err, tools)
	}
	tool := tools.List[0]
	if got, want := string(tool.Unstructured), `{"\u006eame":"x","inputSchema":{"type":"object","b":1.50},"z":"\u00e9"}`; got != want {
		t.Errorf("without: %s, want %s", got, want)
	}
	if got, want := string(tool.Bare), `{"\u006eame":"x","inputSchema":{"type":"object"},"z":"\u00e9"}`; got != want {
		t.Errorf("bare: %s, want %s", got, want)
	}
}

// Clients drop a whole list over one inputSchema that is not of type object,
// and of two members they take the last.
func TestOfTwoSchemasClientsSeeOneTheyAccept(t *testing.T) {
	for _, entry := range []string{
		`{"name":"x","inputSchema":{"type":"object"},"inputSchema":5}`,
		`{"name":"x","inputSchema":5,"inputSchema":{"properties":{}}}`,
		`{"name":"x","inputSchema":{"type":"object"},"inputSchema":null}`,
	} {
		tools, err := parseTools([]byte(`{"tools":[`+entry+`]}`), "")
		if err != nil || len(tools.List) != 1 {
			t.Fatalf("%v, %+v", err, tools)
		}
		requireAcceptable(t, tools.List[0])
	}
}

func requireAcceptable(t *testing.T, tool *catalog.Tool) {
	t.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, tool.Entry); err != nil || !bytes.Equal(compact.Bytes(), tool.Entry) {
		t.Errorf("no compact JSON: %v: %s", err, tool.Entry)
	}
	var fields, schema map[string]json.RawMessage
	var name, kind string
	if json.Unmarshal(tool.Entry, &fields) != nil || json.Unmarshal(fields["name"], &name) != nil || name != tool.Name || name == "" {
		t.Errorf("no entry with the name %q: %s", tool.Name, tool.Entry)
	}
	if json.Unmarshal(fields["inputSchema"], &schema) != nil || json.Unmarshal(schema["type"], &kind) != nil || kind != "object" {
		t.Errorf("no inputSchema that clients accept: %s", tool.Entry)
	}
}

func FuzzTools(f *testing.F) {
	for _, entries := range []string{
		``, `{"name":"x","inputSchema":{"type":"object","properties":{"a":{"minimum":1.50}}}}`, `{"name":"x"}`, `{"name":"x","inputSchema":null}`, `{"name":"x","inputSchema":{}}`,
		`{"inputSchema":{"a":1},"name":"x","z":"\u003c\/"},{"name":"x"}`, `{"name":"a\nb"}`, `5,null,[],"x"`, `{"name":"x","inputSchema":5,"inputSchema":6}`,
		`{"name":"x","outputSchema":{}},{"name":"y","outputSchema":5,"inputSchema":{}}`,
		`{"name":"x","input\u0053chema":{"type":["object"]}}`, `{"":"","name":"\ud800","inputSchema":{"type":null}}`, "{ \"name\" :\t\"x\" , \"inputSchema\" : [ ] }",
	} {
		f.Add([]byte(`{"tools":[` + entries + `]}`))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if checkObject(text) != nil {
			return
		}
		tools, err := parseTools(text, "")
		if err != nil {
			return
		}
		for _, problem := range tools.Problems {
			if !utf8.ValidString(problem) || strings.Contains(problem, "\n") {
				t.Errorf("a problem is told as %q", problem)
			}
		}
		seen := map[string]bool{}
		for _, tool := range tools.List {
			if seen[tool.Name] {
				t.Errorf("%q is listed twice", tool.Name)
			}
			seen[tool.Name] = true
			requireAcceptable(t, tool)
			requireOtherBytes(t, text, tool)
		}
	})
}

// requireOtherBytes checks that the members of an entry are the author's, but
// for its schemas.
func requireOtherBytes(t *testing.T, text []byte, tool *catalog.Tool) {
	var list struct {
		Tools []json.RawMessage `json:"tools"`
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil || json.Unmarshal(members["tools"], &list.Tools) != nil {
		t.Fatalf("no list: %q", text)
	}
	for _, entry := range list.Tools {
		if without(entry) == without(tool.Entry) {
			return
		}
	}
	t.Errorf("%s is none of the entries of %q", tool.Entry, text)
}

// without lists the members of an entry but for its schemas, keys and values as
// they are written, white space aside.
func without(entry json.RawMessage) string {
	var compact bytes.Buffer
	_ = json.Compact(&compact, entry)
	dec := json.NewDecoder(&compact)
	all := compact.String()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return all
	}
	var list strings.Builder
	for dec.More() {
		start := dec.InputOffset()
		key, _ := dec.Token()
		var value json.RawMessage
		_ = dec.Decode(&value)
		if key != "inputSchema" && key != "outputSchema" {
			fmt.Fprintln(&list, strings.TrimPrefix(all[start:dec.InputOffset()], ","))
		}
	}
	return list.String()
}
