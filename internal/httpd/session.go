package httpd

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/subscription"
)

// What a session keeps for a client that comes back, and how much may be in
// flight in it.
const (
	maxKept     = 1 << 20 // bytes, where there are few sessions
	keptByAll   = 32 << 20
	maxStreams  = 64 // that are over
	maxInFlight = 256
)

// A session is what an older client has begun with initialize.
type session struct {
	handler  *Handler
	id       string
	owner    string // who has begun it
	revision string // that was negotiated
	client   *engine.Client
	hearing  *subscription.Session // nil where nobody is told of changes
	unasked  *stream               // what is said without having been asked for
	ctx      context.Context
	cancel   context.CancelFunc

	asked engine.Asked
	visit visit

	mu       sync.Mutex
	streams  []*stream // answers, oldest first
	last     int       // the number of the latest
	inFlight map[string]*inFlight
	closed   bool

	// For sessions.mu to guard.
	users     int // HTTP requests and calls at work
	listeners int // of them, those who read what is said unasked
	touched   time.Time
}

// inFlight is a request at work.
type inFlight struct {
	cancel   context.CancelFunc
	silenced bool // the client has cancelled it: nothing is sent for it
}

// newStream returns the stream that answers a POST, with one reply.
func (s *session) newStream(r *http.Request) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	st := newStream(&s.handler.answers, s.last, 1)
	st.header, st.revision, st.session, st.owner = r.Header, s.revision, s, s.owner
	s.streams = append(s.streams, st)
	if s.closed {
		st.free()
	}
	return st
}

// forget lets go of a stream that nobody can come back to.
func (s *session) forget(st *stream) {
	st.free()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams = slices.DeleteFunc(s.streams, func(other *stream) bool { return other == st })
}

// trim keeps what is there for clients that come back within bounds: the oldest
// goes first.
func (s *session) trim() {
	maxKept := min(maxKept, keptByAll/max(s.handler.sessions.count(), 1))
	s.mu.Lock()
	defer s.mu.Unlock()
	over, kept := 0, s.unasked.kept()
	for _, st := range s.streams {
		kept += st.kept()
		if st.isOver() {
			over++
		}
	}
	s.streams = slices.DeleteFunc(s.streams, func(st *stream) bool {
		if !st.isOver() || over <= maxStreams && kept <= maxKept {
			return false
		}
		over--
		kept -= st.kept()
		st.free()
		return true
	})
	for _, st := range append([]*stream{s.unasked}, s.streams...) {
		kept -= st.shed(kept - maxKept)
	}
}

// start has a request answered on a stream, whoever still reads it.
func (s *session) start(st *stream, m message.Message, work *work) {
	ctx, cancel := context.WithCancel(s.ctx)
	f := &inFlight{cancel: cancel}
	if fault := s.register(m, f); fault != nil {
		cancel()
		status := http.StatusBadRequest
		if fault.Code == message.CodeInternalError {
			status = http.StatusServiceUnavailable
		}
		st.reply(status, message.ErrorReply(fault, s.revision < message.Revision20251125))
		return
	}
	if !s.handler.sessions.begin(s) {
		cancel()
		_ = s.settle(m, f)
		why := shuttingDown().of(m)
		st.reply(why.status, message.ErrorReply(&message.Error{Code: why.code, Message: why.text, ID: m.ID}, false))
		return
	}
	work.more()
	if m.Method == "tools/call" {
		s.catchUp()
	}
	m.Params = s.handler.how.heeded(m, false)
	go func() {
		defer s.handler.sessions.done(s)
		defer work.done()
		defer cancel()
		_, reply := s.ask(ctx, m, st)
		if s.settle(m, f) {
			reply = nil
		}
		// Only what is no request at all has another status than 200 here.
		s.handler.reply(st, http.StatusOK, m, reply)
		s.trim()
	}()
}

func (s *session) register(m message.Message, f *inFlight) *message.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.inFlight[m.ID.Key()] != nil:
		return &message.Error{Code: message.CodeInvalidRequest, Message: "Invalid Request: its id is that of a request in flight"}
	case len(s.inFlight) >= maxInFlight:
		return &message.Error{Code: message.CodeInternalError, Message: fmt.Sprintf("This session has %d requests in flight, as many as it may; try again", maxInFlight), ID: m.ID}
	}
	s.inFlight[m.ID.Key()] = f
	return nil
}

// settle takes a request out of flight and tells whether it was cancelled by its
// client.
func (s *session) settle(m message.Message, f *inFlight) (silenced bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.inFlight, m.ID.Key())
	return f.silenced
}

// forwarded are the notifications that mean something to the engine.
var forwarded = []string{"notifications/initialized", "notifications/roots/list_changed"}

// notified takes up what is never answered.
func (s *session) notified(m message.Message) {
	switch {
	case m.Kind == message.Response:
		s.asked.Answer(m)
	case m.Method == "notifications/cancelled":
		s.cancelInFlight(message.Member(m.Params, "requestId"))
	case slices.Contains(forwarded, m.Method):
		s.client.Notify(m.Method, m.Params)
		s.initialized(m.Method)
		s.visited(m.Method)
	}
}

func (s *session) cancelInFlight(requestID json.RawMessage) {
	id, ok := message.ParseID(requestID)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.inFlight[id.Key()]; f != nil {
		f.silenced = true
		f.cancel()
	}
}

// answer writes a stream to the client that it answers. A client that leaves
// can come back for the rest, if it was told how. m is the request, nothing for a
// batch.
func (s *session) answer(w http.ResponseWriter, r *http.Request, st *stream, m message.Message, batch bool) {
	a := answer{
		w: w, stream: st, batch: batch, patience: patience, keepAlive: s.handler.opts.KeepAlive,
		resumable: true, prime: s.primes(),
	}
	ctx, cancel := s.while(r.Context())
	defer cancel()
	switch a.write(ctx) {
	case document:
		s.forget(st)
	case nothing:
		s.handler.refuse(w, r, s.handler.noSession().of(m))
	}
	s.trim()
}

// primes reports whether the client knows what an event without a message is
// for. Earlier ones take it for a broken message.
func (s *session) primes() bool { return s.revision >= message.Revision20251125 }

// resume finds what to read for a GET, and the event to go on from.
func (s *session) resume(ids []string) (st *stream, from int, why *refusal) {
	if len(ids) == 0 {
		return s.unasked, s.unasked.unwritten(), nil
	}
	c, ok := parseEventID(ids[0])
	if ok && c.stream == s.unasked.number {
		return s.unasked, c.event, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.streams {
		if ok && st.number == c.stream {
			return st, c.event, nil
		}
	}
	return nil, 0, refused(http.StatusBadRequest, "Last-Event-ID names a stream that is not kept any more")
}

// release tells that a user of the session has ended.
func (s *session) release() { s.handler.sessions.release(s) }

// close ends what is at work.
func (s *session) close() {
	s.cancel()
	s.asked.End()
	s.hearing.Leave()
	s.part()
	s.client.End()
	s.unasked.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range append(s.streams, s.unasked) {
		st.free()
	}
	s.closed = true
}

// while returns a context that ends with the session, too.
func (s *session) while(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}
