package host

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/sparing"
	"github.com/conch-mcp/conch/internal/talkback"
)

// aside hears a function whose client is not told or asked anything while it runs:
// that of a resource, or of a completion. What it prints is its result, unless it
// says that it failed.
type aside struct {
	ctx       context.Context // ends with the function
	host      *Host
	call      call.Call
	verdict   *verdict
	warnings  *sparing.Log
	answering sync.WaitGroup
}

// runAside runs a function and hears what it says.
func (h *Host) runAside(ctx context.Context, c call.Call) (call.Outcome, *verdict, error) {
	answering, cancel := context.WithCancel(ctx)
	warnings := sparing.New(h.opts.Log.With("function", c.Function), "more of what a function said makes no sense", 0)
	defer warnings.End()
	a := &aside{ctx: answering, host: h, call: c, warnings: warnings}
	c.Hear = a.hear
	outcome, err := h.opts.Run(ctx, c)
	cancel()
	a.answering.Wait()
	return outcome, a.verdict, err
}

// runHeard runs a function that is heard elsewhere.
func (h *Host) runHeard(ctx context.Context, c call.Call) (call.Outcome, *verdict, error) {
	outcome, err := h.opts.Run(ctx, c)
	return outcome, nil, err
}

// hear takes one message.
func (a *aside) hear(m talkback.Message) {
	switch m.Kind {
	case talkback.Ask:
		a.refuse(m)
	case talkback.Given:
		a.give(m)
	case talkback.Log:
		if l, ok := readLog(m.Payload); ok {
			a.host.opts.Log.Log(context.Background(), slogLevels[l.level], a.call.Function+" says: "+message.Clip(string(l.data)), "logger", message.Clip(l.logger), "function", a.call.Function)
		}
	case talkback.Progress:
	case talkback.Result, talkback.Problem, talkback.Fail:
		if m.TooLong {
			a.verdict = &verdict{structured: outcomeObject(false, "error", marshal(tooLong(m.Kind))), isError: true}
			return
		}
		v, defect, ok := readVerdict(m)
		if ok {
			a.verdict = v
		}
		if defect != "" {
			a.warnings.Warn(defect)
		}
	default:
		a.warnings.Warn("a function said what only the result of a tool or prompt can have; what it prints is its result", "kind", message.Clip(m.Kind))
	}
}

// give tells a program what the function was given.
func (a *aside) give(m talkback.Message) {
	text := map[string]json.RawMessage{"arguments": a.call.Arguments, "meta": a.call.Meta}[message.Text(message.Member(m.Payload, "of"))]
	if text == nil {
		text = json.RawMessage(`{}`)
	}
	a.reply(m, "result", text)
}

// refuse answers a question.
func (a *aside) refuse(m talkback.Message) {
	answer := unable("the client cannot be asked while it waits for completions")
	a.answering.Go(func() { _ = m.Reply.Send(a.ctx, answer) })
}

func (a *aside) reply(m talkback.Message, member string, value json.RawMessage) {
	a.answering.Go(func() { a.host.reply(a.ctx, m.Reply, member, value) })
}

// reply answers a program of a call's.
func (h *Host) reply(ctx context.Context, to talkback.Reply, member string, value json.RawMessage) {
	var f fields
	f.addRaw(member, value)
	if err := to.Send(ctx, f.object()); err != nil && ctx.Err() == nil {
		h.opts.Log.Warn("cannot hand an answer to the call", "err", err)
	}
}
