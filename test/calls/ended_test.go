package calls_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// grace is how long a call may take to end once it was asked to.
const grace = 2 * time.Second

// limit is long enough for the calls that shall not reach it.
const limit = 4 * time.Second

func TestATimedOutCallIsAnsweredWithAnErrorThatNamesTheFlag(t *testing.T) {
	for _, c := range []struct {
		name, body string
		stubborn   bool
	}{
		{"an obedient tool", `echo before; sleep 1000; echo after`, false},
		{"a tool that cleans up", `trap 'echo "cleaned up"; exit 0' TERM; echo before; while :; do sleep 0.05; done`, false},
		{"a tool that ignores SIGTERM", `trap '' TERM; echo before; while :; do sleep 0.1; done`, true},
		{"a tool with a child that ignores SIGTERM", `(trap '' TERM; while :; do sleep 0.1; done) & echo before; sleep 1000`, true},
		{"a tool that has stopped its children", `sleep 1000 & kill -STOP "$!"; echo before; wait`, false},
		{"a busy tool", `echo before; while :; do :; done`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, echo+"tool_slow() {\necho \"$BASHPID\" >>\"$arg_at\"\n"+c.body+"\n}\n", "--timeout", limit.String())
			m := newMark(t)
			start := time.Now()
			got := s.call("slow", m.args())
			took := time.Since(start) - limit
			if groupAlive(m.pids(1)[0]) {
				t.Error("the call was answered before its group was dead")
			}
			if !got.isError || !strings.Contains(got.text, "--timeout") || !strings.Contains(got.text, "before") || strings.Contains(got.text, "after\n") {
				t.Errorf("got %+v", got)
			}
			if c.stubborn != (took > grace) || took > grace+5*time.Second {
				t.Errorf("it took %v to end", took)
			}
			s.serves()
			s.ends()
		})
	}
}

func TestACallWithinItsTimeIsNotTouched(t *testing.T) {
	t.Parallel()
	s := serve(t, `tool_nap() { sleep 0.2; echo rested; }`, "--timeout", "20s")
	if got := s.ok("nap", `{}`); got != "rested" {
		t.Errorf("got %q", got)
	}
	s.ends()
}

func TestACallThatPrintsTooMuchIsAnsweredWithAnErrorThatNamesTheFlag(t *testing.T) {
	const most = 1000
	for _, c := range []struct {
		name, body string
		fails      bool
	}{
		{"as much as it may", `printf '%01000d' 0`, false},
		{"one byte more", `printf '%01001d' 0`, true},
		{"as much as it may, slowly", `printf '%0500d' 0; sleep 0.1; printf '%0500d' 0`, false},
		{"one byte more, slowly", `printf '%0500d' 0; sleep 0.1; printf '%0501d' 0`, true},
		{"on both descriptors together", `printf '%0600d' 0; printf '%0600d' 0 >&2`, true},
		{"for ever", `yes`, true},
		{"for ever, ignoring SIGTERM", `trap '' TERM PIPE; while :; do echo y; done`, true},
		{"for ever, in the background", `yes & sleep 1000`, true},
		{"without a newline", `cat /dev/zero`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, echo+"tool_print() {\necho \"$BASHPID\" >>\"$arg_at\"\n"+c.body+"\n}\n", "--max-output", fmt.Sprint(most))
			m := newMark(t)
			got := s.call("print", m.args())
			if got.isError != c.fails {
				t.Errorf("got %v %q", got.isError, clip(got.text))
			}
			if c.fails && (!strings.Contains(got.text, "--max-output") || len(got.text) > 2*most) {
				t.Errorf("got %q", clip(got.text))
			}
			if !c.fails && len(got.text) != most {
				t.Errorf("got %d bytes", len(got.text))
			}
			if groupAlive(m.pids(1)[0]) {
				t.Error("the call was answered before its group was dead")
			}
			s.serves()
			s.ends()
		})
	}
}

