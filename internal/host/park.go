package host

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/seal"
)

// In the stateless era a question is the answer to the request: the client asks
// its user, and sends the request anew with what he said and the state it was
// given (MCP 2026-07-28, "Multi round-trip requests"). The call meanwhile waits,
// parked; where it cannot, it is ended, and begins anew with the answers it has
// got so far.

// Asking says how calls are treated that wait for their client.
type Asking struct {
	Sealer  *seal.Sealer
	Timeout time.Duration // a call may be parked for so long
	Most    int           // calls that may be parked at once; 0 parks none
}

// life is a call that may outlive the request it began with. One goroutine at a
// time attends to it: that of the latest request.
type life struct {
	id        string
	cancel    context.CancelFunc
	questions chan question
	done      chan struct{} // closed when result and err are there
	result    json.RawMessage
	err       error

	talk    *talk
	slot    *call.Slot
	pending map[string]question        // put to the client, and not answered
	answers map[string]json.RawMessage // that the client has given, by the question's key
	wrong   map[string]int             // how often a question was answered wrong
	timer   *time.Timer                // while it is parked
}

// together is how long a question waits for the next that is asked at once. Each
// is asked by a process that has to start; a person takes longer than that.
const together = 75 * time.Millisecond

// maxQuestions is how many questions a call may have open.
const maxQuestions = 64

// ask has a question put to the client.
func (l *life) ask(q question) {
	select {
	case l.questions <- q:
	default:
		l.talk.answering.Go(func() { l.talk.refuse(q, "the call asks too much at once") })
	}
}

// parked are the calls that wait for their clients.
type parked struct {
	mu     sync.Mutex
	byID   map[string]*life
	closed bool // nobody comes back
}

// take finds a parked call, which is not parked any more.
func (p *parked) take(id string) *life {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.byID[id]
	if l != nil {
		delete(p.byID, id)
		l.timer.Stop()
	}
	return l
}

// state is what a client carries from one request to the next.
type state struct {
	ID      string                     `json:"id"` // of the parked call
	Answers map[string]json.RawMessage `json:"answers,omitempty"`
}

// mayAsk reports whether a call may ask something, or is the continuation of one
// that did.
func (h *Host) mayAsk(capabilities, params json.RawMessage) bool {
	return h.opts.Asking.Sealer != nil && (message.Member(params, "requestState") != nil || message.Member(params, "inputResponses") != nil ||
		slices.ContainsFunc([]string{"elicitation", "sampling", "roots"}, func(name string) bool { return message.Member(capabilities, name) != nil }))
}

// runFunc runs what a call is, and makes its result.
type runFunc func(context.Context, toolCall) (json.RawMessage, error)

// attend begins a call, or goes on with one, until it ends or asks something.
func (h *Host) attend(ctx context.Context, c toolCall, what string, asked engine.ToolCall, run runFunc) (json.RawMessage, error) {
	arguments := message.Member(asked.Params, "arguments")
	claims := seal.Claims{Tool: what, ArgumentsHash: seal.Arguments(arguments), Identity: asked.Owner}
	var known state
	if text := message.Member(asked.Params, "requestState"); text != nil && string(text) != "null" {
		payload, err := h.opts.Asking.Sealer.Open(message.Text(text), claims)
		if err != nil {
			return nil, invalidParams("%v", err)
		}
		if err := json.Unmarshal(payload, &known); err != nil {
			return nil, invalidParams("%v", seal.ErrMalformed)
		}
	}
	responses := map[string]json.RawMessage{}
	_ = json.Unmarshal(message.Member(asked.Params, "inputResponses"), &responses)
	l := h.parked.take(known.ID)
	if l == nil {
		l = h.begin(ctx, c, run, known.Answers, responses)
	} else if err := h.resume(ctx, l, c, responses); err != nil {
		return nil, err
	}
	return h.await(ctx, l, c, claims)
}

// begin starts a call. What it asks that is among the answers is answered at
// once: it has been asked before it was ended.
func (h *Host) begin(ctx context.Context, c toolCall, run runFunc, answers, responses map[string]json.RawMessage) *life {
	l := &life{
		id: rand.Text(), slot: &call.Slot{}, questions: make(chan question, maxQuestions), done: make(chan struct{}),
		pending: map[string]question{}, answers: map[string]json.RawMessage{}, wrong: map[string]int{},
	}
	maps.Copy(l.answers, answers)
	maps.Copy(l.answers, responses)
	ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.life, c.talk = l, newTalk(ctx, h)
	l.talk = c.talk
	h.lives.Go(func() {
		defer close(l.done)
		defer h.recovered("tools/call", &l.err)
		l.result, l.err = run(ctx, c)
		h.finished(l)
	})
	return l
}

// keptResult is how long the result of a call may be that ends while it is parked,
// without having waited for its answers, to be there when its client comes back.
const keptResult = 1 << 20

// finished lets go of a call that has ended while it was parked, if its result is
// too long to be kept: it will begin anew.
func (h *Host) finished(l *life) {
	if len(l.result) <= keptResult {
		return
	}
	if h.parked.take(l.id) == l {
		l.result = nil
	}
}

