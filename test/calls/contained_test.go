package calls_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

func TestAHostileToolCostsItsOwnCallOnly(t *testing.T) {
	for _, c := range []struct {
		name, body string
		fails      bool
	}{
		{"kills the root shell", `kill -9 "$$"; sleep 0.1; exit 3`, true},
		{"kills its worker", `read -r _ _ _ parent _ <"/proc/$BASHPID/stat"; kill -9 "$parent"; sleep 1000`, true},
		{"kills the root shell and its worker", `read -r _ _ _ parent _ <"/proc/$BASHPID/stat"; kill -9 "$$" "$parent"; sleep 1000`, true},
		{"kills the root shell's group", `kill -9 -- "-$$"; sleep 0.1; exit 3`, true},
		{"kills its own group", `sleep 1000 & kill -9 0; sleep 1000`, true},
		{"stops the root shell", `kill -STOP "$$"; exit 3`, true},
		{"hangs up on its parents", `read -r _ _ _ parent _ <"/proc/$BASHPID/stat"; kill -HUP "$$" "$parent"; exit 3`, true},
		{"closes every descriptor", `for ((i = 0; i < 256; i++)); do eval "exec $i>&-"; done`, false},
		{"opens every descriptor", `for ((i = 3; i < 256; i++)); do eval "exec $i<>/dev/null"; done`, false},
		{"forks two hundred children", `for ((i = 0; i < 200; i++)); do sleep 1000 & done`, false},
		{"forks children of children", `for ((i = 0; i < 10; i++)); do (for ((j = 0; j < 10; j++)); do sleep 1000 & done; wait) & done`, false},
		{"writes to descriptors it might have inherited", `for ((i = 3; i < 256; i++)); do printf 'd 0\nr 1\nw 1\n' >&"$i"; done 2>/dev/null; exit 3`, true},
		{"reads from descriptors it might have inherited", `for ((i = 3; i < 256; i++)); do read -r -t 0.01 -u "$i" _; done 2>/dev/null; exit 3`, true},
		{"redirects its shell's descriptors to its output", `exec 200>&1 201>&1 202>&1; printf 'd 7\n' >&200; exit 3`, true},
		{"runs out of file size", `ulimit -f 1; head -c 100000 /dev/zero >"$MCP_CALL_TMPDIR/file" || exit 3`, true},
		{"runs out of descriptors", `ulimit -n 3; : <(:); exit 3`, true},
		{"recurses without end", `ulimit -s 256; deep() { deep; }; deep`, true},
		{"becomes another program", `exec sh -c 'echo other; exit 3'`, true},
		{"becomes a program there is none of", `exec /nonexistent/program`, true},
		{"forgets its functions", `unset -f $(compgen -A function); exit 3`, true},
		{"forgets its variables", `unset -v $(compgen -v) 2>/dev/null; exit 3`, true},
		{"removes every trap", `trap - EXIT ERR DEBUG RETURN; exit 3`, true},
		{"evaluates an error", `eval 'if'; exit 3`, true},
		{"divides by zero", `: "$((1 / 0))"`, true},
		{"returns a large status", `return 255`, true},
		{"becomes a job-controlling shell", `set -m; sleep 1000 & sleep 1000 & exit 3`, true},
		{"suspends itself", `self=$BASHPID; (sleep 0.2; kill -CONT "$self") & kill -STOP "$self"; exit 3`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, echo+"tool_hostile() {\n"+c.body+"\n}\n", "--concurrency", "4")
			for range 2 {
				s.serves()
				got := s.call("hostile", `{}`)
				if got.isError != c.fails {
					t.Errorf("got %v %q", got.isError, clip(got.text))
				}
				s.serves()
			}
			s.ends()
		})
	}
}

func TestAToolInheritsNoDescriptorOfTheServer(t *testing.T) {
	// What this process has from its own parent, it passes on.
	var inherited []string
	links, _ := filepath.Glob("/proc/self/fd/*")
	for _, link := range links {
		target, _ := os.Readlink(link)
		inherited = append(inherited, target)
	}
	s := serve(t, `
exec 5</dev/zero
tool_descriptors() {
  local fd
  cd "/proc/$BASHPID/fd" || return
  for fd in *; do [[ ! -e $fd ]] || find "$PWD/$fd" -printf '%f %l\n'; done
}
`)
	for line := range strings.Lines(s.ok("descriptors", `{}`)) {
		fd, target, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case (fd == "1" || fd == "2") && target != "":
		case fd == "5" && target == "/dev/zero":
		case fd == "0" && target == "/dev/null":
		case fd >= "10" && target == "/dev/null": // a copy that Bash keeps
		case slices.Contains(inherited, target):
		default:
			t.Errorf("a tool has descriptor %s, %s", fd, target)
		}
	}
	s.ends()
}