func TestACancelledCallIsStoppedAndNeverAnswered(t *testing.T) {
	for _, c := range []struct {
		name, body string
		cleans     bool
	}{
		{"an obedient tool", `sleep 1000`, false},
		{"a tool that cleans up", `trap 'sleep 0.2; echo cleaned >>"$arg_at"; exit 0' TERM; echo "$BASHPID" >>"$arg_at"; while :; do sleep 0.05; done`, true},
		{"a tool that ignores SIGTERM", `trap '' TERM; while :; do sleep 0.1; done`, false},
		{"a tool that prints a result on SIGTERM", `trap 'echo "a result"; exit 0' TERM; while :; do sleep 0.05; done`, false},
		{"a tool that has stopped itself and its children", `sleep 1000 & kill -STOP "$!" "$BASHPID"; sleep 1000`, false},
		{"a tool that stops itself when it is to end", `trap 'kill -STOP "$BASHPID"; echo cleaned >>"$arg_at"; exit 0' TERM; echo "$BASHPID" >>"$arg_at"; while :; do sleep 0.05; done`, true},
		{"a tool that prints without end", `while :; do echo y; sleep 0.01; done`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, echo+"tool_slow() {\necho \"$BASHPID\" >>\"$arg_at\"\n"+c.body+"\n}\n")
			m := newMark(t)
			id := s.post("slow", m.args())
			group := m.pids(1)[0]
			if c.cleans {
				m.lines(2) // the trap is set
			}
			s.cancel(id)
			dead(t, harness.Deadline, group)
			if c.cleans && !strings.HasSuffix(m.text(), "cleaned\n") {
				t.Errorf("the tool had no time to clean up: %q", m.text())
			}
			s.serves()
			harness.Eventually(t, harness.Deadline, "the removal of its directory", func() bool { return len(callDirs(s)) == 0 })
			s.ends()
		})
	}
}

// callDirs lists the directories of calls that are there, and what is in those that
// the next calls are to find empty. One that a tool has moved to another name is the
// tool's own, until the server ends.
func callDirs(s *server) []string {
	var dirs []string
	for _, path := range s.Files() {
		if strings.Contains(path, ".moved") {
			continue
		}
		_, next, _ := strings.Cut(path, "/next-")
		if strings.Contains(path, "/call-") || strings.Contains(path, "/old-") || strings.Contains(next, "/") {
			dirs = append(dirs, path)
		}
	}
	return dirs
}

const waiting = echo + `
# Runs until there is a file beside the mark.
tool_wait() { echo "$BASHPID" >>"$arg_at"; until [[ -e $arg_at.go ]]; do sleep 0.02; done; echo went on; }
tool_mark() { echo ran >>"$arg_at"; }

# Waits until n calls are inside at once.
tool_meet() {
  mkdir -- "$arg_at.$BASHPID"
  local inside=("$arg_at".*)
  until ((${#inside[@]} >= arg_n)); do sleep 0.02; inside=("$arg_at".*); done
  echo "met"
}

# Tells how many calls are inside.
tool_count() {
  mkdir -- "$arg_at.$BASHPID"
  local inside=("$arg_at".*)
  sleep 0.05
  echo "${#inside[@]}"
  rmdir -- "$arg_at.$BASHPID"
}
`

func TestAsManyCallsRunAtOnceAsTheFlagSaysAndTheRestQueue(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			s := serve(t, waiting, "--concurrency", fmt.Sprint(n))
			m := newMark(t)
			var ids []int
			for range n {
				ids = append(ids, s.post("meet", fmt.Sprintf(`{"at":%q,"n":%d}`, m.path, n)))
			}
			for _, got := range s.await(ids...) {
				if got != (answer{"met", false}) {
					t.Errorf("got %+v", got)
				}
			}
			m, ids = newMark(t), nil
			for range 4 * n {
				ids = append(ids, s.post("count", m.args()))
			}
			for _, got := range s.await(ids...) {
				var inside int
				if _, err := fmt.Sscan(got.text, &inside); err != nil || inside < 1 || inside > n {
					t.Errorf("%q calls ran at once, --concurrency is %d", got.text, n)
				}
			}
			s.ends()
		})
	}
}

