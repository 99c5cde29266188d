package shell

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestTheFastWorkerIsTheWorkerWithoutBuiltin(t *testing.T) {
	text := withFastWorker(runtimeText)
	body := func(name string) string {
		_, rest, found := strings.Cut(text, "\n"+name+"() {")
		body, _, ended := strings.Cut(rest, "\n}\n")
		if !found || !ended {
			t.Fatalf("there is no %s", name)
		}
		return body
	}
	worker, turn, fast := body("_conch_worker"), body("_conch_turn"), body("_conch_fast_worker")
	of := strings.Replace(worker, "\n      _conch_turn\n", turn+"\n", 1)
	of = strings.ReplaceAll(slowLine.ReplaceAllString(of, ""), "builtin ", "")
	if strings.Contains(fast, "builtin ") || strings.Contains(fast, "_conch_turn") || fast != of {
		t.Errorf("the fast worker is %s", fast)
	}
	if strings.Replace(text, "\n_conch_fast_worker() {"+fast+"\n}\n", "", 1) != runtimeText {
		t.Error("the rest of the runtime is not what it was")
	}
	// A function of such a name decides which of the two is used.
	var used []string
	for _, match := range regexp.MustCompile(`builtin (\w+)`).FindAllStringSubmatch(worker+turn, -1) {
		used = append(used, match[1])
	}
	slices.Sort(used)
	used = slices.Compact(used)
	_, list, _ := strings.Cut(body("_conch_choose_worker"), "for _conch_name in ")
	list, _, _ = strings.Cut(list, ";")
	if !slices.Equal(strings.Fields(list), used) {
		t.Errorf("the worker uses %q, looked for are %q", used, list)
	}
}

func TestFunctionsCalledLikeBuiltinsDisturbNoCall(t *testing.T) {
	for _, name := range []string{"echo", "eval", "exit", "export", "read", "set", "printf", "declare", "unset", "trap", "mapfile", "disown", "local"} {
		t.Run(name, func(t *testing.T) {
			s := start(t, `tool_say() { builtin printf '%s' "$arg_text"; builtin exit 3; }`+"\n"+name+"() { builtin echo mine; }", 1)
			for _, text := range []string{"short", strings.Repeat("x", inlineLimit+1)} {
				if status, output := run(t, s, "say", `{"text":"`+text+`"}`); status != 3 || output != text {
					t.Errorf("status %d, output %.60q", status, output)
				}
			}
		})
	}
}

// A wake-up that a killed subshell did not take is the next one's to find.
func TestAWakeUpForAKilledSubshellRunsNothing(t *testing.T) {
	s := start(t, `tool_mark() { : >"$arg_mark"; }`, 1)
	mark := filepath.Join(t.TempDir(), "mark")
	w := acquire(t, s)
	w.group.Kill()
	// Only once it is gone, or it might still take the wake-up.
	until(t, "the subshell is gone", func() bool { return !w.group.Alive() })
	if err := w.Start(Job{Function: "tool_mark", Dir: t.TempDir(), Arguments: json.RawMessage(`{"mark":"` + mark + `"}`)}); err != nil {
		t.Fatal(err)
	}
	if status, err := wait(w); status != 137 || err != nil {
		t.Errorf("the call ends with status %d, %v", status, err)
	}
	var got []string
	for range 2 {
		kind, number, err := w.next(t.Context(), time.Now().Add(patience))
		if err != nil {
			t.Fatalf("after %q: %v", got, err)
		}
		if kind == eventReady {
			number = 0
		}
		got = append(got, fmt.Sprint(kind, " ", number))
	}
	if want := []string{"r 0", "d 244"}; !slices.Equal(got, want) {
		t.Errorf("the worker says %q, want %q", got, want)
	}
	if _, err := os.Lstat(mark); err == nil {
		t.Error("the tool has run")
	}
	s.Lose(w)
}

func TestAllShellsAreOfTheServersSession(t *testing.T) {
	s := start(t, `tool_say() { echo hi; }`, 2)
	requireOne := func() {
		t.Helper()
		w := acquire(t, s)
		defer s.Release(w)
		for name, pid := range map[string]int{"the root shell": int(s.root.group), "the worker": int(w.shell), "the subshell": int(w.group)} {
			if sid, err := unix.Getsid(pid); err != nil || sid != int(s.root.group) {
				t.Errorf("%s is in session %d, %v; the server's is %d", name, sid, err, int(s.root.group))
			}
		}
	}
	requireOne()
	old := int(s.root.group)
	s.root.group.Kill()
	<-s.root.done
	// It is started again for the next fork.
	first, second := acquire(t, s), acquire(t, s)
	s.Lose(first)
	s.Lose(second)
	s.Release(acquire(t, s))
	if int(s.root.group) == old {
		t.Error("the session is still that of the root shell that was killed")
	}
	requireOne()
}

func TestCloseEndsAllOfTheSession(t *testing.T) {
	s, err := tryStart(t, `tool_leave() { (set -m; sleep 1000 >/dev/null 2>&1 & echo $!); }`, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, output := run(t, s, "leave", `{}`)
	pid, err := strconv.Atoi(strings.TrimSpace(output))
	if err != nil {
		t.Fatalf("the tool prints %q", output)
	}
	t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGKILL) })
	if err := unix.Kill(pid, 0); err != nil {
		t.Errorf("what the call left is not there: %v", err)
	}
	s.Close()
	until(t, "what the call left has ended", func() bool { return unix.Kill(pid, 0) == unix.ESRCH })
}
