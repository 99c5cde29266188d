package call

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func needsProc(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("only /proc tells who a subshell's parent is, and only Linux has subreapers")
	}
}

func runText(t *testing.T, r *Runner, tool, arguments string) (text string, status int) {
	t.Helper()
	o, err := r.Run(t.Context(), Call{Function: "tool_" + tool, Arguments: json.RawMessage(arguments)})
	if err != nil || o.End != Returned {
		t.Fatalf("%s: %v, end %d", tool, err, o.End)
	}
	return string(o.Output), o.Status
}

// The next call in its worker might find the wake-up of one that was killed
// before it began.
func TestAWorkerWhoseCallWasKilledIsUsedNoMore(t *testing.T) {
	needsProc(t)
	r := newRunner(t, `
parent() { read -r _ _ _ parent _ <"/proc/$BASHPID/stat"; echo "$parent"; }
tool_parent() { parent; }
tool_kill() { parent; kill -KILL "$BASHPID"; }
tool_end() { parent; exit "$arg_status"; }
`, t.TempDir(), Limits{})
	lost := map[string]string{}
	for arguments, want := range map[string]int{`{"status":128}`: 128, `{"status":255}`: 255, `killed`: 137} {
		tool, text := "end", arguments
		if arguments == "killed" {
			tool, text = "kill", `{}`
		}
		worker, status := runText(t, r, tool, text)
		if status != want {
			t.Errorf("%s gives status %d", arguments, status)
		}
		lost[worker] = arguments
	}
	for range 12 {
		worker, status := runText(t, r, "parent", `{}`)
		if from := lost[worker]; from != "" || status != 0 {
			t.Errorf("status %d; the worker %s is used again after %s", status, strings.TrimSpace(worker), from)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(worker))
		if err != nil || errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			t.Errorf("the worker is %q, %v", worker, err)
		}
	}
	for worker, from := range lost {
		pid, err := strconv.Atoi(strings.TrimSpace(worker))
		must(t, err)
		eventually(t, "the worker of "+from+" ends", func() bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) })
	}
}

func TestWhatACallLeavesInGroupsOfItsOwnEndsWithIt(t *testing.T) {
	needsProc(t)
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("there is no setsid")
	}
	r := newRunner(t, `
tool_leave() { (set -m; sleep 1000 >/dev/null 2>&1 & echo $!); }
tool_fork() { (set -m; (while :; do sleep 1000; done) >/dev/null 2>&1 & echo $!); }
tool_apart() { echo "$(setsid bash -c 'echo $$; exec sleep 1000 >/dev/null 2>&1' &)"; }
`, t.TempDir(), Limits{})
	for tool, lives := range map[string]bool{"leave": false, "fork": false, "apart": true} {
		text, status := runText(t, r, tool, `{}`)
		pid, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || status != 0 {
			t.Fatalf("%s prints %q, status %d", tool, text, status)
		}
		t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGKILL) })
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); (err == nil) != lives {
			t.Errorf("what %s leaves is there after the call: %v", tool, err == nil)
		}
	}
}
