package harness

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Stat is what the system tells of a process.
type Stat struct{ PID, Parent, Group, Session int }

// Processes lists all there are, zombies excepted.
func Processes() []Stat {
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	var list []Stat
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
		var p Stat
		p.PID, _ = strconv.Atoi(filepath.Base(filepath.Dir(path)))
		p.Parent, _ = strconv.Atoi(fields[1])
		p.Group, _ = strconv.Atoi(fields[2])
		p.Session, _ = strconv.Atoi(fields[3])
		list = append(list, p)
	}
	return list
}

// Children lists the children of a process.
func Children(parent int) []Stat {
	var list []Stat
	for _, p := range Processes() {
		if p.Parent == parent {
			list = append(list, p)
		}
	}
	return list
}

// CommandLine is what a process was started with.
func CommandLine(pid int) string {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.TrimSpace(strings.ReplaceAll(string(data), "\x00", " "))
}

// leader waits for the child of conch that leads a session and is the
// sentinel, or is not: then it is the plain shell above the root shell.
func (s *Server) leader(isSentinel bool) int {
	s.t.Helper()
	var found int
	Eventually(s.t, Deadline, "the children of conch", func() bool {
		for _, p := range Children(s.Cmd.Process.Pid) {
			line := CommandLine(p.PID)
			// Between fork and exec the child is still another conch serve.
			if p.Session != p.PID || strings.Contains(line, " serve ") || strings.Contains(line, "__sentinel") != isSentinel {
				continue
			}
			found = p.PID
			return true
		}
		return false
	})
	return found
}

// RootShell waits for the shell that has sourced the script.
func (s *Server) RootShell() int {
	s.t.Helper()
	var found int
	Eventually(s.t, Deadline, "the root shell", func() bool {
		for _, p := range Children(s.leader(false)) {
			found = p.PID
		}
		return found != 0
	})
	return found
}

// Sentinel waits for the process that cleans up.
func (s *Server) Sentinel() int { return s.leader(true) }

// Workers lists the workers.
func (s *Server) Workers() []int {
	var pids []int
	for _, p := range Children(s.RootShell()) {
		pids = append(pids, p.PID)
	}
	return pids
}

// Kill kills a process, or with a negative number a group, and waits for its
// death.
func Kill(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatalf("kill %d: %v", pid, err)
	}
	if pid > 0 {
		Eventually(t, Deadline, "the death of a killed process", func() bool { return !Alive(pid) })
	}
}

// Memory is how much of the machine's memory the server's own process holds, in
// bytes.
func (s *Server) Memory() int64 {
	s.t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Cmd.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(data), "VmRSS:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		s.t.Fatalf("no VmRSS; the server has ended:\n%s", s.Stderr())
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return kib << 10
}

// MemoryFactor is how many times the usual memory a server may hold: the race
// detector has a shadow for every byte.
func MemoryFactor(t testing.TB) int64 {
	t.Helper()
	info, err := buildinfo.ReadFile(Binary(t))
	if err != nil {
		t.Fatal(err)
	}
	if slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		return 8
	}
	return 1
}
