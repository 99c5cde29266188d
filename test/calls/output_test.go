package calls_test

import (
	"strings"
	"testing"
)

// pipe has a tool learn where what it prints goes.
const pipe = `local me=$BASHPID pipe; pipe=$(readlink "/proc/$me/fd/1"); `

func TestTheResultIsWhatTheToolPrints(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"nothing", `:`, ""},
		{"a line", `echo hello`, "hello"},
		{"without a newline", `printf hello`, "hello"},
		{"trailing newlines", `printf 'hello\n\n\n'`, "hello"},
		{"only newlines", `printf '\n\n\n'`, ""},
		{"newlines at the start and inside", `printf '\n\na\n\nb\n'`, "\n\na\n\nb"},
		{"trailing blanks", `printf 'a \t\n'`, "a \t"},
		{"carriage returns", `printf 'a\r\nb\r\n'`, "a\r\nb\r"},
		{"standard error", `echo oops >&2`, "oops"},
		{"both, in their order", `echo 1; echo 2 >&2; echo 3; echo 4 >&2; sh -c 'echo 5; echo 6 >&2'; echo 7`, "1\n2\n3\n4\n5\n6\n7"},
		{"through /dev/stdout and /dev/stderr", `echo 1 >/dev/stdout; echo 2 >/dev/stderr`, "1\n2"},
		{"a message of Bash", `no-such-command 2>&1 | grep -o 'command not found'`, "command not found"},
		{"NUL", `printf 'a\0b\0\0c\0'`, "abc"},
		{"NUL among trailing newlines", `printf 'a\n\0\n\0\n'`, "a"},
		{"only NUL", `printf '\0\0\0'`, ""},
		{"invalid UTF-8", `printf 'a\xffb\xc3'`, "a\uFFFDb\uFFFD"},
		{"half a character", `printf 'a\xe2\x82'; sleep 0.1; printf '\xac'`, "a€"},
		{"a surrogate in UTF-8", `printf 'a\xed\xa0\x80b'`, "a\uFFFDb"},
		{"Unicode", `echo 'Ünïcödé 日本 🐚'`, "Ünïcödé 日本 🐚"},
		{"control characters", `printf '\033[31mred\033[0m\a\b'`, "\x1b[31mred\x1b[0m\a\b"},
		{"what looks like the protocol", `echo '{"jsonrpc":"2.0","id":1,"result":{}}'`, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"HTML and separators", `printf '<&>\u2028'`, "<&>\u2028"},
		{"slowly", `for i in 1 2 3 4 5; do echo "$i"; sleep 0.05; done`, "1\n2\n3\n4\n5"},
		{"from a child in the background that is waited for", `(sleep 0.1; echo late) & wait; echo done`, "late\ndone"},
		{"from a pipeline", `seq 1 3 | tac | tr '\n' ' '`, "3 2 1 "},
		{"to a descriptor that its child inherits", `exec 5>&1; sh -c 'echo five >&5'`, "five"},
		{"after closing standard output", `exec 1>&-; echo lost; echo kept >&2`, ""},
		{"from another program in its place", `exec printf other`, "other"},
		{"from its EXIT trap", `trap 'echo bye' EXIT; echo hello`, "hello\nbye"},
		{"after its EXIT trap was called by exit", `trap 'echo bye' EXIT; exit 0`, "bye"},
		{"to a pipe whose name is gone", pipe + `echo before; rm -f "$pipe"; sleep 0.2; echo after`, "before\nafter"},
		{"to a pipe whose name is gone, nothing", pipe + `rm -f "$pipe"`, ""},
		{"to a pipe whose name a file has, much", pipe + `rm -f "$pipe"; : >"$pipe"; sleep 0.1; printf '%0300000d' 0`, strings.Repeat("0", 300000)},
		{"after return", `echo before; return 0; echo after`, "before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, "tool_print() {\n"+c.body+"\n}\n"+echo)
			got := s.call("print", `{}`)
			if c.name == "after closing standard output" {
				// What Bash says of it is its own business.
				if !strings.HasSuffix(got.text, "kept") || strings.Contains(got.text, "lost\n") {
					t.Errorf("got %+v", got)
				}
			} else if got != (answer{c.want, false}) {
				t.Errorf("got %+v, want %q", got, c.want)
			}
			s.serves()
			s.ends()
		})
	}
}

