package tags

import (
	"errors"
	"strings"
	"testing"
)

// faultyScripts have their faults in want, one a line, each by its beginning and,
// behind three dots, a part of the rest.
var faultyScripts = []struct{ name, text, want string }{
	{"an unknown tag", "# @cmd x\n# @optoin --a\nb() { :; }", "2:3: there is no tag @optoin; expected @describe, @cmd"},
	{"an unknown tag behind a function", "a() { :; }\n\n# @see b", "3:3: there is no tag @see"},
	{"a keyword that goes on", "# @options --a", "1:3: there is no tag @options"},
	{"a keyword and something else", "# @cmd(x)\na() { :; }", `1:7: "(x)" stands here; expected a blank behind @cmd`},
	{"a describe and something else", "# @describe! x", `1:12: "!" stands here; expected a blank`},
	{"a tag behind a function", "# @cmd\na() { :; }\n# @option --b\n# @meta readonly\n# @cmd\nc() { :; }", "3:3: @option stands behind a function and belongs to no command; expected a @cmd above it\n4:3: @meta stands behind a function"},
	{"a cmd without a function", "# @cmd x\n# @option --a\n\n# @cmd\nb() { :; }", "1: no function follows @cmd; expected a function below its tags"},
	{"a cmd at the end", "# @cmd\na() { :; }\n\n# @cmd x\n  b() { :; }\n", "4: no function follows @cmd"},
	{"a function that is a command twice", "# @cmd\na() { :; }\n# @cmd\na() { :; }", "4: a is the name of a command in line 2 already"},
	{"a function that is a command and defined again", "# @cmd\na() { :; }\na() { :; }", "3: a is defined in line 2 already, as a command"},
	{"two functions with one name", "# @cmd\na() { :; }\n# @cmd\na_() { :; }", "4: a is the name of a command in line 2 already"},
	{"two tools with one name", "# @cmd\na-b() { :; }\n# @cmd\na_b() { :; }", "3: the tool a_b is that of the @cmd of line 1 already"},
	{"a tool named like a nested one", "# @cmd\na() { :; }\n# @cmd\na::b() { :; }\n# @cmd\na_b() { :; }", "5: the tool a_b is that of the @cmd of line 3 already"},
	{"a nested command without one above", "# @cmd\na::b() { :; }", "2: a::b has no command above it; expected a @cmd with the function a before"},
	{"a command without a name", "# @cmd\na::() { :; }", "2: the name a:: has a part without a letter"},
	{"an alias that is a command", "# @cmd\na() { :; }\n# @cmd\n# @alias a\nb() { :; }", "4: the alias a is the name of a command in line 2 already"},
	{"an alias that is an alias", "# @cmd\n# @alias x,y\na() { :; }\n# @cmd\n# @alias y\nb() { :; }", "5: the alias y is the name of a command in line 2 already"},
	{"no alias", "# @cmd\n# @alias\na() { :; }", "2:9: the tag ends too early; expected a blank behind @alias"},
	{"an alias with a comma and nothing", "# @cmd\n# @alias a,\na() { :; }", "2:12: the tag ends too early; expected a name, as in @alias l,ls"},

	{"no name", "# @option", "1:10: the tag ends too early; expected a blank behind @option"},
	{"no name behind a blank", "# @option ", "1:11: the tag ends too early; expected a name with its dashes"},
	{"an option without dashes", "# @option a", `1:11: "a" stands here; expected a name with its dashes`},
	{"an option without a name", "# @option -- x", "1:11: dashes without a name"},
	{"an option with a name that is none", "# @option --# x", "1:11: dashes without a name"},
	{"an option with one character that is no name", "# @option -# x", "1:11: dashes without a name"},
	{"an argument with dashes", "# @arg (x)", `1:8: "(x)" stands here; expected the name of an argument`},
	{"a modifier that is none", "# @option --a? <X>", `1:14: "?" stands here; expected a modifier (! * + ~)`},
	{"an argument that goes on too soon", "# @env A(", `1:9: "(" stands here; expected !, =default`},
	{"choices that end in quotes", "# @option --a['b' ", "1:18: the tag ends too early; expected a | or a ]"},
	{"a variable and nothing", "# @env", "1:7: the tag ends too early; expected a blank behind @env"},
	{"a variable with half its choices", "# @env A[b", "1:9: the choices have no end"},
	{"a version and something else", "# @version(1)", `1:11: "(1)" stands here; expected a blank behind @version`},
	{"two modifiers", "# @option --a!* x", `1:15: "*" stands here; expected a modifier`},
	{"a modifier and a default", "# @option --a!=b", "1:15: a default stands behind a modifier; expected one of the two"},
	{"a flag with a value", "# @flag --a=b", `1:12: "=b" stands here; expected a *, a blank`},
	{"a flag that is required", "# @flag --a!", `1:12: "!" stands here; expected a *, a blank`},
	{"a flag with a prefix", "# @flag -D-", "1: a flag has a name that ends in -"},
	{"choices without an end", "# @option --a[b|c", "1:14: the choices have no end; expected a ]"},
	{"choices without a choice", "# @option --a[]", "1:14: there are no choices"},
	{"a default of one choice", "# @option --a[=b]", "1:14: the first of one choice is to be the default; expected at least two"},
	{"a default among later choices", "# @option --a[b|=c]", "1:17: a choice begins with ="},
	{"a function among choices", "# @option --a[b|`c`]", "1:17: a choice begins with `"},
	{"something behind a choice in quotes", "# @option --a['b'c]", `1:18: "c]" stands here; expected a | or a ]`},
	{"something behind the choices", "# @option --a[b]c", `1:17: "c" stands here; expected a blank behind the value`},
	{"something behind a default in quotes", "# @option --a='b'c", `1:18: "c" stands here; expected a blank behind the value`},
	{"a function without a name", "# @option --a=`` x", "1:15: the backtick is followed by no function"},
	{"a function without an end", "# @option --a=`b c`", "1:15: the backtick is followed by no function"},
	{"a function of choices without an end", "# @option --a[`b`x]", `1:18: "x]" stands here; expected a ] behind the function`},
	{"a variable and something else", "# @option --a $B/c", `1:17: "/c" stands here; expected a blank behind the variable`},
	{"a name that is no variable's", "# @arg 2nd $$", "1:12: no variable of the environment can be called 2ND; expected a name for it"},
	{"a notation and something else", "# @option --a <B>c", `1:18: "c" stands here; expected a blank behind the >`},
	{"a place counted in characters", "# @option --a[é|ü]x", `1:19: "x" stands here`},
	{"a separator with several notations", "# @option --a*, <B> <C>", "1: a separator and several notations cannot go together"},
	{"an assigned name with several notations", "# @option --a: <B> <C>", "1: a name that ends in : takes one value"},
	{"a prefix with several notations", "# @option -D-* <B> <C>", "1: a name that ends in - takes one value"},
	{"a prefix and a variable", "# @option -D- $$", "1: a variable of the environment cannot be bound to a name that ends in -"},
	{"a default that is no whole number", "# @option --a=1.5 <INT>", `1: "1.5" is no whole number, as <INT> says`},
	{"a default that is no number", "# @option --a=. <NUM>", `1: "." is no number, as <NUM> says`},
	{"a default that is no JSON", "# @option --a={ <JSON>", `1: "{" is no JSON, as <JSON> says`},
	{"a choice that is no whole number", "# @arg a[1|x] <INT>", `1: "x" is no whole number`},
	{"a parameter twice", "# @option --a-b\n# @arg a_b", "2: a_b is the same argument of a call as that of the @option in line 1"},
	{"a short name twice", "# @option -a --b\n# @flag -a --c", "2: -a is the name of the @option in line 1 already"},
	{"a short name that is a name", "# @option -a\n# @flag -a --c", "2: -a is the name of the @option in line 1 already"},
	{"a name that is a short name", "# @option -a --b\n# @flag -a", "2: -a is the name of the @option in line 1 already"},
	{"a default by no function", "# @cmd\n# @option --a=`_b`\nc() {\n  _b() { :; }\n}", "2: there is no function _b; expected one in this file"},
	{"choices by no function", "# @arg a[`_b`]\n# @env C[?`_d`]", "1: there is no function _b\n2: there is no function _d"},

	{"a variable without a name", "# @env 1A", `1:8: "1A" stands here; expected the name of a variable of the environment`},
	{"a variable with a dash", "# @env A-B", `1:9: "-B" stands here; expected !, =default`},
	{"a variable of several values", "# @env A*", "1: a variable of the environment has one value"},
	{"a variable that takes the rest", "# @env A~", "1: a variable of the environment has one value"},
	{"a variable twice", "# @env A\n# @env A!", "2: A is named in line 1 already"},

	{"no meta", "# @meta", "1:8: the tag ends too early; expected a blank behind @meta"},
	{"no name of a meta", "# @meta =", `1:9: "=" stands here; expected a name, as in @meta readonly`},
	{"a meta and something else", "# @meta a=b", `1:10: "=b" stands here; expected a blank between the name and the value`},
	{"a version without one", "# @meta version", `1:9: @meta version has the value ""; expected a text`},
	{"an old version without one", "# @version", "1:11: the tag ends too early; expected a text"},
	{"a hint that is neither", "# @meta readonly yes", `1:9: @meta readonly has the value "yes"; expected nothing, true or false`},
	{"a timeout with a unit", "# @meta timeout 30s", `1:9: @meta timeout has the value "30s"; expected a number of seconds`},
	{"a timeout of nothing", "# @meta timeout 0", "1:9: @meta timeout"},
	{"a timeout that is none", "# @meta timeout NaN", "1:9: @meta timeout"},
	{"a timeout of ages", "# @meta timeout 1e9", "1:9: @meta timeout"},
	{"something that no client can do", "# @meta requires roots,magic", "1:9: @meta requires has the value \"roots,magic\"; expected elicitation, sampling or roots"},
	{"nothing that is required", "# @meta requires", "1:9: @meta requires"},
	{"no tools that are required", "# @meta require-tools ,", "1:9: @meta require-tools"},
	{"a dotenv of one command", "# @cmd\n# @meta dotenv\na() { :; }", "2: @meta dotenv concerns all commands; expected it above"},
	{"an output schema of all", "# @meta output-schema a.json\n# @cmd\na() { :; }", "1: @meta output-schema concerns one command; expected it below a @cmd"},

	{"no schema", "# @schema", "1:10: the tag ends too early; expected a blank behind @schema"},
	{"a schema of nothing", "# @arg a\n# @schema a", "2:12: the tag ends too early; expected a parameter's name and its schema"},
	{"a schema without a schema", "# @arg a\n# @schema a ", "2: the schema has no end"},
	{"a schema without an end", "# @arg a\n# @schema a {\"b\":\n#  1\n\n# }", "2: the schema has no end; expected a JSON object, in this line and the comments below"},
	{"a schema that is no JSON", "# @arg a\n# @schema a {\n#   \"b\": 1,\n#   c: 2\n# }", "4: the schema is no JSON: invalid character 'c'"},
	{"a schema that is no object", "# @arg a\n# @schema a [1]", "2:13: the schema is no JSON object"},
	{"something behind a schema", "# @arg a\n# @schema a {} x", `2:13: "x" stands behind the schema`},
	{"a schema of no parameter", "# @schema a {}", "1: @schema is about a, which is no parameter"},
	{"a schema that is none", "# @arg a\n# @schema a {\"type\": \"text\"}", "2: @schema does not hold a JSON Schema: ... a"},
	{"a reference that leads nowhere", "# @arg a\n# @schema a {\"$ref\": \"#/b\"}", "2: @schema does not hold a JSON Schema: "},
	{"a whole schema that is no object's", "# @schema {\"type\": \"array\"}", `1: @schema does not hold a JSON Schema: that of all arguments has "type":"object"`},
	{"a whole schema above commands", "# @schema {\"type\": \"object\"}\n# @cmd\na() { :; }", "1: a @schema of all arguments concerns one command; expected it below a @cmd"},
	{"a schema of no parameter above commands", "# @schema b {}\n# @cmd\n# @arg b\na() { :; }", "1: @schema is about b, which is no parameter"},
	{"a schema of no parameter of a command", "# @arg b\n# @cmd\n# @schema b {}\na() { :; }", "3: @schema is about b, which is no parameter"},
	{"a schema of a parameter above that is none", "# @flag --b\n# @cmd\n# @schema b {\"type\":1}\na() { :; }", "3: @schema does not hold a JSON Schema: "},
	{"a whole schema that is none", "# @schema {\"type\": \"object\", \"properties\": 1}", "1: @schema does not hold a JSON Schema"},
	{"two schemas of one", "# @arg a\n# @schema a {}\n# @schema a true", "3: the @schema of line 2 says that already"},
	{"a schema of one and one of all", "# @arg a\n# @schema a {}\n# @schema {\"type\":\"object\"}", "3: the @schema of line 2 says that already, or leaves nothing"},

	{"bytes that are no text", "# @cmd\n# @option --a \xff\nb() { :; }", "2: the text is no UTF-8, or has a NUL in it"},
	{"a NUL in a description", "# @describe x\n# y\n# z\x00\n", "3: the text is no UTF-8, or has a NUL in it"},
	{"a function that nobody can print", "# @arg a=`\xff\x1b`", "1: the text is no UTF-8\n1: there is no function \ufffd\ufffd; expected"},
	{"faults in the order of the lines", "# @option --a=`b`\n# @option --c=\n# @flag d\n# @cmd", "1: there is no function b\n3:9: \"d\" stands here\n4: no function follows"},
}

