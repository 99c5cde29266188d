package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// holder is a process that holds a lifeline.
type holder struct {
	t   *testing.T
	cmd *exec.Cmd
	dir string // the control directory
	in  io.WriteCloser
	out *bufio.Reader
}

func startHolder(t *testing.T) *holder {
	t.Helper()
	h := &holder{t: t, dir: filepath.Join(t.TempDir(), "control")}
	h.cmd = exec.Command(os.Args[0], roleHolder, h.dir)
	h.cmd.Stderr = os.Stderr
	in, err := h.cmd.StdinPipe()
	must(t, err)
	out, err := h.cmd.StdoutPipe()
	must(t, err)
	must(t, h.cmd.Start())
	h.in, h.out = in, bufio.NewReader(out)
	t.Cleanup(h.kill)
	if line := h.line(); line != "ready" {
		t.Fatal(line)
	}
	return h
}

func (h *holder) line() string {
	h.t.Helper()
	stop := time.AfterFunc(2*patience, h.kill)
	defer stop.Stop()
	line, err := h.out.ReadString('\n')
	if err != nil {
		h.t.Fatalf("the holder has ended: %v", err)
	}
	return strings.TrimSpace(line)
}

func (h *holder) ask(line string) string {
	h.t.Helper()
	if _, err := io.WriteString(h.in, line+"\n"); err != nil {
		h.t.Fatal(err)
	}
	return h.line()
}

func (h *holder) askPID(line string) int {
	h.t.Helper()
	answer := h.ask(line)
	pid, err := strconv.Atoi(answer)
	if err != nil {
		h.t.Fatalf("%s is answered by %s", line, answer)
	}
	h.t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGKILL) })
	return pid
}

// kill ends the holder as nothing can prevent.
func (h *holder) kill() {
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait()
}

// sentinels are the processes that run as the holder's sentinel.
func (h *holder) sentinels() (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if strings.Contains(string(text), roleSentinel+"\x00"+h.dir+"\x00") && runs(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// runs reports whether a process is there and no zombie.
func runs(pid int) bool {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) || !onLinux()
	}
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z")
}

func onLinux() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

func missing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// burden gives a holder a group and trees to look after. The returned function
// checks that they have gone and nothing else.
func burden(t *testing.T, h *holder) (requireGone func()) {
	t.Helper()
	dir := t.TempDir()
	for _, path := range []string{"tree/a/b", "pre[x*-1/a", "pre[x*-2", "other", "pre", "star*"} {
		must(t, os.MkdirAll(filepath.Join(dir, path), 0o700))
	}
	must(t, touch(dir+"/pre[x*-3"))
	must(t, os.Chmod(dir+"/tree/a", 0))
	group := h.askPID("group 3")
	forgotten := h.askPID("group 7")
	t.Cleanup(Group(forgotten).Kill)
	for _, line := range []string{"forget 7", "tree " + dir + "/tree", "tree " + dir + "/pre[x**", "tree " + dir + "/not there", "tree /not/there/*"} {
		if answer := h.ask(line); answer != "<nil>" {
			t.Fatalf("%s: %s", line, answer)
		}
	}
	return func() {
		t.Helper()
		eventually(t, "the control directory goes", func() bool { return missing(h.dir) })
		eventually(t, "the group ends", func() bool { return !runs(group) })
		eventually(t, "the sentinel ends", func() bool { return len(h.sentinels()) == 0 })
		for path, want := range map[string]bool{"tree": true, "pre[x*-1": true, "pre[x*-2": true, "pre[x*-3": true, "other": false, "pre": false, "star*": false} {
			if missing(filepath.Join(dir, path)) != want {
				t.Errorf("%s is gone: %v", path, !want)
			}
		}
		if !runs(forgotten) {
			t.Error("a group that was taken off the record has ended too")
		}
	}
}

func TestWhatIsOnRecordEndsWithAHolderThatIsKilled(t *testing.T) {
	h := startHolder(t)
	requireGone := burden(t, h)
	h.kill()
	requireGone()
}

