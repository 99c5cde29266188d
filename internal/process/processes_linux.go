package process

import (
	"bytes"
	"os"
	"strconv"
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

// hasEnded reports whether a process is gone but for its parent's waiting.
func hasEnded(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true
	}
	// The name before the state may itself hold parentheses.
	_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte{' '})
	return len(state) > 0 && (state[0] == 'Z' || state[0] == 'X')
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
