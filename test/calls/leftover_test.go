package calls_test

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

func TestAScriptThatFailsLeavesNothingOfItsOwnRunning(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"in its group":          "sleep 1000 & exit 3",
		"in a group of its own": "set -m; sleep 1000 & set +m; exit 3",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, script)
			if code := s.Wait().ExitCode(); code != 1 {
				t.Errorf("the exit status is %d", code)
			}
			s.leavesNothing()
		})
	}
}

func TestWhatAScriptHasLeftRunningOnPurposeIsThereForEveryCall(t *testing.T) {
	t.Parallel()
	const script = `
cd "$(dirname "${BASH_SOURCE[0]}")" || exit
set -m
(sleep 1000 >/dev/null 2>&1 & echo "$!" >daemon)
set +m
daemon=$(<daemon)
tool_see() { kill -0 "$daemon" && echo "$daemon"; }
`
	s := serve(t, script)
	first := s.ok("see", `{}`)
	for range 5 {
		if again := s.ok("see", `{}`); again != first {
			t.Fatalf("it is %q, and was %q", again, first)
		}
	}
	s.ends()
	s.leavesNothing()
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || harness.Alive(pid) {
		t.Errorf("process %q lives on, %v", first, err)
	}
}

// TMOUT ends a shell that waits for input, as every shell of a server does
// when it has nothing to do. The time is what is tested here.
func TestATimeOutThatTheScriptSetsEndsNoShellThatWaits(t *testing.T) {
	t.Parallel()
	s := serve(t, "TMOUT=1"+echo)
	s.serves()
	root := s.RootShell()
	for range 2 {
		time.Sleep(1300 * time.Millisecond)
		if got := s.ok("echo", object("v", "still here")); got != "still here" {
			t.Errorf("got %q", got)
		}
	}
	if now := s.RootShell(); now != root {
		t.Errorf("the root shell is %d, and was %d", now, root)
	}
}

func TestAClientThatDoesNotReadKeepsNobodyFromEnding(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	s := serveAs(t, launch{stdout: w}, stubborn+"\ntool_large() { head -c 1000000 /dev/zero | tr '\\0' x; echo done >>\"$arg_at\"; }\n")
	w.Close()
	m := newMark(t)
	s.post("obedient", m.args())
	group := m.pids(1)[0]
	large := newMark(t)
	s.post("large", large.args())
	large.lines(1)
	s.CloseInput()
	if err := s.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.diesBy(syscall.SIGTERM)
	dead(t, killedWithin, group)
	s.leavesNothing()
}
