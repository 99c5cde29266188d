package calls_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestACallSeesWhatTheScriptHasSetUp(t *testing.T) {
	outside := t.TempDir()
	for _, c := range []struct{ name, script, body, want string }{
		{"variables", `greeting=hello; list=(a "b c")`, `echo "$greeting ${list[1]} ${#list[@]}"`, "hello b c 2"},
		{"associative arrays", `declare -A map=([key]=value)`, `echo "${map[key]}"`, "value"},
		{"variables that are not exported", `private=x`, `echo "$private$(printenv private)"`, "x"},
		{"exported variables", `export PUBLIC=x`, `printenv PUBLIC`, "x"},
		{"the environment", ``, `[[ -n $PATH && -n $TMPDIR ]] && echo "$CONCH_CONTROL"`, ""},
		{"functions", `helper() { echo "helped $1"; }`, `helper me`, "helped me"},
		{"aliases", "shopt -s expand_aliases\nalias hi='echo hi'", `hi there`, "hi there"},
		{"shell options", `shopt -s extglob; set -f`, `case aaa in +(a)) echo "$- *" ;; esac | tr -dc 'f*'`, "f*"},
		{"the directory", `cd '` + outside + `'`, `pwd`, outside},
		{"a directory that was removed", `mkdir '` + outside + `/gone' && cd '` + outside + `/gone' && rmdir '` + outside + `/gone'`, `echo here`, "here"},
		{"the umask", `umask 027`, `umask`, "0027"},
		{"IFS", `IFS=:`, `set -- a b; echo "$*"`, "a:b"},
		{"open descriptors", `exec 7</dev/zero`, `head -c 7 <&7 | wc -c`, "7"},
		{"every descriptor from 3 to 9", `for fd in 3 4 5 6 7 8 9; do eval "exec $fd</dev/zero"; done`, `for fd in 3 4 5 6 7 8 9; do head -c "$fd" <&"$fd"; done | wc -c`, "42"},
		{"resource limits", `ulimit -n 321; ulimit -c 0`, `echo "$(ulimit -n) $(ulimit -c)"`, "321 0"},
		{"a DEBUG trap", `trap 'steps=$((steps + 1))' DEBUG; set -T`, `: one; : two; ((steps > 1)) && echo traced`, "traced"},
		{"an ERR trap", `trap 'echo trapped' ERR; set -E`, `false; true`, "trapped"},
		{"a RETURN trap", `trap 'echo returned' RETURN; set -T; inner() { :; }`, `inner; trap - RETURN`, "returned"},
		{"a trap for a signal, listed", `trap 'echo usr' USR1`, `trap -p USR1 | grep -c usr`, "1"},
		{"positional parameters", `set -- a b c`, `echo "$#"`, "1"},
		{"readonly variables", `readonly fixed=1`, `(fixed=2) 2>/dev/null || echo "$fixed"`, "1"},
		{"the name of the script", ``, `echo "${0##*/} ${BASH_SOURCE[0]##*/}"`, "server.sh server.sh"},
		{"the line numbers of the script", "", `echo "$LINENO"`, "4"},
		{"BASHPID differs from $$", ``, `[[ $BASHPID != "$$" ]] && kill -0 "$$" && echo both`, "both"},
		{"standard input", ``, `readlink "/proc/$BASHPID/fd/0"; cat`, "/dev/null"},
		{"standard input, where the script has closed it", `exec 0<&-`, `readlink "/proc/$BASHPID/fd/0"; cat`, "/dev/null"},
		{"its output, where the script has closed its own", `exec 1>&- 2>&-`, `echo out; echo err >&2`, "out\nerr"},
		{"no jobs", `sleep 1000 &`, `jobs; wait; echo waited`, "waited"},
		{"no children", ``, `wait; wait -n; echo "$?"`, "127"},
		{"job control off", `set -m`, `case $- in *m*) echo on ;; *) echo off ;; esac`, "off"},
		{"no terminal", ``, `: 2>/dev/null </dev/tty || echo none`, "none"},
		{"itself as the leader of its process group", ``, `read -r _ _ _ _ group _ <"/proc/$BASHPID/stat"; [[ $group == "$BASHPID" ]] && echo leader`, "leader"},
		{"errexit off", `set -e`, `false; case $- in *e*) echo on ;; *) echo off ;; esac`, "off"},
		{"errexit off, also in functions it calls", "set -e\ninner() { false; echo went on; }", `inner`, "went on"},
		{"nounset as the script has it", `set -u`, `case $- in *u*) echo on ;; esac`, "on"},
		{"pipefail as the script has it", `set -o pipefail`, `false | true || echo failed`, "failed"},
		{"noclobber as the script has it", `set -C`, `case $- in *C*) echo on ;; esac`, "on"},
		{"allexport as the script has it", `set -a`, `late=x; printenv late`, "x"},
		{"extended matching as the script has it", `shopt -s nullglob nocasematch`, `set -- "$MCP_CALL_TMPDIR"/*; [[ A == a ]] && echo "$#"`, "0"},
		{"posix mode as the script has it", `set -o posix`, `shopt -qo posix && echo posix`, "posix"},
		{"signals as a process has them", ``, `sh -c 'kill -INT $$; echo survived'; echo "$?"`, "130"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.script+"\ntool_see() {\n:\n"+c.body+"\n}\n"+echo)
			want := c.want
			for range 2 {
				if got := s.call("see", `{}`); got.text != want {
					t.Errorf("got %+v, want %q", got, want)
				}
			}
			s.ends()
		})
	}
}

