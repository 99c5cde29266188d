package process

import (
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// policyOf is the scheduler's of a thread; 0 is the calling one.
func policyOf(t *testing.T, id int) uint32 {
	t.Helper()
	attr, err := unix.SchedGetAttr(id, 0)
	must(t, err)
	return attr.Policy
}

func TestThreadsAreABatchJobWhileThereIsMuchToDoForOthers(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if policyOf(t, 0) != usual {
		t.Skip("this process has a policy of its own")
	}
	reaper, err := newReaper()
	must(t, err)
	defer reaper.close()
	var b Batch
	note := func(times, others int) uint32 {
		for range times {
			b.Note(others)
		}
		return policyOf(t, 0)
	}
	defer note(2*settled, 0)
	many := runtime.NumCPU() + 1
	for range 2 {
		if got := note(settled-1, many); got != usual {
			t.Errorf("after few the policy is %d", got)
		}
		if got := note(1, many); got != batch {
			t.Errorf("after many the policy is %d", got)
		}
		child := exec.Command("sleep", "1000")
		c, err := reaper.start(child)
		must(t, err)
		if got := policyOf(t, child.Process.Pid); got != usual {
			t.Errorf("a child has the policy %d", got)
		}
		must(t, child.Process.Kill())
		<-c.Ended()
		if got := note(settled-1, 1); got != batch {
			t.Errorf("after few with little to do the policy is %d", got)
		}
		if got := note(1, 1); got != usual {
			t.Errorf("after many with little to do the policy is %d", got)
		}
	}
}

// Somebody may have given this process another policy, which it keeps.
func TestAPolicyThatSomebodyHasChosenStays(t *testing.T) {
	pid := sleeper(t)
	attr, err := unix.SchedGetAttr(pid, 0)
	must(t, err)
	attr.Policy, attr.Nice = unix.SCHED_BATCH, 7
	must(t, unix.SchedSetAttr(pid, attr, 0))
	if setPolicy(pid, usual, batch) {
		t.Error("it is given the policy it has")
	}
	if !setPolicy(pid, batch, usual) {
		t.Error("it is not given another")
	}
	if attr, err = unix.SchedGetAttr(pid, 0); err != nil || attr.Policy != usual || attr.Nice != 7 {
		t.Errorf("%+v, %v", attr, err)
	}
}