func TestAChildInItsOwnSessionKeepsNothingOfTheServerOpen(t *testing.T) {
	m := newMark(t)
	s := serve(t, echo+`
tool_leave() { setsid sh -c 'echo $$ >>"$0"; exec sleep 1000' "$arg_at" & until [[ -s $arg_at ]]; do sleep 0.02; done; }
`)
	s.ok("leave", m.args())
	child := m.pids(1)[0]
	t.Cleanup(func() { _ = syscall.Kill(child, syscall.SIGKILL) })
	s.CloseInput()
	// Wait also waits for the end of standard error, which the child must not hold.
	s.Wait()
	if !harness.Alive(child) {
		t.Error("a child that left for its own session was killed")
	}
	if files := s.Files(); len(files) > 0 {
		t.Errorf("still there: %q", files)
	}
}

func TestAFullDiskCostsItsOwnCallOnly(t *testing.T) {
	dir := smallDisk(t)
	s := serve(t, `TMPDIR='`+dir+`'`+echo+`
tool_fill() { head -c 10000000 /dev/zero >"$MCP_CALL_TMPDIR/full"; }
tool_write() { head -c 100000 /dev/zero >"$MCP_CALL_TMPDIR/file" && wc -c <"$MCP_CALL_TMPDIR/file"; }
`)
	for range 3 {
		if got := s.call("fill", `{}`); !got.isError {
			t.Errorf("the disk is not full: %+v", got)
		}
		s.serves()
		harness.Eventually(t, harness.Deadline, "space on the disk", func() bool {
			return strings.TrimSpace(s.call("write", `{}`).text) == "100000"
		})
	}
	s.ends()
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("still there: %v", entries)
	}
}

// smallDisk is a file system of a few hundred kilobytes, where the test may
// mount one.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=512k,mode=1777"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
			_ = syscall.Unmount(dir, syscall.MNT_DETACH)
		}
	})
	return dir
}

func TestAFullDiskUnderTheControlFilesCostsCallsNotTheServer(t *testing.T) {
	dir := smallDisk(t)
	t.Setenv("XDG_RUNTIME_DIR", dir)
	s := serveAs(t, launch{env: []string{"XDG_RUNTIME_DIR=" + dir}}, echo)
	s.serves()
	big := object("v", strings.Repeat("x", 2<<20))
	for range 3 {
		if got := s.call("echo", big); !got.isError {
			t.Errorf("a job larger than the disk was written: %q", clip(got.text))
		}
		s.serves()
	}
	s.CloseInput()
	s.Wait()
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("still there: %v", entries)
	}
}

func TestAToolThatEmptiesTheCallDirectoriesCostsNoOtherCall(t *testing.T) {
	s := serve(t, echo+`
tool_empty() { rm -rf -- "${MCP_CALL_TMPDIR%/*}"; }
tool_use() { echo kept >"$MCP_CALL_TMPDIR/file" && cat "$MCP_CALL_TMPDIR/file"; }
`)
	for i := range 5 {
		s.ok("empty", `{}`)
		if got := s.ok("use", `{}`); got != "kept" {
			t.Errorf("round %d: got %q", i, got)
		}
		s.serves()
	}
	s.ends()
}

// Every user of a machine sees command lines.
func TestArgumentsAreOnNoCommandLineAndInNoEnvironment(t *testing.T) {
	s := serve(t, `
where() { grep -laF -f <(printf %s "$arg_v") /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null; }
tool_look() { where; true; }
tool_show() { sh -c 'sleep 1000; :' "$arg_v" & until [[ $(where) == *cmdline* ]]; do sleep 0.02; done; echo seen; }
`)
	if got := s.ok("look", object("v", "an-argument-"+rand.Text())); got != "" {
		t.Errorf("an argument is in %s", got)
	}
	if got := s.ok("show", object("v", "an-argument-"+rand.Text())); got != "seen" {
		t.Errorf("an argument that a tool shows is not found: %q", got)
	}
	s.ends()
}

func TestNothingIsInterpolatedIntoACommand(t *testing.T) {
	s := serve(t, echo)
	dir := t.TempDir()
	for _, text := range []string{
		`$(touch DIR/pwned)`, "`touch DIR/pwned`", `'; touch DIR/pwned; '`, `"; touch DIR/pwned; "`, "\ntouch DIR/pwned\n!",
		`a[$(touch DIR/pwned)]`, `-v`, `--`, `%s%n%q`, `\0101\x41\u0041\c`, `*`, `~`, `{a,b}`, `!!`, `$'\x41'`,
	} {
		text = strings.ReplaceAll(text, "DIR", dir)
		for _, arguments := range []string{object("v", text), fmt.Sprintf(`{"v":"same",%s}`, strings.Trim(object(text, "x"), "{}"))} {
			want := "same"
			if !strings.HasPrefix(arguments, `{"v":"same"`) {
				want = text
			}
			if got := s.ok("echo", arguments); got != strings.TrimRight(want, "\n") {
				t.Errorf("%s: got %q", arguments, got)
			}
		}
	}
	if entries, _ := filepath.Glob(dir + "/*"); len(entries) > 0 {
		t.Errorf("an argument was run: %v", entries)
	}
	s.ends()
}
