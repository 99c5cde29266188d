// Package trial calls tools as cases say, side by side, and judges what comes.
//
// It knows what a result is. It knows nothing of how a server is reached, nor of
// the form in which verdicts are told.
package trial

import (
	"context"
	"encoding/json"
	"iter"
	"sync"
	"time"

	"github.com/conch-mcp/conch/internal/casefile"
)

// A Server is asked what cases ask. Call is called by several goroutines at once.
type Server interface {
	Call(ctx context.Context, c casefile.Case) Outcome
}

// An Outcome is what came of a call: a result, or an error of the protocol, or
// neither.
type Outcome struct {
	Result   json.RawMessage
	Refusal  *Refusal
	Err      error             // why neither came
	Progress []json.RawMessage // params of the notifications, in order
	Logs     []json.RawMessage
	Faults   []Problem // with what the server asked
	Took     time.Duration
}

// A Refusal is an error of the protocol.
type Refusal struct {
	Code    int64
	Message string
}

// A Result is a case and what became of it.
type Result struct {
	Case     casefile.Case
	Outcome  Outcome
	Problems []Problem // none of a case that has passed
	// Came is what the call said, where the problems do not show it.
	Came string
	// NotRun is why there was no call at all.
	NotRun error
}

// Passed reports whether all came as expected.
func (r Result) Passed() bool { return r.NotRun == nil && len(r.Problems) == 0 }

// A Problem is something that is not as a case expects, or as it says.
type Problem struct {
	Line int
	Text string // one line, or more where a text is shown
}

// Run asks a server all cases, at most jobs at once. The results come in the
// order of the cases, each as soon as it and all before it are there. Calls that
// are under way when the loop is left, or ctx ends, are ended and waited for.
func Run(ctx context.Context, server Server, cases []casefile.Case, jobs int) iter.Seq[Result] {
	return func(yield func(Result) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var working sync.WaitGroup
		defer working.Wait()
		defer cancel()
		results := make([]chan Result, len(cases))
		turns := make(chan int, len(cases))
		for i := range cases {
			results[i] = make(chan Result, 1)
			turns <- i
		}
		close(turns)
		for range min(jobs, len(cases)) {
			working.Go(func() {
				for i := range turns {
					results[i] <- try(ctx, server, cases[i])
				}
			})
		}
		for _, result := range results {
			if !yield(<-result) {
				return
			}
		}
	}
}

// try makes one call and judges it.
func try(ctx context.Context, server Server, c casefile.Case) Result {
	if err := ctx.Err(); err != nil {
		return Result{Case: c, NotRun: err}
	}
	outcome := server.Call(ctx, c)
	if err := ctx.Err(); err != nil {
		return Result{Case: c, NotRun: err}
	}
	problems, came := judge(c.Expect, outcome)
	return Result{Case: c, Outcome: outcome, Problems: problems, Came: came}
}
