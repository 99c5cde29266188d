package inplace_test

import (
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/inplace"
)

// server is a value of every kind that can be written.
var server = inplace.Table{
	{Name: "command", Value: "/bin/conch"},
	{Name: "args", Value: []string{"serve", "a b"}},
	{Name: "env", Value: inplace.Table{{Name: "KEY", Value: `<"&">`}}},
}

const written = `{
      "command": "/bin/conch",
      "args": ["serve", "a b"],
      "env": {
        "KEY": "<\"&\">"
      }
    }`

// A change is a text before and after a value has been set. The way back is that
// of a text that is left with all it had.
type change struct {
	name, before, path, after string
	value                     any // "x" if nil
	oneWay                    bool
}

var jsonChanges = []change{
	{name: "nothing", before: "", path: "s.g", value: server, after: "{\n  \"s\": {\n    \"g\": " + written + "\n  }\n}\n", oneWay: true},
	{name: "white space", before: " \n\n", path: "a", after: " \n\n{\n  \"a\": \"x\"\n}\n", oneWay: true},
	{name: "only a comment", before: "// mine", path: "a", after: "// mine\n{\n  \"a\": \"x\"\n}\n", oneWay: true},
	{name: "an empty object", before: "{}", path: "a", after: "{\n  \"a\": \"x\"\n}"},
	{name: "an empty object inside", before: "{\"s\": {}}\n", path: "s.g", after: "{\"s\": {\n  \"g\": \"x\"\n}}\n"},
	{name: "an empty object with a comment", before: "{\n  \"s\": {\n    // none yet\n  }\n}\n", path: "s.g", after: "{\n  \"s\": {\n    // none yet\n    \"g\": \"x\"\n  }\n}\n"},
	{name: "an empty object with a comment on its line", before: "{ /* none */ }", path: "a", after: "{ /* none */ \"a\": \"x\" }"},
	{name: "a line comment in an empty object", before: "{ // none\n}", path: "a", after: "{ // none\n  \"a\": \"x\"\n}"},
	{name: "beside another", before: "{\n  \"s\": {\n    \"a\": {}\n  }\n}\n", path: "s.g", value: server, after: "{\n  \"s\": {\n    \"a\": {},\n    \"g\": " + written + "\n  }\n}\n"},
	{name: "what holds it is missing", before: "{\n  \"a\": 1\n}", path: "s.g", after: "{\n  \"a\": 1,\n  \"s\": {\n    \"g\": \"x\"\n  }\n}", oneWay: true},
	{name: "tabs", before: "{\n\t\"s\": {\n\t\t\"a\": 1\n\t}\n}", path: "s.g", value: inplace.Table{{Name: "n", Value: "x"}}, after: "{\n\t\"s\": {\n\t\t\"a\": 1,\n\t\t\"g\": {\n\t\t\t\"n\": \"x\"\n\t\t}\n\t}\n}"},
	{name: "four blanks", before: "{\n    \"s\": {}\n}", path: "s.g", after: "{\n    \"s\": {\n        \"g\": \"x\"\n    }\n}"},
	{name: "one line", before: `{"s": {"a": {"b": 1}}}`, path: "s.g", value: server, after: `{"s": {"a": {"b": 1}, "g": {"command": "/bin/conch", "args": ["serve", "a b"], "env": {"KEY": "<\"&\">"}}}}`},
	{name: "blanks inside of braces", before: `{ "a": 1 }`, path: "b", after: `{ "a": 1, "b": "x" }`},
	{name: "no blanks", before: `{"a":1}`, path: "b", after: `{"a":1, "b": "x"}`},
	{name: "CRLF", before: "{\r\n  \"s\": {\r\n    \"a\": 1 // c\r\n  }\r\n}\r\n", path: "s.g", after: "{\r\n  \"s\": {\r\n    \"a\": 1, // c\r\n    \"g\": \"x\"\r\n  }\r\n}\r\n"},
	{name: "a byte order mark", before: "\ufeff{\n  \"a\": 1\n}", path: "b", after: "\ufeff{\n  \"a\": 1,\n  \"b\": \"x\"\n}"},
	{name: "a trailing comma", before: "{\n  \"a\": 1,\n}\n", path: "b", after: "{\n  \"a\": 1,\n  \"b\": \"x\",\n}\n"},
	{name: "a trailing comma and a comment", before: "{\n  \"a\": 1, // c\n}\n", path: "b", after: "{\n  \"a\": 1, // c\n  \"b\": \"x\",\n}\n"},
	{name: "a comment before the trailing comma", before: "{\n  \"a\": 1 /* c */,\n}\n", path: "b", after: "{\n  \"a\": 1 /* c */,\n  \"b\": \"x\",\n}\n"},
	{name: "a comment behind the last", before: "{\n  \"a\": 1 // one, // two  \n}", path: "b", after: "{\n  \"a\": 1, // one, // two  \n  \"b\": \"x\"\n}"},
	{name: "comments at the end", before: "{\n  \"a\": 1\n  // one\n\n  /* two\n  */\n}", path: "b", after: "{\n  \"a\": 1,\n  // one\n\n  /* two\n  */\n  \"b\": \"x\"\n}"},
	{name: "a line comment on one line", before: "{\"a\": 1 // c\n}", path: "b", after: "{\"a\": 1, // c\n\"b\": \"x\"\n}"},
	{name: "a comment at the end of the text", before: "{\n  \"a\": 1\n} // end", path: "b", after: "{\n  \"a\": 1,\n  \"b\": \"x\"\n} // end"},
	{name: "slashes in strings", before: `{"a": "// no", "b/*": "*/"}`, path: "c", after: `{"a": "// no", "b/*": "*/", "c": "x"}`},
	{name: "an odd name", before: "{\n  \"a\": 1\n}", path: "a \"b\" \\ é", after: "{\n  \"a\": 1,\n  \"a \\\"b\\\" \\\\ é\": \"x\"\n}"},
	{name: "a name with escapes", before: `{"\u0061": {"b": 1}}`, path: "a.c", after: `{"\u0061": {"b": 1, "c": "x"}}`},

	{name: "another value", before: "{\n  \"a\": \"old\", // c\n  \"b\": 1\n}", path: "a", after: "{\n  \"a\": \"x\", // c\n  \"b\": 1\n}", oneWay: true},
	{name: "another kind", before: "{\n  \"a\": [1, {\"c\": null}] /* c */\n}", path: "a", after: "{\n  \"a\": \"x\" /* c */\n}", oneWay: true},
	{name: "a table for a text", before: "{\n  \"a\": \"old\"\n}", path: "a", value: inplace.Table{{Name: "b", Value: "x"}}, after: "{\n  \"a\": {\n    \"b\": \"x\"\n  }\n}", oneWay: true},
	{name: "the same value", before: "{ \"a\" :\t\"\\u0078\" }", path: "a", after: "{ \"a\" :\t\"\\u0078\" }", oneWay: true},
	{name: "the same table, laid out otherwise", before: `{"a":{"command":"/bin/conch" ,"args":["serve",` + "\n" + `"a b"],"env":{/**/"KEY":"<\"&\">"}}}`, path: "a", value: server,
		after: `{"a":{"command":"/bin/conch" ,"args":["serve",` + "\n" + `"a b"],"env":{/**/"KEY":"<\"&\">"}}}`, oneWay: true},
}

