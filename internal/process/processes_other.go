//go:build !linux

package process

import "golang.org/x/sys/unix"

// Of <sys/proc.h>.
const (
	stopped = 4 // SSTOP
	zombie  = 5 // SZOMB
)

// processes lists every process there is.
func processes() []int {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	var pids []int
	for _, p := range all {
		if p.Proc.P_stat != zombie {
			pids = append(pids, int(p.Proc.P_pid))
		}
	}
	return pids
}

// hasEnded reports whether a process is gone but for its parent's waiting.
func hasEnded(pid int) bool {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err != nil || p.Proc.P_stat == zombie
}

// isStopped reports whether a process was stopped by a signal.
func isStopped(pid int) bool {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && p.Proc.P_stat == stopped
}

// Environment is not to be had here.
func Environment(int) []byte { return nil }
