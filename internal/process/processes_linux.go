package process

import (
	"bytes"
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/nowait"
)

// processes lists every process there is.
func processes() []int {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// hasEnded reports whether a process is gone but for its parent's waiting. Where
// /proc does not tell, it is there as long as it has a number.
func hasEnded(pid int) bool {
	state, err := stateOf(pid)
	if err != nil {
		return errors.Is(unix.Kill(pid, 0), unix.ESRCH)
	}
	return state == 'Z' || state == 'X'
}

// isStopped reports whether a process was stopped by a signal.
func isStopped(pid int) bool {
	state, err := stateOf(pid)
	return err == nil && state == 'T'
}

// stateOf is the letter that /proc has for what a process does, 0 where there is
// none.
func stateOf(pid int) (byte, error) {
	stat, err := readStat(pid)
	if err != nil {
		return 0, err
	}
	// The name before the state may itself hold parentheses.
	_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte{' '})
	if len(state) == 0 {
		return 0, nil
	}
	return state[0], nil
}

// readStat reads the beginning of what /proc says of a process. Every call needs
// it twice, and os.ReadFile takes twice as long.
func readStat(pid int) ([]byte, error) {
	kernel := nowait.Kernel()
	fd, err := kernel.Open("/proc/"+strconv.Itoa(pid)+"/stat", 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = kernel.Close(fd) }()
	buf := make([]byte, 512)
	n, err := kernel.Pread(fd, buf, 0)
	return buf[:max(n, 0)], err
}

// Environment returns the environment a process was given when it was started,
// NUL behind each entry; nil when it cannot be read.
func Environment(pid int) []byte {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return nil
	}
	return env
}
