package casefile

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

const whole = `
# A comment.
env: {UNITS: metric, PORT: 8080, PLACE: "${CONCH_TEST_DIR}/x"}
command: [bash, server.sh]
setup: |
  echo "${CONCH_TEST_DIR}"
inOrder: true
cases:
- name: all there is
  tool: greet
  within: 1m30s
  args: {id: 12345678901234567890, rate: 1.50, tiny: 1e-400, "on": yes, day: 2020-02-03, none: null, list: [true, "1"], in: "${CONCH_TEST_DIR}"}
  answers:
    elicit:
    - {key: go, action: accept, content: {n: 1.0}}
    - {message: sure, action: decline}
    sample: forty-two
    roots: [/a b, file:///c]
  expect:
    text: Hello
    contains: [a, b]
    regexp: ^H
    json: [1, {a: "x<y"}]
    content: [{type: text}]
    isError: true
    progress: [{progress: 1}]
    logs: []
- name: refused
  tool: greet
  answers: {sample: [{key: k, message: m, text: t}], elicit: []}
  expect: {error: {code: -32602, message: unknown}}
`

func TestAFileIsRead(t *testing.T) {
	f, err := Parse("dir/x.test.yaml", []byte(whole), "/tmp/d")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"UNITS=metric", "PORT=8080", "PLACE=/tmp/d/x"}; !reflect.DeepEqual(f.Env, want) {
		t.Errorf("env is %q", f.Env)
	}
	if f.Setup != "echo \"${CONCH_TEST_DIR}\"\n" || fmt.Sprint(f.Command) != "[bash server.sh]" || len(f.Cases) != 2 {
		t.Fatalf("the file is %+v", f)
	}
	c := f.Cases[0]
	if want := `{"id":12345678901234567890,"rate":1.50,"tiny":1e-400,"on":"yes","day":"2020-02-03","none":null,"list":[true,"1"],"in":"/tmp/d"}`; string(c.Args) != want {
		t.Errorf("args are %s", c.Args)
	}
	if c.Name != "all there is" || c.Tool != "greet" || c.Line != 9 || !f.InOrder || c.Within != 90*time.Second {
		t.Errorf("the case is %+v", c)
	}
	if want := (Answers{
		Elicit: []Elicitation{
			{Question{15, "go", ""}, "accept", []byte(`{"n":1.0}`)},
			{Question{16, "", "sure"}, "decline", nil},
		},
		Sample: []Sampling{{Question{Line: 17}, "forty-two"}},
		Roots:  []string{"file:///a%20b", "file:///c"},
	}); !reflect.DeepEqual(c.Answers, want) {
		t.Errorf("the answers are %+v", c.Answers)
	}
	e := c.Expect
	if *e.Text != (Text{"Hello", 20}) || len(e.Contains) != 2 || !e.Regexp[0].MatchString("Hi") || string(e.JSON.JSON) != `[1,{"a":"x<y"}]` ||
		string(e.Content[0].JSON) != `{"type":"text"}` || !e.IsError || len(e.Progress) != 1 || e.Logs == nil || e.Error != nil {
		t.Errorf("what is expected is %+v", e)
	}
	c = f.Cases[1]
	if *c.Expect.Error.Code != -32602 || *c.Expect.Error.Message != "unknown" || c.Within != DefaultWithin || string(c.Args) != "{}" {
		t.Errorf("the case is %+v", c)
	}
	if c.Answers.Elicit == nil || c.Answers.Roots != nil || c.Answers.Sample[0] != (Sampling{Question{30, "k", "m"}, "t"}) {
		t.Errorf("the answers are %+v", c.Answers)
	}
}

func TestAliasesAreFollowed(t *testing.T) {
	f, err := Parse("x", []byte("- {name: a, tool: t, args: &a {x: [1]}}\n- {name: b, tool: t, args: *a}\n"), "")
	if err != nil || string(f.Cases[1].Args) != `{"x":[1]}` {
		t.Errorf("%v, %+v", err, f)
	}
}

