package annotated

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/invocation"
	"github.com/conch-mcp/conch/internal/schema"
)

// in is an environment that has these variables.
func in(variables map[string]string) Environment {
	return Environment{
		Get: func(name string) (string, bool) {
			value, ok := variables[name]
			return value, ok
		},
	}
}

// has are programs that are there.
func has(programs ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(programs, name) }
}

// readScript reads a script that stands alone in a folder.
func readScript(t testing.TB, text string, env Environment) *Script {
	t.Helper()
	s, err := Read(filepath.Join(t.TempDir(), "it.sh"), []byte(text), env)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var nothing = catalog.NewTools(nil, nil, nil)

// noList is always the same reading of a list without tools.
func noList() *catalog.Tools { return nothing }

// only is the engine of a script's only tool.
func only(t testing.TB, s *Script) catalog.Engine {
	t.Helper()
	tools := s.Tools(noList())
	if len(tools.List) != 1 || len(tools.Problems) > 0 {
		t.Fatalf("%d tools, and %q", len(tools.List), tools.Problems)
	}
	return tools.List[0].Engine
}

// told is what an invocation gives a command, a line for each thing.
func told(v *invocation.Invocation) string {
	var lines []string
	for _, variable := range v.Variables {
		form := map[invocation.Kind]string{invocation.Text: "%s=%q", invocation.List: "%s=list%q", invocation.Pairs: "%s=pairs%q"}[variable.Kind]
		if variable.Kind == invocation.Text {
			lines = append(lines, fmt.Sprintf(form, variable.Name, variable.Values[0]))
			continue
		}
		lines = append(lines, fmt.Sprintf(form, variable.Name, variable.Values))
	}
	for _, name := range v.Unset {
		lines = append(lines, "unset "+name)
	}
	for _, c := range v.Computed {
		lines = append(lines, fmt.Sprintf("%s of %s by %q", c.What, c.Variable, c.Function))
	}
	if len(v.Words) > 0 {
		lines = append(lines, fmt.Sprintf("words %q", v.Words))
	}
	for _, l := range v.Late {
		lines = append(lines, fmt.Sprintf("word %d is %s", l.Word, l.Variable))
	}
	return strings.Join(lines, "; ")
}

func TestBinding(t *testing.T) {
	const unset = "unset argc_x"
	tests := []struct{ tag, arguments, want string }{
		{"@option --x", `{}`, unset},
		{"@option --x", `{"x":"a b"}`, `argc_x="a b"`},
		{"@option --x", `{"x":""}`, `argc_x=""`},
		{"@option --x", `{"x":null}`, unset},
		{"@option --x", `{"x":1,"x":"b"}`, `argc_x="b"`},
		{"@option --x", `{"X":"b"}`, unset},
		{"@option --dry-run.y:z@a", `{"dry_run_y_z_a":"b"}`, `argc_dry_run_y_z_a="b"`},
		{"@option +x", `{"plus_x":"b"}`, `argc_plus_x="b"`},
		{"@option --x!", `{"x":"b"}`, `argc_x="b"`},
		{"@option --x=d", `{}`, `argc_x="d"`},
		{"@option --x=d", `{"x":null}`, unset},
		{`@option --x="a b"`, `{}`, `argc_x="a b"`},
		{"@option --x=", `{}`, `argc_x=""`},
		{"@option --x=2 <INT>", `{}`, `argc_x="2"`},
		{"@option --x=007 <INT>", `{}`, `argc_x="007"`},
		{"@option --x[=a|b]", `{}`, `argc_x="a"`},
		{"@option --x[a|b]", `{"x":"b"}`, `argc_x="b"`},
		{"@option --x=`f`", `{}`, unset + `; value of argc_x by "f"`},
		{"@option --x=`f`", `{"x":"a"}`, `argc_x="a"`},
		{"@option --x=`f` <A+>", `{}`, unset + `; list of argc_x by "f"`},
		{"@option --x[`f`]", `{"x":"a"}`, `argc_x="a"; choices of argc_x by "f"`},
		{"@option --x[?`f`]", `{"x":"a"}`, `argc_x="a"`},
		{"@option --x*", `{"x":["a","","b c"]}`, `argc_x=list["a" "" "b c"]`},
		{"@option --x*", `{"x":[]}`, unset},
		{"@option --x*[`f`]", `{"x":["a"]}`, `argc_x=list["a"]; choices of argc_x by "f"`},
		{"@option --x+", `{"x":["a"]}`, `argc_x=list["a"]`},
		{"@option --x*,", `{"x":["a,b"]}`, `argc_x=list["a,b"]`},
		{"@option --x* <INT>", `{"x":[1,2.0,-3e1]}`, `argc_x=list["1" "2" "-30"]`},
		{"@option --x <A> <B>", `{"x":["a","b"]}`, `argc_x=list["a" "b"]`},
		{"@option --x* <A> <B>", `{"x":[["a","b"],["c","d"]]}`, `argc_x=list["a" "b" "c" "d"]`},
		{"@option --x <A+>", `{"x":["a"]}`, `argc_x=list["a"]`},
		{"@option --x <A?>", `{"x":"a"}`, `argc_x="a"`},
		{"@option --x <A> <B?>", `{"x":["a"]}`, `argc_x=list["a"]`},
		{"@option --x~", `{"x":["a","-b"]}`, `argc_x=list["a" "-b"]`},
		{"@option -D --x-*", `{"x":{"b":"2","a":"1","":"3"}}`, `argc_x=pairs["" "3" "a" "1" "b" "2"]`},
		{"@option -D --x-*", `{"x":{}}`, unset},
		{"@option -D --x-* <INT>", `{"x":{"a":1e2}}`, `argc_x=pairs["a" "100"]`},
		{"@flag --x", `{"x":true}`, `argc_x="1"`},
		{"@flag --x", `{"x":false}`, unset},
		{"@flag --x", `{}`, unset},
		{"@flag --x*", `{"x":3}`, `argc_x="3"`},
		{"@flag --x*", `{"x":3.0}`, `argc_x="3"`},
		{"@flag --x*", `{"x":0}`, unset},
		{"@flag --x*", `{"x":0.0}`, unset},
		{"@option --x <INT>", `{"x":9007199254740993}`, `argc_x="9007199254740993"`},
		{"@option --x <INT>", `{"x":-2.50e1}`, `argc_x="-25"`},
		{"@option --x <INT>", `{"x":1e9999}`, `argc_x="1e9999"`},
		{"@option --x <NUM>", `{"x":1.50}`, `argc_x="1.50"`},
		{"@option --x <NUM>", `{"x":1e400}`, `argc_x="1e400"`},
		{"@option --x <JSON>", `{"x":{ "a" : [1] }}`, `argc_x="{\"a\":[1]}"`},
		{"@option --x <JSON>", `{"x":null}`, `argc_x="null"`},
		{"@option --x <JSON>", `{"x":"text"}`, `argc_x="text"`},
		{"@option --x* <JSON>", `{"x":[[1,[2]],null,{"a":1}]}`, `argc_x=list["[1,[2]]" "null" "{\"a\":1}"]`},
		{"@option --x", `{"x":"\u0000"}`, `argc_x="\x00"`},
		{"@option --x", `{"x":"\ud800"}`, "argc_x=\"\uFFFD\""},
		{"@arg x", `{"x":"a"}`, `argc_x="a"; words ["a"]`},
		{"@arg x", `{}`, unset},
		{"@arg x=d", `{}`, `argc_x="d"; words ["d"]`},
		{"@arg x=`f`", `{}`, unset + `; value of argc_x by "f"; words [""]; word 0 is argc_x`},
		{"@arg x*", `{"x":["a","b"]}`, `argc_x=list["a" "b"]; words ["a" "b"]`},
		{"@arg x~", `{"x":["a","--b"]}`, `argc_x=list["a" "--b"]; words ["a" "--b"]`},
		{"@arg x\n# @arg y", `{"y":"b"}`, `argc_y="b"; unset argc_x; words ["" "b"]`},
		{"@arg w\n# @arg x=`f`\n# @arg y", `{"y":"b"}`, `argc_y="b"; unset argc_w; unset argc_x; value of argc_x by "f"; words ["" "" "b"]; word 1 is argc_x`},
		{"@arg x\n# @arg y*", `{"x":"a"}`, `argc_x="a"; unset argc_y; words ["a"]`},
		{"@option --o\n# @arg x", `{"x":"a","o":"b"}`, `argc_o="b"; argc_x="a"; words ["a"]`},
		{"@env E=d\n# @env F=`f`\n# @env G[a|b]", `{}`, `environment of F by "f"; allowed of G by "a\nb"`},
	}
	for _, tt := range tests {
		s := readScript(t, "f() { :; }\n# @cmd\n# "+tt.tag+"\nc() { :; }\n", in(nil))
		v, err := only(t, s).Invocation(json.RawMessage(tt.arguments))
		if err != nil {
			t.Errorf("%s %s: %v", tt.tag, tt.arguments, err)
			continue
		}
		if got := told(v); got != tt.want {
			t.Errorf("%s %s:\n got %s\nwant %s", tt.tag, tt.arguments, got, tt.want)
		}
		if v.Function != "c" || v.File != "" || v.Program != nil {
			t.Errorf("it runs %+v", v)
		}
	}
}

func TestBoundVariables(t *testing.T) {
	tests := []struct{ tag, value, arguments, want string }{
		{"@option --x! $V", "a b", `{}`, `argc_x="a b"`},
		{"@option --x! $V", "", `{}`, `argc_x=""`},
		{"@option --x! $V", "a", `{"x":"b"}`, `argc_x="b"`},
		{"@option --x=d $V", "a", `{}`, `argc_x="a"`},
		{"@option --x=`f` $V", "a", `{}`, `argc_x="a"`},
		{"@option --x* $V", "a,b", `{}`, `argc_x=list["a,b"]`},
		{"@option --x*, $V", "a,b c,", `{}`, `argc_x=list["a" "b c" ""]`},
		{"@option --x*: $V <INT>", "1:2", `{}`, `argc_x=list["1" "2"]`},
		{"@option --x[a|b] $V", "b", `{}`, `argc_x="b"`},
		{"@option --x[a|b] $V", "c", `{}`, `error: the environment variable V gives x "c", and it may be a, b`},
		{"@option --x[a|b] $V", "c", `{"x":"a"}`, `argc_x="a"`},
		{"@option --x $V <INT>", "7", `{}`, `argc_x="7"`},
		{"@option --x $V <INT>", "seven", `{}`, `error: the environment variable V gives x a value that does not fit: "seven" is no whole number, as <INT> says`},
		{"@flag --x $V", "1", `{}`, `argc_x="1"`},
		{"@flag --x $V", "true", `{}`, `argc_x="1"`},
		{"@flag --x $V", "0", `{}`, "unset argc_x"},
		{"@flag --x $V", "", `{}`, "unset argc_x"},
		{"@flag --x $V", "true", `{"x":false}`, "unset argc_x"},
		{"@flag --x $V", "maybe", `{}`, `error: the environment variable V gives the flag x "maybe", and it may be true or false`},
		{"@flag --x* $V", "3", `{}`, `argc_x="3"`},
		{"@arg x $V", "a", `{}`, `argc_x="a"; words ["a"]`},
	}
	for _, tt := range tests {
		s := readScript(t, "f() { :; }\n# @cmd\n# "+tt.tag+"\nc() { :; }\n", in(map[string]string{"V": tt.value}))
		v, err := only(t, s).Invocation(json.RawMessage(tt.arguments))
		got := fmt.Sprintf("error: %v", err)
		if err == nil {
			got = told(v)
		}
		if got != tt.want {
			t.Errorf("%s with %q:\n got %s\nwant %s", tt.tag, tt.value, got, tt.want)
		}
	}
}

func TestACallChangesNothingForTheNext(t *testing.T) {
	s := readScript(t, "f() { :; }\n# @cmd\n# @env E[a|b]\n# @option --x=`f`\n# @option --y\n# @arg z*\nc() { :; }\n", in(nil))
	e := only(t, s)
	first, err := e.Invocation(json.RawMessage(`{"y":"1"}`))
	if err != nil {
		t.Fatal(err)
	}
	before := told(first)
	if _, err := e.Invocation(json.RawMessage(`{"x":"2","z":["a"]}`)); err != nil {
		t.Fatal(err)
	}
	again, err := e.Invocation(json.RawMessage(`{"y":"1"}`))
	if err != nil || told(first) != before || told(again) != before {
		t.Errorf("it was %s, and is %s and %s", before, told(first), told(again))
	}
}

func TestMissing(t *testing.T) {
	s := readScript(t, "# @env ABOVE!\n# @cmd\n# @env V!\n# @env W\n# @meta require-tools p,q,f\nf() { :; }\nc() { :; }\n", in(map[string]string{"V": ""}))
	got := only(t, s).Missing(has("p"))
	want := []string{"the environment variable ABOVE, which is not set", "the program q, which is not on PATH"}
	if !slices.Equal(got, want) {
		t.Errorf("missing is %q, want %q", got, want)
	}
	v, err := only(t, s).Invocation(json.RawMessage(`{}`))
	if err != nil || !slices.Equal(v.Needs.Variables, []string{"ABOVE", "V"}) || !slices.Equal(v.Needs.Programs, []string{"p", "q", "f"}) {
		t.Errorf("it needs %+v: %v", v.Needs, err)
	}
	if got := s.Wanted(); !slices.Equal(got, []string{"ABOVE", "V"}) {
		t.Errorf("wanted is %q", got)
	}
}

// FuzzBinding binds whatever a schema has let through.
func FuzzBinding(f *testing.F) {
	const script = `f() { :; }
# @cmd
# @option --text
# @option --list*
# @option --several* <A> <B>
# @option --two <INT> <B+>
# @option -D --pairs-* <V>
# @option --int* <INT>
# @option --num <NUM>
# @option --doc <JSON>
# @option --docs* <JSON>
# @option --standard=d
# @flag --set
# @flag --count*
# @arg place=` + "`f`" + `
# @arg rest~
c() { :; }
`
	for _, arguments := range []string{
		`{}`, `{"text":"a\n\u0000","list":["",null],"several":[["a","b"]],"pairs":{"":"","a]=$(x)":"y"}}`, `{"int":[1,2.0,1e3],"num":1e400,"doc":[[null]],"docs":[null,[]]}`,
		`{"set":true,"count":3,"place":"p","rest":["a","-b"]}`, `{"set":false,"count":0.0,"rest":[]}`, `{"text":"\ud800","text":"b"}`, `{"int":[1e999999999]}`, `[`, `{"x":1}`,
	} {
		f.Add([]byte(arguments))
	}
	s := readScript(f, script, in(nil))
	tool := s.Tools(noList()).List[0]
	compiled, err := schema.Compile(tool.InputSchema)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, arguments []byte) {
		if !json.Valid(arguments) || compiled.Check(arguments) != "" {
			return
		}
		v, err := tool.Engine.Invocation(arguments)
		if err != nil {
			t.Fatalf("%q: %v", arguments, err)
		}
		names := map[string]bool{}
		for _, variable := range v.Variables {
			names[variable.Name] = true
			switch n := len(variable.Values); {
			case n == 0, variable.Kind == invocation.Text && n != 1, variable.Kind == invocation.Pairs && n%2 != 0:
				t.Errorf("%s has %q", variable.Name, variable.Values)
			}
		}
		for _, name := range v.Unset {
			if names[name] {
				t.Errorf("%s is set and unset", name)
			}
			names[name] = true
		}
		if len(names) != 14 {
			t.Errorf("%d of the 14 variables are spoken of: %v", len(names), names)
		}
		for _, late := range v.Late {
			if late.Word >= len(v.Words) {
				t.Errorf("word %d of %q", late.Word, v.Words)
			}
		}
	})
}