func TestWhatIsOnRecordEndsWhenTheLifelineIsClosed(t *testing.T) {
	h := startHolder(t)
	requireGone := burden(t, h)
	if answer := h.ask("close"); answer != "closed" {
		t.Fatal(answer)
	}
	if !missing(h.dir) {
		t.Error("the control directory is there after Close")
	}
	requireGone()
}

func TestASentinelThatIsKilledIsReplaced(t *testing.T) {
	if !onLinux() {
		t.Skip("there is no /proc to find it in")
	}
	h := startHolder(t)
	requireGone := burden(t, h)
	for range 3 {
		var old []int
		eventually(t, "there is one sentinel", func() bool { old = h.sentinels(); return len(old) == 1 })
		must(t, unix.Kill(old[0], unix.SIGKILL))
		eventually(t, "another takes its place", func() bool { now := h.sentinels(); return len(now) == 1 && now[0] != old[0] })
	}
	if missing(h.dir) {
		t.Error("a sentinel that was killed has removed the control directory")
	}
	h.kill()
	requireGone()
}

func TestASentinelThatIsReplacedWithoutTheControlDirectoryEndsGroupsAllTheSame(t *testing.T) {
	if !onLinux() {
		t.Skip("there is no /proc to find it in")
	}
	h := startHolder(t)
	group := h.askPID("group 3")
	must(t, os.RemoveAll(h.dir))
	var old, now []int
	eventually(t, "there is one sentinel", func() bool { old = h.sentinels(); return len(old) == 1 })
	must(t, unix.Kill(old[0], unix.SIGKILL))
	eventually(t, "another takes its place", func() bool { now = h.sentinels(); return len(now) == 1 && now[0] != old[0] })
	if answer := h.ask("orphans"); answer != "false" {
		t.Errorf("orphans: %s", answer)
	}
	if again := h.sentinels(); len(again) != 1 || again[0] != now[0] {
		t.Errorf("sentinels come and go: %v, then %v", now, again)
	}
	h.kill()
	eventually(t, "the group ends", func() bool { return !runs(group) })
	eventually(t, "the sentinel ends", func() bool { return len(h.sentinels()) == 0 })
}

func TestSignalsForTheHoldersGroupSpareTheSentinel(t *testing.T) {
	if !onLinux() {
		t.Skip("there is no /proc to find it in")
	}
	h := startHolder(t)
	for _, pid := range h.sentinels() {
		if group, err := unix.Getpgid(pid); err != nil || group != pid {
			t.Errorf("the sentinel is in group %d, %v", group, err)
		}
	}
}

func TestAPathWithANewlineIsNotPutOnRecord(t *testing.T) {
	l := &Lifeline{}
	if err := l.Remove("/tmp/a\n/"); err == nil {
		t.Error("it is")
	}
}

func TestTheEndOfAProcessIsAnnouncedThoughItsGroupWasWaitedFor(t *testing.T) {
	if answer := startHolder(t).ask("wait"); answer != "all announced" {
		t.Error(answer)
	}
}

func TestOrphansAreAdoptedAndWaitedFor(t *testing.T) {
	if !onLinux() {
		t.Skip("only Linux has subreapers")
	}
	h := startHolder(t)
	if answer := h.ask("orphans"); answer != "false" {
		t.Errorf("at first there are orphans: %s", answer)
	}
	h.askPID("group 1")
	if answer := h.ask("orphans"); answer != "false" {
		t.Errorf("a process of its own counts as an orphan: %s", answer)
	}
	pid := h.askPID("orphan")
	if answer := h.ask("orphans"); answer != "true" {
		t.Errorf("there are orphans: %s", answer)
	}
	must(t, unix.Kill(pid, unix.SIGKILL))
	eventually(t, "the orphan is waited for", func() bool { return missing(fmt.Sprintf("/proc/%d", pid)) })
	eventually(t, "there are no orphans", func() bool { return h.ask("orphans") == "false" })
}

func TestADirectoryWhoseRecordsWereNeverMadeGoes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "control")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	sentinel := exec.Command(os.Args[0], roleSentinel, dir)
	// No input: whoever was to make the records is gone. How it ends does not
	// matter; in these tests it is killed by itself.
	_ = sentinel.Run()
	if !missing(dir) {
		t.Error("the directory is left")
	}
}
