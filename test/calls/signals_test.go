package calls_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// diesBy waits for the server's death by a signal and for the end of all it has
// started.
func (s *server) diesBy(sig syscall.Signal) {
	s.t.Helper()
	state := s.Wait()
	if status, ok := state.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != sig {
		s.t.Errorf("the server ended with %v, want death by %v", state, sig)
	}
	// Its sentinel is waited for: at this moment nothing may be left.
	if pids := s.Session(); len(pids) > 0 {
		s.t.Errorf("still there: %q", describe(pids))
	}
	if files := s.Files(); len(files) > 0 {
		s.t.Errorf("still there: %q", files)
	}
}

func TestASignalStopsTheCallsAndEndsTheServerByThatSignal(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		for _, c := range []struct {
			name     string
			under    func(*server, mark) []int
			stubborn bool
		}{
			{"idle", func(s *server, _ mark) []int { s.serves(); return nil }, false},
			{"in obedient calls", calls("obedient", 3), false},
			{"in a stubborn call", calls("stubborn", 1), true},
			{"in more calls than may run", func(s *server, m mark) []int {
				pids := calls("obedient", 4)(s, m)
				for range 20 {
					s.post("obedient", m.args())
				}
				return pids
			}, false},
			{"in a call that is stopped", func(s *server, m mark) []int {
				pids := calls("obedient", 1)(s, m)
				_ = syscall.Kill(-pids[0], syscall.SIGSTOP)
				return pids
			}, false},
		} {
			t.Run(sig.String()+" "+c.name, func(t *testing.T) {
				t.Parallel()
				s := serve(t, stubborn, "--concurrency", "4")
				m := newMark(t)
				groups := c.under(s, m)
				start := time.Now()
				if err := s.Cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				s.diesBy(sig)
				if took := time.Since(start); c.stubborn != (took > grace-100*time.Millisecond) || took > 15*time.Second {
					t.Errorf("it took %v", took)
				}
				for _, g := range groups {
					if groupAlive(g) {
						t.Errorf("process group %d is still there", g)
					}
				}
				if n := strings.Count(m.text(), "\n"); n != len(groups) {
					t.Errorf("%d calls have run, %d when the signal came", n, len(groups))
				}
			})
		}
	}
}

func TestACallMayCleanUpWhenTheServerIsToldToEndEvenTwice(t *testing.T) {
	const script = `
tool_clean() {
  trap 'echo asked >>"$arg_at"; sleep 0.7; echo cleaned >>"$arg_at"; exit' TERM
  echo ready >>"$arg_at"
  while :; do sleep 0.05; done
}
`
	for _, c := range []struct {
		name  string
		later []syscall.Signal
	}{
		{"once", nil},
		{"twice", []syscall.Signal{syscall.SIGTERM}},
		{"with every signal", []syscall.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, script)
			m := newMark(t)
			s.post("clean", m.args())
			m.lines(1)
			_ = s.Cmd.Process.Signal(syscall.SIGTERM)
			m.lines(2)
			for _, sig := range c.later {
				_ = s.Cmd.Process.Signal(sig)
			}
			s.diesBy(syscall.SIGTERM)
			if got := m.text(); got != "ready\nasked\ncleaned\n" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestSignalsIgnoredAtTheStartStayIgnored(t *testing.T) {
	t.Parallel()
	s := serveAs(t, launch{wrap: []string{"sh", "-c", `trap "" INT HUP; exec "$0" "$@"`}}, stubborn)
	s.serves()
	for range 3 {
		_ = s.Cmd.Process.Signal(syscall.SIGINT)
		_ = s.Cmd.Process.Signal(syscall.SIGHUP)
		s.serves()
	}
	_ = s.Cmd.Process.Signal(syscall.SIGTERM)
	s.diesBy(syscall.SIGTERM)
}

func TestATerminalsSignalReachesTheServerAlone(t *testing.T) {
	t.Parallel()
	s := serve(t, `
tool_clean() {
  trap 'echo interrupted >>"$arg_at"' INT
  trap 'echo asked >>"$arg_at"; exit' TERM
  echo ready >>"$arg_at"
  while :; do sleep 0.05; done
}
`)
	m := newMark(t)
	s.post("clean", m.args())
	m.lines(1)
	// As a terminal does: to everybody in the foreground group.
	if err := syscall.Kill(-s.Cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	s.diesBy(syscall.SIGINT)
	if got := m.text(); got != "ready\nasked\n" {
		t.Errorf("got %q", got)
	}
}

func TestTheScriptsOwnExitTrapRunsAtTheEnd(t *testing.T) {
	t.Parallel()
	m := newMark(t)
	s := serve(t, `trap 'echo "$BASHPID" >>"`+m.path+`"' EXIT`+echo)
	s.serves()
	root := s.RootShell()
	s.ends()
	if got := m.pids(1); len(got) != 1 || got[0] != root {
		t.Errorf("the trap has run in %v, the root shell was %d", got, root)
	}
}

func TestAClientThatClosesItsEndOfTheOutputEndsTheServer(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := serveAs(t, launch{stdout: w}, stubborn)
	w.Close()
	m := newMark(t)
	s.post("stubborn", m.args())
	group := m.pids(1)[0]
	r.Close()
	s.post("echo", object("v", "x"))
	s.Wait()
	dead(t, harness.Deadline, group)
	s.leavesNothing()
}
