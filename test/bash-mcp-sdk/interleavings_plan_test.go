package batstest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"
)

const (
	fewestSteps, mostSteps = 5, 15
	// endlessSeconds is more than any test waits.
	endlessSeconds = 600
)

// An interleaving is what the client of one run does, and what must come of it. It
// follows from the seed alone; what the server does meanwhile does not.
type interleaving struct {
	seed        uint64
	concurrency int // the server's
	steps       []step
	lines       []*line // in the order in which they are sent
	closed      bool    // the client closes the input
	kill        kill
}

type step struct {
	what string
	do   func(*client)
}

// A kill is the one signal of a run; the zero value is none.
type kill struct {
	signal syscall.Signal
	whom   victim
}

type victim string

const (
	shell  victim = "the script's shell"
	group  victim = "the whole group"
	helper victim = "the shell's conch"
)

// letsFinish reports whether a call that has begun is to come to its end.
func (k kill) letsFinish() bool { return k == kill{} || k == kill{syscall.SIGTERM, shell} }

// tears reports whether conch may die with a line half written.
func (k kill) tears() bool { return k.signal == syscall.SIGKILL && k.whom != shell }

// endsShell reports whether the script's shell can do nothing more.
func (k kill) endsShell() bool { return k.signal == syscall.SIGKILL && k.whom != helper }

// A planner draws an interleaving.
type planner struct {
	*interleaving
	rand    *rand.Rand
	stream  int    // how much is sent in all, what is still in hand included
	pending string // is in hand: may be written in part, or with what follows
}

func newInterleaving(seed uint64) *interleaving {
	p := &planner{rand: rand.New(rand.NewPCG(seed, 0)), interleaving: &interleaving{seed: seed, concurrency: 1}}
	if p.oneIn(6) {
		p.concurrency = 3
	}
	if !p.oneIn(5) {
		// Most runs are about what comes after the start.
		p.await(p.send(newPing(p.next())))
	}
	steps := fewestSteps + p.rand.IntN(mostSteps-fewestSteps+1)
	killAt := p.rand.IntN(2 * steps)
	for i := range steps {
		if i == killAt {
			p.kills()
			steps = min(steps, i+3)
		}
		if i >= steps {
			break
		}
		p.step()
	}
	p.finish()
	return p.interleaving
}

func (p *planner) oneIn(n int) bool { return p.rand.IntN(n) == 0 }

func (p *planner) next() int { return len(p.lines) + 1 }

func (p *planner) do(what string, do func(*client)) { p.steps = append(p.steps, step{what, do}) }

func (p *planner) killed() bool { return p.kill != kill{} }

// step draws one step. Where it makes no sense any more there is none.
func (p *planner) step() {
	if p.oneIn(3) {
		p.pause()
	}
	draw := p.rand.IntN(100)
	switch {
	case p.closed && p.killed():
	case draw >= 78 && !p.killed():
		p.waits()
	case !p.closed:
		p.says()
	}
}

// pause lets the server come to another point before the next step.
func (p *planner) pause() {
	d := time.Duration(p.rand.IntN(60)) * time.Millisecond
	p.do("pause "+d.String(), func(*client) { time.Sleep(d) })
}

