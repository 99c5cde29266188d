package annotated_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// both runs a test over a script, and over a folder that has the script in it, where
// it is sourced for each call.
func both(t *testing.T, text string, test func(t *testing.T, target string)) {
	t.Helper()
	dir := files(t, map[string]string{"server.sh": text})
	t.Run("a script", func(t *testing.T) { test(t, filepath.Join(dir, "server.sh")) })
	t.Run("a folder", func(t *testing.T) { test(t, dir) })
}

func TestErrexitEndsACommand(t *testing.T) {
	both(t, `set -e
_fails() { return 4; }
# @cmd
a() { echo before; false; echo behind; }
# @cmd
b() { echo before; _fails | cat; echo behind; }
# @cmd
c() { local x; x=$(_fails); echo behind; }
# @cmd
d() { if _fails; then echo yes; else echo no; fi; }
# @cmd
e() { return 3; }
# @cmd
f() { exit 0; }
`, func(t *testing.T, target string) {
		s := serve(t, target)
		for _, tool := range []string{"a", "c"} {
			if got := s.call(tool, `{}`); !got.isError || strings.Contains(got.text, "behind") {
				t.Errorf("%s: %+v", tool, got)
			}
		}
		s.says("b", `{}`, "before\nbehind")
		s.says("d", `{}`, "no")
		s.fails("e", `{}`)
		s.says("f", `{}`, "")
		s.ends()
	})
}

func TestWithoutErrexitACommandGoesOn(t *testing.T) {
	both(t, "# @cmd\na() { false; echo behind; }\n", func(t *testing.T, target string) {
		s := serve(t, target)
		s.says("a", `{}`, "behind")
		s.ends()
	})
}

func TestOptionsAndTrapsOfAScriptDoNotBreakACall(t *testing.T) {
	const command = `
_default() { printf 'd\n'; }
_choices() { printf '%s\n' a b; }
# @cmd
# @env WORD=w
# @option --text!
# @option --none
# @option --list*
# @option -D --define-*
# @option --given=` + "`_default`" + `
# @option --choice[` + "`_choices`" + `]
# @arg place
c() { printf '<%s>' "$argc_text" "${argc_list[@]}" "${argc_define[k]}" "$argc_given" "$argc_choice" "$WORD" "$1"; }
`
	arguments := object("text", "a b*", "list", []string{"x y", "*"}, "define", map[string]string{"k": "v"}, "choice", "b", "place", "p q")
	const want = "<a b*><x y><*><v><d><b><w><p q>"
	for _, tt := range []struct{ name, before string }{
		{"nounset", "set -u"},
		{"pipefail", "set -o pipefail"},
		{"errexit with an ERR trap", "set -eE; trap 'echo ERR' ERR"},
		{"an ERR trap that is inherited", "set -E; trap 'echo ERR' ERR"},
		{"noglob", "set -f"},
		{"failglob", "shopt -s failglob"},
		{"nullglob", "shopt -s nullglob"},
		{"IFS without a blank", "IFS=$'\\n\\t'"},
		{"an odd IFS", "IFS=_c0=ax"},
		{"an empty IFS", "IFS="},
		{"nocasematch", "shopt -s nocasematch"},
		{"extglob", "shopt -s extglob"},
		{"POSIX mode", "set -o posix"},
		{"POSIX mode with errexit", "set -euo posix"},
		{"noclobber", "set -C"},
		{"allexport", "set -a"},
		{"localvar_inherit", "shopt -s localvar_inherit"},
		{"an EXIT trap", "trap ':' EXIT"},
		{"a DEBUG trap", "trap ':' DEBUG"},
		{"a DEBUG trap that is inherited", "set -T; trap ':' DEBUG; shopt -s extdebug"},
		{"functions like builtins", "echo() { exit 9; }; printf2() { :; }; local() { exit 9; }; read() { exit 9; }; test() { exit 9; }; declare() { exit 9; }; type() { exit 9; }; return() { exit 9; }"},
		{"an alias", "shopt -s expand_aliases; alias local='exit 9' builtin='exit 9'"},
		{"all at once", "set -euo pipefail; set -ET; shopt -s nocasematch; trap ':' DEBUG ERR; IFS=x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			both(t, tt.before+command, func(t *testing.T, target string) {
				s := serve(t, target)
				for range 2 {
					s.says("c", arguments, want)
				}
				s.fails("c", `{"text":"x","choice":"B"}`, `choice="B" (allowed: a, b)`)
				s.ends()
			})
		})
	}
}

