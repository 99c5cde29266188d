package process

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Policies of the scheduler, see sched(7).
const (
	usual = unix.SCHED_NORMAL
	batch = unix.SCHED_BATCH
)

// scheduleAs gives all threads of this process the policy that have the other of the
// two. One that is started later has that of the thread that starts it. It reports
// whether there was one to be given it: somebody may have chosen a third.
func scheduleAs(policy uint32) (given bool) {
	// One that has not been given it may have started another meanwhile.
	for giveAll(policy) {
		given = true
	}
	return given
}

func giveAll(policy uint32) (given bool) {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return false
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err == nil && setPolicy(id, usual+batch-policy, policy) {
			given = true
		}
	}
	return given
}

// setPolicy gives a thread a policy in place of another, and leaves its priority.
func setPolicy(id int, from, to uint32) bool {
	attr, err := unix.SchedGetAttr(id, 0)
	if err != nil || attr.Policy != from {
		return false
	}
	// Nothing else of what it was: the system tells of its own choices there, too.
	return unix.SchedSetAttr(id, &unix.SchedAttr{Policy: to, Nice: attr.Nice, Flags: attr.Flags & unix.SCHED_FLAG_RESET_ON_FORK}, 0) == nil
}
