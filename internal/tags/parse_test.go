package tags

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// parse reads a script without faults.
func parse(t testing.TB, text string) *Script {
	t.Helper()
	script, err := Parse("dir/disk-tools.v2.sh", []byte(text))
	if err != nil {
		t.Fatalf("%s\n%v", text, err)
	}
	return script
}

// summary has each command as name=function, with its parameters.
func (s *Script) summary() string {
	var all []string
	for _, c := range s.Commands {
		text := c.Name + "=" + c.Function
		for _, p := range c.Params {
			text += " " + p.Property
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func TestCommands(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"no tags", "# a comment\nmain() { :; }\n", ""},
		{"tags above main", "# @describe x\n# @arg a\nmain() { :; }", "disk_tools_v2=main a"},
		{"tags above main, and a helper below", "# @arg a\nmain() { :; }\n_helper() { :; }", "disk_tools_v2=main a"},
		{"tags above everything", "# @arg a\n\nset -e\n_helper() { :; }\nmain() { :; }", "disk_tools_v2=main a"},
		{"tags and no function", "# @arg a\necho $argc_a", "disk_tools_v2= a"},
		{"tags and another function", "# @arg a\nhelp() { :; }\n", "disk_tools_v2= a"},
		{"two commands", "# @cmd\na() { :; }\n\n# @cmd x\n# @flag --c\n\nset -e\nb() { :; }", "a=a, b=b c"},
		{"main beside commands", "# @cmd\na() { :; }\nmain() { :; }", "a=a"},
		{"main as a command", "# @cmd\nmain() { :; }", "main=main"},
		{"the ways to define", "# @cmd\na()\n{\n:\n}\n# @cmd\nfunction b {\n:\n}\n# @cmd\nfunction  c() {\n:\n}\n# @cmd\nd  ( ) (\n:\n)", "a=a, b=b, c=c, d=d"},
		{"odd names", "# @cmd\nget-it() { :; }\n# @cmd\na.b@c() { :; }\n# @cmd\ncat_() { :; }\n# @cmd\n--foo() { :; }", "get_it=get-it, a_b_c=a.b@c, cat=cat_, __foo=--foo"},
		{"names of functions of a list", "# @cmd\ntool_x() { :; }\n# @cmd\ntool_() { :; }\n# @cmd\nx_tool_y() { :; }", "x=tool_x, tool=tool_, x_tool_y=x_tool_y"},
		{"private ones", "# @cmd\n_a() { :; }\n# @cmd\nb() { :; }\n# @cmd\nb::_c() { :; }\n# @cmd\nb::d() { :; }\n# @cmd\n__() { :; }", "b_d=b::d"},
		{"a group", "# @cmd\na() { :; }\n# @cmd\na::b() { :; }\n# @cmd\na::c() { :; }\n# @cmd\na::c::d() { :; }", "a_b=a::b, a_c_d=a::c::d"},
		{"a group with a main", "# @cmd\n# @arg x\na() { :; }\na::main() { :; }\n# @cmd\na::b() { :; }", "a=a::main x, a_b=a::b"},
		{"a group whose name ends in an underscore", "# @cmd\ndo_() { :; }\n# @cmd\ndo_::it() { :; }\ndo::main() { :; }", "do=do::main, do_it=do_::it"},
		{"what is inherited", "# @option --o\n# @arg a\n# @flag -f\n# @cmd\n# @arg b\n# @option --g\nx() { :; }\n# @cmd\n# @option --o! <INT>\n# @arg c\nx::y() { :; }\n# @cmd\nz() { :; }", "x_y=x::y f g o c, z=z o f"},
		{"indented comments", "# @cmd\na() {\n  # @option --b\n  c() { :; }\n}\n", "a=a"},
		{"tags in a here-document", "# @cmd\na() {\n  cat <<EOF\n# @cmd\nb() {\n# @foo\nEOF\n}\n# @cmd\nc() { :; }", "a=a, c=c"},
		{"tags in a string", "# @cmd\na() {\n  cat '\n# @cmd\nb() {\n'\n}\n# @cmd\nc() { :; }", "a=a, c=c"},
		{"tags in a string that does not end", "a='\n# @cmd\nb() {\n:\n}", "b=b"},
		{"lines from Windows", "\ufeff# @cmd x\r\n# @option --a=b\r\n# @option --c <INT>\r\nd() {\r\n}\r\n", "d=d a c"},
		{"many signs", "##@cmd x\n###   @option --a\nb() { :; }", "b=b a"},
		{"no tags after all", "# @\n# @! x\n#!/bin/bash\n# a @cmd\n # @cmd\necho # @cmd\n# @cmd\na() { :; }", "a=a"},
		{"a describe below a cmd", "# @cmd x\n# @describe y\na() { :; }", "a=a"},
		{"other ways to name", "# @cmd\n# @alias l,ls , list a remark\na() { :; }", "a=a"},
	} {
		if got := parse(t, test.text).summary(); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func TestTheNameOfAFileIsThatOfItsCommand(t *testing.T) {
	for file, want := range map[string]string{
		"get_weather.sh": "get_weather", "/srv/x/get-weather.bash": "get_weather", "a": "a", "a.b.sh": "a_b", ".sh": "_sh", "été.sh": "_t_", "dir/": "dir",
	} {
		script, err := Parse(file, []byte("# @describe x"))
		if err != nil || script.Commands[0].Name != want {
			t.Errorf("%q: %v, %+v", file, err, script)
		}
	}
	for _, file := range []string{"", "/", "."} {
		if _, err := Parse(file, []byte("\n# @describe x")); err == nil || !strings.Contains(err.Error(), ":2: the tool has no name") {
			t.Errorf("%q: %v", file, err)
		}
	}
}

func TestDescriptions(t *testing.T) {
	for text, want := range map[string]string{
		"# @describe":                                         "",
		"# @describe   one  ":                                 "one",
		"# @describe one\n# two\n#three":                      "one\ntwo\nthree",
		"# @describe one\n#\n#   - two  \n# \n":               "one\n\n  - two",
		"# @describe\n# one":                                  "one",
		"# @describe one\n\n# two":                            "one",
		"# @describe one\ntwo\n# three":                       "one",
		"# @describe one\n# @arg a\n# two":                    "one",
		"# @describe one\n# @! two\n# three":                  "one\n@! two\nthree",
		"# @describe one\n# @@ -1 +1 @@\n# three":             "one\n@@ -1 +1 @@\nthree",
		"# @describe one\n ## two":                            "one",
		"# @describe one\n## two":                             "one\ntwo",
		"# @describe one\n# shellcheck disable=SC2154\n# two": "one\ntwo",
		"# @describe one\n# \\@two":                           "one\n\\@two",
		"# @describe one\n# two @three":                       "one\ntwo @three",
		"# @describe one\n#\ttwo\n#  three":                   "one\ntwo\n three",
		"# @describe one\n# @describe two":                    "two",
	} {
		if got := parse(t, text).Commands[0].Describe; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	script := parse(t, "# @describe A\n# b\n# @env E c\n# d\n# @cmd F\n# g\n# @option --h i\n#   j\n# @meta readonly\n# k\nl() { :; }")
	c := script.Commands[0]
	got := fmt.Sprintf("%q %q %q %q", script.Describe, c.Env[0].Describe, c.Describe, c.Params[0].Describe)
	if want := `"A\nb" "c\nd" "F\ng" "i\n  j"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestWhatElseAScriptSays(t *testing.T) {
	script := parse(t, "#!/bin/bash\n# @describe x\n# @env A=1\n# @env B\n\n# @cmd\n# @alias y, y-2\n# @env B! own\ny_() { :; }\n_argc_before() { :; }\n_argc_after() { :; }\n")
	if script.File != "dir/disk-tools.v2.sh" || script.Before != "_argc_before" || script.After != "_argc_after" || len(script.Env) != 2 {
		t.Errorf("%+v", script)
	}
	c := script.Commands[0]
	if c.Line != 6 || !reflect.DeepEqual(c.Aliases, []string{"y", "y-2"}) || len(c.Env) != 2 || c.Env[0].Name != "A" || c.Env[0].Line != 3 || c.Env[1].Describe != "own" || !c.Env[1].Required {
		t.Errorf("%+v", c)
	}
	plain := parse(t, "# x\n# @arg a\n# @arg b")
	if c := plain.Commands[0]; c.Line != 2 || c.Params[1].Line != 3 || plain.Before != "" || plain.After != "" {
		t.Errorf("%+v", plain)
	}
}
