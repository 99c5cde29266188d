package host

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"golang.org/x/time/rate"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/talkback"
)

// talk is what a call has said besides what it printed.
type talk struct {
	call *toolCall // once its tool has been found
	ctx  context.Context

	mu         sync.Mutex        // never held while anything is waited for
	items      []json.RawMessage // content, in order
	structured json.RawMessage
	result     json.RawMessage // the whole result
	failure    *jsonrpc.Error
	progress   *float64       // that was told last
	asked      map[string]int // questions without a key, by what they ask
	roots      rootsAsked

	asking    context.Context // ends when nobody waits for answers any more
	stop      context.CancelFunc
	answering sync.WaitGroup
	slot      call.Slot // of a call that asks its client at once
	waiting   int       // questions that it waits for
	limit     *rate.Limiter
	dropped   int
}

// A call may tell its client this many things at once, and so many a second on
// average. More is let go: a flood would drown whoever reads it.
const (
	tellingsAtOnce    = 100
	tellingsPerSecond = 50
)

// maxItems is how many content items a result may have.
const maxItems = 10_000

func newTalk(ctx context.Context) *talk {
	t := &talk{ctx: ctx, limit: rate.NewLimiter(tellingsPerSecond, tellingsAtOnce), asked: map[string]int{}}
	t.asking, t.stop = context.WithCancel(ctx)
	return t
}

// rebind has what is told go to the client's next request.
func (t *talk) rebind(c toolCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.call.send, t.call.log, t.call.token, t.call.capabilities = c.send, c.log, c.token, c.capabilities
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
		if ok = isObject(m.Payload) && len(t.items) < maxItems; ok {
			t.items = append(t.items, m.Payload)
		}
	case talkback.Structured:
		t.structured = m.Payload
	case talkback.Result:
		if ok = isObject(m.Payload); ok {
			t.result = m.Payload
		}
	case talkback.Fail:
		ok = t.fail(m.Payload)
	case talkback.Ask:
		ok = t.ask(m)
	default:
		ok = false
	}
	if !ok {
		t.call.host.opts.Log.Warn("ignored what a call said: it makes no sense", "tool", t.call.tool.Name, "kind", message.Clip(m.Kind))
	}
}

// tellProgress tells a client that gave a token for it; more than the last time,
// or it is not told (MCP, "Progress").
func (t *talk) tellProgress(payload json.RawMessage) bool {
	var p struct {
		Progress json.Number  `json:"progress"`
		Total    *json.Number `json:"total"`
		Message  string       `json:"message"`
	}
	if json.Unmarshal(payload, &p) != nil {
		return false
	}
	value, err := p.Progress.Float64()
	if err != nil {
		return false
	}
	token := t.call.token
	if len(token) == 0 || t.progress != nil && value <= *t.progress || !t.allow() {
		return true
	}
	t.progress = &value
	var f fields
	f.addRaw("progressToken", token)
	f.addRaw("progress", json.RawMessage(p.Progress))
	if p.Total != nil {
		f.addRaw("total", json.RawMessage(*p.Total))
	}
	f.addUnlessEmpty("message", p.Message)
	t.call.send("notifications/progress", f.object())
	return true
}

// allow counts what a client is told.
func (t *talk) allow() bool {
	if t.limit.Allow() {
		return true
	}
	t.dropped++
	return false
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
	c := t.call
	c.host.opts.Log.Log(t.ctx, slogLevels[l.Level], c.tool.Name+" says: "+message.Clip(string(l.Data)), "logger", message.Clip(l.Logger))
	if !t.allow() {
		return true
	}
	if err := c.log(t.ctx, logMessage{l.Level, l.Logger, l.Data}); err != nil {
		c.host.opts.Log.Debug("cannot send a log message to the client", "err", err)
	}
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
	defer t.mu.Unlock()
	if t.dropped > 0 {
		t.call.host.opts.Log.Warn("a call said more than clients are told; the rest was let go", "tool", t.call.tool.Name, "dropped", t.dropped)
	}
}

// answer makes the result of what the call said and of what it printed.
func (t *talk) answer(c toolCall, text string, isError bool) (json.RawMessage, error) {
	t.close()
	switch {
	case t.failure != nil:
		return nil, t.failure
	case t.result != nil && !isError:
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
	switch {
	case isError:
		structured = nil
	case c.tool.OutputSchema != nil:
		if defect := c.outputDefect(structured); defect != "" {
			return c.result(defect, true), nil
		}
	}
	return c.resultWith(items, structured, isError), nil
}

// outputDefect tells how a result breaks the tool's outputSchema; "" when it does
// not.
func (c toolCall) outputDefect(structured json.RawMessage) string {
	if structured == nil {
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

// completed is a result that the tool has made itself, with what the era wants
// of every result.
func (c toolCall) completed(result json.RawMessage) json.RawMessage {
	var f fields
	if message.Member(result, "content") == nil {
		f.addRaw("content", json.RawMessage(`[]`))
	}
	if c.modern {
		for _, name := range []string{"resultType", "_meta"} {
			if message.Member(result, name) != nil {
				return f.mergedInto(result)
			}
		}
		f.addModern(c.host.serverInfo(c.host.configOrNone()))
	}
	return f.mergedInto(result)
}

// resultWith is a result of content items.
func (c toolCall) resultWith(items []json.RawMessage, structured json.RawMessage, isError bool) json.RawMessage {
	var f fields
	f.addRaw("content", joinArray(items))
	if structured != nil && c.takesStructured(structured) {
		f.addRaw("structuredContent", structured)
	}
	f.add("isError", isError)
	if c.modern {
		f.addModern(c.host.serverInfo(c.host.configOrNone()))
	}
	return f.object()
}

// takesStructured reports whether the client's revision has structured content
// of this kind: since 2025-06-18, and until 2026-07-28 objects alone.
func (c toolCall) takesStructured(structured json.RawMessage) bool {
	switch {
	case c.modern:
		return true
	case c.revision != "" && c.revision < message.Revision20250618:
		return false
	}
	return isObject(structured)
}

// document is what a tool with an outputSchema has printed, if it is one JSON
// document.
func document(text string) json.RawMessage {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || !json.Valid([]byte(trimmed)) {
		return nil
	}
	return json.RawMessage(trimmed)
}