func TestNothingACallChangesSurvivesIt(t *testing.T) {
	s := serve(t, `
counter=0 list=(a) kept=yes
helper() { echo original; }
trap 'echo original' USR1
tool_change() {
  counter=$((counter + 1)) list+=(b) fresh=1 arg_fresh=1
  export EXPORTED=1
  unset kept
  helper() { echo changed; }
  tool_look() { echo changed; }
  extra() { :; }
  set -eufC -o pipefail
  shopt -s extglob nullglob
  trap 'echo changed' USR1
  trap 'echo bye >/dev/null' EXIT
  umask 0
  ulimit -n 50
  IFS=x
  cd /
  exec 5</dev/zero </dev/zero
  sleep 1000 &
  hash -p /bin/false cat
  set -- changed
  readonly counter
}
tool_look() {
  echo "$counter ${list[*]} ${kept-gone} ${fresh-none} ${arg_fresh-none} ${EXPORTED-none} ${arg_v-none}"
  helper
  declare -F extra
  echo "$-"
  set -o | grep -E 'pipefail|noglob'
  shopt extglob nullglob
  trap -p
  umask
  ulimit -n
  printf '%q %s %s\n' "$IFS" "$PWD" "$#"
  [[ -e /dev/fd/5 ]] && echo five
  readlink "/proc/$BASHPID/fd/0"
  jobs
  hash -t cat 2>&1
  :
}
`, "--concurrency", "1")
	before := s.ok("look", `{}`)
	for range 3 {
		if got := s.call("change", `{"v":"left over"}`); got.isError {
			t.Errorf("got %+v", got)
		}
		if after := s.ok("look", `{}`); after != before {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
	}
	s.ends()
}

func TestEveryCallIsAForkOfItsOwn(t *testing.T) {
	s := serve(t, `tool_pid() { echo "$BASHPID $$"; }`)
	seen, roots := map[string]bool{}, map[string]bool{}
	for range 20 {
		pid, root, _ := strings.Cut(s.ok("pid", `{}`), " ")
		seen[pid], roots[root] = true, true
	}
	if len(seen) != 20 || len(roots) != 1 {
		t.Errorf("20 calls had %d processes and %d root shells", len(seen), len(roots))
	}
	s.ends()
}

func TestTheScriptIsSourcedOnce(t *testing.T) {
	m := newMark(t)
	s := serve(t, "echo sourced >>'"+m.path+"'\n"+echo)
	s.serves()
	s.ends()
	if got := m.text(); got != "sourced\n" {
		t.Errorf("got %q", got)
	}
}

// quirks are what scripts may do to a shell without harm to calls.
var quirks = []struct{ name, script string }{
	{"nothing", ``},
	{"an integer of an argument's name", `declare -i arg_v`},
	{"an upper-case variable of an argument's name", `declare -u arg_v`},
	{"a lower-case variable of an argument's name", `declare -l arg_v`},
	{"an array of an argument's name", `arg_v=(old stuff)`},
	{"an associative array of an argument's name", `declare -A arg_v=([0]=old)`},
	{"a reference of an argument's name", `declare -n arg_v=elsewhere`},
	{"a function of an argument's name", `arg_v() { :; }`},
	{"readonly names that are often used", `readonly i n name value line lines key count REPLY status dir tool args`},
	{"IFS of digits and letters", `IFS='=:,0123456789abcdefghijklmnopqrstuvwxyz'`},
	{"no IFS", `unset IFS`},
	{"an empty IFS", `IFS=`},
	{"nounset", `set -u`},
	{"errexit", `set -e`},
	{"errexit, nounset, pipefail, errtrace", `set -eEuo pipefail`},
	{"posix mode", `set -o posix`},
	{"noclobber", `set -C`},
	{"noglob", `set -f`},
	{"allexport", `set -a`},
	{"keyword", `set -k`},
	{"no brace expansion", `set +B`},
	{"no hashing", `set +h`},
	{"job control", `set -m`},
	{"physical directories", `set -P`},
	{"extended globbing", `shopt -s extglob nullglob failglob nocasematch dotglob globstar nocaseglob`},
	{"functrace and a DEBUG trap", `set -T; trap ':' DEBUG`},
	{"a DEBUG trap under extdebug", `shopt -s extdebug; trap ':' DEBUG`},
	{"an ERR trap", `set -E; trap 'echo "an error" >&2; exit 9' ERR`},
	{"an EXIT trap", `trap 'cd /' EXIT`},
	{"traps of signals", `trap '' TERM INT HUP; trap 'exit 5' CHLD; trap - CHLD`},
	{"a CHLD trap", `trap 'true' CHLD`},
	{"lastpipe and inherit_errexit", `shopt -s lastpipe inherit_errexit`},
	{"inherited and unset locals", `shopt -s localvar_inherit localvar_unset`},
	{"functions of builtins' names", `printf() { :; }; read() { return 1; }; wait() { :; }; eval() { :; }; mapfile() { :; }; declare() { :; }; kill() { :; }; echo() { :; }`},
	{"functions of special builtins' names", `exec() { :; }; trap() { :; }; set() { :; }; export() { :; }; unset() { :; }; exit() { :; }; local() { :; }`},
	{"a function called command", `command() { return 127; }`},
	{"a function called test", `test() { return 1; }; true() { return 1; }`},
	{"aliases of builtins", "shopt -s expand_aliases\nalias exec=false trap=false set=false local=false export=false unset=false exit=false builtin=false declare=false"},
	{"no PATH", `PATH=`},
	{"an unset PATH", `unset PATH`},
	{"no HOME", `unset HOME USER LANG`},
	{"the C locale", `export LC_ALL=C`},
	{"a UTF-8 locale", `export LC_ALL=C.UTF-8`},
	{"umask 777", `umask 777`},
	{"another directory", `cd /`},
	{"its descriptors 3 to 9", `for fd in 3 4 5 6 7 8 9; do eval "exec $fd</dev/null"; done`},
	{"its descriptors 10 to 20", `for fd in {10..20}; do eval "exec $fd</dev/null"; done`},
	{"its descriptors 190 to 210", `for fd in {190..210}; do eval "exec $fd</dev/null"; done`},
	{"no standard input", `exec 0<&-`},
	{"no standard descriptors", `exec 0<&- 1>&- 2>&-`},
	{"a job in the background", `sleep 1000 &`},
	{"a finished job in the background", `sleep 0 &`},
	{"a coprocess", `coproc cat`},
	{"a disowned job", `sleep 1000 & disown`},
	{"a return at its end", `return 0`},
	{"many variables", `for i in {1..5000}; do printf -v "v$i" %s "$i"; done`},
	{"a large variable", `printf -v large '%01000000d' 0`},
	{"few descriptors", `ulimit -n 256`},
	{"an old compatibility level", `shopt -s compat31 2>/dev/null`},
	{"seconds and randomness unset", `unset SECONDS RANDOM LINENO EPOCHSECONDS`},
	{"its options printed", `set -o >/dev/null; shopt >/dev/null`},
}

func TestCallsWorkWhateverTheScriptHasDoneToTheShell(t *testing.T) {
	const text = "7+1 Ünïcode $(false) `false` \\n 'q' \"d\" %s = : , \n * ~ end"
	for _, c := range quirks {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// The tools stand first, so that they mean what they say: aliases
			// change what is parsed after them.
			s := serve(t, echo+`
tool_array() { builtin printf '<%s>' "${arg_v[@]}" "$arg_w"; }
tool_fail() { builtin echo "v is $arg_v" && return 7; }
`+c.script+"\n", "--concurrency", "2")
			for range 3 {
				if got := s.call("echo", object("v", text)); got != (answer{text, false}) {
					t.Fatalf("got %+v", got)
				}
				if got := s.call("array", `{"v":["7+1","","a b\n\\",null,1.10],"w":"x=y:z"}`); got != (answer{"<7+1><><a b\n\\><><1.10><x=y:z>", false}) {
					t.Errorf("got %+v", got)
				}
				if got := s.call("fail", `{"v":"12"}`); !got.isError || !strings.Contains(got.text, "v is 12") {
					t.Errorf("got %+v", got)
				}
			}
			s.serves()
			s.ends()
		})
	}
}