func TestTraceOfAScriptIsOfItsOwnCommandsAlone(t *testing.T) {
	both(t, `PS4='> '
set -x
# @cmd
# @option --a
# @option --b=`+"`_b`"+`
c() { : "$argc_a $argc_b"; }
_b() { echo d; }
{ set +x; } 2>/dev/null
set -x
`, func(t *testing.T, target string) {
		s := serve(t, target)
		got := s.ok("c", `{"a":"x"}`)
		if !strings.Contains(got, "> : 'x d'") {
			t.Errorf("there is no trace of the command: %q", got)
		}
		for _, word := range []string{"_conch_set", "_conch_compute", "_conch_check", "_conch_flags", "IFS="} {
			if strings.Contains(got, word) {
				t.Errorf("the trace has %s: %q", word, got)
			}
		}
		s.ends()
	})
}

func TestWhatAScriptDeclaresAtItsTopIsThereForItsCommands(t *testing.T) {
	both(t, `
declare -A map=([a]=1)
declare -i number=6*7
readonly fixed=f
typeset list=(x y)
export given=g
declare -x shown=s
ROOT=$(cd "$(dirname "$0")" && pwd)
# @cmd
c() { echo "${map[a]} $number $fixed ${list[1]} $(printenv given shown | tr '\n' ' ')${ROOT##*/}"; }
eval "$(argc --argc-eval "$0" "$@")"
`, func(t *testing.T, target string) {
		s := serve(t, target)
		s.says("c", `{}`, "1 42 f y g s tools")
		s.says("c", `{}`, "1 42 f y g s tools")
		s.ends()
	})
}

func TestFunctionsRunBeforeAndAfterACommand(t *testing.T) {
	both(t, `
_argc_before() { echo "before $argc_name $argc__fn ${argc__positionals[*]} $#"; }
_argc_after() { echo "after $#"; }
# @cmd
# @option --name
# @arg place
c() { echo "in $1"; return "${argc_name:-0}"; }
eval "$(argc --argc-eval "$0" "$@")"
`, func(t *testing.T, target string) {
		s := serve(t, target)
		s.says("c", `{"place":"p"}`, "before  c p 0\nin p\nafter 0")
		s.fails("c", `{"place":"p","name":"3"}`, "in p\nafter 0")
		s.ends()
	})
}

func TestAScriptWithMainIsOneToolWithTheFilesName(t *testing.T) {
	dir := files(t, map[string]string{
		"say-hello.sh": "# @describe Say hello\n# @option --name!\nmain() { echo \"Hello, $argc_name\" >>\"$LLM_OUTPUT\"; }\neval \"$(argc --argc-eval \"$0\" \"$@\")\"\necho behind\n",
		"plain.sh":     "# @describe No eval at its end\nmain() { echo plain; }\n",
		"whole.sh":     "# @describe No main\n# @arg word!\n# @env NEEDED!\necho \"$1 $argc_word\"\n",
		"itself.sh":    "# @describe It runs itself\n# @arg word!\nmain() { echo \"once $1 $argc_word\"; }\nif [[ ${BASH_SOURCE[0]} == \"$0\" ]]; then main \"$@\"; fi\n",
		"none.sh":      "# no tags\nmain() { :; }\n",
		"README.md":    "# @describe This is no script\n",
	})
	s := serve(t, dir)
	s.names("itself", "plain", "say_hello", "whole")
	s.says("itself", `{"word":"x"}`, "once x x")
	s.says("say_hello", `{"name":"Ada"}`, "Hello, Ada\nbehind")
	s.says("plain", `{}`, "plain")
	s.fails("whole", `{"word":"x"}`, "the environment variable NEEDED is not set")
	s.ends()
	s = serveWith(t, []string{"NEEDED=1"}, filepath.Join(dir, "whole.sh"))
	s.names("whole")
	s.says("whole", `{"word":"x"}`, "x x")
	s.ends()
	s = serve(t, filepath.Join(dir, "itself.sh"))
	s.names("itself")
	s.says("itself", `{"word":"x"}`, "once x x")
	s.ends()
	s = serve(t, filepath.Join(dir, "say-hello.sh"))
	s.names("say_hello")
	s.says("say_hello", `{"name":"Ada"}`, "Hello, Ada")
	s.ends()
}

