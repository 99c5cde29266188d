package shell

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// In what follows time is the test's own.

const idleAfter = time.Minute

// newTestIdler returns an idler and the times at which it has run, since now.
func newTestIdler() (i *idler, ran func() []time.Duration) {
	start := time.Now()
	var mu sync.Mutex
	var times []time.Duration
	i = newIdler(idleAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		times = append(times, time.Since(start))
	})
	return i, func() []time.Duration {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(times)
	}
}

func wantRuns(t *testing.T, got []time.Duration, want ...time.Duration) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("it ran at %v, want %v", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("it ran at %v, want %v", got, want)
		}
	}
}

func TestIdlenessBeginsWhenTheLastCallHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, ran := newTestIdler()
		defer i.stop()
		time.Sleep(10 * idleAfter)
		wantRuns(t, ran())
		i.begin()
		i.begin()
		i.end()
		time.Sleep(10 * idleAfter)
		wantRuns(t, ran())
		i.end()
		time.Sleep(10 * idleAfter)
		wantRuns(t, ran(), 21*idleAfter)
	})
}

func TestACallStartsTheWaitAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, ran := newTestIdler()
		defer i.stop()
		for range 5 {
			i.begin()
			i.end()
			time.Sleep(idleAfter / 2)
		}
		wantRuns(t, ran())
		time.Sleep(idleAfter)
		wantRuns(t, ran(), 3*idleAfter)
		i.begin()
		i.end()
		time.Sleep(idleAfter)
		wantRuns(t, ran(), 3*idleAfter, 4*idleAfter+idleAfter/2)
	})
}

func TestWhatIsStoppedNeverRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, ran := newTestIdler()
		i.begin()
		i.end()
		i.stop()
		i.begin()
		i.end()
		i.stop()
		time.Sleep(10 * idleAfter)
		wantRuns(t, ran())
	})
}

func TestStoppingWaitsForWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const long = time.Hour
		i := newIdler(idleAfter, func() { time.Sleep(long) })
		start := time.Now()
		i.begin()
		i.end()
		time.Sleep(idleAfter)
		synctest.Wait()
		i.stop()
		if took := time.Since(start); took != idleAfter+long {
			t.Errorf("stop returns after %v", took)
		}
	})
}

// A server that was not attached has none.
func TestNoIdlerIsAsGoodAsOneThatNeverRuns(t *testing.T) {
	var i *idler
	i.begin()
	i.end()
	i.stop()
}