func (c change) run(t *testing.T, parse func([]byte) (inplace.Document, error)) {
	t.Helper()
	d := parsed(t, parse, c.before)
	path := strings.Split(c.path, ".")
	value := c.value
	if value == nil {
		value = "x"
	}
	if err := d.Set(value, path...); err != nil {
		t.Fatal(err)
	}
	if got := string(d.Text()); got != c.after {
		t.Errorf("got\n%q\nwant\n%q", got, c.after)
	}
	if got, err := d.Get(path...); err != nil || !inplace.Equal(got, value) {
		t.Errorf("%#v is there, %v", got, err)
	}
	if err := d.Remove(path...); err != nil {
		t.Fatal(err)
	}
	if got := string(d.Text()); got != c.before && !c.oneWay {
		t.Errorf("once it is removed again:\n%q\nwant\n%q", got, c.before)
	}
	if got, err := d.Get(path...); err != nil || got != nil {
		t.Errorf("%#v is still there, %v", got, err)
	}
}

func parsed(t testing.TB, parse func([]byte) (inplace.Document, error), text string) inplace.Document {
	t.Helper()
	d, err := parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestJSONIsSetAndRemoved(t *testing.T) {
	for _, c := range jsonChanges {
		t.Run(c.name, func(t *testing.T) { c.run(t, inplace.ParseJSON) })
	}
}

// A removal is a text before and after something has been taken out of it.
type removal struct{ name, before, path, after string }

var jsonRemovals = []removal{
	{"nothing at all", "", "a", ""},
	{"not there", "{\"a\": 1}", "b", "{\"a\": 1}"},
	{"nothing on the way", "{\"a\": 1}", "b.c.d", "{\"a\": 1}"},
	{"the first", "{\n  // one\n  \"a\": 1, // two\n  \"b\": 2\n}", "a", "{\n  // one\n // two\n  \"b\": 2\n}"},
	{"one in the middle", "{\n  \"a\": 1,\n  \"b\": {\n    \"c\": 1 // inside\n  },\n  \"d\": 2\n}", "b", "{\n  \"a\": 1,\n  \"d\": 2\n}"},
	{"the last", "{\n  \"a\": 1, // one\n  // two\n  \"b\": 2 // three\n}", "b", "{\n  \"a\": 1 // one\n  // two\n // three\n}"},
	{"the last, with a trailing comma", "{\n  \"a\": 1,\n  \"b\": 2,\n}", "b", "{\n  \"a\": 1,\n}"},
	{"the only one", "{\n  \"a\": {\n    \"b\": 2,\n  }\n}", "a.b", "{\n  \"a\": {}\n}"},
	{"the only one, with comments", "{\n  // one\n  \"b\": 2 // two\n}", "b", "{\n  // one\n // two\n}"},
	{"behind a line comment", "{\"a\": 1, // c\n\"b\": 2}", "b", "{\"a\": 1 // c\n}"},
	{"a comment before the comma", "{\"a\": 1 /* c */, \"b\": 2}", "a", "{ /* c */ \"b\": 2}"},
	{"a comment before the comma of the last but one", "{\"a\": 1 /* c */, \"b\": 2}", "b", "{\"a\": 1 /* c */}"},
}

func TestJSONIsRemoved(t *testing.T) {
	for _, c := range jsonRemovals {
		t.Run(c.name, func(t *testing.T) { c.run(t, inplace.ParseJSON) })
	}
}

func (c removal) run(t *testing.T, parse func([]byte) (inplace.Document, error)) {
	t.Helper()
	d := parsed(t, parse, c.before)
	if err := d.Remove(strings.Split(c.path, ".")...); err != nil {
		t.Fatal(err)
	}
	if got := string(d.Text()); got != c.after {
		t.Errorf("got\n%q\nwant\n%q", got, c.after)
	}
}

// A fault is a text that is not read, or whose path cannot be, and why.
type fault struct{ name, text, path, want string }

var jsonFaults = []fault{
	{"no value", "{\n  \"a\": \n}", "", "line 3, column 1: invalid character '}' at start of value"},
	{"a cut end", "{\n  \"a\": {", "", "line 2, column 9: the text ends in the middle"},
	{"a comment without end", "{} /* a", "", "line 1, column 4: the text ends in the middle"},
	{"something behind", "{}\n[]", "", "line 2, column 1: invalid character '[' after top-level value"},
	{"a comma too many", "{\"a\": 1,, \"b\": 2}", "", "line 1, column 9: invalid character ',' at start of value"},
	{"one quote", "{'a': 1}", "", `line 1, column 2: invalid character '\'' at start of value`},
	{"a merge conflict", "{\n<<<<<<< ours\n", "", "line 2, column 1: invalid character '<' at start of value"},
	{"a line end in a string", "{\"a\": \"b\n\"}", "", "line 1, column 7: invalid literal: \"b\uFFFD\""},
	{"no object", "\n[]", "", "line 2, column 1: it is an array, and has to be an object"},
	{"null", "null", "", "line 1, column 1: it is null, and has to be an object"},
	{"behind a byte order mark", "\ufeff{]", "", "line 1, column 2: invalid character ']' at start of value"},
	{"a depth without end", strings.Repeat("[", 1<<20), "", "line 1, column 10001: it is nested too deeply"},
	{"no object on the way", "{\n  \"s\": null\n}", "s.g", "line 2, column 8: s is null, and has to be an object"},
	{"a string on the way", "{\n  \"s\": {\"g\": \"x\"}\n}", "s.g.env", "line 2, column 14: s.g is a string, and has to be an object"},
	{"twice on the way", "{\"s\": {},\n \"s\": {}}", "s.g", "line 2, column 2: s is there twice; remove one of them"},
	{"twice", "{\"s\": {\"g\": 1,\n\"\\u0067\": 2}}", "s.g", "line 2, column 1: s.g is there twice; remove one of them"},
}

func TestJSONThatCannotBeChanged(t *testing.T) {
	for _, c := range jsonFaults {
		t.Run(c.name, func(t *testing.T) { c.run(t, inplace.ParseJSON) })
	}
}

func (c fault) run(t *testing.T, parse func([]byte) (inplace.Document, error)) {
	t.Helper()
	d, err := parse([]byte(c.text))
	if c.path == "" {
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Split(c.path, ".")
	_, got := d.Get(path...)
	for _, err := range []error{got, d.Set("x", path...), d.Remove(path...)} {
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if string(d.Text()) != c.text {
		t.Errorf("it has changed to %q", d.Text())
	}
}

func TestWhatIsNoValueIsNotWritten(t *testing.T) {
	for _, parse := range []func([]byte) (inplace.Document, error){inplace.ParseJSON, inplace.ParseTOML} {
		for _, value := range []any{nil, 1, inplace.Other("1"), inplace.Table{{Name: "a"}}} {
			d := parsed(t, parse, "")
			if err := d.Set(value, "a"); err == nil || len(d.Text()) > 0 {
				t.Errorf("%#v is written: %q", value, d.Text())
			}
		}
		d := parsed(t, parse, "")
		if err := d.Set("x"); err == nil {
			t.Error("the whole is replaced by a text")
		}
	}
}

func TestBracketsInStringsAndCommentsAreNoDepth(t *testing.T) {
	many := strings.Repeat(`[31m{`, 20_000)
	for _, text := range []string{
		`{"a": "\"` + many + `"}`, "{ // \" " + many + "\n}", "{ /* \" " + many + "*/ }", `{"a\\": "` + many + `"}`,
	} {
		d := parsed(t, inplace.ParseJSON, text)
		if err := d.Set("x", "b"); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatJSONHolds(t *testing.T) {
	d := parsed(t, inplace.ParseJSON, `{"a": "x", "b": ["y", "z"], "c": {"d": [], "e": 1.0}, "f": ["y", 1], "g": null}`)
	want := inplace.Table{
		{Name: "a", Value: "x"}, {Name: "b", Value: []string{"y", "z"}},
		{Name: "c", Value: inplace.Table{{Name: "d", Value: []string{}}, {Name: "e", Value: inplace.Other("1.0")}}},
		{Name: "f", Value: inplace.Other(`["y", 1]`)}, {Name: "g", Value: inplace.Other("null")},
	}
	if got, err := d.Get(); err != nil || !inplace.Equal(got, want) {
		t.Errorf("got %#v, %v", got, err)
	}
}
