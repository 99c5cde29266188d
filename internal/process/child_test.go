package process

import (
	"path/filepath"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

func TestAChildTellsHowItEnded(t *testing.T) {
	h := startHolder(t)
	for script, want := range map[string]string{
		"exit 0":        "true exit status 0",
		"exit 3":        "false exit status 3",
		"kill -KILL $$": "false signal: killed",
	} {
		if got := h.ask("run " + script); got != want {
			t.Errorf("%s: %q, not %q", script, got, want)
		}
	}
}

func TestKillOrphansLeavesNobody(t *testing.T) {
	if !onLinux() {
		t.Skip("nobody is adopted here")
	}
	h := startHolder(t)
	var orphans []int
	for range 2 {
		pid, err := strconv.Atoi(h.ask("orphan"))
		must(t, err)
		orphans = append(orphans, pid)
	}
	h.ask("sweep 0s")
	for _, pid := range orphans {
		if unix.Kill(pid, 0) == nil && !hasEnded(pid) {
			t.Errorf("process %d runs still", pid)
		}
	}
}

func TestWhoEndsByItselfIsLetDoSo(t *testing.T) {
	if !onLinux() {
		t.Skip("nobody is adopted here")
	}
	h := startHolder(t)
	done := filepath.Join(t.TempDir(), "done")
	if got := h.ask("run (sleep 0.3; : >" + done + ") >/dev/null 2>&1 &"); got != "true exit status 0" {
		t.Fatal(got)
	}
	h.ask("sweep 20s")
	if missing(done) {
		t.Error("it was killed")
	}
}
