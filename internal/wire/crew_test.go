package wire

import (
	"runtime"
	"sync"
	"testing"
	"time"
)

// eventually waits until something is so.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for start := time.Now(); !is(); runtime.Gosched() {
		if time.Since(start) > time.Minute {
			t.Fatalf("it is not so that %s", what)
		}
	}
}

// However many tasks there are, all of them run at once, few are left with nothing
// to do, and nobody is in the end.
func TestACrewRunsAllTasksAtOnce(t *testing.T) {
	before := runtime.NumGoroutine()
	resign := make(chan struct{})
	c := newCrew(resign)
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
		eventually(t, "few are left", func() bool { return runtime.NumGoroutine() <= before+mostIdle })
	}
	close(resign)
	eventually(t, "nobody is left", func() bool { return runtime.NumGoroutine() <= before })
}
