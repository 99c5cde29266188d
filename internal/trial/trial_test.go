package trial

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/conch-mcp/conch/internal/casefile"
)

// fake answers as a function says.
type fake func(ctx context.Context, c casefile.Case) Outcome

func (f fake) Call(ctx context.Context, c casefile.Case) Outcome { return f(ctx, c) }

func casesNamed(n int) (cases []casefile.Case) {
	for i := range n {
		cases = append(cases, casefile.Case{Name: fmt.Sprint(i), Line: i})
	}
	return cases
}

func TestResultsComeInTheOrderOfTheCases(t *testing.T) {
	// Each call waits for the one behind it.
	cases := casesNamed(5)
	ended := make([]chan struct{}, len(cases)+1)
	for i := range ended {
		ended[i] = make(chan struct{})
	}
	close(ended[len(cases)])
	server := fake(func(_ context.Context, c casefile.Case) Outcome {
		<-ended[c.Line+1]
		close(ended[c.Line])
		return saying("a")
	})
	next := 0
	for r := range Run(t.Context(), server, cases, len(cases)) {
		if r.Case.Line != next || !r.Passed() {
			t.Errorf("result %d is that of case %d: %+v", next, r.Case.Line, r)
		}
		next++
	}
	if next != len(cases) {
		t.Errorf("%d results", next)
	}
}

func TestNoMoreCasesRunThanMay(t *testing.T) {
	var running, most atomic.Int64
	server := fake(func(context.Context, casefile.Case) Outcome {
		n := running.Add(1)
		defer running.Add(-1)
		for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
		}
		time.Sleep(time.Millisecond)
		return saying("a")
	})
	for range Run(t.Context(), server, casesNamed(20), 3) {
	}
	if most.Load() > 3 {
		t.Errorf("%d ran at once", most.Load())
	}
}

func TestWhoLeavesTheLoopEndsWhatRuns(t *testing.T) {
	var running sync.WaitGroup
	server := fake(func(ctx context.Context, c casefile.Case) Outcome {
		running.Add(1)
		defer running.Done()
		if c.Line > 0 {
			<-ctx.Done()
		}
		return Outcome{Err: ctx.Err()}
	})
	for range Run(t.Context(), server, casesNamed(3), 3) {
		break
	}
	running.Wait()
}

func TestWhatIsInterruptedIsNotJudged(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := fake(func(context.Context, casefile.Case) Outcome {
		cancel()
		return saying("a")
	})
	for r := range Run(ctx, server, casesNamed(3), 1) {
		if !errors.Is(r.NotRun, context.Canceled) || r.Passed() {
			t.Errorf("the result is %+v", r)
		}
	}
}
