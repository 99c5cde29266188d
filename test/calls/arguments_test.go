package calls_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// shown are tools that tell what they were given.
const shown = echo + `
tool_value() { printf '<%s>' "${arg_v-unset}"; }
tool_array() { declare -p arg_v | grep -q '^declare -a' && printf '<%s>' "${#arg_v[@]}" "${arg_v[@]}"; }
tool_text() { printf '%s' "$1"; }
tool_names() { compgen -v arg_ || :; }
tool_lengths() { echo "${#arg_v} ${#1} $#"; }
tool_twins() { [[ $1 == "{\"v\":\"$arg_v\"}" ]] && echo same; }
`

func TestAScalarArgumentIsAVariable(t *testing.T) {
	s := serve(t, shown)
	for _, c := range []struct{ name, value, want string }{
		{"a string", `"text"`, "text"},
		{"an empty string", `""`, ""},
		{"spaces", `"  a  b  "`, "  a  b  "},
		{"newlines", `"a\nb\n\nc"`, "a\nb\n\nc"},
		{"trailing newlines", `"a\n\n\n"`, "a\n\n\n"},
		{"only newlines", `"\n\n"`, "\n\n"},
		{"backslashes", `"\\ \\n \\\\ \\"`, `\ \n \\ \`},
		{"escapes of printf and echo", `"\\0101\\x41\\u0041\\c\\e"`, `\0101\x41\u0041\c\e`},
		{"a backslash before a newline", `"a\\\nb"`, "a\\\nb"},
		{"quotes", `"'single' \"double\" $'ansi' \u0060tick\u0060"`, "'single' \"double\" $'ansi' `tick`"},
		{"a command", `"$(touch pwned)"`, "$(touch pwned)"},
		{"an expansion", `"$HOME ${PATH} $((1+1)) ~ * ? [a]"`, "$HOME ${PATH} $((1+1)) ~ * ? [a]"},
		{"percent signs", `"100% %s %n %d %%"`, "100% %s %n %d %%"},
		{"tabs and control characters", `"\t\r\u0001\u001b\u007f"`, "\t\r\x01\x1b\x7f"},
		{"Unicode", `"Ünïcödé 日本 🐚 \u00e9 \ud83d\ude00"`, "Ünïcödé 日本 🐚 é 😀"},
		{"an equals sign and a colon", `"a=b:c=d"`, "a=b:c=d"},
		{"an option", `"-n"`, "-n"},
		{"line separators", `"\u2028\u2029\u0085"`, "\u2028\u2029\u0085"},
		{"true", `true`, "true"},
		{"false", `false`, "false"},
		{"null", `null`, ""},
		{"zero", `0`, "0"},
		{"minus zero", `-0`, "-0"},
		{"a large exponent", `1e400`, "1e400"},
		{"an upper-case exponent", `1E+2`, "1E+2"},
		{"an integer beyond doubles", `9007199254740993`, "9007199254740993"},
		{"a fraction with a trailing zero", `1.10`, "1.10"},
		{"many digits", `0.1000000000000000055511151231257827`, "0.1000000000000000055511151231257827"},
		{"an object", `{"b": 1.10, "a": [1, 2]}`, `{"b":1.10,"a":[1,2]}`},
		{"an object with escapes", `{"a":"\"\\\n$(x)"}`, `{"a":"\"\\\n$(x)"}`},
		{"an empty object", `{}`, `{}`},
		{"an array of arrays", `[[1],[2]]`, `[[1],[2]]`},
		{"an array of objects", `[1, {"a": null}]`, `[1,{"a":null}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.t = t
			if got := s.ok("value", `{"v":`+c.value+`}`); got != "<"+c.want+">" {
				t.Errorf("got %q, want %q", got, "<"+c.want+">")
			}
			var want, got any
			text := s.ok("text", `{"v":`+c.value+`}`)
			if err := json.Unmarshal([]byte(text), &got); err != nil && !strings.Contains(c.value, "e400") {
				t.Errorf("$1 is not JSON: %q", text)
			}
			_ = json.Unmarshal([]byte(`{"v":`+c.value+`}`), &want)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("$1 is %s", text)
			}
		})
	}
	s.t = t
	s.ends()
}

