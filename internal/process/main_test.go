package process

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long anything awaited may take before a test fails.
const patience = 30 * time.Second

// Roles the test binary plays when it is started with one as first argument.
const (
	roleSentinel = "play-sentinel"
	roleHolder   = "play-holder"
	roleRemover  = "play-remover"
	roleMounter  = "play-mounter"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 {
		switch os.Args[1] {
		case roleSentinel:
			_ = Sentinel(os.Args[2])
			// Not by Exit: the race detector makes that take a second.
			_ = unix.Kill(os.Getpid(), unix.SIGKILL)
		case roleHolder:
			holdLifeline(os.Args[2])
			os.Exit(0)
		case roleRemover:
			removeLockedTree(os.Args[2])
			os.Exit(0)
		case roleMounter:
			removeAroundMounts(os.Args[2])
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

// holdLifeline holds a lifeline and does what the lines of its input say. Each
// is answered by one line.
func holdLifeline(dir string) {
	l, err := NewLifeline(dir, []string{os.Args[0], roleSentinel})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("ready")
	for s := bufio.NewScanner(os.Stdin); s.Scan(); {
		word, rest, _ := strings.Cut(s.Text(), " ")
		fmt.Println(obey(l, word, rest))
	}
}

func obey(l *Lifeline, word, rest string) string {
	switch word {
	case "group":
		// A process that no polite signal ends.
		return startGroup(l, rest, "trap '' TERM HUP INT; sleep 1000 & wait; sleep 1000")
	case "forget":
		slot, _ := strconv.Atoi(rest)
		return fmt.Sprint(l.Record(slot, 0))
	case "record":
		var slot, group int
		_, _ = fmt.Sscan(rest, &slot, &group)
		return fmt.Sprint(l.Record(slot, Group(group)))
	case "session":
		return startSession(l)
	case "end":
		return endOrphans(l, rest)
	case "tree":
		return fmt.Sprint(l.Remove(rest))
	case "orphans":
		return fmt.Sprint(l.HasOrphans())
	case "orphan":
		return makeOrphan(l)
	case "sweep":
		patience, _ := time.ParseDuration(rest)
		l.KillOrphans(patience)
		return "swept"
	case "run":
		return runChild(l, rest)
	case "wait":
		return waitForOwn(l)
	case "close":
		l.Close()
		return "closed"
	}
	return "what is " + word + "?"
}

func startGroup(l *Lifeline, slot, script string) string {
	cmd := exec.Command("bash", "-c", script)
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	if _, err := l.Start(cmd); err != nil {
		return err.Error()
	}
	number, _ := strconv.Atoi(slot)
	if err := l.Record(number, Group(cmd.Process.Pid)); err != nil {
		return err.Error()
	}
	return strconv.Itoa(cmd.Process.Pid)
}

// makeOrphan leaves a process whose parent has ended, and returns its id.
func makeOrphan(l *Lifeline) string {
	r, w, err := os.Pipe()
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	cmd := exec.Command("bash", "-c", "sleep 1000 >/dev/null & echo $!")
	cmd.Stdout = w
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	ended, err := l.Start(cmd)
	w.Close()
	if err != nil {
		return err.Error()
	}
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return err.Error()
	}
	<-ended
	return strings.TrimSpace(line)
}

// runChild runs a script and tells how it ended.
func runChild(l *Lifeline, script string) string {
	c, err := l.StartChild(exec.Command("bash", "-c", script))
	if err != nil {
		return err.Error()
	}
	<-c.Ended()
	return fmt.Sprint(c.Success(), " ", c)
}

// waitForOwn kills processes of its own and waits for their groups. Their ends
// must be announced all the same.
func waitForOwn(l *Lifeline) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for range 30 {
		cmd := exec.Command("sleep", "1000")
		cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
		ended, err := l.Start(cmd)
		if err != nil {
			return err.Error()
		}
		g := Group(cmd.Process.Pid)
		g.Kill()
		if !g.Wait(ctx) {
			return "the group lives on"
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return "an end is not announced"
		}
	}
	return "all announced"
}