func TestAFailureIsAResultThatSaysSo(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"a status", `echo sorry; return 1`, "Error executing fail: sorry"},
		{"any other status", `echo sorry >&2; return 42`, "Error executing fail: sorry"},
		{"the last command's status", `echo sorry; false`, "Error executing fail: sorry"},
		{"exit", `echo sorry; exit 3; echo after`, "Error executing fail: sorry"},
		{"exit in a function of the script", `give_up() { echo sorry; exit 3; }; give_up`, "Error executing fail: sorry"},
		{"nothing printed", `return 1`, "Error executing fail: it ended with status 1 and printed nothing"},
		{"a signal", `echo sorry; kill -9 "$BASHPID"`, "Error executing fail: sorry"},
		{"SIGTERM", `echo sorry; kill -TERM "$BASHPID"; sleep 5`, "Error executing fail: sorry"},
		{"SIGHUP", `echo sorry; kill -HUP "$BASHPID"; sleep 5`, "Error executing fail: sorry"},
		{"SIGSEGV", `echo sorry; kill -SEGV "$BASHPID"; sleep 5`, "Error executing fail: sorry"},
		{"a program in its place that fails", `exec sh -c 'echo sorry; exit 9'`, "Error executing fail: sorry"},
		{"its EXIT trap", `trap 'echo bye; exit 4' EXIT; echo hello`, "Error executing fail: hello\nbye"},
		{"its ERR trap", `trap 'echo sorry; exit 4' ERR; false; echo after`, "Error executing fail: sorry"},
		{"errexit of its own", `set -e; echo sorry; false; echo after`, "Error executing fail: sorry"},
		{"a pipeline under pipefail of its own", `set -o pipefail; echo sorry; false | true`, "Error executing fail: sorry"},
		{"trailing newlines", `printf 'sorry\n\n'; return 1`, "Error executing fail: sorry"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, "tool_fail() {\n"+c.body+"\n}\n"+echo)
			for range 2 {
				s.fails("fail", `{}`, c.want)
			}
			s.serves()
			s.ends()
		})
	}
}

func TestAnUnboundVariableUnderNounsetIsAFailureWithBashsMessage(t *testing.T) {
	s := serve(t, "set -u\ntool_unbound() {\n  echo \"$nowhere\"\n  echo after\n}\n"+echo)
	got := s.call("unbound", `{}`)
	if !got.isError || !strings.HasSuffix(got.text, "nowhere: unbound variable") || !strings.Contains(got.text, "server.sh: line 3") {
		t.Errorf("got %+v", got)
	}
	s.serves()
	s.ends()
}

func TestTenMegabytesOfOutputPass(t *testing.T) {
	t.Parallel()
	s := serve(t, echo+`
tool_line() { local line; printf -v line '%01048576d' 0; for i in {1..10}; do printf '%s' "$line"; done; }
tool_lines() { seq 1 1300000; }
`)
	for range 2 {
		if got := s.ok("line", `{}`); got != strings.Repeat("0", 10<<20) {
			t.Errorf("got %d bytes", len(got))
		}
		got := s.ok("lines", `{}`)
		if n := strings.Count(got, "\n") + 1; n != 1300000 || !strings.HasPrefix(got, "1\n2\n3\n") || !strings.HasSuffix(got, "\n1299999\n1300000") {
			t.Errorf("got %d lines", n)
		}
	}
	s.serves()
	s.ends()
}

func TestALargeOutputReachesNoOtherCall(t *testing.T) {
	t.Parallel()
	s := serve(t, echo+`
tool_large() { printf '%0300000d' 0; return 1; }
`, "--concurrency", "2")
	for range 5 {
		if got := s.call("large", `{}`); !got.isError || len(got.text) != len("Error executing large: ")+300000 {
			t.Errorf("got %d bytes", len(got.text))
		}
		s.serves()
	}
	s.ends()
}
