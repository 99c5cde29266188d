package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/process"
)

// dumpScript has a tool that prints its arguments, NUL behind each: $1, the
// number of values, arg_v0 and those that follow, and the array arg_list.
const dumpScript = `
tool_dump() {
  local i=0 name
  printf '%s\0' "$1"
  while ((i < arg_count)); do
    name=arg_v$i
    printf '%s\0' "${!name}"
    i=$((i + 1))
  done
  printf '%s\0' "${arg_list[@]}"
}
`

// hardValues are texts that shells have been known to spoil.
func hardValues() []string {
	values := []string{
		"", " ", "  two  ", "\t", "\n", "\n\n", "a\n", "\na", "a\r\n", "\\", "\\\\", "\\n", "\\\\n", "\\c", "a\\", "\\0101", "\\x41", "\\u0041", "\\\n", "\\ ",
		"%", "%s %d %b %%", "-n", "-e", "--", "$HOME", "$(touch pwned)", "`touch pwned`", "${x:=y}", "$((1/0))", "a[$(touch pwned)]", "'", "\"", "'\"'", "!", "!!", "*", "?", "~", "#", ";", "&", "|", "<>", "(", "{a,b}", "[x]", "=", "a=b", ":", "a:3",
		"é", "€", "𝄞", "\u2028", "\ufeff", "\u0085", "\u00a0", "\uFFFD", "\U0010FFFF", "e\u0301",
		strings.Repeat("x", inlineLimit-1), strings.Repeat("x", inlineLimit), strings.Repeat("x", inlineLimit+1), strings.Repeat("é\n", inlineLimit/3),
	}
	var all strings.Builder
	for r := rune(1); r < 256; r++ {
		all.WriteRune(r)
		values = append(values, string(r), "a"+string(r)+"b", string(r)+"\n", "\\"+string(r))
	}
	return append(values, all.String(), all.String()+all.String())
}

func TestEveryValueArrivesInTheShellAsItWasSent(t *testing.T) {
	for _, locale := range []string{"C", "C.UTF-8"} {
		t.Run(locale, func(t *testing.T) {
			s := start(t, "LC_ALL="+locale+"\n"+dumpScript, 1)
			requireRoundTrip(t, s, hardValues())
		})
	}
}

func TestALongValueArrivesInTheShellAsItWasSent(t *testing.T) {
	s := start(t, dumpScript, 1)
	unit := strings.Join(hardValues()[:60], "")
	requireRoundTrip(t, s, []string{strings.Repeat(unit, 1+(1<<20)/len(unit))})
	requireRoundTrip(t, s, []string{"short"})
}

// The script's own declarations of the same names must not interpret a value.
func TestDeclarationsOfTheScriptDoNotSpoilValues(t *testing.T) {
	values := []string{"1+1", "a[$(touch pwned)]", "MiXeD", "x\ny", "PATH", strings.Repeat("1+1", inlineLimit)}
	for _, declaration := range []string{"declare -i", "declare -u", "declare -l", "declare -a", "declare -A", "declare -n", "export"} {
		for _, value := range []string{"", "=5"} {
			if value != "" && strings.ContainsAny(declaration, "aAn") && declaration != "declare -i" {
				continue
			}
			t.Run(declaration+value, func(t *testing.T) {
				var script strings.Builder
				for i := range values {
					fmt.Fprintf(&script, "%s arg_v%d%s\n", declaration, i, value)
				}
				requireRoundTrip(t, start(t, script.String()+dumpScript, 1), values)
			})
		}
	}
}

func TestAReadonlyVariableOfTheScriptSpoilsNoOtherArgument(t *testing.T) {
	s := start(t, "readonly arg_b=script\n"+`tool_show() { printf '%s|' "$arg_a" "$arg_b" "$arg_c" "$arg_d"; }`, 1)
	if _, output := run(t, s, "show", `{"a":"1","b":"2","c":"3","d":"x\ny"}`); output != "1|script|3|x\ny|" {
		t.Errorf("got %q", output)
	}
}

