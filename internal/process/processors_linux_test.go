package process

import (
	"os/exec"
	"slices"
	"testing"
)

// sleeper starts a process that does nothing until the test has ended.
func sleeper(t *testing.T) (pid int) {
	t.Helper()
	cmd := exec.Command("sleep", "1000")
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

func TestAProcessIsKeptOnOneProcessorUntilItHasAllBack(t *testing.T) {
	pid := sleeper(t)
	all := ProcessorsOf(pid)
	if len(all.each) < 2 {
		t.Skip("there is one processor only")
	}
	for n := range 2 * len(all.each) {
		if !all.Choose(pid, n) {
			t.Fatal("it is not kept on one")
		}
		if got := ProcessorsOf(pid).each; !slices.Equal(got, all.each[n%len(all.each):][:1]) {
			t.Errorf("%d: it is on %d of %d", n, got, all.each)
		}
	}
	must(t, all.Restore(pid))
	if got := ProcessorsOf(pid).each; !slices.Equal(got, all.each) {
		t.Errorf("it is on %d of %d", got, all.each)
	}
}

func TestAProcessGetsWhatThereIsWhereItsOwnAreGone(t *testing.T) {
	pid := sleeper(t)
	all, gone := ProcessorsOf(pid), Processors{}
	gone.set.Set(maxProcessors - 1)
	must(t, gone.Restore(pid))
	if got := ProcessorsOf(pid).each; len(got) < len(all.each) {
		t.Errorf("it is on %d of %d", got, all.each)
	}
}

func TestOfAProcessThatIsNotThereNothingIsKnown(t *testing.T) {
	p := ProcessorsOf(1 << 30)
	if p.Choose(1<<30, 0) || p.Restore(1<<30) == nil {
		t.Error("it is kept on one")
	}
}
