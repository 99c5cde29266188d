//go:build !linux

package process

// Processors are those that a process may run on, which this system does not tell.
type Processors struct{}

// ProcessorsOf returns those of a process.
func ProcessorsOf(int) Processors { return Processors{} }

// Choose does nothing, and reports so.
func (Processors) Choose(int, int) bool { return false }

// Restore does nothing.
func (Processors) Restore(int) error { return nil }
