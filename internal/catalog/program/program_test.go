package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/invocation"
)

func TestBelow(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"tool", "data.txt", "sub/prog", "-x"} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(folder, name) }
	tests := []struct{ words, want []string }{
		{[]string{"python3", "sub/prog"}, []string{"python3", at("sub/prog")}},
		{[]string{"./tool"}, []string{at("tool")}},
		{[]string{"sub/prog", "data.txt", "other.txt"}, []string{at("sub/prog"), at("data.txt"), "other.txt"}},
		// Without a slash it is one on PATH.
		{[]string{"tool"}, []string{"tool"}},
		// What is not there is looked for where it should be.
		{[]string{"sub/none", "sub/none"}, []string{at("sub/none"), "sub/none"}},
		{[]string{"/bin/sh", "-c", "sub"}, []string{"/bin/sh", "-c", "sub"}},
		// A flag and a folder are no files.
		{[]string{"cat", "-x", "sub"}, []string{"cat", "-x", "sub"}},
		{[]string{"cat", ""}, []string{"cat", ""}},
		{[]string{"../" + filepath.Base(folder) + "/tool"}, []string{at("tool")}},
	}
	for _, tt := range tests {
		if got := Below(folder, tt.words); !slices.Equal(got, tt.want) {
			t.Errorf("%q is %q, want %q", tt.words, got, tt.want)
		}
	}
}

func TestMissing(t *testing.T) {
	has := func(program string) bool { return program == "sh" }
	p := &Program{Words: []string{"no-such-program"}, Lacking: func(func(string) bool) []string { return []string{"something"} }}
	if got := p.Missing(has); len(got) != 2 || got[0] != "something" || !strings.Contains(got[1], "no-such-program") {
		t.Errorf("missing is %q", got)
	}
	if got := (&Program{Words: []string{"sh"}}).Missing(has); got != nil {
		t.Errorf("missing is %q", got)
	}
}

func TestADeclaredArgumentHasTheVariableOfItsName(t *testing.T) {
	p := &Program{Words: []string{"x"}, Declared: []string{"file"}}
	for _, arguments := range []string{`{"File":"evil","file":"good","FILE":"evil"}`, `{"file":"good","File":"evil"}`} {
		v, err := p.Invocation(json.RawMessage(arguments))
		if err != nil || len(v.Variables) != 1 || v.Variables[0].Name != "ARG_FILE" || v.Variables[0].Values[0] != "good" {
			t.Errorf("%s: %+v, %v", arguments, v.Variables, err)
		}
	}
}

func TestThereAreSoManyVariablesAndNoMore(t *testing.T) {
	object := map[string]string{}
	for i := range 2 * mostVariables {
		object[fmt.Sprint("n", i)] = ""
	}
	arguments, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := (&Program{Words: []string{"x"}}).Invocation(arguments); err != nil || len(v.Variables) != mostVariables {
		t.Errorf("%d variables, %v", len(v.Variables), err)
	}
	long := `{"` + strings.Repeat("n", longestOfThemAll) + `":"","b":""}`
	if v, err := (&Program{Words: []string{"x"}}).Invocation(json.RawMessage(long)); err != nil || len(v.Variables) != 1 {
		t.Errorf("%d variables, %v", len(v.Variables), err)
	}
}

