package process

import (
	"bufio"
	"context"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// startInGroup starts a script in a process group of its own and returns the
// group and what the script says first.
func startInGroup(t *testing.T, script string) (g Group, first string) {
	t.Helper()
	cmd := exec.Command("bash", "-c", script)
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	// Whoever waits for a group's members makes them go.
	r, err := newReaper()
	if err != nil {
		t.Fatal(err)
	}
	child, err := r.start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	g = Group(cmd.Process.Pid)
	t.Cleanup(func() {
		g.Kill()
		<-child.Ended()
		r.close()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the script says nothing: %v", err)
	}
	return g, strings.TrimSpace(line)
}

func within(t *testing.T, patience time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func TestAGroupEndsByTheSignalsItIsSent(t *testing.T) {
	killed := func(g Group) func() { g.Kill(); return func() {} }
	tests := []struct {
		name, script string
		end          func(g Group) (release func())
		ends         bool
	}{
		{"killed", `trap "" TERM; echo; sleep 1000`, killed, true},
		{"all its processes are killed", `sleep 1000 & sleep 1000 & (sleep 1000 & sleep 1000) & echo; wait`, killed, true},
		{"terminated", `echo; sleep 1000`, Group.Terminate, true},
		{"terminated while it is stopped", `echo; kill -STOP $$; sleep 1000`, Group.Terminate, true},
		{"terminated while it is stopped, and let alone", `echo; kill -STOP $$; sleep 1000`, func(g Group) func() { g.Terminate()(); return func() {} }, true},
		{"terminated, whereupon it stops", `trap 'kill -STOP $$; exit' TERM; echo; while :; do sleep 0.01; done`, Group.Terminate, true},
		{"terminated, but it ignores that", `trap "" TERM; echo; sleep 1000`, Group.Terminate, false},
		{"terminated, with one process that ignores it", `(trap "" TERM; echo; exec sleep 1000) & wait`, Group.Terminate, false},
		{"left alone", `echo; sleep 1000`, func(Group) func() { return func() {} }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g, _ := startInGroup(t, tt.script)
			if !g.Alive() {
				t.Error("it is not alive at first")
			}
			defer tt.end(g)()
			limit := patience
			if !tt.ends {
				limit = 200 * time.Millisecond
			}
			if gone := g.Wait(within(t, limit)); gone != tt.ends || g.Alive() == tt.ends {
				t.Errorf("Wait = %v, Alive = %v", gone, g.Alive())
			}
		})
	}
}

func TestAGroupLivesAsLongAsItsLastMember(t *testing.T) {
	g, member := startInGroup(t, `sleep 1000 >/dev/null & echo $!`)
	// The leader has ended, or is about to.
	if g.Wait(within(t, 200*time.Millisecond)) {
		t.Error("the group is gone with its leader")
	}
	pid, err := strconv.Atoi(member)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if !g.Wait(within(t, patience)) {
		t.Error("the group is still there without its last member")
	}
}

// Groups 0 and 1 are this process's own and, as an argument to kill, everybody.
func TestNothingIsSentToWhatIsNoGroup(t *testing.T) {
	for _, g := range []Group{0, 1, -1, -12345} {
		if g.Alive() {
			t.Errorf("group %d is alive", g)
		}
		g.Kill()
		if err := g.Signal(unix.SIGKILL); err != nil {
			t.Errorf("Signal to %d: %v", g, err)
		}
		g.Terminate()()
		if !g.Wait(t.Context()) {
			t.Errorf("Wait for %d", g)
		}
	}
}

func TestAGroupThatIsGoneIsNoError(t *testing.T) {
	g, _ := startInGroup(t, `echo; sleep 1000`)
	g.Kill()
	if !g.Wait(within(t, patience)) {
		t.Fatal("it is still there")
	}
	g.Terminate()()
	if err := g.Signal(unix.SIGKILL); err != nil {
		t.Error(err)
	}
}
