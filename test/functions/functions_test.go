// Package functions_test calls the runtime's functions for tools in shells of its
// own, where what they need of a call is made up: the arguments are a variable,
// and progress, logs and refusals are printed.
package functions_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/conch-mcp/conch/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.PlainMain(m)) }

// stubs are what a call would bring. What is beside the output is on standard error.
const stubs = `
mcp_fail_invalid_args() { echo "refused: $1" >&2; }
mcp_log_debug() { echo "log: $1 $2" >&2; }
mcp_progress() { echo "progress: $1 $2" >&2; }
`

// hostile is what scripts may do to the shell. The options of the last lines would
// end it, were they not heeded.
const hostile = `
printf() { echo printf was called >&2; }
local() { echo local was called >&2; }
return() { echo return was called >&2; }
shift() { echo shift was called >&2; }
read() { echo read was called >&2; }
wait() { echo wait was called >&2; }
kill() { echo kill was called >&2; }
[() { echo [ was called >&2; }
shopt -s nocasematch extglob nullglob
IFS=a/
set -uo pipefail
`

// shell is a way to run the functions.
type shell struct {
	binary string
	script string // before the functions are called
	env    []string
}

type result struct {
	stdout, stderr string
	status         int
}

// shells are the ways by name.
func shells(t testing.TB) map[string]shell {
	t.Helper()
	binary := harness.Binary(t)
	return map[string]shell{
		"plain":   {binary, "", []string{"LC_ALL=C.UTF-8"}},
		"bytes":   {binary, "set -u", []string{"LC_ALL=C"}},
		"posix":   {binary, "set -o posix", []string{"LC_ALL=C.UTF-8"}},
		"hostile": {binary, hostile, []string{"LC_ALL=C.UTF-8"}},
	}
}

