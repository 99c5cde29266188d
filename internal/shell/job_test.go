package shell

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// variables are what a job sets: scalars by name, and arrays.
type variables struct {
	scalars map[string]string
	arrays  map[string][]string
}

// decodeJob reads a job as the runtime does, and fails when it is not what the
// runtime expects.
func decodeJob(t *testing.T, e *encoding) variables {
	t.Helper()
	v := variables{map[string]string{}, map[string][]string{}}
	names := strings.Split(strings.TrimSuffix(e.names.String(), "\n"), " ")
	text, ok := strings.CutSuffix(e.values.String(), "\x00")
	values := strings.Split(text, "\x1f")
	if !ok || strings.ContainsAny(text, "\x00\x01\x7f") || len(values) != len(names) || names[0] != "_conch_group" || names[len(names)-1] != "_conch_more" {
		t.Fatalf("names %q, values %q", names, e.values.String())
	}
	for i, name := range names {
		v.set(t, name, values[i])
	}
	more := e.more.String()
	if (v.scalars["_conch_more"] == "m") != (more != "") || more != "" && !strings.HasSuffix(more, "\n") || strings.ContainsRune(more, 0) {
		t.Fatalf("_conch_more is %q with %q", v.scalars["_conch_more"], more)
	}
	lines := strings.Split(strings.TrimSuffix(more, "\n"), "\n")
	for i := 0; more != "" && i < len(lines); i++ {
		name, rest, ok := strings.Cut(lines[i], " ")
		if !ok || name[0] != '=' && name[0] != ':' {
			t.Fatalf("line %d of %q", i, more)
		}
		isArray := name[0] == ':'
		name = name[1:]
		if !isArray {
			v.set(t, name, unescape(t, rest))
			continue
		}
		n, err := strconv.Atoi(rest)
		if err != nil || i+n >= len(lines) {
			t.Fatalf("line %d of %q", i, more)
		}
		v.arrays[name] = []string{}
		for range n {
			i++
			v.arrays[name] = append(v.arrays[name], unescape(t, lines[i]))
		}
	}
	return v
}

func (v variables) set(t *testing.T, name, value string) {
	t.Helper()
	if _, twice := v.scalars[name]; twice || !isIdentifierPart(name) {
		t.Fatalf("the variable %q, maybe twice", name)
	}
	v.scalars[name] = value
}

// unescape is printf %b for the two escapes there are.
func unescape(t *testing.T, s string) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) || s[i] != 'n' && s[i] != '\\' {
			t.Fatalf("an escape that is none in %q", s)
		}
		b.WriteByte(map[byte]byte{'n': '\n', '\\': '\\'}[s[i]])
	}
	return b.String()
}

