package process

import (
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
	for cpu := range 8 * len(p.set) * wordBytes {
		if p.set.IsSet(cpu) {
			p.each = append(p.each, cpu)
		}
	}
	return p
}

// wordBytes is no less than an element of a CPUSet has.
const wordBytes = 8

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

// Restore has a process run on all of the processors.
func (p Processors) Restore(pid int) error {
	if err := unix.SchedSetaffinity(pid, &p.set); err != nil {
		return fmt.Errorf("give process %d its processors back: %w", pid, err)
	}
	return nil
}