func TestADeclarationOfTheScriptNeverMakesCodeOfAnArgument(t *testing.T) {
	for _, declaration := range []string{
		``, `declare -i arg_v`, `declare -i arg_v=1`, `declare -ai arg_v`, `declare -ai arg_v=(1)`, `declare -A arg_v`, `declare -Ai arg_v=([a]=1)`,
		`declare -n arg_v=other`, `declare -n arg_v='other[0]'`, `declare -i other; declare -n arg_v=other`, `declare -ix arg_v`,
	} {
		t.Run(declaration, func(t *testing.T) {
			t.Parallel()
			pwned := filepath.Join(t.TempDir(), "pwned")
			s := serve(t, declaration+echo)
			text := "a[$(touch " + pwned + ")]"
			for _, value := range []string{fmt.Sprintf("%q", text), fmt.Sprintf("[%q,%q]", text, text), fmt.Sprintf("%q", text+"\n")} {
				s.call("echo", `{"v":`+value+`}`)
			}
			if got := s.call("echo", object("v", text)); got != (answer{text, false}) {
				t.Errorf("got %+v", got)
			}
			s.ends()
			if _, err := os.Stat(pwned); err == nil {
				t.Error("an argument was run as a command")
			}
		})
	}
}

func TestTracesShowTheToolAndNothingElse(t *testing.T) {
	for _, option := range []string{"-x", "-v", "-xv"} {
		s := serve(t, "set "+option+"\n"+`tool_trace() { : "traced $arg_v"; }`+"\n")
		got := s.ok("trace", object("v", "x"))
		if strings.Contains(got, "_conch") {
			t.Errorf("%s: %q", option, got)
		}
		if strings.Contains(option, "x") && !strings.Contains(got, "+ : 'traced x'") {
			t.Errorf("%s: %q", option, got)
		}
		s.ends()
	}
}

func TestLocksOnDescriptorsWork(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "lock")
	s := serve(t, fmt.Sprintf(`
lock=%q
tool_lock() { ( flock 200; echo "inside" ) 200>"$lock"; exec 201>"$lock"; flock 201 && echo "locked"; }
`, lock))
	for range 3 {
		if got := s.ok("lock", `{}`); got != "inside\nlocked" {
			t.Errorf("got %q", got)
		}
	}
	s.ends()
}
