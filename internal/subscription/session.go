package subscription

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/conch-mcp/conch/internal/message"
)

// Methods of the older era.
const (
	MethodSubscribe   = "resources/subscribe"
	MethodUnsubscribe = "resources/unsubscribe"
)

// A Session is what a client of the older era hears of.
type Session struct {
	hub      *Hub
	listener *listener
	cancel   context.CancelFunc
	once     sync.Once
}

// Serves reports whether a method is one that a session answers.
func (h *Hub) Serves(method string) bool {
	return (method == MethodSubscribe || method == MethodUnsubscribe) && h.opts.Subscribes()
}

// Join has a client hear, until it leaves or ctx ends, of the resources it subscribes to, and
// of all lists once it is ready.
func (h *Hub) Join(ctx context.Context, tell Tell) *Session {
	ctx, cancel := context.WithCancel(ctx)
	s := &Session{hub: h, listener: newListener(), cancel: cancel}
	h.enter(s.listener, h.reading())
	go h.deliver(ctx, s.listener, nil, func(n news) { tell(n.method, n.params("")) })
	return s
}

// Ready says that the client has been initialized: it knows what it may hear of.
func (s *Session) Ready() {
	tells := map[string]bool{}
	for _, m := range members {
		tells[m.list] = s.hub.opts.Tells(m.list)
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.listener.lists = tells
}

// Leave has the client hear of nothing any more. It does not wait for one that
// is being told something; nobody can make a client read. A nil session hears of
// nothing.
func (s *Session) Leave() {
	if s == nil {
		return
	}
	s.once.Do(func() {
		s.cancel()
		s.hub.leave(s.listener)
	})
}

// Answer answers resources/subscribe and resources/unsubscribe. An error is one
// that engine.Fault takes.
func (s *Session) Answer(method string, params json.RawMessage) (json.RawMessage, error) {
	raw := message.Member(params, "uri")
	if len(raw) == 0 || raw[0] != '"' {
		return nil, invalidParams("uri must be a string")
	}
	uri := message.Text(raw)
	if method == MethodUnsubscribe {
		s.unsubscribe(uri)
		return json.RawMessage(`{}`), nil
	}
	if err := checkURIs([]string{uri}); err != nil {
		return nil, err
	}
	reading := s.hub.reading()
	file, ok := s.hub.opts.Find(uri)
	if !ok {
		return nil, s.hub.opts.NotFound(uri)
	}
	if !s.subscribe(uri, file, reading) {
		return nil, invalidParams("there are %d subscriptions already, which is as many as there may be", mostURIs)
	}
	return json.RawMessage(`{}`), nil
}

// subscribe has the client hear of a resource, which was found in a file in a
// reading; false means that it hears of too many already.
func (s *Session) subscribe(uri, file string, reading int) bool {
	s.hub.mu.Lock()
	full := !s.listener.has(uri) && len(s.listener.uris) >= mostURIs
	if !full {
		s.listener.uris[uri] = file
	}
	s.hub.mu.Unlock()
	s.hub.entered(reading)
	return !full
}

// unsubscribe has it hear of a resource no more.
func (s *Session) unsubscribe(uri string) {
	s.hub.mu.Lock()
	delete(s.listener.uris, uri)
	s.hub.mu.Unlock()
	s.hub.subscribed()
}
