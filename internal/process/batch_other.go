//go:build !linux

package process

const usual, batch = 0, 1

// scheduleAs does nothing: there is no such policy.
func scheduleAs(uint32) bool { return false }