func TestInvocation(t *testing.T) {
	fits, tooLong := strings.Repeat("x", longestVariable), strings.Repeat("x", longestVariable+1)
	quoted := func(text string) string { return `"` + text + `"` }
	many, manyNames := `{"a0":`+quoted(fits), []string{"ARG_A0=" + fits}
	for i := 1; i < 9; i++ {
		many += fmt.Sprintf(`,"a%d":%s`, i, quoted(fits))
		if i < 7 {
			manyNames = append(manyNames, fmt.Sprintf("ARG_A%d=%s", i, fits))
		}
	}
	tests := []struct {
		name, arguments string
		standard        []Argument
		input           string
		variables       []string
	}{
		{"none", `{}`, nil, `{}`, nil},
		{"in their order", `{ "b" : 1 , "a" : [ 2 ] }`, nil, `{"b":1,"a":[2]}`, []string{"ARG_B=1", "ARG_A=[2]"}},
		{"of two the last, in the place of the first", `{"a":1,"b":2,"a":3}`, nil, `{"a":3,"b":2}`, []string{"ARG_A=3", "ARG_B=2"}},
		{"every kind", `{"s":"x\ny","t":true,"f":false,"n":null,"d":1.50,"o":{"k":"<"}}`, nil, `{"s":"x\ny","t":true,"f":false,"n":null,"d":1.50,"o":{"k":"<"}}`, []string{"ARG_S=x\ny", "ARG_T=true", "ARG_F=false", "ARG_D=1.50", `ARG_O={"k":"<"}`}},
		{"names", `{"dry-run":1,"é":2,"a b":3,"x.y":4,"":5}`, nil, `{"dry-run":1,"é":2,"a b":3,"x.y":4,"":5}`, []string{"ARG_DRY_RUN=1", "ARG__=2", "ARG_A_B=3", "ARG_X_Y=4", "ARG_=5"}},
		{"names that become one: the first", `{"a-b":1,"a_b":2,"A_B":3}`, nil, `{"a-b":1,"a_b":2,"A_B":3}`, []string{"ARG_A_B=1"}},
		{"a NUL", `{"a":"x\u0000","b":1}`, nil, `{"a":"x\u0000","b":1}`, []string{"ARG_B=1"}},
		{"as long as can be", `{"a":` + quoted(fits) + `}`, nil, `{"a":` + quoted(fits) + `}`, []string{"ARG_A=" + fits}},
		{"too long", `{"a":` + quoted(tooLong) + `,"b":1}`, nil, `{"a":` + quoted(tooLong) + `,"b":1}`, []string{"ARG_B=1"}},
		{"too long together", many + `}`, nil, many + `}`, manyNames},
		{"what is standard", `{"b":2}`, []Argument{{Name: "a", Value: json.RawMessage(`1`)}, {Name: "b", Value: json.RawMessage(`1`)}}, `{"b":2,"a":1}`, []string{"ARG_B=2", "ARG_A=1"}},
		{"null is given", `{"a":null}`, []Argument{{Name: "a", Value: json.RawMessage(`1`)}}, `{"a":null}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := &Program{Words: []string{"/x", "y"}, Standard: tt.standard, Wants: []string{"W"}, Defaults: []string{"D=1"}}
			v, err := p.Invocation(json.RawMessage(tt.arguments))
			if err != nil {
				t.Fatal(err)
			}
			if string(v.Input) != tt.input+"\n" {
				t.Errorf("the input is %.300q, want %.300q", v.Input, tt.input)
			}
			var got []string
			for _, variable := range v.Variables {
				if variable.Kind != invocation.Text || !variable.Export {
					t.Errorf("%s is %+v", variable.Name, variable.Kind)
				}
				got = append(got, variable.Name+"="+variable.Values[0])
			}
			if !slices.Equal(got, tt.variables) {
				t.Errorf("the variables are %.300q, want %.300q", got, tt.variables)
			}
			if !slices.Equal(v.Program, p.Words) || !slices.Equal(v.Wants, p.Wants) || !slices.Equal(v.Defaults, p.Defaults) {
				t.Errorf("it runs %+v", v)
			}
		})
	}
}

func TestAValueThatIsOfNoUse(t *testing.T) {
	broken := errors.New("broken")
	p := &Program{Words: []string{"x"}, Standard: []Argument{{Name: "a", Err: broken}}}
	if _, err := p.Invocation(json.RawMessage(`{}`)); !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	if _, err := p.Invocation(json.RawMessage(`{"a":1}`)); err != nil {
		t.Errorf("what a call gives is fine: %v", err)
	}
	if _, err := p.Invocation(json.RawMessage(`[]`)); err == nil {
		t.Error("an array is fine")
	}
}

func FuzzInvocation(f *testing.F) {
	for _, arguments := range []string{
		`{}`, `{"a":"x","b":[1,"\n",null],"c":{"d":[]},"a":2}`, `{"a":"\u0000\ud800","é-x":1e400,"":""}`, ` { "A" : [ ] , "a":"\u003c" } `, `{"a":"` + strings.Repeat("x", longestVariable) + `"}`, `[`, `{"a":1}{`,
	} {
		f.Add([]byte(arguments))
	}
	f.Fuzz(func(t *testing.T, arguments []byte) {
		v, err := (&Program{Words: []string{"x"}}).Invocation(arguments)
		var want map[string]any
		dec := json.NewDecoder(bytes.NewReader(arguments))
		dec.UseNumber()
		if !json.Valid(arguments) || dec.Decode(&want) != nil || want == nil {
			// Nothing that has been checked.
			return
		}
		if err != nil {
			t.Fatalf("%q is refused: %v", arguments, err)
		}
		var got map[string]any
		dec = json.NewDecoder(bytes.NewReader(v.Input))
		dec.UseNumber()
		if err := dec.Decode(&got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q becomes %q: %v", arguments, v.Input, err)
		}
		if bytes.Count(v.Input, []byte("\n")) != 1 || !bytes.HasSuffix(v.Input, []byte("\n")) {
			t.Errorf("the input is no line: %q", v.Input)
		}
		size, seen := 0, map[string]bool{}
		for _, variable := range v.Variables {
			name := variable.Name
			if rest, ok := strings.CutPrefix(name, "ARG_"); !ok || strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" || seen[name] {
				t.Errorf("a variable %q", name)
			}
			seen[name] = true
			size += len(variable.Values[0])
			if strings.ContainsRune(variable.Values[0], 0) || len(variable.Values[0]) > longestVariable {
				t.Errorf("%s has what no variable can hold", name)
			}
		}
		if size > longestOfThemAll {
			t.Errorf("the variables have %d bytes", size)
		}
	})
}
