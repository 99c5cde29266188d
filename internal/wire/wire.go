// Package wire is MCP over stdio: it cuts a byte stream into messages, answers
// what is none, tells the eras apart, and stands between the client's ids and
// the protocol engine's.
//
// It knows requests and notifications by their envelope. What a method means is
// the engine's to know: a go-sdk server, which gets one session for each era,
// because in a session of the SDK the era of one request colours the next.
package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/subscription"
)

// Options bound a connection. Zero values stand for the defaults.
type Options struct {
	MaxLine int           // bytes in one line; default 16 MiB
	Drain   time.Duration // what calls in flight may take once the input has ended
	// Supported lists the protocol revisions served just now, newest first.
	Supported func() []string
	// CallTool answers tools/call beside the engine. Calls begin in the order in
	// which they came, as a rule: the next line waits, for a moment, until one
	// says that it is queued. Nil leaves tools/call to the engine.
	CallTool engine.CallTool
	// Meet is told of clients that can be asked; nil for nobody.
	Meet engine.Meet
	// InOrder, when it is not 0, is how many requests are worked on at once, in
	// the order in which they came. With 1 every line is answered before the
	// next is begun; with more, only calls wait for each other. Reading goes on
	// meanwhile, so that a cancellation takes effect as soon as it is there, on
	// a request that waits for its turn as well.
	InOrder int
	// Hub tells clients of changes; nil tells them of nothing.
	Hub *subscription.Hub
	// Manner, when it is not nil, has stdio behave as scripts that were written
	// for another framework expect it.
	Manner Manner
	Log    *slog.Logger
}

// unqueued is how long a call that is not queued yet, because its arguments
// take long to judge, holds up those behind it.
const unqueued = 20 * time.Millisecond

// DefaultMaxLine is the longest line taken.
const DefaultMaxLine = 16 << 20

// What may be in flight before reading pauses. Nothing is refused: the client
// waits, as on any full pipe.
const (
	maxInFlight      = 1024
	maxInFlightBytes = 64 << 20
)

// maxBatch is how many messages one batch may have.
const maxBatch = 4096

// stopping is how long cancelled calls may take to end: their grace time, and
// as much again for a slow machine.
const stopping = 10 * time.Second

// Serve serves one client until its input ends and what was asked is answered,
// or until ctx ends and the calls in flight have been stopped. An error means
// that the client cannot be read from or written to any more.
func Serve(ctx context.Context, server *mcp.Server, in io.Reader, out io.Writer, opts Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	return newConn(ctx, cancel, server, out, opts).serve(in)
}

func newConn(ctx context.Context, fail context.CancelCauseFunc, server *mcp.Server, out io.Writer, opts Options) *conn {
	if opts.MaxLine == 0 {
		opts.MaxLine = DefaultMaxLine
	}
	if opts.Manner == nil {
		opts.Manner = plain{}
	}
	sdk, _ := opts.Manner.(*BashSDK)
	if sdk != nil {
		opts.InOrder = max(1, opts.InOrder)
	}
	c := &conn{
		ctx: ctx, fail: fail, server: server, out: outlet{out: out}, opts: opts, manner: opts.Manner, sdk: sdk,
		byID: map[string]*request{}, byNumber: map[int64]*request{}, tokens: map[string]string{},
		queue: queue{ended: opts.InOrder == 0}, ending: make(chan struct{}),
	}
	c.changed = sync.NewCond(&c.mu)
	c.out.crowded = c.isCrowded
	return c
}

func (c *conn) serve(in io.Reader) error {
	defer context.AfterFunc(c.ctx, c.wakeAll)()
	if c.opts.InOrder > 0 {
		go c.takeInTurn()
	}
	read := make(chan error, 1)
	go func() {
		err := c.read(in)
		c.asked.End()
		c.closeQueue(err != nil)
		c.drain(err != nil)
		read <- err
	}()
	var err error
	select {
	case err = <-read:
	case <-c.ctx.Done():
		// The reader may be stuck in a read, and what answers in turn in a
		// write to a client that does not read, which nothing can end. One that
		// only reads slowly is to have no half of a line.
		c.out.settle(unread)
	}
	c.stop()
	c.crew.dismiss()
	if cause := context.Cause(c.ctx); errors.Is(cause, errWrite) {
		return cause
	}
	return err
}

var errWrite = errors.New("write to the client")