func TestACancelledCallThatWaitsForItsTurnNeverRuns(t *testing.T) {
	t.Parallel()
	s := serve(t, waiting, "--concurrency", "1")
	running, cancelled, later := newMark(t), newMark(t), newMark(t)
	first := s.post("wait", running.args())
	running.lines(1)
	for range 5 {
		s.cancel(s.post("mark", cancelled.args()))
	}
	last := s.post("mark", later.args())
	touch(t, running.path+".go")
	answers := s.await(first, last)
	if answers[first] != (answer{"went on", false}) || answers[last] != (answer{"", false}) {
		t.Errorf("got %+v", answers)
	}
	if later.text() != "ran\n" {
		t.Error("the call behind the cancelled ones has not run")
	}
	s.serves()
	s.ends()
	if text := cancelled.text(); text != "" {
		t.Errorf("a cancelled call has run: %q", text)
	}
}

func TestCancellingWhatIsNotInFlightDisturbsNobody(t *testing.T) {
	t.Parallel()
	s := serve(t, waiting, "--concurrency", "2")
	done := s.post("echo", object("v", "x"))
	s.await(done)
	m := newMark(t)
	id := s.post("wait", m.args())
	m.lines(1)
	s.cancel(done)
	s.cancel(id + 1000)
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`,
		fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"%d"}}`, id),
	} {
		s.Send(line)
	}
	s.serves()
	touch(t, m.path+".go")
	if got := s.await(id)[id]; got != (answer{"went on", false}) {
		t.Errorf("got %+v", got)
	}
	s.ends()
}

func TestBackgroundChildrenDieWithTheirCall(t *testing.T) {
	for _, c := range []struct{ name, child string }{
		{"obedient", `sleep 1000`},
		{"ignoring SIGTERM and SIGHUP", `trap '' TERM HUP; while :; do sleep 0.1; done`},
		{"holding the output open and printing", `while :; do echo late; sleep 0.02; done`},
		{"stopped", `kill -STOP "$BASHPID"; sleep 1000`},
		{"disowned", `nohup sleep 1000 >/dev/null 2>&1 & disown; sleep 1000`},
		{"orphaned", `(sleep 1000 &)`},
		{"in a group of its own", `set -m; sleep 1000 & echo "$!" >>"$arg_at"; wait`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, echo+`
tool_leave() {
  ( echo "$BASHPID" >>"$arg_at"; `+c.child+` ) &
  until [[ -s $arg_at ]]; do sleep 0.02; done
  sleep 0.1
  echo answered
}
`)
			m := newMark(t)
			start := time.Now()
			got := s.call("leave", m.args())
			if got.isError || !strings.Contains(got.text, "answered") {
				t.Errorf("got %+v", got)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("the child has delayed the answer by %v", took)
			}
			for _, pid := range m.pids(1) {
				harness.Eventually(t, harness.Deadline, "the child's death", func() bool { return !harness.Alive(pid) })
			}
			s.serves()
			s.ends()
		})
	}
}

func TestAChildInItsOwnSessionDelaysNothingAndReachesNoOtherCall(t *testing.T) {
	t.Parallel()
	s := serve(t, echo+`
tool_leave() {
  setsid bash -c 'echo $$ >>"$0"; trap "" PIPE; for ((i = 0; i < 100000; i++)); do echo "from the past $i" 2>/dev/null; done; sleep 1000' "$arg_at" &
  until [[ -s $arg_at ]]; do sleep 0.02; done
}
`, "--concurrency", "2")
	for range 4 {
		m := newMark(t)
		s.call("leave", m.args())
		child := m.pids(1)[0]
		t.Cleanup(func() { _ = syscall.Kill(child, syscall.SIGKILL) })
	}
	for range 20 {
		s.serves()
	}
	for _, line := range s.Rest() {
		t.Errorf("an answer nobody waits for: %s", clip(line))
	}
	if files := s.Files(); len(files) > 0 {
		t.Errorf("still there: %q", files)
	}
}
