package host

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/sparing"
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
	verdict    *verdict
	size       int64                // of the content
	excess     string               // why there is more of it than there may be; "" where there is not
	asked      map[string]int       // how often each key was asked for
	askers     map[string]time.Time // who will ask, and since when that is known
	given      json.RawMessage      // the arguments of what runs
	roots      rootsAsked

	teller teller

	asking    context.Context // ends when nobody waits for answers any more
	stop      context.CancelFunc
	answering sync.WaitGroup
	slot      call.Slot // of a call that asks its client at once
	clock     call.Clock
	waiting   int // questions that it waits for
	open      int // questions that have no answer

	progress
	logs    map[string]*rate.Limiter // by level
	muted   bool                     // its client waits for nothing: it has been asked
	closed  bool                     // nothing is told any more
	dropped int

	warnings *sparing.Log // of what makes no sense
}

// A call may tell of its progress this many times at once, and so many times a
// second on average; and log as much, at each level, so that what many debugging
// messages are about is not lost among them. More is let go: a flood would drown
// whoever reads it.
const (
	tellingsAtOnce    = 100
	tellingsPerSecond = 50
)

// maxItems is how many content items a result may have.
const maxItems = 10_000

func newTalk(ctx context.Context, h *Host) *talk {
	t := &talk{host: h, ctx: ctx, progress: progress{limit: newLimiter()}}
	t.warnings = sparing.New(h.opts.Log, "more of what a call said makes no sense", 0)
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

// announcement is how long it counts that somebody will ask: a program has to start
// for it.
const announcement = 5 * time.Second

// expect notes who will ask something, or has ended.
func (t *talk) expect(asker string, will bool) bool {
	if !will {
		delete(t.askers, asker)
		return true
	}
	if asker == "" || len(t.askers) >= maxQuestions {
		return false
	}
	if t.askers == nil {
		t.askers = map[string]time.Time{}
	}
	t.askers[asker] = time.Now()
	return true
}

// expects reports whether somebody is about to ask something.
func (t *talk) expects() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, since := range t.askers {
		if time.Since(since) < announcement {
			return true
		}
	}
	return false
}

// giveOut has what runs find its arguments.
func (t *talk) giveOut(arguments json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.given = arguments
}

// mute has nothing told, since the client waits for nothing. What was said before
// the answer comes before it, as long as the client waits for that.
func (t *talk) mute(ctx context.Context) {
	t.mu.Lock()
	t.muted = true
	t.mu.Unlock()
	t.teller.settle(ctx)
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
		text, _ := m.Data.(string)
		t.tell(len(text), func() { t.sendLog(ctx, log, m) })
	}
	return nil
}

// tell has the client told something of so many bytes; t.mu is held.
func (t *talk) tell(size int, f func()) {
	if !t.closed && !t.teller.tell(size, f) {
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
	if m.TooLong {
		t.excess = tooLong(m.Kind)
		return
	}
	switch m.Kind {
	case talkback.Progress:
		ok = t.tellProgress(m.Payload)
	case talkback.Log:
		ok = t.tellLog(m.Payload)
	case talkback.Emit:
		ok = t.emit(m.Payload)
	case talkback.Document:
		if ok = t.emit(m.Payload); ok {
			t.structure(message.Text(message.Member(m.Payload, "text")))
		}
	case talkback.Result, talkback.Problem, talkback.Fail:
		ok = t.decide(m)
	case talkback.Ask:
		ok = t.ask(m)
	case talkback.Asking, talkback.Asked:
		ok = t.expect(message.Text(m.Payload), m.Kind == talkback.Asking)
	case talkback.Given:
		ok = t.give(m)
	default:
		ok = false
	}
	if !ok {
		t.warnings.Warn("ignored what a call said: it makes no sense", "tool", t.call.tool.Name, "kind", message.Clip(m.Kind))
	}
}

// tooLong tells what a call said too much of.
func tooLong(kind string) string {
	return fmt.Sprintf("what it said of its result in one piece is longer than %d bytes", talkback.Limit(kind))
}

// emit adds an item to the result.
func (t *talk) emit(item json.RawMessage) bool {
	if !isContent(item) {
		return false
	}
	if len(t.items) >= maxItems {
		t.excess = fmt.Sprintf("its result has more than %d items", maxItems)
	} else if t.hasRoom(item) {
		t.items = append(t.items, item)
	}
	return true
}

// structure makes a text the result's structured content.
func (t *talk) structure(text string) {
	value, isJSON := asJSON(text)
	if !isJSON {
		t.complain("what it gave for its result is not JSON: " + message.Clip(text))
		return
	}
	t.structured = value
}

// decide has the call's result be what it says.
func (t *talk) decide(m talkback.Message) bool {
	v, defect, ok := readVerdict(m)
	if ok && t.hasRoom(v.structured) {
		t.verdict = v
	}
	if defect != "" {
		t.complain(defect)
	}
	return ok
}

// complain tells the author what is wrong about what a call said.
func (t *talk) complain(what string) {
	t.warnings.Warn(what, "tool", t.call.tool.Name)
}

// hasRoom counts what a result is made of. It may be as much as a call may print.
func (t *talk) hasRoom(part json.RawMessage) bool {
	t.size += int64(len(part))
	if most := t.call.host.opts.Limits.MaxOutput; most > 0 && t.size > most {
		t.excess = fmt.Sprintf("its result is longer than %d bytes, the limit set by --max-output", most)
	}
	return t.excess == ""
}

// slogLevels are those of the server's log for the levels of MCP.
var slogLevels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "notice": slog.LevelInfo, "warning": slog.LevelWarn,
	"error": slog.LevelError, "critical": slog.LevelError, "alert": slog.LevelError, "emergency": slog.LevelError,
}