func requireRoundTrip(t *testing.T, s *Server, values []string) {
	t.Helper()
	arguments := map[string]any{"count": len(values), "list": values}
	for i, value := range values {
		arguments[fmt.Sprintf("v%d", i)] = value
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	status, output := run(t, s, "dump", string(text))
	got := strings.Split(strings.TrimSuffix(output, "\x00"), "\x00")
	if status != 0 || len(got) != 1+2*len(values) {
		t.Fatalf("status %d, %d values of %d: %.500q", status, len(got), 1+2*len(values), output)
	}
	if got[0] != string(text) {
		t.Errorf("the JSON is not the same: %.200q", got[0])
	}
	for i, value := range values {
		if got[1+i] != value {
			t.Errorf("variable %d: %.200q has become %.200q", i, value, got[1+i])
		}
		if got[1+len(values)+i] != value {
			t.Errorf("element %d: %.200q has become %.200q", i, value, got[1+len(values)+i])
		}
	}
}

func TestWaitMayWakeUpForNothingAndGoesOn(t *testing.T) {
	s := start(t, `tool_gate() { read -r _ <"$arg_gate"; echo through; exit 7; }`, 1)
	gate := filepath.Join(t.TempDir(), "gate")
	if err := unix.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	w := acquire(t, s)
	if err := w.Start(Job{Function: "tool_gate", Dir: t.TempDir(), Arguments: json.RawMessage(`{"gate":"` + gate + `"}`)}); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		if _, err := w.Wait(cancelled, time.Time{}); !errors.Is(err, ErrNotYet) {
			t.Fatalf("with a context that has ended: %v", err)
		}
		if _, err := w.Wait(t.Context(), time.Now().Add(-time.Second)); !errors.Is(err, ErrNotYet) {
			t.Fatalf("with a deadline that has passed: %v", err)
		}
	}
	// What a context that ended late may still do to the next Wait.
	woken := make(chan error, 1)
	go func() {
		_, err := w.Wait(context.Background(), time.Time{})
		woken <- err
	}()
	for end := time.Now().Add(patience); len(woken) == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		_ = w.event.SetReadDeadline(time.Unix(1, 0))
	}
	if err := <-woken; !errors.Is(err, ErrNotYet) {
		t.Fatalf("woken for nothing: %v", err)
	}
	if err := os.WriteFile(gate, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	status, err := wait(w)
	var output strings.Builder
	if drainErr := w.Drain(&output); err != nil || drainErr != nil || status != 7 || output.String() != "through\n" {
		t.Errorf("status %d, %v, %v, output %q", status, err, drainErr, output.String())
	}
	s.Release(w)
}

func TestWhatAStragglerPrintsReachesNoOtherCall(t *testing.T) {
	s := start(t, `
tool_leave() { (set -m; exec bash -c 'trap "" PIPE; read -r _ <"$0"; echo late; echo late >&2; echo >"$0.done"' "$arg_gate") & }
tool_say() { echo "$arg_text"; }
`, 1)
	gate := filepath.Join(t.TempDir(), "gate")
	for _, path := range []string{gate, gate + ".done"} {
		if err := unix.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if status, output := run(t, s, "leave", `{"gate":"`+gate+`"}`); status != 0 || output != "" {
		t.Fatalf("status %d, output %q", status, output)
	}
	say := func(text string) {
		t.Helper()
		if status, output := run(t, s, "say", `{"text":"`+text+`"}`); status != 0 || output != text+"\n" {
			t.Errorf("status %d, output %q, want %q", status, output, text)
		}
	}
	say("before")
	if err := os.WriteFile(gate, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(gate + ".done"); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		say(fmt.Sprintf("after %d", i))
	}
}

func TestNothingACallChangesSurvivesIt(t *testing.T) {
	s := start(t, `state=0; tool_change() { state=$((state + 1)); cd /; set -f; trap 'echo trap' EXIT; tool_change() { echo changed; }; export MORE=1; echo "$state $PWD $- ${MORE-none}"; }`, 2)
	_, first := run(t, s, "change", `{}`)
	if !strings.HasPrefix(first, "1 / ") || !strings.HasSuffix(first, "trap\n") {
		t.Errorf("the first call prints %q", first)
	}
	for range 4 {
		if _, output := run(t, s, "change", `{}`); output != first {
			t.Errorf("a later call prints %q, the first %q", output, first)
		}
	}
}

func signal(t *testing.T, g process.Group, sig unix.Signal) {
	t.Helper()
	if err := g.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

func TestThePoolHealsWhateverIsKilled(t *testing.T) {
	const script = `tool_say() { echo "$arg_text"; }; tool_root() { kill -9 $$; }`
	tests := []struct {
		name string
		kill func(t *testing.T, s *Server, w *Worker)
	}{
		{"a worker that waits", func(t *testing.T, _ *Server, w *Worker) {
			w.shell.Kill()
			until(t, "its end is seen", func() bool { w.poll(); return w.ended })
		}},
		{"a subshell that waits", func(t *testing.T, _ *Server, w *Worker) {
			old := w.group
			old.Kill()
			until(t, "another takes its place", func() bool { return w.poll() && w.group != old })
		}},
		{"a subshell whose worker has not told so", func(t *testing.T, _ *Server, w *Worker) {
			signal(t, w.shell, unix.SIGSTOP)
			w.group.Kill()
			until(t, "it is dead", w.group.HasEnded)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if err := w.ready(ctx); err == nil {
				t.Error("a dead subshell is ready for a call")
			}
			signal(t, w.shell, unix.SIGCONT)
		}},
		{"the root shell", func(_ *testing.T, s *Server, _ *Worker) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.root.group.Kill()
			<-s.root.done
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, script, 2)
			for range 2 {
				w := acquire(t, s)
				tt.kill(t, s, w)
				s.Release(w)
			}
			for i := range 5 {
				text := fmt.Sprint("again ", i)
				status, output := run(t, s, "say", `{"text":"`+text+`"}`)
				if status != 0 || output != text+"\n" {
					t.Errorf("status %d, output %q", status, output)
				}
			}
		})
	}
}

