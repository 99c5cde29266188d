package talk_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

// odd is every character that JSON has to have escaped, and some of every length
// in UTF-8. No shell can hold a NUL.
func odd() string {
	var b strings.Builder
	for c := rune(1); c < 0x100; c++ {
		b.WriteRune(c)
	}
	return b.String() + `\n \\ & &amp; "${x}" $(y) %s %% ` + "\u2028\u2029\uFEFFжあ\U0001F41A e\u0301" + `\`
}

// moods are options and variables of scripts that must not matter.
var moods = map[string]string{
	"plainly":                      "",
	"under set -u":                 "set -u",
	"in POSIX mode":                "set -o posix",
	"under noglob and noclobber":   "set -fC",
	"without case":                 "shopt -s nocasematch nocaseglob",
	"with globs that fail":         "shopt -s extglob failglob nullglob dotglob 2>/dev/null",
	"in the C locale":              "export LC_ALL=C",
	"in an odd locale":             "export LC_ALL=tr_TR.UTF-8 2>/dev/null",
	"with an odd IFS":              `IFS='{":,0123456789'`,
	"with traps":                   `trap 'true' DEBUG ERR RETURN; set -ET`,
	"without a PATH":               "PATH=/nonexistent",
	"with a mcp_log of its own":    `mcp_log() { echo "own $*"; }; mcp_error() { echo mine; }; mcp_result_error() { echo mine; }; mcp_fail() { echo mine; }`,
	"with builtins of its own":     `printf() { echo mine; }; read() { echo mine; }; echo() { command echo mine; }; local() { :; }; return() { :; }; shift() { :; }; exit() { :; }`,
	"with aliases":                 `shopt -s expand_aliases; alias printf=false local=false builtin=false`,
	"with variables of such names": "LC_CTYPE=C RANDOM=1 BASHPID=1 _conch_json=x; readonly text=1 file=2 i=3",
}

func TestTextsArriveAsTheyAre(t *testing.T) {
	script := `
tool_say() {
  mcp_log_info "$arg_text"
  mcp_progress 1 "$arg_text"
  mcp_emit_text "$arg_text"
  mcp_emit_link "x:$arg_text" "$arg_text"
}
tool_error() { mcp_error a "$arg_text" --hint "$arg_text"; }
`
	for name, mood := range moods {
		t.Run(name, func(t *testing.T) {
			c := fixture{script: mood + "\n" + script}.serve(t, ways[1])
			for _, say := range []string{odd(), strings.Repeat(odd(), 20), "", " ", "x\n", "\n\n"} {
				args := `{"text":` + quote(say) + `}`
				o := c.call(ask{tool: "say", args: args, token: "1", level: "debug"})
				items := o.content()
				if len(items) != 2 || text(items[0], "text") != say || text(items[1], "uri") != "x:"+say || text(items[1], "name") != say {
					t.Errorf("%.100q is emitted as %.1000s", say, o.Raw)
				}
				if logs := o.logs(); len(logs) != 1 || text([]byte(`{"x":`+strings.TrimPrefix(logs[0], "info script ")+`}`), "x") != say {
					t.Errorf("%.100q is logged as %.1000q", say, logs)
				}
				if len(o.progress()) != 1 {
					t.Errorf("%.100q: no progress in %.1000s", say, o.told)
				}
				if strings.Contains(mood, "mcp_error()") {
					continue
				}
				said, failed := c.call(ask{tool: "error", args: args}).says()
				if !failed || text([]byte(said), "error", "message") != say || text([]byte(said), "error", "hint") != say {
					t.Errorf("%.100q fails with %.1000s", say, said)
				}
			}
		})
	}
}

func TestWhatIsNotUTF8IsMended(t *testing.T) {
	c := fixture{script: `tool_say() { mcp_emit_text $'caf\351'; mcp_log_info $'\377\376'; }`}.serve(t, ways[1])
	o := c.call(ask{tool: "say", level: "debug"})
	o.wantSays(t, "caf\uFFFD")
	if logs := o.logs(); len(logs) != 1 || !strings.Contains(logs[0], "\uFFFD") {
		t.Errorf("logged is %q", logs)
	}
}

func TestBigTexts(t *testing.T) {
	const size = 1 << 20
	script := `
tool_lines() { mcp_emit_text "$(for ((i = 0; i < 50000; i++)); do echo "$i 34567890 \"x\""; done)"; }
tool_solid() { mcp_emit_text "$(head -c 1048576 /dev/zero | tr '\0' x)"; }
tool_json() { mcp_emit_json "[\"$(head -c 1048576 /dev/zero | tr '\0' x)\"]"; }
tool_log() { mcp_log_info "$(head -c 1048576 /dev/zero | tr '\0' x)"; }
`
	each(t, []way{ways[0], ways[3]}, func(t *testing.T, w way) {
		c := fixture{script: script, flags: []string{"--max-text=0B"}}.serve(t, w)
		var lines strings.Builder
		for i := range 50000 {
			fmt.Fprintf(&lines, "%d 34567890 \"x\"\n", i)
		}
		c.call(ask{tool: "lines"}).wantSays(t, strings.TrimSuffix(lines.String(), "\n"))
		c.call(ask{tool: "solid"}).wantSays(t, strings.Repeat("x", size))
		o := c.call(ask{tool: "json"})
		o.wantSays(t, `["`+strings.Repeat("x", size)+`"]`)
		if !w.isModern() {
			c.send("logging/setLevel", `{"level":"debug"}`, "").wait()
		}
		if logs := c.call(ask{tool: "log", level: "debug"}).logs(); len(logs) != 1 || len(logs[0]) < size {
			t.Errorf("%d log messages", len(logs))
		}
	})
}

// A hundred texts each, of which those in the middle go through files.
func TestParallelChildrenAreHeardWhole(t *testing.T) {
	script := `
child() {
  local i text
  for ((i = 0; i < 100; i++)); do
    text=$(head -c $((i * 11)) /dev/zero | tr '\0' "$1")
    mcp_emit_text "$1 $i $text"
  done
}
tool_children() { for c in a b c d; do child "$c" & done; wait; }
tool_grandchildren() {
  (mcp_emit_text 1; (mcp_emit_text 2; (mcp_emit_text 3)))
  bash -c '. "$1"; mcp_emit_text 4; (mcp_emit_text 5)' - "${CONCH_TALK%/*}/talk.bash"
  mcp_emit_text 6 | cat
  x=$(mcp_emit_text 7)
  mcp_emit_text 8 >/dev/null </dev/null 2>&1
}
`
	c := fixture{script: script}.serve(t, ways[0])
	seen := map[string]int{}
	items := c.call(ask{tool: "children"}).content()
	for _, item := range items {
		words := strings.Fields(text(item, "text") + " ")
		if len(words) < 2 {
			t.Fatalf("torn: %s", item)
		}
		if words[1] != fmt.Sprint(seen[words[0]]) || len(words) > 2 && strings.Trim(words[2], words[0]) != "" {
			t.Errorf("torn or out of order: %.200s", item)
		}
		seen[words[0]]++
	}
	if len(items) != 400 || len(seen) != 4 {
		t.Errorf("%d texts of %v", len(items), seen)
	}
	var got []string
	for _, item := range c.call(ask{tool: "grandchildren"}).content() {
		got = append(got, text(item, "text"))
	}
	if strings.Join(got, "") != "12345678" {
		t.Errorf("heard %q", got)
	}
}

func TestAStragglerIsNotHeardByTheNextCall(t *testing.T) {
	dir := t.TempDir()
	script := `
tool_leave() {
  setsid bash -c '. "$1"; : >"$2/left"; while [[ ! -e $2/speak ]]; do sleep 0.01; done
    for ((i = 0; i < 200; i++)); do mcp_emit_text straggler; mcp_progress "$i" straggler; mcp_fail 5 straggler & done
    printf "half a line" 1<>"$CONCH_TALK"; : >"$2/spoken"' - "${CONCH_TALK%/*}/talk.bash" ` + dir + ` >/dev/null 2>&1 </dev/null &
  while [[ ! -e ` + dir + `/left ]]; do sleep 0.01; done
}
tool_next() { : >` + dir + `/speak; while [[ ! -e ` + dir + `/spoken ]]; do sleep 0.01; done; mcp_emit_text mine; mcp_progress 1 mine; }
tool_behind() { printf "half a line" 1<>"$CONCH_TALK"; mcp_emit_text mine; printf half 1<>"$CONCH_TALK"; "$CONCH_BIN" tool progress 1 mine; }
tool_again() { mcp_emit_text mine; }
`
	// One worker, so that both have the same channel.
	c := fixture{script: script, flags: []string{"--concurrency=1"}}.serve(t, ways[0])
	c.call(ask{tool: "leave"})
	o := c.call(ask{tool: "next", token: "1"})
	o.wantSays(t, "mine")
	if got := o.progress(); !slices.Equal(got, []string{"1"}) {
		t.Errorf("the progress is %q", got)
	}
	for range 3 {
		c.call(ask{tool: "again"}).wantSays(t, "mine")
	}
	o = c.call(ask{tool: "behind", token: "2"})
	o.wantSays(t, "mine")
	if got := o.progress(); !slices.Equal(got, []string{"1"}) {
		t.Errorf("behind half a line the progress is %q", got)
	}
}

func TestMalformedLinesAreLoggedAndIgnored(t *testing.T) {
	script := `
raw() { printf '%b' "$*" 1<>"$CONCH_TALK"; }
tool_raw() {
  local me=${MCP_CALL_TMPDIR##*/}
  raw '\n\n\0\n'
  raw 'nobody emit {}\n'
  raw "$me\n"; raw "$me emit\n"; raw "$me emit {\n"; raw "$me emit []\n"; raw "$me emit {\"type\":\"text\"}\n"; raw "$me emit {\"type\":\"what\",\"text\":\"x\"}\n"
  raw "$me nonsense {}\n"; raw "$me progress 5\n"; raw "$me progress {\"progress\":\"x\"}\n"; raw "$me progress {\"progress\":1e999}\n"
  raw "$me log {\"level\":\"loud\",\"data\":1}\n"; raw "$me log {\"level\":\"info\"}\n"
  raw "$me result 5\n"; raw "$me result {\"content\":[5]}\n"; raw "$me result {\"content\":5}\n"; raw "$me fail {}\n"
  raw "$me ask {}\n"; raw "$me ask {\"reply\":\"x\",\"method\":\"tools/call\",\"params\":{}}\n"; raw "$me ask {\"reply\":\"../x\"}\n"
  raw "$me emit @../../etc/passwd\n"; raw "$me emit @none\n"
  printf '%s' "$me emit \"" "$(head -c 6000 /dev/zero | tr '\0' x)" $'"\n' 1<>"$CONCH_TALK"
  mcp_emit_text good
}
`
	each(t, ways, func(t *testing.T, w way) {
		c := fixture{script: script}.serve(t, w)
		o := c.call(ask{tool: "raw", token: "1"})
		o.wantSays(t, "good")
		if len(o.told) > 0 {
			t.Errorf("it tells %s", o.told)
		}
		if n := strings.Count(c.server.Stderr(), "ignored what a call said"); n < 20 {
			t.Errorf("the log tells of %d", n)
		}
	})
}

// A test of the script's own has no channel.
func TestOutsideOfACallNothingIsSaid(t *testing.T) {
	talk := filepath.Join(harness.Root(), "internal", "shell", "talk.bash")
	for _, with := range []string{"", "CONCH_TALK=/nonexistent MCP_CALL_TMPDIR=/x", "CONCH_TALK=/dev/null MCP_CALL_TMPDIR=/x"} {
		cmd := exec.Command("bash", "-u", "-c", `_conch_binary=$CONCH_BIN; . "$1"; set -e
mcp_progress 1 x; mcp_progress 1 x 2; mcp_log info l 1; mcp_log_debug x; mcp_log_info l x; mcp_log_warn x; mcp_log_error x
mcp_emit_text x; mcp_emit_json 1; mcp_emit_link a b; mcp_result_success 1; mcp_result_error 1; mcp_error a b; mcp_resource_updated x:
if mcp_is_cancelled; then echo cancelled; fi
mcp_emit_image "$2" image/png; mcp_emit_resource x: "$2"
mcp_elicit_confirm 'x?' && echo answered
(mcp_fail -1 x) || echo "status $?"`, "-", talk, talk)
		cmd.Env = append(os.Environ(), strings.Fields(with+" CONCH_BIN="+harness.Binary(t))...)
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != "conch: this is no call of a tool's: there is nobody to ask\nstatus 1\n" {
			t.Errorf("with %q: %v, %s", with, err, out)
		}
	}
}

func TestProgramsOfACallSayAsMuch(t *testing.T) {
	script := `
tool_sh() {
  sh -c '"$CONCH_BIN" tool progress 1 "from sh" 2; "$CONCH_BIN" tool log warning unit "{\"a\":1}"
    "$CONCH_BIN" tool emit resource x: - text/plain <"$0"; "$CONCH_BIN" tool is-cancelled; echo "status $?"' <(printf text)
}
tool_python() {
  python3 - <<'PYTHON'
import os, subprocess
conch = os.environ["CONCH_BIN"]
subprocess.run([conch, "tool", "progress", "1", "from \"Python\"\n"], check=True)
subprocess.run([conch, "tool", "log", "info", "py", '"' + "x" * 5000 + '"'], check=True)
out = subprocess.run([conch, "tool", "elicit", "confirm", "Really?"], check=True, capture_output=True)
print(out.stdout.decode().strip())
PYTHON
}
tool_wrong() {
  for args in 'progress x' 'progress' 'log info l {' 'emit what x' 'emit image /nonexistent' 'elicit form x {' 'elicit what x' 'elicit choice x' 'nonsense' \
    'emit json {' 'emit link x:' 'emit resource' 'emit text x --priority y' 'result' 'result maybe {}' 'result success {' 'error x' 'error x y --data {' \
    'fail' 'fail x y' 'fail 0 y' 'fail -1' 'fail -1 x {' 'fail-invalid-args' 'fail-invalid-args x {' 'resource-updated' \
    'args-int' 'args-int x --min y' 'args-require' 'args-bool x y'; do
    "$CONCH_BIN" tool $args >/dev/null 2>&1 && echo "$args has worked"
  done
  echo done
}
`
	each(t, ways, func(t *testing.T, w way) {
		c := fixture{script: script, caps: `{"elicitation":{}}`}.serve(t, w)
		c.answer = func(question) reply { return reply{result: `{"action":"accept","content":{"confirmed":true}}`} }
		if !w.isModern() {
			c.send("logging/setLevel", `{"level":"debug"}`, "").wait()
		}
		o := c.call(ask{tool: "sh", token: "1", level: "info"})
		items := o.content()
		if len(items) != 2 || text(items[0], "resource", "text") != "text" || text(items[1], "text") != "status 1" {
			t.Errorf("sh says %s", o.Raw)
		}
		if len(o.progress()) != 1 || !slices.Equal(o.logs(), []string{`warning unit {"a":1}`}) {
			t.Errorf("sh tells %s", o.told)
		}
		c.call(ask{tool: "wrong"}).wantSays(t, "done")
		if _, err := exec.LookPath("python3"); err != nil {
			t.Skip("there is no python3")
		}
		o = c.call(ask{tool: "python", token: "2", level: "info"})
		o.wantSays(t, `{"action":"accept","content":{"confirmed":true}}`)
		if len(o.progress()) != 1 || len(o.logs()) != 1 {
			t.Errorf("Python tells %.500s", o.told)
		}
	})
}

// What a shell function and the command of the same name make of a call is the
// same.
func TestCommandsSayWhatFunctionsSay(t *testing.T) {
	pairs := []struct{ function, command string }{
		{`mcp_emit_text $'a "b"\n<c>\x01 é'`, `emit text $'a "b"\n<c>\x01 é'`},
		{`mcp_emit_text --audience user,assistant --priority 0.5 x`, `emit text --audience user,assistant --priority 0.5 x`},
		{`mcp_emit_text x`, `emit text < <(printf x)`},
		{`mcp_emit_json '{"b":[1, 2e1],"a":"<"}'`, `emit json '{"b":[1, 2e1],"a":"<"}'`},
		{`mcp_emit_link x:1 one text/plain 'the first'`, `emit link x:1 one text/plain 'the first'`},
		{`mcp_emit_link --priority 1 x:1 one`, `emit link --priority 1 x:1 one`},
		{`mcp_emit_resource x:1 - text/x <<<1`, `emit resource x:1 - text/x <<<1`},
		{`mcp_result_success '{"n":1}'`, `result success '{"n":1}'`},
		{`mcp_result_error '"why"'`, `result error - <<<'"why"'`},
		{`mcp_error not_found 'no "x"' --hint 'look' --data '[1]'`, `error not_found 'no "x"' --hint 'look' --data '[1]'`},
		{`mcp_error not_found none`, `error not_found none`},
		{`mcp_fail -32001 'went "wrong"' '{"a":1}'`, `fail -32001 'went "wrong"' '{"a":1}'`},
		{`mcp_fail 7 wrong`, `fail 7 wrong`},
		{`mcp_fail_invalid_args 'no n' '[2]'`, `fail-invalid-args 'no n' '[2]'`},
		{`mcp_args_raw | wc -c`, `args-raw | tr -d '\n' | wc -c`},
		{`mcp_args_get .o.k,.s`, `args-get .o.k,.s`},
		{`mcp_args_get '.long | length'`, `args-get '.long | length'`},
		{`mcp_meta_get '.["x/y"]'`, `meta-get '.["x/y"]'`},
		{`mcp_args_require s`, `args-require s`},
		{`mcp_args_require max-width`, `args-require max-width`},
		{`mcp_args_int a.b`, `args-int a.b`},
		{`mcp_args_require .o.k`, `args-require .o.k`},
		{`mcp_args_require e`, `args-require e 2>/dev/null`},
		{`mcp_args_require z 'name it'`, `args-require z 'name it' 2>/dev/null`},
		{`mcp_args_bool t`, `args-bool t`},
		{`mcp_args_bool q --default false`, `args-bool q --default false`},
		{`mcp_args_bool s`, `args-bool s 2>/dev/null`},
		{`mcp_args_int n --min 1 --max 5`, `args-int n --min 1 --max 5`},
		{`mcp_args_int n --min 6`, `args-int n --min 6 2>/dev/null`},
		{`mcp_args_int n --max -4`, `args-int n --max -4 2>/dev/null`},
		{`mcp_args_int q --default 7`, `args-int q --default 7`},
		{`mcp_args_int q`, `args-int q 2>/dev/null`},
		{`mcp_args_int dot`, `args-int dot`},
		{`mcp_args_int exp`, `args-int exp`},
		{`mcp_args_int half`, `args-int half 2>/dev/null`},
		{`mcp_args_int most`, `args-int most`},
		{`mcp_args_int more`, `args-int more 2>/dev/null`},
	}
	var script strings.Builder
	for i, p := range pairs {
		fmt.Fprintf(&script, "tool_function%d() { %s; }\ntool_command%d() { \"$CONCH_BIN\" tool %s; }\n", i, p.function, i, p.command)
	}
	const arguments = `{"s":"a b","max-width":"5","a.b":7,"e":"","z":null,"o":{"k":"v"},"t":true,"n":5,"dot":2.0,"exp":2e1,"half":1.5,"most":9223372036854775807,"more":9223372036854775808,"long":"`
	long := strings.Repeat("x", 300_000)
	c := fixture{script: script.String()}.serve(t, ways[0])
	for i, p := range pairs {
		said := map[string]string{}
		for _, of := range []string{"function", "command"} {
			o := c.call(ask{tool: fmt.Sprint(of, i), args: arguments + long + `"}`})
			said[of] = canonical(t, o.Result)
			if o.Error != nil {
				said[of] = fmt.Sprint(o.Error.Code, o.Error.Message, canonical(t, o.Error.Data))
			}
		}
		if said["function"] != said["command"] {
			t.Errorf("%s makes %s\nconch tool %s makes %s", p.function, said["function"], p.command, said["command"])
		}
	}
}

// canonical is JSON with the members of its objects in order.
func canonical(t *testing.T, text json.RawMessage) string {
	t.Helper()
	if text == nil {
		return ""
	}
	var value any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	sorted, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(sorted)
}
