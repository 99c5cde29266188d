package httpd

import (
	"context"
	"encoding/json"

	"github.com/conch-mcp/conch/internal/engine"
)

// visit is what whoever takes an interest in a session's client is told. The
// session's mu guards it.
type visit struct {
	told    engine.Visit
	waiting []string // notifications that nobody has been told of yet
	readers int      // of what the session says unasked
}

// meet tells of the client, which has initialized the session.
func (s *session) meet() {
	if meet := s.handler.opts.Meet; meet != nil {
		s.visit.told = meet(s.client.Engine(), s.askUnasked)
	}
}

// askUnasked sends the client a request that belongs to none of its own.
func (s *session) askUnasked(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	s.mu.Lock()
	st := s.outlet()
	s.mu.Unlock()
	if st == nil {
		st = s.unasked
	}
	return st.ask(ctx, &s.asked, method, params)
}

// outlet is a stream that the client reads just now: of what is said unasked, or
// else of the request that came last; nil for none. mu is held.
func (s *session) outlet() *stream {
	if s.visit.readers > 0 {
		return s.unasked
	}
	for i := len(s.streams) - 1; i >= 0; i-- {
		if s.streams[i].isOpen() {
			return s.streams[i]
		}
	}
	return nil
}

// visited tells of a notification. What is asked after it would be read by nobody
// as long as the client reads no stream, so it waits for one.
func (s *session) visited(method string) {
	s.mu.Lock()
	if len(s.visit.waiting) < maxWaiting {
		s.visit.waiting = append(s.visit.waiting, method)
	}
	reads := s.outlet() != nil
	s.mu.Unlock()
	if reads {
		s.catchUp()
	}
}

// maxWaiting is more than there are notifications that differ in what follows.
const maxWaiting = 16

// catchUp tells what has waited for a stream that the client reads.
func (s *session) catchUp() {
	s.mu.Lock()
	waiting, told := s.visit.waiting, s.visit.told
	s.visit.waiting = nil
	s.mu.Unlock()
	if told.Notified == nil {
		return
	}
	for _, method := range waiting {
		told.Notified(method)
	}
}

// listens notes a reader of what the session says unasked, until done.
func (s *session) listens() (done func()) {
	s.mu.Lock()
	s.visit.readers++
	s.mu.Unlock()
	s.catchUp()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.visit.readers--
	}
}

// part ends what asks the client.
func (s *session) part() {
	if end := s.visit.told.End; end != nil {
		end()
	}
}
