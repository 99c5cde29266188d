package process

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Processors are those that a process may run on. The zero Processors are unknown.
type Processors struct {
	set  unix.CPUSet
	each []int
}

// ProcessorsOf returns those of a process. They are unknown where the system does
// not tell.
func ProcessorsOf(pid int) (p Processors) {
	if unix.SchedGetaffinity(pid, &p.set) != nil {
		return Processors{}
	}
	for cpu := range maxProcessors {
		if p.set.IsSet(cpu) {
			p.each = append(p.each, cpu)
		}
	}
	return p
}

// maxProcessors is how many a CPUSet can tell of.
const maxProcessors = 1024

// Choose has a process, and what it forks from then on, run on one of the
// processors only; which one it is depends on n. It reports whether it does.
func (p Processors) Choose(pid, n int) bool {
	if len(p.each) < 2 {
		return false
	}
	var one unix.CPUSet
	one.Set(p.each[n%len(p.each)])
	return unix.SchedSetaffinity(pid, &one) == nil
}

// Restore has a process run on all of the processors. Where the system has taken
// all of them from this process meanwhile, it is those that there are instead.
func (p Processors) Restore(pid int) error {
	err := unix.SchedSetaffinity(pid, &p.set)
	if errors.Is(err, unix.EINVAL) {
		var all unix.CPUSet
		for cpu := range maxProcessors {
			all.Set(cpu)
		}
		err = unix.SchedSetaffinity(pid, &all)
	}
	if err != nil {
		return fmt.Errorf("give process %d its processors back: %w", pid, err)
	}
	return nil
}
