package calls_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

func describe(pids []int) []string {
	var list []string
	for _, pid := range pids {
		list = append(list, fmt.Sprintf("%d: %s", pid, clip(harness.CommandLine(pid))))
	}
	return list
}

// worker is the worker above a tool's shell.
func worker(t testing.TB, tool int) int {
	t.Helper()
	for _, p := range harness.Processes() {
		if p.PID == tool {
			return p.Parent
		}
	}
	t.Fatalf("no process %d", tool)
	return 0
}

func kill(t testing.TB, pid int) {
	t.Helper()
	harness.Kill(t, pid)
}

// groupAlive reports whether a process group has a member that is no zombie.
func groupAlive(group int) bool {
	for _, p := range harness.Processes() {
		if p.Group == group {
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