// run runs code, whose positional parameters are args.
func (s shell) run(t testing.TB, code string, args ...string) result {
	t.Helper()
	runtime := filepath.Join(harness.Root(), "internal", "shell")
	program := "_conch_binary=" + s.binary + stubs +
		". " + filepath.Join(runtime, "tools.bash") + "\n. " + filepath.Join(runtime, "running.bash") + "\n" +
		s.script + "\n" + code
	cmd := exec.CommandContext(t.Context(), "bash", append([]string{"-c", program, "tool"}, args...)...)
	cmd.Env = append(os.Environ(), append(s.env, "GORACE=atexit_sleep_ms=0")...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// inEach runs a test in every way.
func inEach(t *testing.T, f func(t *testing.T, s shell)) {
	for name, s := range shells(t) {
		t.Run(name, func(t *testing.T) { f(t, s) })
	}
}

func (r result) check(t testing.TB, what, stdout, stderr string, status int) {
	t.Helper()
	if r.stdout != stdout || r.stderr != stderr || r.status != status {
		t.Errorf("%s: status %d, %q, and %q on standard error; want %d, %q, %q",
			what, r.status, r.stdout, r.stderr, status, stdout, stderr)
	}
}

func TestTextsBecomeJSONStrings(t *testing.T) {
	var controls strings.Builder
	for c := 1; c < 0x80; c++ {
		controls.WriteByte(byte(c))
	}
	inEach(t, func(t *testing.T, s shell) {
		for text, want := range map[string]string{
			"":                       `""`,
			"plain":                  `"plain"`,
			"a * ? [x] & \\1 ${x} `": `"a * ? [x] & \\1 ${x} ` + "`" + `"`,
			`"quoted"`:               `"\"quoted\""`,
			"\n\t\r\b\f\x1b\x7f":     `"\n\t\r\b\f\u001b\u007f"`,
			"é 🐚 \u0085 \u2028":      "\"é 🐚 \u0085 \u2028\"",
			"\xff\xc3":               "\"\uFFFD\"",
			"a\xe2\xc3\xa9\x82\xac":  "\"a\uFFFDé\uFFFD\"",
			"\xed\xa0\x80 \xc0\x80":  "\"\uFFFD \uFFFD\"",
		} {
			s.run(t, `mcp_json_escape "$1"`, text).check(t, "escape "+want, want, "", 0)
		}
		for _, text := range []string{controls.String(), strings.Repeat("\"é\\\n", 8000)} {
			var got string
			r := s.run(t, `mcp_json_escape "$1"`, text)
			if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || got != text {
				t.Errorf("%d bytes: %v, %.80q", len(text), err, r.stdout)
			}
		}
	})
}

func TestWithoutConchThereIsStillJSON(t *testing.T) {
	s := shell{binary: "/nonexistent", env: []string{"LC_ALL=C.UTF-8"}}
	s.run(t, `mcp_json_escape "$1"`, "\xff\n\"é").check(t, "escape", `"?\n\"??"`, "", 0)
}

func TestObjectsAndArraysOfTexts(t *testing.T) {
	inEach(t, func(t *testing.T, s shell) {
		s.run(t, `mcp_json_obj a 'b "c"' '*' '' -n --`).check(t, "object", `{"a":"b \"c\"","*":"","-n":"--"}`, "", 0)
		s.run(t, `mcp_json_obj`).check(t, "no members", `{}`, "", 0)
		s.run(t, `mcp_json_arr a '' -e 'x y'`).check(t, "array", `["a","","-e","x y"]`, "", 0)
		s.run(t, `mcp_json_arr`).check(t, "no items", `[]`, "", 0)
		s.run(t, `mcp_json_obj a b c; echo not reached`).check(t, "odd", "", "mcp_json_obj takes names and texts in turns, not 3 arguments\n", 1)
		s.run(t, `mcp_byte_length é🐚; mcp_byte_length ''; x=é; echo "${#x}"`).
			check(t, "bytes", "6\n0\n"+map[bool]string{true: "2", false: "1"}[s.env[0] == "LC_ALL=C"]+"\n", "", 0)
	})
}

func TestWhetherATextIsJSON(t *testing.T) {
	inEach(t, func(t *testing.T, s shell) {
		for text, want := range map[string]int{
			`{"a":[1,2]}`: 0, "null": 0, "false": 0, " 1\n": 0,
			"": 1, " ": 1, "{": 1, "1 2": 1, "{} x": 1, "nul": 1, "\"\xff\"": 1, "'a'": 1,
		} {
			s.run(t, `mcp_is_valid_json "$1"`, text).check(t, text, "", "", want)
		}
	})
}

func TestArraysAreCutToFit(t *testing.T) {
	inEach(t, func(t *testing.T, s shell) {
		for _, test := range []struct{ args, want string }{
			{`'[1, 2, 3]'`, `{"result":[1,2,3],"truncated":false}`},
			{`'[1,2,3]' 5`, `{"result":[1,2],"truncated":true,"kept":2,"total":3}`},
			{`'[1,2,3]' many`, `{"result":[1,2,3],"truncated":false}`},
			{`--array-path .a '{"a":[1.0,2]}' 9`, `{"result":{"a":[]},"truncated":true,"kept":0,"total":2}`},
			{`'{"a":[1]}' --array-path`, `{"result":null,"truncated":false,"error":{"type":"invalid_path_syntax","message":"Invalid path syntax: - (must be .key or .key.nested)"}}`},
			{`'{'`, `{"result":null,"truncated":false,"error":{"type":"invalid_json","message":"Invalid JSON: parse error","raw":"{"}}`},
		} {
			s.run(t, "mcp_json_truncate "+test.args).check(t, test.args, test.want+"\n", "", 0)
		}
	})
}

func TestWhatAFailedCommandHadToSay(t *testing.T) {
	inEach(t, func(t *testing.T, s shell) {
		for stdout, want := range map[string]string{
			`{"ok":false,"error":{"message":"no such\nthing"}}`: "no such\nthing",
			`{"error":"plain"}`:                    "plain",
			`{"success":false,"message":"failed"}`: "failed",
			`{"status":"error","message":"bad"}`:   "bad",
			`{"errors":[{"message":"first"},{}]}`:  "first",
			`{"message":"fine"}`:                   "on stderr",
			`{"error":null}`:                       "on stderr",
			`{"error":{}} {"error":"second"}`:      "on stderr",
			`not {json`:                            "on stderr",
			``:                                     "on stderr",
		} {
			s.run(t, `mcp_extract_cli_error "$1" 'on stderr' 3`, stdout).check(t, stdout, want, "", 0)
		}
		s.run(t, `mcp_extract_cli_error '' '' 3`).check(t, "nothing", "CLI exited with code 3", "", 0)
	})
}

// FuzzEscape compares what Bash makes of a text with what Go reads in it.
func FuzzEscape(f *testing.F) {
	for _, text := range []string{"", "\"\\\n\x01", "é🐚", "\xff", "\xe2\xc3\xa9\x82\xac", "\xf4\x90\x80\x80", "a&b"} {
		f.Add(text)
	}
	all := shells(f)
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsRune(text, 0) || len(text) > 20_000 {
			t.Skip("no shell variable holds it")
		}
		for name, s := range all {
			var got string
			r := s.run(t, `mcp_json_escape "$1"`, text)
			err := json.Unmarshal([]byte(r.stdout), &got)
			if err != nil || r.stderr != "" || !utf8.ValidString(r.stdout) || got != strings.ToValidUTF8(text, "\uFFFD") {
				t.Errorf("%s: %q became %q, %v, %s", name, text, r.stdout, err, r.stderr)
			}
		}
	})
}