func TestFaults(t *testing.T) {
	for _, test := range faultyScripts {
		_, err := Parse("a/b.sh", []byte(test.text))
		var got []string
		if err != nil {
			got = strings.Split(err.Error(), "\n")
		}
		wants := strings.Split(test.want, "\n")
		if len(got) != len(wants) {
			t.Errorf("%s: %q, want %q", test.name, got, wants)
			continue
		}
		for i, want := range wants {
			want, part, _ := strings.Cut(want, " ... ")
			if !strings.HasPrefix(got[i], "a/b.sh:"+want) || !strings.Contains(got[i], part) {
				t.Errorf("%s:\n%s, want\n%s", test.name, got[i], want)
			}
		}
	}
}

func TestFaultsCanBeTakenApart(t *testing.T) {
	_, err := Parse("b.sh", []byte("# @flag a\n# @see c"))
	var all Faults
	if !errors.As(err, &all) || len(all) != 2 {
		t.Fatalf("%v", err)
	}
	var first *Fault
	if !errors.As(err, &first) || first != all[0] {
		t.Errorf("%v", first)
	}
	if want := (Fault{File: "b.sh", Line: 1, Column: 9, What: `"a" stands here`, Expected: "a name with its dashes, as in --name, -n --name or -n"}); *first != want {
		t.Errorf("%+v", *first)
	}
}