func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// The call whose subshell is killed before it began may be lost. It must not
// begin later, in the place of another.
func TestACallThatIsLostBeforeItBeganNeverBegins(t *testing.T) {
	s := start(t, `tool_say() { echo "$arg_text"; }`, 1)
	for i := range 10 {
		w := acquire(t, s)
		w.group.Kill()
		s.Release(w)
		for j := range 4 {
			text := fmt.Sprintf("%d %d", i, j)
			_, output := run(t, s, "say", `{"text":"`+text+`"}`)
			if output != text+"\n" && (j > 0 || output != "") {
				t.Fatalf("call %d after a kill prints %q, want %q", j, output, text)
			}
		}
	}
}

func TestAWorkerThatIsKilledDuringACallIsLost(t *testing.T) {
	s := start(t, `tool_sleep() { sleep 1000; }; tool_say() { echo hi; }`, 1)
	w := acquire(t, s)
	if err := w.Start(Job{Function: "tool_sleep", Dir: t.TempDir(), Arguments: json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
	w.shell.Kill()
	if _, err := wait(w); !errors.Is(err, ErrLost) {
		t.Errorf("Wait: %v", err)
	}
	s.Lose(w)
	if _, output := run(t, s, "say", `{}`); output != "hi\n" {
		t.Errorf("the next call prints %q", output)
	}
}

func TestAcquireWaitsForItsTurnAndNoLongerThanItsContext(t *testing.T) {
	s := start(t, `tool_say() { echo hi; }`, 2)
	first, second := acquire(t, s), acquire(t, s)
	if first == second {
		t.Fatal("two calls have the same worker")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Acquire of a third: %v", err)
	}
	s.Release(first)
	if third := acquire(t, s); third != first {
		t.Error("the worker that was given back is not the one that is had")
	} else {
		s.Release(third)
	}
	s.Release(second)
}

func TestArgumentsLeaveNoFileBehind(t *testing.T) {
	s := start(t, dumpScript, 1)
	requireRoundTrip(t, s, []string{strings.Repeat("secret\n", 100000)})
	files, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil && info.Size() > keptJob {
			t.Errorf("%s holds %d bytes after the call", f.Name(), info.Size())
		}
	}
}

func TestCloseLeavesOnlyWhatWasThereBefore(t *testing.T) {
	s, err := tryStart(t, `tool_say() { echo hi; }`, 3)
	if err != nil {
		t.Fatal(err)
	}
	w := acquire(t, s)
	shell, group, root := w.shell, w.group, s.root.group
	s.Release(w)
	s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if !shell.Wait(ctx) || !group.Wait(ctx) || !root.Wait(ctx) {
		t.Errorf("alive are the worker %v, its subshell %v, the root shell %v", shell.Alive(), group.Alive(), root.Alive())
	}
	files, err := os.ReadDir(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Type()&os.ModeNamedPipe != 0 || strings.HasSuffix(f.Name(), jobSuffix) || strings.HasSuffix(f.Name(), moreSuffix) {
			t.Errorf("%s is left", f.Name())
		}
	}
	if _, err := s.Acquire(t.Context()); !errors.Is(err, errClosed) {
		t.Errorf("Acquire after Close: %v", err)
	}
}

func TestAScriptThatFailsEndsTheStartWithItsLine(t *testing.T) {
	for script, want := range map[string]string{
		"echo\nset -e\nfalse\n": "line 3: it ended the shell with status 1 while it was sourced; it has to come to its end (no exit, nor set -e before what may fail)",
		"exit 5\n":              "it ended the shell with status 5 while it was sourced; it has to come to its end (no exit, nor set -e before what may fail)",
		"false\n":               "line 1: its last command failed with status 1; a script must end with status 0 (a test at its end: write if … fi)",
		"/dev/null\n":           "line 1: its last command failed with status 126: it may not be executed, or is no program and no script of Bash's",
		"no-such-command\n":     "line 1: its last command failed with status 127: there is no such command (install it, or write where it is)",
		"if\n":                  "it has a syntax error, or its last command failed with status 2",
		"kill -9 $$\n":          "ended the shell while it was sourced",
	} {
		t.Run(want, func(t *testing.T) {
			s, err := tryStart(t, script, 1)
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.HasSuffix(err.Error(), want) || !strings.Contains(err.Error(), "server.sh") {
				t.Errorf("%q: %v, want %q", script, err, want)
			}
		})
	}
}

func TestCallsRunOnAllTheProcessorsThatTheScriptHas(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nobody tells of processors here")
	}
	const allowed = `allowed() { while read -r name list; do [[ $name != Cpus_allowed_list: ]] || echo "$list"; done </proc/self/status; }
		tool_allowed() { allowed; sh -c 'grep ^Cpus_allowed_list: /proc/self/status'; }`
	own, err := exec.Command("bash", "-c", allowed+"\nallowed").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.TrimSpace(string(own))
	for name, tt := range map[string]struct{ script, want string }{
		"as they are":          {allowed, all},
		"as the script has it": {"taskset -pc 0 $$\n" + allowed, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath("taskset"); err != nil && tt.want == "0" {
				t.Skip("there is no taskset")
			}
			s := start(t, tt.script, 2)
			for range 4 {
				want := tt.want + "\nCpus_allowed_list:\t" + tt.want + "\n"
				if _, output := run(t, s, "allowed", `{}`); output != want {
					t.Errorf("output %q, want %q", output, want)
				}
			}
		})
	}
}

// The subshell that is forked ahead has its output open; the one after it has not.
func TestAPipeThatIsGoneLosesNoCall(t *testing.T) {
	for _, c := range []struct {
		name string
		lose func(path string) error
	}{
		{"removed", os.Remove},
		{"moved", func(path string) error { return os.Rename(path, path+".moved") }},
		{"replaced by a file", func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)) }},
		{"replaced by a directory", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }},
		{"replaced by a pipe", func(path string) error { return errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600)) }},
	} {
		for _, mode := range []string{"", "set -o posix; "} {
			t.Run(mode+c.name, func(t *testing.T) {
				s := start(t, mode+`tool_say() { echo hi; }; tool_hush() { :; }`, 1)
				w := acquire(t, s)
				next := w.out[1-w.side].path
				s.Release(w)
				if err := c.lose(next); err != nil {
					t.Fatal(err)
				}
				for _, tool := range []string{"hush", "say", "say"} {
					want := map[string]string{"say": "hi\n"}[tool]
					if status, output := run(t, s, tool, `{}`); status != 0 || output != want {
						t.Errorf("%s ends with status %d and prints %q", tool, status, output)
					}
				}
			})
		}
	}
}