func TestAJobSetsAVariableForEveryArgument(t *testing.T) {
	long := strings.Repeat("x", inlineLimit+1)
	tests := []struct {
		name, arguments string
		scalars         map[string]string
		arrays          map[string][]string
	}{
		{"none", `{}`, nil, nil},
		{"strings", `{"a":"x y","b":""}`, map[string]string{"a": "x y", "b": ""}, nil},
		{"numbers as they are written", `{"a":1.50,"b":-0,"c":1e400,"d":9007199254740993}`, map[string]string{"a": "1.50", "b": "-0", "c": "1e400", "d": "9007199254740993"}, nil},
		{"booleans and null", `{"a":true,"b":false,"c":null}`, map[string]string{"a": "true", "b": "false", "c": ""}, nil},
		{"objects as JSON", `{"a":{ "x" : [1, "\u003c"] }}`, map[string]string{"a": `{"x":[1,"\u003c"]}`}, nil},
		{"arrays of scalars", `{"a":[1,"x\ny",null,true],"b":[]}`, nil, map[string][]string{"a": {"1", "x\ny", "", "true"}, "b": {}}},
		{"arrays of others as JSON", `{"a":[1, [2]],"b":[{}]}`, map[string]string{"a": `[1,[2]]`, "b": `[{}]`}, nil},
		{"escapes of JSON", `{"a":"\u0041\/\n\t\"\\"}`, map[string]string{"a": "A/\n\t\"\\"}, nil},
		{"half a surrogate pair", `{"a":"\ud800"}`, map[string]string{"a": "\uFFFD"}, nil},
		{"a separator and bytes that quote", `{"a":"\u001f","b":"\u0001","c":"\u007f"}`, map[string]string{"a": "\x1f", "b": "\x01", "c": "\x7f"}, nil},
		{"a long one among short ones", `{"a":"1","b":"` + long + `","c":"3"}`, map[string]string{"a": "1", "b": long, "c": "3"}, nil},
		{"names that are no identifiers are left out", `{"a b":1,"":2,"é":3,"a-b":4,"a=b":5,"a\nb":6,"a[0]":7,"ok_1":8}`, map[string]string{"ok_1": "8"}, nil},
		{"names that begin with a digit", `{"1":"x","2b":"y"}`, map[string]string{"1": "x", "2b": "y"}, nil},
		{"of two the last", `{"a":1,"b":2,"a":[3]}`, map[string]string{"b": "2"}, map[string][]string{"a": {"3"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := Job{Function: "tool_t", Dir: "/d", Arguments: json.RawMessage(tt.arguments), group: 4194304}.encode()
			if err != nil {
				t.Fatal(err)
			}
			got := decodeJob(t, e)
			if group := got.scalars["_conch_group"]; group != "4194304" {
				t.Errorf("it is for the subshell %q", group)
			}
			if got.scalars["_conch_function"] != "tool_t" || got.scalars["MCP_CALL_TMPDIR"] != "/d" {
				t.Errorf("tool %q, directory %q", got.scalars["_conch_function"], got.scalars["MCP_CALL_TMPDIR"])
			}
			requireArguments(t, got, tt.scalars, tt.arrays)
		})
	}
}

func requireArguments(t *testing.T, got variables, scalars map[string]string, arrays map[string][]string) {
	t.Helper()
	want := map[string]string{}
	for name, value := range scalars {
		want["arg_"+name] = value
	}
	for _, name := range []string{"_conch_group", "_conch_function", "MCP_CALL_TMPDIR", "_conch_arguments", "_conch_more"} {
		want[name] = got.scalars[name]
	}
	if !maps.Equal(got.scalars, want) {
		t.Errorf("the scalars are %.300q, want %.300q", got.scalars, want)
	}
	if len(got.arrays) != len(arrays) {
		t.Errorf("the arrays are %q, want %q", got.arrays, arrays)
	}
	for name, items := range arrays {
		if !slices.Equal(got.arrays["arg_"+name], items) {
			t.Errorf("the array %s is %q, want %q", name, got.arrays["arg_"+name], items)
		}
	}
}

func TestAJobSetsTheVariablesOfATraceThatAreThere(t *testing.T) {
	long := strings.Repeat("x", inlineLimit+1)
	for _, tt := range []struct {
		trace Trace
		want  map[string]string
	}{
		{Trace{}, map[string]string{}},
		{Trace{Traceparent: "p"}, map[string]string{"TRACEPARENT": "p"}},
		{Trace{"p", "s", "b"}, map[string]string{"TRACEPARENT": "p", "TRACESTATE": "s", "BAGGAGE": "b"}},
		{Trace{"p", "", long}, map[string]string{"TRACEPARENT": "p", "BAGGAGE": long}},
	} {
		e, err := Job{Function: "tool_t", Dir: "/d", Arguments: json.RawMessage(`{}`), Trace: tt.trace}.encode()
		if err != nil {
			t.Fatal(err)
		}
		got := decodeJob(t, e).scalars
		maps.DeleteFunc(got, func(name, _ string) bool { return strings.HasPrefix(name, "_conch_") || name == "MCP_CALL_TMPDIR" })
		if !maps.Equal(got, tt.want) {
			t.Errorf("%.60q sets %.200q", tt.trace, got)
		}
	}
}

func TestAJobThatNoShellCanTakeIsRefused(t *testing.T) {
	for _, arguments := range []string{`{"a":"x\u0000"}`, `{"a":["\u0000"]}`} {
		if _, err := (Job{Function: "tool_t", Dir: "/d", Arguments: json.RawMessage(arguments)}).encode(); !errors.Is(err, ErrNUL) {
			t.Errorf("%s: %v", arguments, err)
		}
	}
	for _, job := range []Job{
		{Function: "a\nb", Dir: "/d"},
		{Function: "a\x00", Dir: "/d"},
		{Function: "t", Dir: "/d\n"},
		{Function: "t", Dir: "/d\x00"},
		{Function: "t", Dir: "/d", Arguments: json.RawMessage(`[]`)},
		{Function: "t", Dir: "/d", Arguments: json.RawMessage(`{`)},
		{Function: "t", Dir: "/d", Arguments: json.RawMessage(`"x"`)},
	} {
		if job.Arguments == nil {
			job.Arguments = json.RawMessage(`{}`)
		}
		if _, err := job.encode(); err == nil {
			t.Errorf("%+v is taken", job)
		}
	}
	// What is left to $1 alone is no shell variable.
	if _, err := (Job{Function: "tool_t", Dir: "/d", Arguments: json.RawMessage(`{"a b":"\u0000","c":{"d":"\u0000"}}`)}).encode(); err != nil {
		t.Errorf("a NUL in JSON: %v", err)
	}
}

func FuzzJob(f *testing.F) {
	for _, arguments := range []string{
		`{}`, `{"a":"x","b":[1,"\n",null],"c":{"d":[]},"a":2}`, `{"a":"\\n\\\\","b":"\u001f\u0001\u007f"}`, `{"_conch_function":"x","MCP_CALL_TMPDIR":"y"}`,
		`{"a":"` + strings.Repeat("\\n", inlineLimit) + `"}`, `{"a":[[]],"1":1e400,"é":1}`, `{"a":"\u0000"}`, ` { "a" : [ ] } `,
	} {
		f.Add("tool", "/dir", arguments)
	}
	f.Fuzz(func(t *testing.T, tool, dir, arguments string) {
		e, err := Job{Function: "tool_" + tool, Dir: dir, Arguments: json.RawMessage(arguments)}.encode()
		var members map[string]json.RawMessage
		isObject := json.Unmarshal([]byte(arguments), &members) == nil && members != nil
		if err != nil {
			if isObject && !strings.Contains(arguments, `\u0000`) && !strings.ContainsAny(tool+dir, "\n\x00") {
				t.Errorf("%q is refused: %v", arguments, err)
			}
			return
		}
		if !isObject {
			t.Fatalf("%q is taken", arguments)
		}
		got := decodeJob(t, e)
		if got.scalars["_conch_function"] != "tool_"+tool || got.scalars["MCP_CALL_TMPDIR"] != dir || !sameJSON(t, got.scalars["_conch_arguments"], arguments) {
			t.Errorf("tool %q, directory %q, arguments %q", got.scalars["_conch_function"], got.scalars["MCP_CALL_TMPDIR"], got.scalars["_conch_arguments"])
		}
		scalars, arrays := map[string]string{}, map[string][]string{}
		for name, value := range members {
			if isIdentifierPart(name) {
				sort(t, name, value, scalars, arrays)
			}
		}
		requireArguments(t, got, scalars, arrays)
	})
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var values [2]any
	for i, text := range []string{a, b} {
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&values[i]); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// sort enters an argument where a plain reading of the rules puts it.
func sort(t *testing.T, name string, value json.RawMessage, scalars map[string]string, arrays map[string][]string) {
	t.Helper()
	var items []json.RawMessage
	if value[0] == '[' && json.Unmarshal(value, &items) == nil {
		texts := []string{}
		for _, item := range items {
			if item[0] == '[' || item[0] == '{' {
				scalars[name] = plainText(t, value)
				return
			}
			texts = append(texts, plainText(t, item))
		}
		arrays[name] = texts
		return
	}
	scalars[name] = plainText(t, value)
}

func plainText(t *testing.T, value json.RawMessage) string {
	t.Helper()
	var s *string
	if json.Unmarshal(value, &s) == nil {
		if s == nil {
			return ""
		}
		return *s
	}
	compact, err := json.Marshal(json.RawMessage(value))
	if err != nil {
		t.Fatal(err)
	}
	// Undo what Marshal does for web pages, which the author may have done too.
	if text := string(compact); !strings.ContainsAny(string(value), "<>&\u2028\u2029") {
		return text
	}
	text, err := scalarText(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
