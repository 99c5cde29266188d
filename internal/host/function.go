package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/shell"
)

// errNothing is what a function means by status 3: that there is nothing of what
// it was asked for.
var errNothing = errors.New("there is no such thing")

const statusNothing = 3

// output returns what a function of the script's prints. These functions have no
// result to tell failures in, so that one which fails is an error: for a client,
// but for those of its context, and errNothing.
func (h *Host) output(ctx context.Context, what string, c call.Call) ([]byte, error) {
	run := h.runAside
	if c.Hear != nil {
		run = h.runHeard
	}
	outcome, verdict, err := run(ctx, c)
	if fault := verdict.fault(what); fault != nil && ctx.Err() == nil {
		return nil, fault
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, shell.ErrNUL):
		return nil, err
	case err != nil:
		h.opts.Log.Error("a function could not be run", "function", c.Function, "err", err)
		return nil, cannot(what, "the server could not start the function. Its log says why")
	case outcome.End != call.Returned:
		why := h.whyEnded(outcome.End)
		h.opts.Log.Warn("a function was ended: "+why, "function", c.Function)
		return nil, cannot(what, why)
	case outcome.Status == statusNothing:
		return nil, errNothing
	case outcome.Status != 0:
		h.opts.Log.Info(fmt.Sprintf("the function ended with status %d", outcome.Status), "function", c.Function)
		return nil, &statusError{cannot(what, whyFailed(outcome)), outcome.Status, outcome.Output}
	}
	return outcome.Output, nil
}

// statusError is that a function ended with a status other than 0.
type statusError struct {
	error
	status  int
	printed []byte
}

func (e *statusError) Unwrap() error { return e.error }

// cannot is an error of the server's, not of the client's.
func cannot(what, why string) error {
	return &jsonrpc.Error{Code: message.CodeInternalError, Message: what + ": " + why}
}

func (h *Host) whyEnded(end call.End) string {
	switch end {
	case call.TimedOut:
		return fmt.Sprintf("it was stopped after %v, the limit set by --timeout", h.opts.Limits.Timeout)
	case call.Overflowed:
		return fmt.Sprintf("it was stopped because it printed more than %d bytes, the limit set by --max-output", h.opts.Limits.MaxOutput)
	}
	return "the shell that ran it was killed"
}

// longestReason bounds what an error repeats of what a function has printed.
const longestReason = 300

// whyFailed is what a function has printed, in one line.
func whyFailed(o call.Outcome) string {
	text := strings.Join(strings.Fields(clean(o.Output)), " ")
	switch {
	case text == "":
		return fmt.Sprintf("it ended with status %d and printed nothing", o.Status)
	case len(text) > longestReason:
		cut := longestReason
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		return text[:cut] + "…"
	}
	return text
}

// object is what a function gets as its arguments.
func object(members map[string]any) json.RawMessage { return marshal(members) }
