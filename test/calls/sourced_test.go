package calls_test

import (
	"strings"
	"syscall"
	"testing"
)

func TestAScriptThatFailsWhileItIsSourcedEndsTheStart(t *testing.T) {
	for _, c := range []struct {
		name, script string
		says         []string
	}{
		{"exit", "\n\nexit 3\n", []string{"status 3"}},
		{"exit after a message of its own", "echo 'cannot find the moon' >&2\nexit 3\n", []string{"cannot find the moon", "status 3"}},
		{"exit after a message on standard output", "echo 'cannot find the moon'\nexit 3\n", []string{"cannot find the moon"}},
		{"exit 0", "exit 0\n", []string{"server.sh", "status 0"}},
		{"exit in a function", "give_up() {\n  exit 4\n}\ngive_up\n", []string{"status 4"}},
		{"a failing command under errexit", "set -e\n:\n:\nfalse\n", []string{"server.sh: line 4"}},
		{"a command there is none of under errexit", "set -e\n:\nno-such-command\n", []string{"server.sh: line 3", "no-such-command"}},
		{"a failing command in a function under errexit", "set -eE\nbreaks() {\n  false\n}\nbreaks\n", []string{"server.sh: line 3"}},
		{"a failing pipeline", "set -eo pipefail\n:\nfalse | true\n", []string{"server.sh: line 3"}},
		{"a syntax error", "echo fine\nif true; then\n  echo }\nfi done\n", []string{"server.sh: line 4: syntax error"}},
		{"an unfinished command", "tool_x() {\n  echo\n", []string{"server.sh: line 3: syntax error"}},
		{"an unbound variable", "set -u\n:\necho \"$nowhere\"\n", []string{"server.sh: line 3: nowhere: unbound variable"}},
		{"a parameter that must be set", ":\n: \"${nowhere:?must be set}\"\n", []string{"server.sh: line 2: nowhere: must be set"}},
		{"a kill", "kill -9 $$\n", []string{"server.sh"}},
		{"a SIGTERM", "kill -TERM $$\nsleep 1000\n", []string{"server.sh"}},
		{"another program in its place", "exec true\n", []string{"server.sh"}},
		{"a child in the background", "sleep 1000 &\nexit 3\n", []string{"status 3"}},
		{"an EXIT trap of its own", "trap 'echo good night >&2' EXIT\nexit 3\n", []string{"good night", "server.sh"}},
		{"closed descriptors", "for i in {0..255}; do eval \"exec $i>&-\"; done\nexit 3\n", []string{"server.sh"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, c.script)
			for _, line := range s.Rest() {
				t.Errorf("on standard output: %q", line)
			}
			if state := s.Wait(); state.ExitCode() != 1 {
				t.Errorf("the server ended with %v", state)
			}
			for _, want := range c.says {
				if !strings.Contains(s.Stderr(), want) {
					t.Errorf("standard error lacks %q:\n%s", want, s.Stderr())
				}
			}
			if got := s.Stderr(); strings.Contains(got, "_conch") || strings.Contains(got, "runtime.bash") {
				t.Errorf("standard error tells of the runtime:\n%s", got)
			}
			s.leavesNothing()
		})
	}
}

func TestASignalEndsAScriptThatIsSourcedForEver(t *testing.T) {
	for _, c := range []struct{ name, body string }{
		{"busy", `while :; do :; done`},
		{"asleep", `sleep 1000`},
		{"ignoring signals", `trap '' TERM INT HUP; while :; do sleep 0.1; done`},
		{"with children", `sleep 1000 & sleep 1000 & wait`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := newMark(t)
			s := serve(t, "echo begun >>'"+m.path+"'\n"+c.body)
			m.lines(1)
			_ = s.Cmd.Process.Signal(syscall.SIGTERM)
			s.diesBy(syscall.SIGTERM)
		})
	}
}

func TestASourcedScriptMayLookAtItsNameItsArgumentsAndItsDirectory(t *testing.T) {
	const script = `
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
name=$0 arguments=("$@")
tool_tell() { printf '%s|' "${name##*/}" "${BASH_SOURCE[0]##*/}" "${arguments[@]}"; [[ -f $here/tools.json ]] && echo found; }
`
	s := serve(t, script)
	if got, want := s.ok("tell", `{}`), "server.sh|server.sh|found"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.ends()
}

func TestWhatAScriptPrintsWhileItIsSourcedNeverReachesTheProtocol(t *testing.T) {
	s := serve(t, "echo one\necho two >&2\ncat /proc/self/status >/dev/stdout\n"+echo)
	s.serves()
	for _, want := range []string{"one\n", "two\n"} {
		if !strings.Contains(s.Stderr(), want) {
			t.Errorf("standard error lacks %q", want)
		}
	}
	s.ends()
}