// said is what a tool logs.
type said struct {
	level, logger string
	data          json.RawMessage
}

// readLog reads a log message. What is given for JSON and is none is a text.
func readLog(payload json.RawMessage) (l said, ok bool) {
	var p struct {
		Level, Logger string
		Text, JSON    *string
	}
	if json.Unmarshal(payload, &p) != nil || !slices.Contains(levels, p.Level) || (p.Text == nil) == (p.JSON == nil) {
		return l, false
	}
	l = said{level: p.Level, logger: p.Logger}
	if p.Text != nil {
		l.data = marshal(*p.Text)
	} else {
		l.data, _ = asJSON(*p.JSON)
	}
	return l, true
}

// tellLog logs, and tells a client that asked for messages of the level.
func (t *talk) tellLog(payload json.RawMessage) bool {
	l, ok := readLog(payload)
	if !ok {
		return false
	}
	c := t.call
	c.host.opts.Log.Log(t.ctx, slogLevels[l.level], c.tool.Name+" says: "+message.Clip(string(l.data)), "logger", message.Clip(l.logger))
	if !t.isHeard() {
		return true
	}
	limit := t.logs[l.level]
	if limit == nil {
		limit = newLimiter()
		if t.logs == nil {
			t.logs = map[string]*rate.Limiter{}
		}
		t.logs[l.level] = limit
	}
	if !limit.Allow() {
		t.dropped++
		return true
	}
	t.tell(len(l.logger)+len(l.data), func() { t.sendLog(t.ctx, c.log, logMessage{l.level, l.logger, l.data}) })
	return true
}

// background has f done beside the call, which waits for it at its end; t.mu is not
// held.
func (t *talk) background(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asking.Err() == nil {
		t.answering.Go(f)
	}
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
	t.answering.Go(func() { t.host.reply(t.asking, m.Reply, "result", text) })
	return true
}

// close ends what is asked, and tells what had to be let go.
func (t *talk) close() {
	t.mu.Lock()
	t.stop()
	t.mu.Unlock()
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
	t.warnings.End("tool", t.call.tool.Name)
	if dropped > 0 {
		t.call.host.opts.Log.Warn("a call said more than clients are told; the rest was let go", "tool", t.call.tool.Name, "dropped", dropped)
	}
}

// answer makes the result of what the call said and of what it printed.
func (t *talk) answer(ctx context.Context, c toolCall, text string, isError bool) (json.RawMessage, error) {
	if isError && t.verdict != nil && !t.verdict.isError {
		// It has failed since.
		t.verdict = nil
	}
	defect := ""
	if !isError && (t.verdict == nil || !t.verdict.isError) {
		defect = c.outputDefect(t.structuredContent(c, text))
	}
	t.tellEnd(ctx, c, defect)
	t.close()
	switch {
	case t.verdict != nil && t.verdict.failure != nil:
		return nil, t.verdict.failure
	case t.excess != "":
		return c.result(c.failure(t.excess), true), nil
	case defect != "":
		return c.result(c.failure(defect), true), nil
	case t.verdict != nil:
		v := t.verdict
		return c.resultWith([]json.RawMessage{textItem(string(v.structured))}, v.structured, v.isError), nil
	}
	items := slices.Clone(t.items)
	if text != "" || len(items) == 0 {
		items = append(items, textItem(text))
	}
	if isError {
		return c.resultWith(items, nil, true), nil
	}
	return c.resultWith(items, t.structuredContent(c, text), false), nil
}

// structuredContent is that of a result that has not failed, nil for none.
func (t *talk) structuredContent(c toolCall, text string) json.RawMessage {
	switch {
	case t.verdict != nil:
		return t.verdict.structured
	case t.structured == nil && c.tool.OutputSchema != nil:
		return document(text)
	}
	return t.structured
}

// tellEnd tells of a call that has failed though its function ended well.
func (t *talk) tellEnd(ctx context.Context, c toolCall, defect string) {
	switch {
	case t.excess != "":
		c.tell(ctx, slog.LevelWarn, "the call failed: "+t.excess)
	case defect != "":
		c.tell(ctx, slog.LevelWarn, "the call failed: "+defect)
	case t.verdict != nil && t.verdict.isError:
		c.tell(ctx, slog.LevelInfo, "the tool says that it failed")
	}
}

// hasFailed reports whether a call whose function ended well has failed all the
// same, by what it said or by what it printed.
func (t *talk) hasFailed(c toolCall, text string) bool {
	if t.verdict != nil && t.verdict.isError || t.excess != "" {
		return true
	}
	return c.outputDefect(t.structuredContent(c, text)) != ""
}

// outputDefect tells how a result breaks the tool's outputSchema; "" when it does
// not, or there is none.
func (c toolCall) outputDefect(structured json.RawMessage) string {
	switch {
	case c.tool.OutputSchema == nil:
		return ""
	case structured == nil:
		return "it declares an outputSchema, and printed no JSON document"
	}
	s, err := c.host.compiled(c.tools, c.tool).outputSchema(c.tool.OutputSchema)
	if err != nil {
		return ""
	}
	if defect := s.Check(structured); defect != "" {
		return "its result does not match its outputSchema: " + ofResult.Replace(defect)
	}
	return ""
}

// ofResult has what a schema says of arguments be about a result.
var ofResult = strings.NewReplacer("Invalid arguments: ", "", "Missing required parameter(s)", "missing member(s)", "Unknown parameter(s)", "unknown member(s)")

func textItem(text string) json.RawMessage {
	var content fields
	content.add("type", "text")
	content.add("text", text)
	return content.object()
}