func TestLLMOutputIsTheResult(t *testing.T) {
	both(t, "# @cmd\nc() { echo to it >>\"$LLM_OUTPUT\"; echo x | tr x y >\"$LLM_OUTPUT\"; }\n", func(t *testing.T, target string) {
		s := serve(t, target)
		s.says("c", `{}`, "to it\ny")
		s.ends()
		// Who has set it has his file.
		out := filepath.Join(t.TempDir(), "out")
		s = serveWith(t, []string{"LLM_OUTPUT=" + out}, target)
		s.says("c", `{}`, "")
		if text, _ := os.ReadFile(out); string(text) != "y\n" {
			t.Errorf("the file has %q", text)
		}
		s.ends()
	})
}

func TestVariablesOfTheEnvironment(t *testing.T) {
	both(t, `
# @meta dotenv vars
# @env GLOBAL=g
_list() { echo one; echo two; }
_make() { echo made; }
# @cmd
# @env NAME=standard
# @env COMPUTED=`+"`_make`"+`
# @env KIND[a|b]
# @env LISTED[`+"`_list`"+`]
c() { printenv GLOBAL NAME COMPUTED FROM_FILE OVER; }
`, func(t *testing.T, target string) {
		dir := filepath.Dir(target)
		if !strings.HasSuffix(target, ".sh") {
			dir = target
		}
		write(t, filepath.Join(dir, "vars"), "# some\nFROM_FILE=\"a file\"\nexport OVER=file\nNAME='file $x'\n")
		s := serveWith(t, []string{"OVER=environment"}, target)
		s.says("c", `{}`, "g\nfile $x\nmade\na file\nenvironment")
		s.ends()
		s = serveWith(t, []string{"OVER=1", "NAME=n", "COMPUTED=c", "KIND=a", "LISTED=two", "GLOBAL="}, target)
		s.says("c", `{}`, "\nn\nc\na file\n1")
		s.ends()
		s = serveWith(t, []string{"KIND=z"}, target)
		s.fails("c", `{}`, `the environment variable KIND="z" (allowed: a, b)`)
		s.ends()
		s = serveWith(t, []string{"LISTED=three"}, target)
		s.fails("c", `{}`, `the environment variable LISTED="three" (allowed: one, two)`)
		s.ends()
	})
}

func TestWhatIsMissingIsToldAndTheToolStaysListed(t *testing.T) {
	both(t, `
# @cmd
# @env CONCH_TEST_KEY!
# @meta require-tools no-such-program,sh
c() { echo ran; }
# @cmd
d() { echo ran; }
`, func(t *testing.T, target string) {
		s := serve(t, target)
		s.names("c", "d")
		s.fails("c", `{}`, "the environment variable CONCH_TEST_KEY is not set", "no-such-program")
		s.says("d", `{}`, "ran")
		for _, part := range []string{"c needs the environment variable CONCH_TEST_KEY", "c needs the program no-such-program"} {
			if !strings.Contains(s.Stderr(), part) {
				t.Errorf("%q was not told: %s", part, s.Stderr())
			}
		}
		s.ends()
		bin := files(t, map[string]string{"no-such-program": "#!/bin/sh\n"})
		s = serveWith(t, []string{"CONCH_TEST_KEY=", "PATH=" + bin + ":" + os.Getenv("PATH")}, target)
		s.says("c", `{}`, "ran")
		if strings.Contains(s.Stderr(), "needs") {
			t.Errorf("something is missing: %s", s.Stderr())
		}
		s.ends()
	})
	// What the script sets itself is there.
	s := serve(t, script(t, "export CONCH_TEST_KEY=1\nno_such_program() { :; }\n# @cmd\n# @env CONCH_TEST_KEY!\n# @meta require-tools no_such_program\nc() { echo ran; }\n"))
	s.says("c", `{}`, "ran")
	if strings.Contains(s.Stderr(), "needs") {
		t.Errorf("something is missing: %s", s.Stderr())
	}
	s.ends()
}

