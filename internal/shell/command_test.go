package shell

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/internal/invocation"
)

func withCommands(o *Options) { o.Commands = true }

// invoke runs an invocation and returns its status and output.
func invoke(t *testing.T, s *Server, v *invocation.Invocation) (status int, output string) {
	t.Helper()
	w := acquire(t, s)
	out, hold, err := w.Output()
	if err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&printed, out)
	}()
	if err := w.Start(Job{Function: "tool_t", Dir: t.TempDir(), Arguments: json.RawMessage(`{}`), Invocation: v}); err != nil {
		t.Fatal(err)
	}
	if status, err = wait(w); err != nil {
		t.Fatal(err)
	}
	_ = out.SetReadDeadline(time.Unix(1, 0))
	<-read
	out.Close()
	hold.Close()
	if err := w.Drain(&printed); err != nil {
		t.Fatal(err)
	}
	s.Release(w)
	return status, printed.String()
}

// hostile are texts that something between here and a command might take for more
// than a text.
func hostile(touched string) []string {
	return []string{
		"", " ", "\n", "\n\n", "a\nb\n", "-n", "--", "-", "*", "[a-z]", "~", "~root", "!", "'", `"`, `\`, `\\`, `\n`, `\0`, `\x41`, "%s", "%b%n", "$HOME", "${x}", "$(touch " + touched + ")",
		"`touch " + touched + "`", ";touch " + touched, "&", "|", "<", ">", "(", ")", "{a,b}", "#", "=", "a=b", "x]=$(touch " + touched + ")", "a[$(touch " + touched + ")]", "]", "[", "@",
		"\x01", "\x1f", "\x7f", "\x01\x1f\x7f", "\x01\x01", "\x7f\x01x", "\xff\xfe", "ä\u2028😀", "\t", "\r\n", "a  b", " a", "a ", strings.Repeat("x", inlineLimit), strings.Repeat("x", inlineLimit+1), strings.Repeat("äöü\\\n", 200), strings.Repeat("m", 1<<20),
	}
}

func TestWhatAnInvocationSetsArrives(t *testing.T) {
	touched := filepath.Join(t.TempDir(), "touched")
	s := start(t, `
show() {
  printf '%s\0' "$argc_text" "${argc_list[@]}" ${#argc_list[@]} "$ARG_OUT" "$(printenv ARG_OUT; echo x)" "${argc__positionals[@]}" "$argc__fn" "$@"
  [[ -z ${argc_gone+set} && -z ${argc_list_gone+set} ]] || printf 'still there'
}
argc_gone=1
argc_list_gone=(a)
`, 1, withCommands)
	for _, text := range hostile(touched) {
		status, output := invoke(t, s, &invocation.Invocation{
			Function: "show", Words: []string{text, "end"},
			Variables: []invocation.Variable{
				{Name: "argc_text", Values: []string{text}},
				{Name: "argc_list", Kind: invocation.List, Values: []string{text, "", text}},
				{Name: "ARG_OUT", Values: []string{short(text)}, Export: true},
			},
			Unset: []string{"argc_gone", "argc_list_gone"},
		})
		want := strings.Join([]string{text, text, "", text, "3", short(text), short(text) + "\nx", text, "end", "show", text, "end", ""}, "\x00")
		if status != 0 || output != want {
			t.Errorf("%.60q: status %d, %.300q, want %.300q", text, status, output, want)
		}
	}
	if _, err := os.Stat(touched); err == nil {
		t.Error("a text was run")
	}
}

// short is what the environment can hold of a text.
func short(text string) string { return text[:min(len(text), 100_000)] }

func TestPairsArrive(t *testing.T) {
	touched := filepath.Join(t.TempDir(), "touched")
	s := start(t, `
show() {
  local key
  for key in "${!argc_pairs[@]}"; do printf '%s\0%s\0' "$key" "${argc_pairs[$key]}"; done
  printf '%s' "${#argc_pairs[@]}"
}
argc_pairs=(an array)
`, 1, withCommands)
	for _, key := range hostile(touched) {
		pairs := []string{key, "value of " + key, "other", "o"}
		status, output := invoke(t, s, &invocation.Invocation{Function: "show", Variables: []invocation.Variable{{Name: "argc_pairs", Kind: invocation.Pairs, Values: pairs}}})
		fields := strings.Split(output, "\x00")
		got := map[string]string{}
		for i := 0; i+1 < len(fields); i += 2 {
			got[fields[i]] = fields[i+1]
		}
		want := map[string]string{key: "value of " + key, "other": "o"}
		// Bash has no such key.
		delete(want, "")
		if len(got) != len(want) || status != 0 || fields[len(fields)-1] != map[bool]string{true: "1", false: "2"}[key == ""] {
			t.Errorf("%.60q: status %d, %.300q", key, status, output)
		}
		for k, v := range want {
			if got[k] != v {
				t.Errorf("%.60q has %.100q, want %.100q", k, got[k], v)
			}
		}
	}
	if _, err := os.Stat(touched); err == nil {
		t.Error("a key was run")
	}
}

func TestAProgramGetsItsWordsAndItsInput(t *testing.T) {
	touched := filepath.Join(t.TempDir(), "touched")
	s := start(t, "declare -i ARG_X\n", 1, withCommands)
	for _, text := range hostile(touched) {
		text := short(text)
		input := bytes.Repeat([]byte(text+"\x00"), 3)
		status, output := invoke(t, s, &invocation.Invocation{
			Program: []string{"sh", "-c", `printf '%s|' "$ARG_X" "$@"; cat`, text, text, "end"}, Input: input,
			Variables: []invocation.Variable{{Name: "ARG_X", Values: []string{text}, Export: true}},
		})
		if want := text + "|" + text + "|end|" + string(input); status != 0 || output != want {
			t.Errorf("%.60q: status %d, %.300q, want %.300q", text, status, output, want)
		}
	}
	if _, err := os.Stat(touched); err == nil {
		t.Error("a text was run")
	}
}

func TestWhatFunctionsComputeForAnInvocation(t *testing.T) {
	s := start(t, `
value() { printf 'two  words\n\n'; }
choices() { printf '%s\n' a 'b c' '*' ''; }
none() { :; }
fails() { return 3; }
env_value() { echo computed; }
show() { printf '<%s>' "$argc_a" "${#argc_l[@]}" "${argc_l[@]}" "$E" "$@"; printenv E | tr '\n' .; }
`, 1, withCommands)
	base := invocation.Invocation{Function: "show", Unset: []string{"argc_a", "argc_l"}}
	with := func(words []string, late []invocation.Late, variables []invocation.Variable, computed ...invocation.Computed) *invocation.Invocation {
		v := base
		v.Words, v.Late, v.Variables, v.Computed = words, late, variables, computed
		for _, variable := range variables {
			v.Unset = slices.DeleteFunc(slices.Clone(v.Unset), func(name string) bool { return name == variable.Name })
		}
		return &v
	}
	text := func(value string) []invocation.Variable {
		return []invocation.Variable{{Name: "argc_a", Values: []string{value}}}
	}
	about := func(function string, what invocation.What) invocation.Computed {
		return invocation.Computed{Variable: "argc_a", Label: "a", Function: function, What: what}
	}
	tests := []struct {
		name   string
		v      *invocation.Invocation
		status int
		want   string
	}{
		{"a value", with(nil, nil, nil, about("value", invocation.Value)), 0, "<two  words><0><>"},
		{"a word", with([]string{"x", "", "y"}, []invocation.Late{{Word: 1, Variable: "argc_a"}}, nil, about("value", invocation.Value)), 0, "<two  words><0><><x><two  words><y>"},
		{"an array", with(nil, nil, nil, invocation.Computed{Variable: "argc_l", Function: "value", What: invocation.FirstOfList}), 0, "<><1><two  words><>"},
		{"of the environment", with(nil, nil, nil, invocation.Computed{Variable: "E", Function: "env_value", What: invocation.Exported}), 0, "<><0><computed>computed."},
		{"choices", with(nil, nil, text("b c"), about("choices", invocation.Choices)), 0, "<b c><0><>"},
		{"an empty choice", with(nil, nil, text("*"), about("choices", invocation.Choices)), 0, "<*><0><>"},
		{"none of the choices", with(nil, nil, text("c"), about("choices", invocation.Choices)), 1, `Invalid value(s): a="c" (allowed: a, b c, *).` + "\n"},
		{"two of the choices", with(nil, nil, text("a\nb c"), about("choices", invocation.Choices)), 1, "Invalid value(s): a=\"a\nb c\" (allowed: a, b c, *).\n"},
		{"no choices", with(nil, nil, text("a"), about("none", invocation.Choices)), 1, `Invalid value(s): a="a" (allowed: ).` + "\n"},
		{"no value has no choice", with(nil, nil, nil, about("none", invocation.Choices)), 0, "<><0><>"},
		{"allowed", with(nil, nil, text("y"), about("x\ny", invocation.Allowed)), 0, "<y><0><>"},
		{"not allowed", with(nil, nil, text("z"), about("x\ny", invocation.Allowed)), 1, `Invalid value(s): a="z" (allowed: x, y).` + "\n"},
		{"several of which one is no choice", with(nil, nil, []invocation.Variable{{Name: "argc_l", Kind: invocation.List, Values: []string{"a", "z"}}}, invocation.Computed{Variable: "argc_l", Label: "l", Function: "choices", What: invocation.Choices}), 1, `Invalid value(s): l="z" (allowed: a, b c, *).` + "\n"},
	}
	for _, tt := range tests {
		status, output := invoke(t, s, tt.v)
		if status != tt.status || output != tt.want {
			t.Errorf("%s: status %d, %q, want %d, %q", tt.name, status, output, tt.status, tt.want)
		}
	}
}

func TestNeedsAndDefaultsOfAnInvocation(t *testing.T) {
	s := start(t, "export SET=\nhere() { :; }\nshow() { printenv A B SET; }\n", 1, withCommands)
	status, output := invoke(t, s, &invocation.Invocation{Function: "show", Defaults: []string{"A=x=y $z\n", "B=", "SET=not this"}, Needs: invocation.Needs{Variables: []string{"SET", "A"}, Programs: []string{"here", "sh"}}})
	if status != 0 || output != "x=y $z\n\n\n\n" {
		t.Errorf("status %d, %q", status, output)
	}
	for _, v := range []*invocation.Invocation{{Function: "show"}, {Program: []string{"true"}}} {
		v.Needs = invocation.Needs{Variables: []string{"SET", "NO_SUCH"}, Programs: []string{"sh", "no-such-program"}}
		status, output = invoke(t, s, v)
		if status != 1 || output != "The server lacks what this tool needs: the environment variable NO_SUCH is not set; there is no program no-such-program on PATH\n" {
			t.Errorf("status %d, %q", status, output)
		}
	}
}

func TestAnInvocationThatNoShellCanTakeIsRefused(t *testing.T) {
	for _, v := range []invocation.Invocation{
		{Function: "f", Words: []string{"\x00"}},
		{Function: "f", Variables: []invocation.Variable{{Name: "a", Values: []string{"x\x00"}}}},
		{Function: "f", Variables: []invocation.Variable{{Name: "a", Kind: invocation.List, Values: []string{"", "\x00"}}}},
		{Function: "f", Defaults: []string{"A=\x00"}},
		{Function: "f\n"}, {File: "/a\nb"}, {Function: "f", Before: "g\n"}, {Function: "f", After: "g\x00"},
		{Program: []string{"a\x00"}},
	} {
		if _, err := (Job{Function: "tool_t", Dir: "/d", Arguments: json.RawMessage(`{}`), Invocation: &v}).encode(); err == nil {
			t.Errorf("%+v: %v", v, err)
		}
	}
	for _, name := range []string{"", "a b", "a=b", "a[0]", "a-b", "ä", "a;b", "a\n"} {
		v := &invocation.Invocation{Function: "f", Variables: []invocation.Variable{{Name: name, Values: []string{""}}}}
		if _, err := (Job{Function: "tool_t", Dir: "/d", Arguments: json.RawMessage(`{}`), Invocation: v}).encode(); err == nil {
			t.Errorf("the name %q is taken", name)
		}
	}
}

func TestAJobHasTheCommandsNameForHooks(t *testing.T) {
	e, err := Job{Function: "tool_t", Dir: "/d", Arguments: json.RawMessage(`{"a":"b","c":"\u0000"}`), Before: true, Invocation: &invocation.Invocation{Program: []string{"x"}, Input: []byte("{}"), Environment: invocation.Environment{Says: true, Limited: true, Names: []string{"A"}}, Wants: []string{"W"}}}.encode()
	if err != nil {
		t.Fatal(err)
	}
	got := decodeJob(t, e)
	if got.scalars["_conch_called"] != "tool_t" || got.scalars["_conch_function"] != "_conch_run_program" || got.scalars["_conch_before"] != "mcp_before_tool_call" || !slices.Equal(got.arrays["_conch_program"], []string{"x"}) {
		t.Errorf("the job is %q, %q", got.scalars, got.arrays)
	}
	if passed := strings.Fields(got.scalars["_conch_passed"]); !slices.Contains(passed, "A") || !slices.Contains(passed, "W") || !slices.Contains(passed, "PATH") {
		t.Errorf("passed is %q", passed)
	}
	// The hook finds arguments where it always does, but for what no variable holds.
	if _, ok := got.scalars["arg_c"]; ok || got.scalars["arg_a"] != "b" {
		t.Errorf("the job has %q for arguments", got.scalars)
	}
}