// conn is one client's connection.
type conn struct {
	ctx    context.Context
	fail   context.CancelCauseFunc
	server *mcp.Server
	out    outlet
	crew   crew // runs the calls
	opts   Options
	manner Manner
	sdk    *BashSDK // the manner, if it is that one; a journal is kept then

	mu         sync.Mutex
	changed    *sync.Cond          // mu; a request has ended, or all is over
	byID       map[string]*request // in flight, by the client's id
	byNumber   map[int64]*request  // the same, by the engine's
	tokens     map[string]string   // progress tokens as written, by their stand-ins
	bytes      int                 // what the requests in flight hold, and their replies
	waiting    int                 // of these, what waits to be read by the client
	lastNumber int64
	legacy     *engine.Session
	modern     *engine.Session
	negotiated string // the revision of the latest initialize, if any
	stopping   bool   // no request may begin any more
	asked      engine.Asked
	visit      engine.Visit // of the legacy session
	queue      queue        // what waits for its turn, with Options.InOrder
	tail       tail         // of the input, with the manner BashSDK
	hearing    hearing
	listens    int // requests that listen

	ending chan struct{} // closed when the input has ended
}

// request is one request in flight.
type request struct {
	id       message.ID
	number   int64 // the engine's id
	method   string
	tool     string // the tool called, for the journal of BashSDK
	session  *engine.Session
	batch    *batch             // nil for one on a line of its own
	cancel   context.CancelFunc // nil for one the engine answers
	token    string             // the progress token's stand-in
	bytes    int                // what it holds, its reply included
	waiting  int                // what its reply holds
	listens  bool               // it has a place among those that listen
	silenced bool               // nothing may be sent for it any more
	byClient bool               // the client has cancelled it
	ran      bool               // nothing was left to do but to run the tool
	replying bool               // it has ended; its reply is being written
}

func (c *conn) wakeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed.Broadcast()
}

// wait waits, mu held, until done holds or ctx ends.
func (c *conn) wait(ctx context.Context, done func() bool) bool {
	if done() {
		return true
	}
	defer context.AfterFunc(ctx, c.wakeAll)()
	for !done() && ctx.Err() == nil {
		c.changed.Wait()
	}
	return done()
}

func (c *conn) idle() bool { return len(c.byNumber) == 0 }

// ended reports whether nothing runs any more. A client that does not read its
// replies holds up nobody's end.
func (c *conn) ended() bool {
	for _, r := range c.byNumber {
		if !r.replying {
			return false
		}
	}
	return true
}

// answered reports whether nothing is in flight, nor waits for its turn.
func (c *conn) answered() bool { return c.idle() && c.queue.ended }

// unread is how long replies may wait to be read once the input broke off: who
// has it broken off may have stopped reading.
const unread = time.Second

// drain waits for the requests in flight after the input has ended. Those that
// take too long are told so. When it broke off, a client that does not read holds
// up the end no longer than for a moment.
func (c *conn) drain(brokenOff bool) {
	ctx, cancel := context.WithTimeout(c.ctx, c.opts.Drain)
	defer cancel()
	defer c.tellEnd()
	close(c.ending)
	c.mu.Lock()
	done := c.answered
	if brokenOff {
		done = c.ended
	}
	if c.wait(ctx, done) || c.ctx.Err() != nil {
		if brokenOff {
			reading, stop := context.WithTimeout(c.ctx, unread)
			defer stop()
			c.wait(reading, c.answered)
		}
		c.mu.Unlock()
		return
	}
	c.stopping = true
	var late []*request
	batches := map[*request]*batch{}
	for _, r := range c.byNumber {
		if r.silenced || r.replying {
			continue
		}
		r.silenced = true
		late = append(late, r)
		// The place in its batch is taken by what is delivered here.
		batches[r], r.batch = r.batch, nil
	}
	c.mu.Unlock()
	if len(late) > 0 {
		c.opts.Log.Warn("the input has ended and calls took too long; they are stopped (--drain)", "calls", len(late))
	}
	for _, r := range late {
		r.stop()
	}
	told := make(chan struct{})
	go func() {
		defer close(told)
		for _, r := range late {
			text := fmt.Sprintf("The input has ended and the request took longer than %v (--drain)", c.opts.Drain)
			c.deliver(batches[r], c.errorReply(&message.Error{Code: message.CodeInternalError, Message: text, ID: r.id}))
		}
		c.refuseQueued()
	}()
	// A client that does not read holds up the end no longer than for a moment.
	select {
	case <-told:
	case <-time.After(unread):
	}
}

// stop cancels what is in flight, waits for its end, and ends the sessions. In
// that order: the engine does not tell of the end of a request whose session
// has ended.
func (c *conn) stop() {
	c.mu.Lock()
	c.stopping = true
	sessions := []*engine.Session{c.legacy, c.modern}
	c.hearing.leave()
	var running []*request
	for _, r := range c.byNumber {
		r.silenced = true
		if r.session != nil && !r.replying {
			running = append(running, r)
		}
		sessions = append(sessions, r.session)
	}
	c.mu.Unlock()
	if len(running) > 0 {
		c.opts.Log.Info("stopping what is in flight", "requests", len(running))
	}
	for _, r := range running {
		r.stop()
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopping)
	defer cancel()
	c.mu.Lock()
	c.wait(ctx, c.ended)
	c.mu.Unlock()
	c.part()
	for _, s := range sessions {
		s.End()
	}
}