func TestAnArrayOfScalarsIsABashArray(t *testing.T) {
	s := serve(t, shown)
	for _, c := range []struct{ name, value, want string }{
		{"none", `[]`, "<0>"},
		{"one", `["a"]`, "<1><a>"},
		{"of every kind", `["a b",1.10,true,false,null,"",1e400]`, "<7><a b><1.10><true><false><><><1e400>"},
		{"with newlines", `["a\nb\n","\n",""]`, "<3><a\nb\n><\n><>"},
		{"with what looks like code", `["$(touch pwned)","a=b:3","[1]","*","-n"]`, "<5><$(touch pwned)><a=b:3><[1]><*><-n>"},
		{"with backslashes", `["\\","\\n","\\\\"]`, `<3><\><\n><\\>`},
	} {
		if got := s.ok("array", `{"v":`+c.value+`}`); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	var long []string
	for i := range 5000 {
		long = append(long, fmt.Sprintf(`"%d x"`, i))
	}
	got := s.ok("array", `{"v":[`+strings.Join(long, ",")+`]}`)
	if !strings.HasPrefix(got, "<5000><0 x>") || !strings.HasSuffix(got, "<4999 x>") {
		t.Errorf("5000 elements: got %q", clip(got))
	}
	s.ends()
}

func TestOnlyNamesThatAreIdentifiersAreVariables(t *testing.T) {
	s := serve(t, shown)
	for _, c := range []struct{ arguments, want string }{
		{`{}`, ""},
		{`{"a":1,"_b":2,"C9":3,"long_name":4}`, "arg_C9\narg__b\narg_a\narg_long_name"},
		{`{"a-b":1,"a b":2,"":3,"é":4,"a.b":5,"a[0]":6,"a=b":7,"a\nb":8,"$(touch pwned)":9,"日本":10,"ok":11}`, "arg_ok"},
		{`{"a[$(touch pwned)]":["x"],"a;b":["y"]}`, ""},
		{`{"IFS":"x","PATH":"/nowhere","BASH_ENV":"y"}`, "arg_BASH_ENV\narg_IFS\narg_PATH"},
	} {
		got := strings.Fields(s.ok("names", c.arguments))
		want := strings.Fields(c.want)
		for _, name := range want {
			if !strings.Contains("\n"+strings.Join(got, "\n")+"\n", "\n"+name+"\n") {
				t.Errorf("%s: lacks %s", c.arguments, name)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: got %q, want %q", c.arguments, got, want)
		}
		if text := s.ok("text", c.arguments); text != c.arguments {
			t.Errorf("$1 is %q, want %q", text, c.arguments)
		}
	}
	s.ends()
}

func TestAnArgumentThatIsNotGivenIsUnset(t *testing.T) {
	s := serve(t, shown)
	s.ok("value", `{"v":"left over"}`)
	if got := s.ok("value", `{}`); got != "<unset>" {
		t.Errorf("got %q", got)
	}
	s.Send(`{"jsonrpc":"2.0","id":"bare","method":"tools/call","params":{"name":"text"}}`)
	if line := s.Line(); !strings.Contains(line, `"text":"{}"`) {
		t.Errorf("without arguments $1 is no empty object: %s", line)
	}
	s.ends()
}

func TestAnArgumentThatNoVariableCanHoldIsAnError(t *testing.T) {
	s := serve(t, shown)
	for _, arguments := range []string{`{"v":"a\u0000b"}`, `{"v":["a","\u0000"]}`} {
		if got := s.call("value", arguments); !got.isError || !strings.Contains(got.text, "NUL") {
			t.Errorf("%s: got %+v", arguments, got)
		}
		s.serves()
	}
	s.ends()
}

func TestTenMegabytesOfArgumentsPass(t *testing.T) {
	t.Parallel()
	s := serve(t, shown, "--max-output", "16MiB")
	const size = 10 << 20
	plain := strings.Repeat("0123456789abcdef", size/16)
	if got, want := s.ok("lengths", object("v", plain)), fmt.Sprintf("%d %d 1", size, size+len(`{"v":""}`)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := s.ok("twins", object("v", plain)); got != "same" {
		t.Errorf("$1 and $arg_v differ: %q", clip(got))
	}
	mixed := strings.Repeat("ü\\\n'\"$(x)%s ", size/32) + "."
	if got := s.ok("echo", object("v", mixed)); got != mixed {
		t.Errorf("got %d bytes, want %d: %q", len(got), len(mixed), clip(got))
	}
	s.serves()
	s.ends()
}

func TestManyArgumentsPass(t *testing.T) {
	t.Parallel()
	s := serve(t, shown)
	members := map[string]any{}
	for i := range 2000 {
		members[fmt.Sprintf("n%d", i)] = i
	}
	text, _ := json.Marshal(members)
	if got := strings.Fields(s.ok("names", string(text))); len(got) != 2000 {
		t.Errorf("got %d variables", len(got))
	}
	s.ends()
}
