package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// sessionScript leads a session and leaves behind, as orphans, a process in a
// group of its own with a child in a group of its own, and one in a session of
// its own. It tells their ids.
const sessionScript = `
inner=$(set -m; bash -c 'set -m; sleep 1000 >/dev/null 2>&1 & echo $$ $!; exec >/dev/null 2>&1; wait' & )
apart=$(setsid bash -c 'echo $$; exec sleep 1000 >/dev/null 2>&1' & )
echo "$$ $inner $apart"
exec >/dev/null
sleep 1000
`

// family are the processes of sessionScript.
type family struct{ leader, inner, child, apart int }

func (f family) all() map[string]int {
	return map[string]int{"the leader": f.leader, "the orphan": f.inner, "its child": f.child, "the one apart": f.apart}
}

func needsSetsid(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("setsid"); err != nil || !onLinux() {
		t.Skip("there is no setsid, or no reaper of orphans")
	}
}

func readFamily(t *testing.T, line string) family {
	t.Helper()
	var f family
	if n, err := fmt.Sscan(line, &f.leader, &f.inner, &f.child, &f.apart); err != nil {
		t.Fatalf("%d numbers in %q: %v", n, line, err)
	}
	for name, pid := range f.all() {
		t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGKILL) })
		if !runs(pid) {
			t.Fatalf("%s is not there at first", name)
		}
		group, groupErr := unix.Getpgid(pid)
		session, sessionErr := unix.Getsid(pid)
		if groupErr != nil || sessionErr != nil || group != pid || (session == f.leader) != (pid != f.apart) {
			t.Fatalf("%s, %d, is in group %d and session %d of %d", name, pid, group, session, f.leader)
		}
	}
	return f
}

// requireAlive fails unless those and only those of the family run. One that
// was killed may take a moment.
func (f family) requireAlive(t *testing.T, alive ...int) {
	t.Helper()
	for name, pid := range f.all() {
		want := false
		for _, one := range alive {
			want = want || one == pid
		}
		if want && !runs(pid) {
			t.Errorf("%s has ended", name)
		} else if !want {
			eventually(t, name+" ends", func() bool { return !runs(pid) })
		}
	}
}

func startSession(l *Lifeline) string {
	r, w, err := os.Pipe()
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	cmd := exec.Command("bash", "-c", sessionScript)
	cmd.Stdout = w
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	_, err = l.Start(cmd)
	w.Close()
	if err != nil {
		return err.Error()
	}
	if err := l.Record(0, Group(cmd.Process.Pid)); err != nil {
		return err.Error()
	}
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(line)
}

// endOrphans ends those of a session that are not spared: "SESSION SPARED...".
func endOrphans(l *Lifeline, rest string) string {
	words := strings.Fields(rest)
	session, err := strconv.Atoi(words[0])
	if err != nil {
		return err.Error()
	}
	l.EndOrphans(session, func(pid int) bool {
		for _, word := range words[1:] {
			if word == strconv.Itoa(pid) {
				return false
			}
		}
		return true
	})
	return "ended"
}

func (h *holder) endOrphans(session int, spared ...int) {
	h.t.Helper()
	line := fmt.Sprint("end ", session)
	for _, pid := range spared {
		line += fmt.Sprint(" ", pid)
	}
	if answer := h.ask(line); answer != "ended" {
		h.t.Fatal(answer)
	}
}

func TestKillSessionEndsItsGroupsAndNoOtherSession(t *testing.T) {
	needsSetsid(t)
	cmd := exec.Command("bash", "-c", sessionScript)
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	f := readFamily(t, line)
	other, _ := startInGroup(t, "echo; sleep 1000")
	KillSession(f.leader)
	f.requireAlive(t, f.apart)
	if !runs(int(other)) {
		t.Error("a process of this session has ended")
	}
	// Nobody is left but the leader, whom nobody has waited for.
	KillSession(f.leader)
	f.requireAlive(t, f.apart)
}

