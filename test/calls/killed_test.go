package calls_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// killedWithin is how long what a killed server ran may outlive it.
const killedWithin = 3 * time.Second

// stubborn are tools that are hard to end. Each tells its process group once it
// is under way.
const stubborn = echo + `
busy() { while :; do : >"$MCP_CALL_TMPDIR/$RANDOM"; sleep 0.02; done; }

tool_stubborn() {
  trap '' TERM INT HUP
  busy &
  (sleep 1000 & sleep 1000) &
  echo "$BASHPID" >>"$arg_at"
  while :; do sleep 1000; done
}

# The child tells, and thus no signal comes while Bash forks: it blocks SIGTERM
# then, and one for the group would end the parent alone.
tool_obedient() { sh -c 'echo "$PPID" >>"$0"; exec sleep 1000' "$arg_at"; }

# A tool knows whose child its script is.
tool_patricide() { kill -9 "$arg_pid"; sleep 1000; }

# Tells on a second line that it was asked to end.
tool_asked() {
  trap 'echo "$BASHPID" >>"$arg_at"' TERM
  echo "$BASHPID" >>"$arg_at"
  while :; do sleep 0.1; done
}
`

func TestAKilledServerLeavesNoProcessAndNoFile(t *testing.T) {
	conch := func(s *server) { kill(t, s.Cmd.Process.Pid) }
	group := func(s *server) { kill(t, -s.Cmd.Process.Pid) }
	for _, c := range []struct {
		name string
		// under puts the server in the state it is killed in and returns the
		// process groups of its calls.
		under func(s *server, m mark) []int
		kill  func(s *server)
	}{
		{"idle", func(s *server, _ mark) []int { s.serves(); return nil }, conch},
		{"idle, with its process group", func(s *server, _ mark) []int { s.serves(); return nil }, group},
		{"before its first call", func(*server, mark) []int { return nil }, conch},
		{"in an obedient call", calls("obedient", 1), conch},
		{"in a stubborn call", calls("stubborn", 1), conch},
		{"in a stubborn call, with its process group", calls("stubborn", 1), group},
		{"in more calls than may run", func(s *server, m mark) []int {
			pids := calls("stubborn", 4)(s, m)
			for range 20 {
				s.post("stubborn", m.args())
			}
			return pids
		}, conch},
		{"in the grace time of a cancelled call", func(s *server, m mark) []int {
			pids := calls("asked", 1)(s, m)
			s.cancel(s.last)
			m.lines(2)
			return pids
		}, conch},
		{"in the grace time of a cancelled call, with its process group", func(s *server, m mark) []int {
			pids := calls("asked", 1)(s, m)
			s.cancel(s.last)
			m.lines(2)
			return pids
		}, group},
		{"while it shuts down", func(s *server, m mark) []int {
			pids := calls("asked", 1)(s, m)
			_ = s.Cmd.Process.Signal(syscall.SIGTERM)
			m.lines(2)
			return pids
		}, conch},
		{"after its sentinel was replaced", func(s *server, m mark) []int {
			pids := calls("stubborn", 1)(s, m)
			first := s.Sentinel()
			kill(s.t, first)
			harness.Eventually(s.t, harness.Deadline, "a new sentinel", func() bool { return s.Sentinel() != first })
			return pids
		}, conch},
		{"after its root shell was replaced", func(s *server, m mark) []int {
			kill(s.t, s.RootShell())
			return calls("stubborn", 4)(s, m)
		}, conch},
		{"after its root shell was killed", func(s *server, m mark) []int {
			pids := calls("stubborn", 2)(s, m)
			kill(s.t, s.RootShell())
			return pids
		}, conch},
		{"after the worker of a call was killed", func(s *server, m mark) []int {
			pids := calls("stubborn", 2)(s, m)
			kill(s.t, worker(s.t, pids[0]))
			return pids
		}, conch},
		{"stopped before", func(s *server, m mark) []int {
			pids := calls("stubborn", 1)(s, m)
			_ = s.Cmd.Process.Signal(syscall.SIGSTOP)
			return pids
		}, conch},
		{"by one of its tools", calls("stubborn", 1), func(s *server) {
			s.post("patricide", fmt.Sprintf(`{"pid":%d}`, s.Cmd.Process.Pid))
		}},
		{"with calls that are stopped", func(s *server, m mark) []int {
			pids := calls("obedient", 1)(s, m)
			_ = syscall.Kill(-pids[0], syscall.SIGSTOP)
			return pids
		}, conch},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, stubborn, "--concurrency", "4")
			s.serves()
			m := newMark(t)
			groups := c.under(s, m)
			c.kill(s)
			dead(t, killedWithin, groups...)
			s.Wait()
			s.leavesNothing()
		})
	}
}

// calls starts n calls and returns their process groups once all are under way.
func calls(tool string, n int) func(*server, mark) []int {
	return func(s *server, m mark) []int {
		s.t.Helper()
		for range n {
			s.post(tool, m.args())
		}
		return m.pids(n)[:n]
	}
}