func TestHooksOfAScriptAreAsked(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "mark")
	s := serveWith(t, []string{"MARK=" + mark}, script(t, `
mcp_before_tool_call() { [[ $1 != b ]] || { echo "not $1 with $2"; return 1; }; }
tool_slow_cancel() { echo "cancelled" >>"$MARK"; }
# @cmd
# @option --x
a() { echo "a ran $argc_x"; }
# @cmd
# @option --x
b() { echo ran; }
# @cmd
slow() { echo "$BASHPID" >>"$MARK.pid"; sleep 60; }
`))
	s.says("a", `{"x":"1"}`, "a ran 1")
	s.fails("b", `{"x":"1"}`, `not b with {"x":"1"}`)
	id := s.post("slow", `{}`)
	pid := awaitFile(t, mark+".pid")
	s.cancel(id)
	gone(t, pid)
	if got := awaitFile(t, mark); got != "cancelled" {
		t.Errorf("the mark is %q", got)
	}
	s.says("a", `{}`, "a ran ")
	if strings.Contains(s.Stderr(), "not served") {
		t.Errorf("a hook is taken for a tool: %s", s.Stderr())
	}
	s.ends()
}

// slow is what a call does that has to be ended: it and a process of its own tell
// their ids.
const slow = `echo "$BASHPID" >"$MARK.pid"; sleep 60 & echo "$!" >"$MARK.child"; wait; `

const slowPython = `import os, subprocess, time
child = subprocess.Popen(["sleep", "60"])
open(os.environ["MARK"] + ".child", "w").write(str(child.pid) + "\n")
open(os.environ["MARK"] + ".pid", "w").write(str(os.getpid()) + "\n")
time.sleep(60)
`

func slowTools(t testing.TB) map[string]string {
	t.Helper()
	needs(t, "python3")
	return map[string]string{
		"command.sh": "# @cmd\n# @meta timeout 2\nlimited() { " + slow + "}\n# @cmd\nendless() { " + slow + "}\n",
		"main.sh":    "# @describe d\nmain() { " + slow + "}\neval \"$(argc --argc-eval \"$0\" \"$@\")\"\n",
		"prog.py":    "#!/usr/bin/env python3\n# @describe d\n" + slowPython,
		"progl":      "#!/usr/bin/awk -f\n# @describe d\n# @meta timeout 2.5\nBEGIN { system(\"echo $PPID >$MARK.pid; sleep 60 & echo $! >$MARK.child; wait\") }\n",
		"echo.sh":    "# @describe d\nmain() { echo here; }\n",
	}
}

func TestCancellationLeavesNothing(t *testing.T) {
	dir := files(t, slowTools(t))
	for _, tt := range []struct{ target, tool string }{
		{dir, "endless"}, {dir, "main"}, {dir, "prog"}, {filepath.Join(dir, "command.sh"), "endless"},
	} {
		mark := filepath.Join(t.TempDir(), "mark")
		s := serveWith(t, []string{"MARK=" + mark}, tt.target)
		id := s.post(tt.tool, `{}`)
		pid, child := awaitFile(t, mark+".pid"), awaitFile(t, mark+".child")
		s.cancel(id)
		gone(t, pid)
		gone(t, child)
		if tt.target == dir {
			s.says("echo", `{}`, "here")
		}
		s.ends()
	}
}

func TestATimeoutOfTagsEndsACall(t *testing.T) {
	dir := files(t, slowTools(t))
	for _, tt := range []struct{ target, tool, told string }{
		{dir, "limited", "2s"}, {dir, "progl", "2.5s"}, {filepath.Join(dir, "command.sh"), "limited", "2s"},
	} {
		mark := filepath.Join(t.TempDir(), "mark")
		s := serveWith(t, []string{"MARK=" + mark}, tt.target)
		began := time.Now()
		s.fails(tt.tool, `{}`, tt.told)
		if took := time.Since(began); took < 1900*time.Millisecond {
			t.Errorf("%s was ended after %v", tt.tool, took)
		}
		gone(t, awaitFile(t, mark+".pid"))
		gone(t, awaitFile(t, mark+".child"))
		s.ends()
	}
}

func TestOutputBeyondTheLimitEndsACall(t *testing.T) {
	dir := files(t, map[string]string{
		"floods.sh": "# @describe d\nmain() { yes; }\n",
		"floodp.sh": "# @cmd\nflood() { yes; }\n",
		"floodx":    "#!/usr/bin/awk -f\n# @describe d\nBEGIN { while (1) print \"y\" }\n",
	})
	s := serve(t, dir, "--max-output=64KiB")
	for _, tool := range []string{"floods", "flood", "floodx"} {
		s.fails(tool, `{}`, "65536 bytes")
	}
	s.ends()
}