// says draws what the client sends.
func (p *planner) says() {
	which := p.rand.IntN(1000)
	switch draw := p.rand.IntN(100); {
	case draw < 45:
		p.send(p.call())
	case draw < 52:
		p.send(newRefused(p.next(), which))
	case draw < 60:
		p.send(newPing(p.next()))
	case draw < 64:
		p.send(newRequest(p.next(), "tools/list", "", ""))
	case draw < 66:
		p.send(newRequest(p.next(), "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"client","version":"1"}}`, ""))
	case draw < 72:
		p.send(newNotification(p.next(), which))
	case draw < 80:
		p.send(newGarbage(p.next(), which))
	case draw < 94:
		p.cancelsSomething()
	default:
		p.cancelsNothing()
	}
}

// call draws a call of a tool.
func (p *planner) call() *line {
	n := p.next()
	switch draw := p.rand.IntN(60); {
	case draw < 20:
		return newToolCall(n, "quick")
	case draw < 40:
		return p.lasting(n, "slow")
	case draw < 41:
		return p.lasting(n, "stubborn")
	case draw < 47:
		return newToolCall(n, "child")
	case draw < 52:
		return newToolCall(n, "files")
	case draw < 57:
		return newToolCall(n, "nested")
	default:
		return newToolCall(n, "big")
	}
}

// lasting draws how long a call takes. One without an end is cancelled at some
// time; where that cannot be, there is none.
func (p *planner) lasting(n int, tool string) *line {
	if p.oneIn(3) && !p.killed() {
		l := newLastingCall(n, tool, endlessSeconds)
		l.endless = true
		return l
	}
	return newLastingCall(n, tool, float64(30+p.rand.IntN(120))/1000)
}

// send takes a line in hand and draws how much of that is written.
func (p *planner) send(l *line) *line {
	p.take(l, l.text+"\n")
	switch draw := p.rand.IntN(10); {
	case draw < 7:
		p.write(len(p.pending))
	case draw < 9:
		p.write(p.rand.IntN(len(p.pending) + 1))
	}
	return l
}

func (p *planner) take(l *line, text string) {
	if p.killed() && l.need == must {
		l.need = may
	}
	p.lines = append(p.lines, l)
	p.pending += text
	p.stream += len(text)
	l.end = p.stream
}

// write writes the first bytes of what is in hand.
func (p *planner) write(size int) {
	if size == 0 {
		return
	}
	part := p.pending[:size]
	p.pending = p.pending[size:]
	p.do(fmt.Sprintf("write %q", part), func(c *client) { c.write(part) })
}

func (p *planner) writeAll() { p.write(len(p.pending)) }

// written reports whether the stream has been written up to that point.
func (p *planner) written(end int) bool { return end <= p.stream-len(p.pending) }

// cancelsSomething cancels what is not known to be answered.
func (p *planner) cancelsSomething() {
	if l := p.anyOf(func(l *line) bool { return l.id != "" && l.need == must && !l.awaited }); l != nil {
		p.cancel(l)
	}
}

func (p *planner) cancel(l *line) {
	l.need = may
	if l.endless {
		l.need = never
	}
	l.cancelEnd = p.send(newCancellation(p.next(), l.id)).end
}

// cancelsNothing sends a cancellation that matches nothing in flight: it must
// not have an effect, not even on a request that comes later.
func (p *planner) cancelsNothing() {
	n := p.next()
	ids := []string{"9999", "null", idOf(n + 1), otherIDOf(n - 1)}
	if l := p.anyOf(func(l *line) bool { return l.awaited }); l != nil {
		ids = append(ids, l.id)
	}
	p.send(newCancellation(n, ids[p.rand.IntN(len(ids))]))
}

// anyOf draws one of the lines that are so; nil if there is none.
func (p *planner) anyOf(is func(*line) bool) *line {
	var some []*line
	for _, l := range p.lines {
		if is(l) {
			some = append(some, l)
		}
	}
	if len(some) == 0 {
		return nil
	}
	return some[p.rand.IntN(len(some))]
}

// waits draws what the client waits for. It waits with half a line written,
// too, if what it waits for does not depend on that.
func (p *planner) waits() {
	if p.oneIn(2) {
		p.writeAll()
	}
	switch draw := p.rand.IntN(22); {
	case draw < 11:
		if l := p.anyOf(func(l *line) bool { return l.need == must && l.id != "" && !l.awaited && p.isReached(l) }); l != nil {
			p.await(l)
		}
	case draw < 18:
		if l := p.anyOf(p.mustBegin); l != nil {
			l.begun = true
			p.do("wait for the begin of "+l.String(), func(c *client) { c.awaitBegin(l) })
		}
	case draw < 19 && !p.closed:
		p.settle()
		p.do("wait until the server is idle", (*client).awaitIdle)
	case !p.closed:
		p.close()
	}
}

// isReached reports whether the server gets as far as l by itself.
func (p *planner) isReached(l *line) bool {
	return p.written(l.end) && !l.endless && !p.isBlocked(l)
}

// isBlocked reports whether a call without an end is before l.
func (p *planner) isBlocked(l *line) bool {
	for _, e := range p.lines {
		if e.endless && e.end < l.end && !(e.cancelled() && p.written(e.cancelEnd)) {
			return true
		}
	}
	return false
}

func (p *planner) mustBegin(l *line) bool {
	return l.tool != "" && l.need == must && p.written(l.end) && !p.isBlocked(l)
}

func (p *planner) await(l *line) {
	l.awaited = true
	if !p.written(l.end) {
		p.writeAll()
	}
	p.do("wait for the response to "+l.String(), func(c *client) { c.await(l) })
}

// cancelEndless cancels what does not end by itself.
func (p *planner) cancelEndless() {
	for _, l := range p.lines {
		if l.endless && !l.cancelled() {
			p.cancel(l)
		}
	}
}

// settle waits until all that has been sent is done with.
func (p *planner) settle() {
	if !p.closed {
		p.cancelEndless()
		p.send(newPing(p.next()))
	}
	p.writeAll()
	for _, l := range p.lines {
		if l.need == must && l.id != "" && !l.awaited {
			p.await(l)
		}
	}
}

// close ends the input, with what is in hand written but sometimes for the end
// of it.
func (p *planner) close() {
	p.cancelEndless()
	if p.oneIn(3) {
		l := newPing(p.next())
		if p.oneIn(2) {
			l.cutShort(1 + p.rand.IntN(len(l.text)-1))
		}
		p.take(l, l.text)
	}
	p.writeAll()
	p.closed = true
	p.do("close the input", (*client).closeInput)
}

// kills draws the signal of the run.
func (p *planner) kills() {
	kills := []kill{
		{syscall.SIGTERM, group}, {syscall.SIGTERM, group}, {syscall.SIGTERM, shell}, {syscall.SIGTERM, shell},
		{syscall.SIGKILL, group}, {syscall.SIGKILL, shell}, {syscall.SIGKILL, helper},
	}
	k := kills[p.rand.IntN(len(kills))]
	early := k.signal == syscall.SIGTERM && !p.served()
	switch {
	case early:
		p.cancelEndless()
	case k.whom == helper && p.closed:
		// It may be gone by then.
		return
	case k.letsFinish() && !p.isSettled():
		p.settle()
	}
	if p.oneIn(2) {
		p.pause()
	}
	p.kill = k
	for _, l := range p.lines {
		if l.need == must && !l.awaited && !(l.begun && k.letsFinish()) {
			l.need = may
		}
	}
	p.do(fmt.Sprintf("send %v to %s", k.signal, k.whom), func(c *client) { k.strike(c) })
	if early && !p.closed {
		// While Bash sets a trap it loses the signal.
		p.close()
	}
}

// served reports whether run_mcp_server is surely under way.
func (p *interleaving) served() bool {
	return slices.ContainsFunc(p.lines, func(l *line) bool { return l.awaited || l.begun })
}

// isSettled reports whether every call without an end has come to one.
func (p *planner) isSettled() bool {
	unsure := 0
	for _, l := range p.lines {
		switch {
		case l.endless:
			unsure++
		case l.awaited && p.concurrency == 1:
			unsure = 0
		}
	}
	return unsure == 0
}

func (k kill) strike(c *client) {
	if k.whom == helper {
		c.killHelper()
		return
	}
	c.signal(k.signal, k.whom == group)
}

// finish leaves a server that was not killed nothing to do but to end.
func (p *planner) finish() {
	if !p.killed() && !p.closed {
		p.close()
	}
}