// Sessions 0 and 1 are the kernel's and the first process's.
func TestNothingIsKilledForWhatIsNoSession(t *testing.T) {
	for _, id := range []int{1, 0, -1, 1 << 30} {
		KillSession(id)
	}
}

func TestOrphansOfTheSessionEndWithTheirGroupsAndTheirChildren(t *testing.T) {
	needsSetsid(t)
	h := startHolder(t)
	f := readFamily(t, h.ask("session"))
	h.endOrphans(f.leader)
	f.requireAlive(t, f.leader, f.apart)
	if answer := h.ask("orphans"); answer != "true" {
		t.Errorf("with an orphan in another session there are orphans: %s", answer)
	}
	must(t, unix.Kill(f.apart, unix.SIGKILL))
	eventually(t, "there are no orphans", func() bool { return h.ask("orphans") == "false" })
	f.requireAlive(t, f.leader)
}

func TestOrphansAreSparedWhenTheyAreNoneOfTheCalls(t *testing.T) {
	needsSetsid(t)
	h := startHolder(t)
	f := readFamily(t, h.ask("session"))
	everybody := []int{f.leader, f.inner, f.child, f.apart}
	h.endOrphans(f.leader, f.inner)
	f.requireAlive(t, everybody...)
	h.endOrphans(1)
	f.requireAlive(t, everybody...)
	if answer := h.ask(fmt.Sprint("record 4 ", f.inner)); answer != "<nil>" {
		t.Fatal(answer)
	}
	h.endOrphans(f.leader)
	f.requireAlive(t, everybody...)
	if answer := h.ask("forget 4"); answer != "<nil>" {
		t.Fatal(answer)
	}
	// Its child becomes an orphan when it has ended, and is not picked.
	h.endOrphans(f.leader, f.child)
	f.requireAlive(t, f.leader, f.child, f.apart)
}

func TestTheSessionOnRecordEndsWithTheHolder(t *testing.T) {
	needsSetsid(t)
	for name, end := range map[string]func(h *holder){
		"that is killed": func(h *holder) { h.kill() },
		"that closes its lifeline": func(h *holder) {
			if answer := h.ask("close"); answer != "closed" {
				h.t.Error(answer)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := startHolder(t)
			f := readFamily(t, h.ask("session"))
			end(h)
			f.requireAlive(t, f.apart)
			eventually(t, "the control directory goes", func() bool { return missing(h.dir) })
		})
	}
}

func TestAProcessHasEndedOnceItIsAZombieWhateverItsName(t *testing.T) {
	if !onLinux() {
		t.Skip("names are set by way of /proc")
	}
	cmd := exec.Command("bash", "-c", `printf ') Z (' >/proc/$$/comm; echo; while :; do read -r; done`)
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	_, err = out.Read(make([]byte, 1))
	must(t, err)
	pid := cmd.Process.Pid
	if hasEnded(pid) {
		t.Error("it is said to have ended while it runs")
	}
	must(t, unix.Kill(pid, unix.SIGKILL))
	eventually(t, "its end is seen", func() bool { return hasEnded(pid) })
	if missing(fmt.Sprintf("/proc/%d", pid)) {
		t.Error("it is no zombie")
	}
	if !hasEnded(1 << 30) {
		t.Error("a process that is not there has not ended")
	}
}

func TestEnvironmentIsWhatAProcessWasStartedWith(t *testing.T) {
	if !onLinux() {
		t.Skip("the environment of others is not to be had")
	}
	t.Setenv("CONCH_TEST_MARKER", "a b=c")
	g, _ := startInGroup(t, `CONCH_TEST_MARKER=changed; echo; while :; do sleep 1000; done`)
	if env := string(Environment(int(g))); !strings.Contains("\x00"+env, "\x00CONCH_TEST_MARKER=a b=c\x00") {
		t.Errorf("the environment is %q", env)
	}
	if env := Environment(1 << 30); env != nil {
		t.Errorf("a process that is not there has %q", env)
	}
}