func TestCommandsTalkToTheClient(t *testing.T) {
	both(t, `
# @cmd
ask() { mcp_progress 1 "asking" 2; mcp_log_info l "asking"; mcp_elicit_string --key name 'Your name?'; mcp_emit_text more; }
# @cmd
# @option --n <INT>
get() { mcp_args_get n; mcp_args_raw; mcp_result_error '{"a":1}'; }
`, func(t *testing.T, target string) {
		cases := filepath.Join(t.TempDir(), "x.test.yaml")
		write(t, cases, `
- name: asks
  tool: ask
  answers: { elicit: [{ key: name, content: { value: Ada } }] }
  expect:
    contains: [Ada, more]
    progress: [{ progress: 1, message: asking, total: 2 }]
    logs: [{ level: info, data: asking }]
- name: its arguments
  tool: get
  args: { n: 5 }
  expect: { isError: true }
`)
		if out, status := conch(t, nil, "test", "--cases", cases, target); status != 0 || !strings.Contains(out, "2 passed, 0 failed") {
			t.Errorf("status %d: %s", status, out)
		}
	})
}

func TestAToolThatAsksIsRefusedToAClientThatCannotBeAsked(t *testing.T) {
	both(t, "# @cmd\n# @meta requires elicitation\nasks() { echo ran; }\n# @cmd\nother() { echo other; }\n", func(t *testing.T, target string) {
		s := serve(t, target)
		s.begin()
		if reply := s.request("tools/call", `{"name":"asks","arguments":{}}`); reply.Error == nil || !strings.Contains(reply.Error.Message, "elicitation") {
			t.Errorf("it runs: %s", reply.Raw)
		}
		s.says("other", `{}`, "other")
		s.ends()
	})
}

func TestManyCallsAtOnceDoNotMeet(t *testing.T) {
	dir := files(t, map[string]string{
		"a.sh": "# @cmd\n# @option --x\n# @option --y\na() { sleep 0.0$((RANDOM % 5)); echo \"a $argc_x ${argc_y-none}\"; }\n",
		"b.sh": "# @describe d\n# @option --x\nmain() { sleep 0.0$((RANDOM % 5)); echo \"b $argc_x ${argc_y-none}\"; }\n",
		"c":    "#!/bin/sh\n# @describe d\n# @option --x\nmain() { echo \"c $argc_x ${argc_y-none}\"; }\n",
		"d.py": "#!/usr/bin/env python3\n# @describe d\n# @option --x\nimport sys, json, os\nprint('d', json.load(sys.stdin)['x'], os.environ.get('ARG_Y', 'none'), os.environ['ARG_X'])\n",
	})
	needs(t, "python3")
	s := serve(t, dir)
	want := map[int]string{}
	for i := range 40 {
		tool := []string{"a", "b", "c", "d"}[i%4]
		arguments, text := object("x", fmt.Sprint(i)), fmt.Sprintf("%s %d none", tool, i)
		switch {
		case tool == "d":
			text = fmt.Sprintf("d %d none %d", i, i)
		case tool == "a" && i%8 == 0:
			arguments, text = object("x", fmt.Sprint(i), "y", "mine"), fmt.Sprintf("a %d mine", i)
		}
		want[s.post(tool, arguments)] = text
	}
	for range 40 {
		reply := harness.ParseReply(t, s.Line())
		var id int
		fmt.Sscan(string(reply.ID), &id)
		if text, isError := reply.ToolText(t); isError || text != want[id] {
			t.Errorf("call %d: %q, want %q", id, text, want[id])
		}
		delete(want, id)
	}
	if len(want) > 0 {
		t.Errorf("no answer for %v", want)
	}
	s.ends()
}

func TestTheHookFindsTheArgumentsOfTaggedTools(t *testing.T) {
	both(t, `# @cmd Drop a table
# @option --table!
drop() { echo "dropped $argc_table"; }
mcp_before_tool_call() { [[ $1 == drop && $arg_table == users ]] || return 0; echo no; return 1; }
`, func(t *testing.T, target string) {
		s := serve(t, target)
		if strings.HasSuffix(target, ".sh") {
			s.fails("drop", `{"table":"users"}`, "no")
		}
		s.says("drop", `{"table":"other"}`, "dropped other")
		s.ends()
	})
}

func TestChoicesThatCannotBeComputedAreSaidToBe(t *testing.T) {
	both(t, "# @cmd\n# @option --x[`fails`]\nc() { echo ran; }\nfails() { return 5; }\n", func(t *testing.T, target string) {
		s := serve(t, target)
		s.fails("c", `{"x":""}`, "What x may be is not known: fails ended with status 5")
		s.says("c", `{}`, "ran")
		s.ends()
	})
}
