package host

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"golang.org/x/time/rate"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/talkback"
)

// talk is what a call has said besides what it printed.
type talk struct {
	host *Host
	call *toolCall // once its tool has been found
	ctx  context.Context

	mu         sync.Mutex        // never held while anything is waited for
	items      []json.RawMessage // content, in order
	structured json.RawMessage
	result     json.RawMessage // the whole result
	failure    *jsonrpc.Error
	size       int64           // of the content
	over       bool            // there is more of it than there may be
	asked      map[string]int  // how often each key was asked for
	given      json.RawMessage // the arguments of what runs
	roots      rootsAsked

	teller teller

	asking    context.Context // ends when nobody waits for answers any more
	stop      context.CancelFunc
	answering sync.WaitGroup
	slot      call.Slot // of a call that asks its client at once
	clock     call.Clock
	waiting   int // questions that it waits for

	progress
	logs    *rate.Limiter
	muted   bool // its client waits for nothing: it has been asked
	closed  bool // nothing is told any more
	dropped int
}

// A call may tell of its progress this many times at once, and so many times a
// second on average; and log as much. More is let go: a flood would drown
// whoever reads it.
const (
	tellingsAtOnce    = 100
	tellingsPerSecond = 50
)

// maxItems is how many content items a result may have.
const maxItems = 10_000

func newTalk(ctx context.Context, h *Host) *talk {
	t := &talk{host: h, ctx: ctx, logs: newLimiter(), progress: progress{limit: newLimiter()}, asked: map[string]int{}}
	t.asking, t.stop = context.WithCancel(ctx)
	return t
}

func newLimiter() *rate.Limiter { return rate.NewLimiter(tellingsPerSecond, tellingsAtOnce) }

// begin has what is told go to the client of a call.
func (t *talk) begin(c *toolCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.call = c
	t.clock.Timeout, t.clock.Most = c.tool.Timeout, c.tool.MaxTimeout
	t.watchSilence()
}

// giveOut has what runs find its arguments.
func (t *talk) giveOut(arguments json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.given = arguments
}

// mute has nothing told, since the client waits for nothing.
func (t *talk) mute() {
	t.mu.Lock()
	t.muted = true
	t.mu.Unlock()
	// It was said before the answer, and is to come before it.
	t.teller.settle(t.ctx)
}

// rebind has what is told go to the client's next request.
func (t *talk) rebind(c toolCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.call.send, t.call.log, t.call.token, t.call.capabilities = c.send, c.log, c.token, c.capabilities
	t.muted = false
	t.flushProgress()
	t.watchSilence()
}

// isHeard reports whether the client may be told anything.
func (t *talk) isHeard() bool { return !t.muted && !t.closed && t.ctx.Err() == nil }

// tellClient sends a log message to the client, if it wants it.
func (t *talk) tellClient(ctx context.Context, m logMessage) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.isHeard() {
		log := t.call.log
		t.tell(func() { t.sendLog(ctx, log, m) })
	}
	return nil
}

// tell has the client told something; t.mu is held.
func (t *talk) tell(f func()) {
	if !t.closed && !t.teller.tell(f) {
		t.dropped++
	}
}

func (t *talk) sendLog(ctx context.Context, log func(context.Context, logMessage) error, m logMessage) {
	if err := log(ctx, m); err != nil {
		t.host.opts.Log.Debug("cannot send a log message to the client", "err", err)
	}
}

// hear takes one message. What makes no sense is logged and let go.
func (t *talk) hear(m talkback.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ok := true
	switch m.Kind {
	case talkback.Progress:
		ok = t.tellProgress(m.Payload)
	case talkback.Log:
		ok = t.tellLog(m.Payload)
	case talkback.Emit:
		if ok = isContent(m.Payload) && len(t.items) < maxItems; ok && t.hasRoom(m.Payload) {
			t.items = append(t.items, m.Payload)
		}
	case talkback.Structured:
		if t.hasRoom(m.Payload) {
			t.structured = m.Payload
		}
	case talkback.Result:
		if ok = isResult(m.Payload); ok && t.hasRoom(m.Payload) {
			t.result = m.Payload
		}
	case talkback.Fail:
		ok = t.fail(m.Payload)
	case talkback.Ask:
		ok = t.ask(m)
	case talkback.Given:
		ok = t.give(m)
	default:
		ok = false
	}
	if !ok {
		t.call.host.opts.Log.Warn("ignored what a call said: it makes no sense", "tool", t.call.tool.Name, "kind", message.Clip(m.Kind))
	}
}

// hasRoom counts what a result is made of. It may be as much as a call may print.
func (t *talk) hasRoom(part json.RawMessage) bool {
	t.size += int64(len(part))
	if most := t.call.host.opts.Limits.MaxOutput; most > 0 && t.size > most {
		t.over = true
	}
	return !t.over
}

