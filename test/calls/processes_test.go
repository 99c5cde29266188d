package calls_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// stat is what the system tells of a process.
type stat struct{ pid, parent, group, session int }

// processes lists all there are, zombies excepted.
func processes() []stat {
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	var list []stat
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		// The name, in parentheses, may hold anything.
		text := string(data)
		fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
		if fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		var p stat
		p.pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(path)))
		p.parent, _ = strconv.Atoi(fields[1])
		p.group, _ = strconv.Atoi(fields[2])
		p.session, _ = strconv.Atoi(fields[3])
		list = append(list, p)
	}
	return list
}

func children(parent int) []stat {
	var list []stat
	for _, p := range processes() {
		if p.parent == parent {
			list = append(list, p)
		}
	}
	return list
}

func commandLine(pid int) string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.TrimSpace(strings.ReplaceAll(string(data), "\x00", " "))
}

func describe(pids []int) []string {
	var list []string
	for _, pid := range pids {
		list = append(list, fmt.Sprintf("%d: %s", pid, clip(commandLine(pid))))
	}
	return list
}

// leader waits for the child of conch that leads a session and is the
// sentinel, or is not: then it is the plain shell above the root shell.
func (s *server) leader(isSentinel bool) int {
	s.t.Helper()
	var found int
	harness.Eventually(s.t, harness.Deadline, "the children of conch", func() bool {
		for _, p := range children(s.Cmd.Process.Pid) {
			line := commandLine(p.pid)
			// Between fork and exec the child is still another conch serve.
			if p.session != p.pid || strings.Contains(line, " serve ") || strings.Contains(line, "__sentinel") != isSentinel {
				continue
			}
			found = p.pid
			return true
		}
		return false
	})
	return found
}

// rootShell is the shell that has sourced the script.
func (s *server) rootShell() int {
	s.t.Helper()
	var found int
	harness.Eventually(s.t, harness.Deadline, "the root shell", func() bool {
		for _, p := range children(s.leader(false)) {
			found = p.pid
		}
		return found != 0
	})
	return found
}

func (s *server) sentinel() int { return s.leader(true) }

// workers lists the workers.
func (s *server) workers() []int {
	var pids []int
	for _, p := range children(s.rootShell()) {
		pids = append(pids, p.pid)
	}
	return pids
}

// worker is the worker above a tool's shell.
func worker(t testing.TB, tool int) int {
	t.Helper()
	for _, p := range processes() {
		if p.pid == tool {
			return p.parent
		}
	}
	t.Fatalf("no process %d", tool)
	return 0
}

// kill kills a process, or with a negative number a group, and waits for its
// death.
func kill(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatalf("kill %d: %v", pid, err)
	}
	if pid > 0 {
		harness.Eventually(t, harness.Deadline, "the death of a killed process", func() bool { return !harness.Alive(pid) })
	}
}

// groupAlive reports whether a process group has a member that is no zombie.
func groupAlive(group int) bool {
	for _, p := range processes() {
		if p.group == group {
			return true
		}
	}
	return false
}

// dead waits until process groups have no member left.
func dead(t testing.TB, within time.Duration, groups ...int) {
	t.Helper()
	for _, g := range groups {
		harness.Eventually(t, within, fmt.Sprintf("the end of process group %d", g), func() bool { return !groupAlive(g) })
	}
}