func TestAFaultTakesAwayWhatItConcerns(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"one command", "# @cmd\n# @option a\na() { :; }\n# @cmd\nb() { :; }", "b=b"},
		{"a command above others", "# @cmd\n# @option a\na() { :; }\n# @cmd\na::b() { :; }\n# @cmd\nc() { :; }", "c=c"},
		{"what stands above all", "# @option a\n# @cmd\na() { :; }", ""},
		{"a tag that belongs to none", "# @cmd\na() { :; }\n# @option --b", "a=a"},
		{"a function that is missing", "# @cmd\n# @option --c=`d`\na() { :; }\n# @cmd\nb() { :; }", "b=b"},
		{"a schema", "# @cmd\n# @schema c {}\na() { :; }\n# @cmd\nb() { :; }", "b=b"},
		{"one that is defined again", "# @cmd\na() { :; }\na() { :; }\n# @cmd\nb() { :; }", "b=b"},
		{"one that is there twice", "# @cmd\na() { :; }\n# @cmd\na() { :; }\n# @cmd\nb() { :; }", "b=b"},
		{"the only one", "# @arg a(\nmain() { :; }", ""},
	} {
		script, err := Parse("x.sh", []byte(test.text))
		if got := script.summary(); got != test.want || err == nil {
			t.Errorf("%s: %s, want %s, and %v", test.name, got, test.want, err)
		}
	}
}