// slogLevels are those of the server's log for the levels of MCP.
var slogLevels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "notice": slog.LevelInfo, "warning": slog.LevelWarn,
	"error": slog.LevelError, "critical": slog.LevelError, "alert": slog.LevelError, "emergency": slog.LevelError,
}

// tellLog logs, and tells a client that asked for messages of the level.
func (t *talk) tellLog(payload json.RawMessage) bool {
	var l struct {
		Level, Logger string
		Data          json.RawMessage
	}
	if json.Unmarshal(payload, &l) != nil || !slices.Contains(levels, l.Level) || l.Data == nil {
		return false
	}
	if !t.logs.Allow() {
		t.dropped++
		return true
	}
	c := t.call
	c.host.opts.Log.Log(t.ctx, slogLevels[l.Level], c.tool.Name+" says: "+message.Clip(string(l.Data)), "logger", message.Clip(l.Logger))
	if !t.isHeard() {
		return true
	}
	t.tell(func() { t.sendLog(t.ctx, c.log, logMessage{l.Level, l.Logger, l.Data}) })
	return true
}

// give tells a program of the call's what the call was given, however long it is.
func (t *talk) give(m talkback.Message) bool {
	var text json.RawMessage
	switch message.Text(message.Member(m.Payload, "of")) {
	case "arguments":
		text = t.given
	case "meta":
		text = t.call.meta
	default:
		return false
	}
	if text == nil {
		text = json.RawMessage(`{}`)
	}
	t.answering.Go(func() {
		if err := m.Reply.Send(json.RawMessage(`{"result":` + string(text) + `}`)); err != nil {
			t.host.opts.Log.Debug("cannot tell a program what its call was given", "err", err)
		}
	})
	return true
}

// fail has the call end with an error of the protocol.
func (t *talk) fail(payload json.RawMessage) bool {
	var e struct {
		Code    int64
		Message string
		Data    json.RawMessage
	}
	if json.Unmarshal(payload, &e) != nil || e.Code == 0 {
		return false
	}
	t.failure = &jsonrpc.Error{Code: e.Code, Message: e.Message, Data: e.Data}
	return true
}

// close ends what is asked, and tells what had to be let go.
func (t *talk) close() {
	t.stop()
	t.answering.Wait()
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return
	}
	t.flushProgress()
	t.closed = true
	t.stopWatching()
	dropped := t.dropped
	t.mu.Unlock()
	t.teller.end(t.ctx)
	if dropped > 0 {
		t.call.host.opts.Log.Warn("a call said more than clients are told; the rest was let go", "tool", t.call.tool.Name, "dropped", dropped)
	}
}

// answer makes the result of what the call said and of what it printed.
func (t *talk) answer(c toolCall, text string, isError bool) (json.RawMessage, error) {
	t.close()
	switch {
	case t.failure != nil:
		return nil, t.failure
	case t.over:
		return c.result(c.failure(fmt.Sprintf("its result is longer than %d bytes, the limit set by --max-output", c.host.opts.Limits.MaxOutput)), true), nil
	case t.result != nil && string(message.Member(t.result, "isError")) == "true":
		return c.completed(t.result), nil
	case t.result != nil && !isError:
		if defect := c.outputDefect(message.Member(t.result, "structuredContent")); defect != "" {
			return c.result(defect, true), nil
		}
		return c.completed(t.result), nil
	}
	items := slices.Clone(t.items)
	if text != "" || len(items) == 0 {
		items = append(items, textItem(text))
	}
	structured := t.structured
	if structured == nil && c.tool.OutputSchema != nil {
		structured = document(text)
	}
	if isError {
		return c.resultWith(items, nil, true), nil
	}
	if defect := c.outputDefect(structured); defect != "" {
		return c.result(defect, true), nil
	}
	return c.resultWith(items, structured, false), nil
}

// outputDefect tells how a result breaks the tool's outputSchema; "" when it does
// not, or there is none.
func (c toolCall) outputDefect(structured json.RawMessage) string {
	switch {
	case c.tool.OutputSchema == nil:
		return ""
	case structured == nil:
		return c.failure("it declares an outputSchema, and printed no JSON document")
	}
	s, err := c.host.compiled(c.tools, c.tool).outputSchema(c.tool.OutputSchema)
	if err != nil {
		return ""
	}
	if defect := s.Check(structured); defect != "" {
		return c.failure("its result does not match its outputSchema: " + defect)
	}
	return ""
}

func textItem(text string) json.RawMessage {
	var content fields
	content.add("type", "text")
	content.add("text", text)
	return content.object()
}
