package host

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"golang.org/x/time/rate"
)

// progress is how far a call says it is. The fields are guarded by the mutex of
// its talk.
type progress struct {
	limit *rate.Limiter
	last  *float64        // what was told last
	total json.RawMessage // that was told with it, nil for none
	held  *milestone      // that could not be told when it came, and is next

	began    time.Time   // the watch for silence
	lastTold time.Time   // or began
	watch    *time.Timer // nil before it
	beats    int         // told in place of a call that has not said anything
}

// milestone is one thing that is told of progress.
type milestone struct {
	value          float64
	written, total json.RawMessage // value as the tool has written it; total may be nil
	message        string
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
	m := milestone{value: value, written: json.RawMessage(p.Progress), message: p.Message}
	if p.Total != nil {
		if _, err := p.Total.Float64(); err != nil {
			return false
		}
		m.total = json.RawMessage(*p.Total)
	}
	t.clock.Extend()
	switch {
	case t.last != nil && value <= *t.last || t.held != nil && value <= t.held.value:
	case len(t.call.token) > 0 && t.isHeard() && t.progress.limit.Allow():
		t.sendProgress(m)
	default:
		if t.held != nil && len(t.call.token) > 0 && !t.muted {
			t.dropped++
		}
		t.held = &m
	}
	return true
}

// flushProgress tells what could not be told when it came, if it can be now.
func (t *talk) flushProgress() {
	if t.held != nil && len(t.call.token) > 0 && t.isHeard() {
		t.sendProgress(*t.held)
	}
}

func (t *talk) sendProgress(m milestone) {
	t.last, t.held, t.lastTold, t.total = &m.value, nil, time.Now(), m.total
	var f fields
	f.addRaw("progressToken", t.call.token)
	f.addRaw("progress", m.written)
	if m.total != nil {
		f.addRaw("total", m.total)
	}
	f.addUnlessEmpty("message", m.message)
	send, params := t.call.send, f.object()
	t.tell(len(params), func() { send("notifications/progress", params) })
}

// watchSilence begins to tell a client that wants to hear of progress how long
// the call has taken, whenever it has said nothing for a while: clients give up
// on calls that they do not hear of. t.mu is held.
func (t *talk) watchSilence() {
	every := t.call.host.opts.Heartbeat
	if every <= 0 || len(t.call.token) == 0 || t.watch != nil {
		return
	}
	t.began = time.Now()
	t.lastTold = t.began
	t.watch = time.AfterFunc(every, t.breakSilence)
}

// breakSilence tells that the call goes on, unless it has done so itself.
func (t *talk) breakSilence() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.ctx.Err() != nil {
		return
	}
	every := t.call.host.opts.Heartbeat
	if rest := every - time.Since(t.lastTold); rest > 0 {
		t.watch.Reset(rest)
		return
	}
	t.watch.Reset(every)
	switch {
	case t.muted || len(t.call.token) == 0:
	case t.held != nil:
		t.flushProgress()
	default:
		t.beats++
		value := beat(t.last, t.beats)
		if math.IsInf(value, 0) || t.last != nil && value <= *t.last {
			return
		}
		t.sendProgress(milestone{
			value: value, written: json.RawMessage(strconv.FormatFloat(value, 'g', -1, 64)), total: t.total,
			message: fmt.Sprintf("%d s elapsed", int(time.Since(t.began).Seconds())),
		})
	}
}

// beat is the progress of a call that has said nothing since last: more than
// that, and less than whatever comes next. Most calls begin with 0, so before
// the first word it is below that.
func beat(last *float64, n int) float64 {
	switch {
	case last == nil:
		return -1 / float64(n)
	case -1 <= *last && *last < 0 && n > 1 && *last == -1/float64(n-1):
		// It was told in place of a call that has not said anything yet.
		return -1 / float64(n)
	}
	return *last + math.Max(1, math.Abs(*last))*1e-9
}

// stopWatching ends the watch for silence; t.mu is held.
func (t *talk) stopWatching() {
	if t.watch != nil {
		t.watch.Stop()
	}
}