// resume gives a parked call its client's answers, and room to go on.
func (h *Host) resume(ctx context.Context, l *life, c toolCall, responses map[string]json.RawMessage) error {
	err := l.slot.Resume(ctx)
	l.talk.clock.GoOn()
	if err != nil {
		l.cancel()
		return err
	}
	l.talk.rebind(c)
	for key, q := range l.pending {
		if r := responses[key]; r != nil {
			l.take(q, r)
		}
	}
	return nil
}

// take hands a client's answer to whoever has asked. One that is none has the
// question asked again, unless that was done often enough.
func (l *life) take(q question, answer json.RawMessage) {
	defect := q.defect(answer)
	if defect == "" {
		delete(l.pending, q.key)
		l.answers[q.key] = answer
		l.talk.answerWith(q, answer)
		return
	}
	if l.wrong[q.key]++; l.wrong[q.key] >= attempts {
		delete(l.pending, q.key)
		why := l.talk.wrongly(defect)
		l.talk.background(func() { l.talk.refuse(q, why) })
	}
}

// await waits until a call ends, or has something to ask.
func (h *Host) await(ctx context.Context, l *life, c toolCall, claims seal.Claims) (json.RawMessage, error) {
	var collected <-chan time.Time
	if len(l.pending) > 0 {
		collected = time.After(together)
	}
	for {
		if l.hasEnded() {
			// Whatever it has asked, nobody waits for an answer.
			l.cancel()
			return l.result, l.err
		}
		select {
		case <-l.done:
		case q := <-l.questions:
			if known := l.answers[q.key]; known != nil && q.defect(known) == "" {
				l.talk.answerWith(q, known)
				continue
			}
			delete(l.answers, q.key)
			l.pending[q.key] = q
			collected = time.After(together)
		case <-collected:
			if l.talk.expects() {
				collected = time.After(together)
				continue
			}
			return h.inputRequired(ctx, l, c, claims)
		case <-ctx.Done():
			l.end()
			return nil, ctx.Err()
		}
	}
}

func (l *life) hasEnded() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// end ends a call, and waits for its end.
func (l *life) end() {
	l.cancel()
	<-l.done
}

// seal seals what a client carries. Answers that are too long for that stay here,
// with the call: were it lost, its client would be asked for them again.
func (h *Host) seal(l *life, claims seal.Claims) (sealed string, carried bool, err error) {
	claims.Expires = time.Now().Add(h.opts.Asking.Timeout)
	payload, err := json.Marshal(state{l.id, l.answers})
	if err != nil {
		return "", false, err
	}
	if sealed, err = h.opts.Asking.Sealer.Seal(claims, payload); !errors.Is(err, seal.ErrPayload) {
		return sealed, true, err
	}
	h.opts.Log.Warn("the answers that a call has got are too long for its client to carry; they are lost if the call is", "tool", l.talk.call.tool.Name)
	payload, err = json.Marshal(state{ID: l.id})
	if err != nil {
		return "", false, err
	}
	sealed, err = h.opts.Asking.Sealer.Seal(claims, payload)
	return sealed, false, err
}

// inputRequired is the result that asks, and parks the call.
func (h *Host) inputRequired(ctx context.Context, l *life, c toolCall, claims seal.Claims) (json.RawMessage, error) {
	sealed, carried, err := h.seal(l, claims)
	if err != nil {
		l.end()
		return nil, fmt.Errorf("ask the client: %w", err)
	}
	var requests fields
	for _, key := range slices.Sorted(maps.Keys(l.pending)) {
		q := l.pending[key]
		var request fields
		request.add("method", q.method)
		request.addRaw("params", q.params)
		requests.addRaw(key, request.object())
	}
	l.talk.mute(ctx)
	if ctx.Err() != nil {
		l.end()
		return nil, ctx.Err()
	}
	if parked := h.park(l); !parked && !carried {
		l.end()
		return nil, cannot("Cannot ask", "the answers so far are too long for the client to carry, and there is no room to park the call (--max-parked)")
	}
	var f fields
	f.addRaw("inputRequests", requests.object())
	f.add("requestState", sealed)
	f.add("resultType", "input_required")
	f.addRaw("_meta", json.RawMessage(`{"`+message.MetaServerInfo+`":`+string(h.serverInfo(h.configOrNone()))+`}`))
	return f.object(), nil
}

// park keeps a call waiting for its client, or ends it where there is no room:
// it will begin anew.
func (h *Host) park(l *life) (parked bool) {
	h.parked.mu.Lock()
	defer h.parked.mu.Unlock()
	if h.parked.closed || len(h.parked.byID) >= h.opts.Asking.Most {
		l.cancel()
		return false
	}
	l.timer = time.AfterFunc(h.opts.Asking.Timeout, func() {
		if h.parked.take(l.id) == l {
			h.opts.Log.Info("a call that asked has waited too long for its answer, and is ended (--park-timeout)", "tool", l.talk.call.tool.Name)
			l.cancel()
		}
	})
	h.parked.byID[l.id] = l
	l.talk.clock.Hold()
	l.slot.Park()
	return true
}

// EndParked ends all parked calls, at the end of the server, and waits until no
// call goes on by itself.
func (h *Host) EndParked() {
	h.parked.mu.Lock()
	h.parked.closed = true
	lives := slices.Collect(maps.Values(h.parked.byID))
	h.parked.mu.Unlock()
	for _, l := range lives {
		l.cancel()
	}
	h.lives.Wait()
}