func TestFaultsHaveTheirLines(t *testing.T) {
	const begin = "- name: a\n  tool: t\n"
	tests := []struct{ about, text, want string }{
		{"nothing", "", "1: there are no cases; expected a list of them"},
		{"a comment", "# x\n", "1: there are no cases; expected a list of them"},
		{"text", "x\n", "1: expected a list of cases, or a mapping with cases; this is text"},
		{"an empty list", "\n[]\n", "2: the list of cases is empty"},
		{"a mapping without cases", "\nenv: {A: b}\n", "2: there are no cases; expected a list of them as cases"},
		{"no YAML", begin + "  args: {a\n", "3: it is no YAML: "},
		{"a tab", "- name: a\n\ttool: t\n", "2: it is no YAML: "},
		{"two documents", begin + "---\n" + begin, "3: a second document begins; a file of cases is one"},
		{"an unknown member", begin + "  expects: {}\n", `3: a case has no member "expects"; it may have name, tool, args, within, answers, expect`},
		{"an unknown member of expect", begin + "  expect:\n    txt: a\n", `4: expect has no member "txt"; it may have text, contains, `},
		{"an unknown member of the file", "case: []\n", `1: a file of cases has no member "case"; it may have command, env, setup, inOrder, cases`},
		{"a member twice", begin + "  tool: u\n", `3: "tool" is there twice`},
		{"an argument twice", begin + "  args: {a: 1,\n    a: 2}\n", `4: "a" is there twice`},
		{"no name", "- tool: t\n", "1: the case has no name"},
		{"no tool", "\n- name: a\n", "2: the case names no tool to call"},
		{"no case", "- name\n", "1: a case must be a mapping, and is text"},
		{"a name of two lines", "- name: |\n    a\n    b\n  tool: t\n", "1: a name is one line of text"},
		{"the same name", begin + begin, `3: the case in line 1 has the name "a" already`},
		{"a number for text", begin + "  expect: {text: 42}\n", "3: text must be text, and is a number; write it in quotes if that is meant"},
		{"a list for text", begin + "  expect: {text: []}\n", "3: text must be text, and is a list"},
		{"nothing for text", begin + "  expect: {text: }\n", "3: text must be text, and is nothing; write it in quotes if that is meant"},
		{"args that are a list", begin + "  args: [1]\n", "3: args must be a mapping, and is a list"},
		{"a hexadecimal number", begin + "  args: {a: 0x1F}\n", "3: JSON has no number 0x1F; write it in decimal digits, or in quotes if text is meant"},
		{"infinity", begin + "  args: {a: .inf}\n", "3: JSON has no number .inf"},
		{"a type of YAML's own", begin + "  args: {a: !!binary aGk=}\n", "3: JSON has nothing of the type !!binary"},
		{"a merge key", begin + "  args: {<<: {a: 1}}\n", "3: merge keys (<<) are not for files of cases"},
		{"a key that is a list", begin + "  args: {[a]: 1}\n", "3: a key must be text, and is a list"},
		{"a pattern that is none", begin + "  expect: {regexp: '('}\n", "3: error parsing regexp: missing closing ): `(`"},
		{"true that is text", begin + "  expect: {isError: \"true\"}\n", "3: isError must be true or false"},
		{"a code that is text", begin + "  expect: {error: {code: x}}\n", "3: code must be a whole number such as -32602"},
		{"an error with a text", begin + "  expect: {text: a, error: {}}\n", "3: error is an error of the protocol, with which no result comes"},
		{"a time without a unit", begin + "  within: 5\n", "3: within must be a span of time such as 500ms or 30s"},
		{"no time", begin + "  within: -1s\n", "3: within must be a span of time such as 500ms or 30s"},
		{"another action", begin + "  answers: {elicit: [{action: yes}]}\n", "3: action must be accept, decline or cancel"},
		{"content of a refusal", begin + "  answers: {elicit: [{action: cancel, content: {}}]}\n", "3: an answer has content where its action is accept"},
		{"a root that is a number", begin + "  answers: {roots: [1]}\n", "3: what is in roots must be text, and is a number"},
		{"a variable of that name", "env: {\"A=B\": c}\ncases: []\n", `1: "A=B" cannot be a variable of the environment`},
		{"a variable without a value", "env: {A: }\ncases: []\n", "1: A must be text, and is nothing"},
		{"a command of nothing", "command: []\ncases: []\n", "1: command is empty"},
		{"an alias to what it is in", begin + "  args: &a {x: *a}\n", "3: there is more here than a file of cases may hold, or it is too deep"},
	}
	for _, tt := range tests {
		t.Run(tt.about, func(t *testing.T) {
			_, err := Parse("x.test.yaml", []byte(tt.text), "")
			if err == nil || !strings.HasPrefix(err.Error(), "x.test.yaml:"+tt.want) {
				t.Errorf("it says %v\nand should %s", err, tt.want)
			}
		})
	}
}

func TestAllFaultsAreToldAtOnce(t *testing.T) {
	_, err := Parse("x", []byte("- name: a\n  toll: t\n- nome: b\n  tool: t\n"), "")
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("it says %v", err)
	}
}

func TestMuchOfLittleIsRefused(t *testing.T) {
	var b strings.Builder
	b.WriteString("- name: a\n  tool: t\n  args:\n    a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := range 8 {
		fmt.Fprintf(&b, "    a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i), 10), ", "))
	}
	_, err := Parse("x", []byte(b.String()), "")
	if err == nil || !strings.Contains(err.Error(), "more here than a file of cases may hold") || strings.Contains(err.Error(), "\n") {
		t.Errorf("it says %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("- {name: a, tool: t, args: &a {x: *a}}\n"))
	f.Add([]byte("- name: a\n  tool: t\n  args: {<<: *x}\n"))
	f.Add([]byte("---\n...\n---\n- a\n"))
	f.Add([]byte("%YAML 1.1\n---\n- !!map {? [a] : b}\n"))
	f.Add([]byte("- name: \"\\\n  expect: |2-\n"))
	f.Add([]byte("\xff\xfe-\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := Parse("x", text, "/d")
		lines := 1 + strings.Count(strings.TrimSuffix(string(text), "\n"), "\n")
		for _, fault := range faultsOf(err) {
			if fault.Line < 1 || fault.Line > lines {
				t.Errorf("line %d of %d: %v", fault.Line, lines, err)
			}
		}
		for _, c := range file.Cases {
			if err == nil && (c.Name == "" || c.Tool == "" || c.Within <= 0 || len(c.Args) == 0 || c.Args[0] != '{') {
				t.Errorf("a case that is none: %+v", c)
			}
		}
		if err == nil && len(file.Cases) == 0 {
			t.Error("a file without cases")
		}
	})
}

// faultsOf takes apart what Parse joins.
func faultsOf(err error) (faults []*Error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			var fault *Error
			if errors.As(err, &fault) {
				faults = append(faults, fault)
			}
		}
	}
	return faults
}