func TestAServerKilledWhileItSourcesItsScriptLeavesNothing(t *testing.T) {
	t.Parallel()
	m := newMark(t)
	s := serve(t, `echo "$BASHPID" >>'`+m.path+`'; sleep 1000 & while :; do sleep 1000; done`)
	root := m.pids(1)[0]
	kill(t, s.Cmd.Process.Pid)
	dead(t, killedWithin, root)
	s.Wait()
	s.leavesNothing()
}

func TestTheServerGoesOnAfterOneOfItsProcessesWasKilled(t *testing.T) {
	for _, c := range []struct {
		name   string
		victim func(s *server) []int
	}{
		{"the sentinel", func(s *server) []int { return []int{s.Sentinel()} }},
		{"the root shell and a worker", func(s *server) []int { return append(s.Workers()[:1], s.RootShell()) }},
		{"a worker", func(s *server) []int { return s.Workers()[:1] }},
		{"all workers", (*server).Workers},
		{"the root shell and all workers", func(s *server) []int { return append(s.Workers(), s.RootShell()) }},
		{"every shell that waits for a call", func(s *server) []int {
			var pids []int
			for _, w := range s.Workers() {
				for _, p := range harness.Children(w) {
					pids = append(pids, p.PID)
				}
			}
			return pids
		}},
		{"every process it has", func(s *server) []int { return s.Session() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, stubborn, "--concurrency", "4")
			for range 3 {
				// A root shell that is gone is started again when a worker is
				// wanted: with as many calls at once as there may be, one is.
				calls("obedient", 4)(s, newMark(t))
				for id := s.last - 3; id <= s.last; id++ {
					s.cancel(id)
				}
				s.serves()
				victims := c.victim(s)
				if len(victims) == 0 {
					t.Fatal("nothing to kill")
				}
				for _, pid := range victims {
					// The death of one may be another's.
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
				for _, pid := range victims {
					harness.Eventually(t, harness.Deadline, "death", func() bool { return !harness.Alive(pid) })
				}
			}
			s.serves()
			s.ends()
		})
	}
}

func TestACallWhoseShellIsKilledIsAnsweredAndItsGroupDies(t *testing.T) {
	for _, c := range []struct {
		name   string
		victim func(s *server, tool int) int
	}{
		{"its worker", func(s *server, tool int) int { return worker(s.t, tool) }},
		{"its shell", func(_ *server, tool int) int { return tool }},
		{"its group", func(_ *server, tool int) int { return -tool }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, stubborn, "--concurrency", "4")
			hit, spared := newMark(t), newMark(t)
			id := s.post("stubborn", hit.args())
			other := s.post("asked", spared.args())
			tool := hit.pids(1)[0]
			spared.lines(1)
			kill(t, c.victim(s, tool))
			got := s.await(id)[id]
			if !got.isError || !strings.HasPrefix(got.text, "Error executing stubborn: ") {
				t.Errorf("got %+v", got)
			}
			dead(t, harness.Deadline, tool)
			s.serves()
			// The other call has not noticed.
			if groups := spared.pids(1); !groupAlive(groups[0]) {
				t.Error("another call has died, too")
			}
			kill(t, -spared.pids(1)[0])
			if got := s.await(other)[other]; !got.isError {
				t.Errorf("got %+v", got)
			}
			s.ends()
		})
	}
}

func TestCallsUnderWayOutliveTheRootShellAndTheSentinel(t *testing.T) {
	const script = echo + `
tool_wait() { echo "$BASHPID" >>"$arg_at"; until [[ -e $arg_at.go ]]; do sleep 0.02; done; echo "went on"; }
`
	for _, c := range []struct {
		name   string
		victim func(s *server) int
	}{
		{"the root shell", (*server).RootShell},
		{"the sentinel", (*server).Sentinel},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, script, "--concurrency", "4")
			m := newMark(t)
			id := s.post("wait", m.args())
			m.lines(1)
			kill(t, c.victim(s))
			s.serves()
			touch(t, m.path+".go")
			if got := s.await(id)[id]; got != (answer{"went on", false}) {
				t.Errorf("got %+v", got)
			}
			s.serves()
			s.ends()
		})
	}
}

func TestAFormerSentinelsDeathIsNoReasonToKillCalls(t *testing.T) {
	t.Parallel()
	s := serve(t, stubborn)
	m := newMark(t)
	id := s.post("obedient", m.args())
	tool := m.pids(1)[0]
	for range 3 {
		first := s.Sentinel()
		kill(t, first)
		harness.Eventually(t, harness.Deadline, "a new sentinel", func() bool { return s.Sentinel() != first })
		s.serves()
	}
	if !harness.Alive(tool) {
		t.Error("the call has died with the sentinel")
	}
	kill(t, -tool)
	s.await(id)
	s.ends()
}
