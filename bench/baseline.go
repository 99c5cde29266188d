package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// forkLoop has bash fork n subshells one after the other, in each of so many
// loops at once, and returns the seconds one fork took on the whole. Bash
// itself takes the time, so its start does not count.
func forkLoop(n, loops int) (float64, error) {
	const loop = `
		loop() { local i; for ((i = 0; i < $1; i++)); do ( : ); done; }
		TIMEFORMAT=%R
		if (($2 == 1)); then time loop "$1"; else time { loop "$1" & loop "$1" & wait; }; fi`
	out, err := exec.Command("bash", "-c", loop, "bench", strconv.Itoa(n), strconv.Itoa(loops)).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("run the fork loop: %w: %s", err, out)
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		return 0, fmt.Errorf("read the time of the fork loop: %w", err)
	}
	return seconds / float64(n*loops), nil
}

// spawnLoop starts bash n times and returns the seconds one start took.
func spawnLoop(n int) (float64, error) {
	start := time.Now()
	for range n {
		if err := exec.Command("bash", "-c", ":").Run(); err != nil {
			return 0, err
		}
	}
	return time.Since(start).Seconds() / float64(n), nil
}

// residentMB is what a process holds of memory, as the kernel counts it.
func residentMB(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		var kB float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kB); err == nil {
			return kB / 1000, nil
		}
	}
	return 0, fmt.Errorf("no VmRSS in /proc/%d/status", pid)
}
