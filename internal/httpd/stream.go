package httpd

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/conch-mcp/conch/internal/engine"
)

// An event is one message of a stream.
type event struct {
	text   []byte
	reply  bool // the response to a request
	status int  // what an HTTP response has that is this message alone
}

// A stream is what is said in answer to one POST, or unasked. Calls write it;
// one client at a time reads it, and may come back for what it has missed.
//
// Events have numbers, from 0. An event id says which one to go on from.
type stream struct {
	number   int         // among those of its session
	header   http.Header // of the POST it answers
	revision string      // of its session; "" in the stateless era
	session  *session    // nil in the stateless era
	owner    string      // who has sent the POST
	room     *budget     // that all streams take their bytes from

	mu      sync.Mutex
	changed chan struct{} // closed when any of the following changes
	events  []event
	first   int  // the number of events[0]; those before it are gone
	size    int  // bytes in events
	open    int  // replies to come
	told    bool // something was said that is no reply
	reader  int  // who reads it now; 0 is nobody
	readers int  // who have come to read it
	written int  // events before this one have been written to a client
	freed   bool // nothing is kept any more
}

// newStream returns a stream of so many replies. One that is to stay open has a
// reply that never comes.
func newStream(room *budget, number, replies int) *stream {
	return &stream{room: room, number: number, open: replies, changed: make(chan struct{})}
}

// asks is how a request of a session asks its client; nil in the stateless era.
func (s *stream) asks() engine.Ask {
	if s.session == nil {
		return nil
	}
	return func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		return s.session.asked.Ask(ctx, method, params, s.tell)
	}
}

// maxUnread is how many bytes of notifications a stream keeps that nobody has
// read. The oldest go first.
const maxUnread = 1 << 20

// tell adds a notification.
func (s *stream) tell(text []byte) { s.add(event{text: text}) }

// reply adds the reply to a request, whether there is room for it or not. Without
// a text there is none.
func (s *stream) reply(status int, text []byte) {
	s.add(event{text: text, reply: true, status: status})
}

func (s *stream) add(e event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.reply {
		s.open--
	} else {
		s.told = true
	}
	if e.text != nil && !s.freed && (e.reply || s.makeRoom(len(e.text))) {
		s.room.give(-int64(len(e.text)))
		s.events = append(s.events, e)
		s.size += len(e.text)
	}
	s.change()
}

// makeRoom lets go of the oldest notifications in favour of a new one; false
// when there is no room without letting go of a reply. mu is held.
func (s *stream) makeRoom(size int) bool {
	if !s.room.has(size) {
		return false
	}
	for s.size+size > maxUnread && len(s.events) > 0 {
		if s.events[0].reply {
			return false
		}
		s.drop()
	}
	return true
}

// drop lets go of the oldest event; mu is held.
func (s *stream) drop() {
	s.size -= len(s.events[0].text)
	s.room.give(int64(len(s.events[0].text)))
	// Not emptied in place: a reader may have it.
	s.events = s.events[1:]
	s.first++
}

// change wakes who waits; mu is held.
func (s *stream) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// expect has one reply more come.
func (s *stream) expect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
}

// end has nothing more come.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = 0
	s.change()
}

// free lets go of all that was said, once it is read by whoever is about to; what
// still comes is not kept.
func (s *stream) free() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.freed = true
	s.empty()
}

// empty drops what a stream that was freed still has, once nobody is about to
// read it; mu is held.
func (s *stream) empty() {
	for s.freed && s.reader == 0 && len(s.events) > 0 {
		s.drop()
	}
}

// A view is what is there for a reader.
type view struct {
	events  []event
	from    int  // the number of events[0]
	ended   bool // nothing more comes
	told    bool
	changed <-chan struct{}
}

// view returns what is there from an event on; mu is held. Events that are gone
// are left out.
func (s *stream) view(from int) view {
	from = min(max(from, s.first), s.first+len(s.events))
	return view{events: s.events[from-s.first:], from: from, ended: s.open <= 0, told: s.told, changed: s.changed}
}

// look returns all that is there.
func (s *stream) look() view {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.view(s.first)
}

// enter makes the caller the stream's reader, in the place of whoever is.
func (s *stream) enter() (reader int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.readers++
	s.reader = s.readers
	s.change()
	return s.reader
}

// next returns what is there for a reader who has written the events before
// from; ok is false for one whose place another has taken.
func (s *stream) next(reader, from int) (v view, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader != reader {
		return view{}, false
	}
	// A client may name any event to go on from.
	s.written = max(s.written, min(from, s.first+len(s.events)))
	return s.view(from), true
}

// leave tells that a reader reads no more.
func (s *stream) leave(reader int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reader == reader {
		s.reader = 0
		s.empty()
	}
}

// unwritten is the number of the first event that no client was written.
func (s *stream) unwritten() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.written
}

// shed lets go of the oldest event, unless somebody is about to read it, and
// tells how many bytes that was.
func (s *stream) shed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.events) == 0 || s.reader != 0 && s.first >= s.written {
		return 0
	}
	freed := len(s.events[0].text)
	s.drop()
	return freed
}

// isOpen reports whether a reply is still to come.
func (s *stream) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open > 0
}

// isOver reports whether all has been said, and nobody is about to read it.
func (s *stream) isOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open <= 0 && s.reader == 0
}

// kept is how many bytes the stream holds.
func (s *stream) kept() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}
