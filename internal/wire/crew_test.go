package wire

import (
	"sync"
	"testing"
	"time"
)

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for start := time.Now(); !is(); time.Sleep(100 * time.Microsecond) {
		if time.Since(start) > time.Minute {
			t.Fatalf("it is not so that %s", what)
		}
	}
}

// count is how many of a crew have nothing to do.
func (c *crew) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.idle)
}

// However many tasks there are, all of them run at once, and few are left with nothing
// to do.
func TestACrewRunsAllTasksAtOnce(t *testing.T) {
	var c crew
	defer c.dismiss()
	for range 3 {
		const tasks = 4 * mostIdle
		var begun, ended sync.WaitGroup
		begun.Add(tasks)
		for range tasks {
			ended.Add(1)
			c.do(func() {
				defer ended.Done()
				begun.Done()
				begun.Wait()
			})
		}
		ended.Wait()
		eventually(t, "few are left", func() bool { return c.count() == mostIdle })
	}
}

func TestWhoHasNothingToDoHasTheNextTask(t *testing.T) {
	var c crew
	ran := make(chan struct{})
	c.do(func() {})
	eventually(t, "one is left", func() bool { return c.count() == 1 })
	for range 3 {
		c.do(func() { <-ran })
		if c.count() != 0 {
			t.Error("somebody else has the task")
		}
		ran <- struct{}{}
		eventually(t, "one is left again", func() bool { return c.count() == 1 })
	}
	gone := make(chan struct{})
	c.do(func() {
		<-ran
		close(gone)
	})
	c.dismiss()
	ran <- struct{}{}
	<-gone
	if c.count() != 0 {
		t.Error("somebody stays")
	}
}
