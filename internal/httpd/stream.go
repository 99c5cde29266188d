package httpd

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"sort"
	"sync"

	"github.com/conch-mcp/conch/internal/engine"
)

// An event is one message of a stream.
type event struct {
	number int // among those of its stream
	text   []byte
	reply  bool // the response to a request
	status int  // what an HTTP response has that is this message alone
}

// A stream is what is said in answer to one POST, or unasked. Calls write it;
// one client at a time reads it, and may come back for what it has missed.
//
// Events have numbers, from 0. An event id says which one to go on from. Those
// that are gone leave gaps.
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
	count   int          // of all that there have been; the number of the next
	asking  map[int]bool // events that are questions without an answer
	size    int          // bytes in events
	open    int          // replies to come
	told    bool         // something was said that is no reply
	reader  int          // who reads it now; 0 is nobody
	readers int          // who have come to read it
	written int          // events before this one have been written to a client
	freed   bool         // nothing is kept any more
}

// newStream returns a stream of so many replies. One that is to stay open has a
// reply that never comes.
func newStream(room *budget, number, replies int) *stream {
	return &stream{room: room, number: number, open: replies, changed: make(chan struct{}), asking: map[int]bool{}}
}

// asks is how a request of a session asks its client; nil in the stateless era.
func (s *stream) asks() engine.Ask {
	if s.session == nil {
		return nil
	}
	return func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
		return s.ask(ctx, &s.session.asked, method, params)
	}
}

// ask asks a client. The question is kept for as long as it waits for an answer:
// nobody would ask again.
func (s *stream) ask(ctx context.Context, asked *engine.Asked, method string, params json.RawMessage) (json.RawMessage, error) {
	question := -1
	defer func() { s.settle(question) }()
	return asked.Ask(ctx, method, params, func(text []byte) {
		if question < 0 {
			question = s.question(text)
			return
		}
		// It is cancelled.
		s.settle(question)
		s.tell(text)
	})
}

// maxUnread is how many bytes of notifications a stream keeps that nobody has
// read, beside replies and questions. The oldest go first.
const maxUnread = 1 << 20

// tell adds a notification.
func (s *stream) tell(text []byte) { s.add(event{text: text}) }

// reply adds the reply to a request, whether there is room for it or not. Without
// a text there is none.
func (s *stream) reply(status int, text []byte) {
	s.add(event{text: text, reply: true, status: status})
}

// question adds a question to the client, whether there is room for it or not.
func (s *stream) question(text []byte) (number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = true
	number = s.count
	if !s.freed {
		// Notifications make way, as far as there are any.
		s.makeRoom(len(text))
		s.asking[number] = true
		s.put(event{text: text})
	}
	s.change()
	return number
}

// settle has a question be one that waits for no answer any more.
func (s *stream) settle(question int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asking, question)
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
		s.put(e)
	}
	s.change()
}

// put adds an event; mu is held.
func (s *stream) put(e event) {
	e.number = s.count
	s.count++
	s.room.give(-int64(len(e.text)))
	s.events = append(s.events, e)
	s.size += len(e.text)
}

// makeRoom lets go of the oldest notifications in favour of a new one; false
// when there is no room without letting go of more. mu is held.
func (s *stream) makeRoom(size int) bool {
	if !s.room.has(size) {
		return false
	}
	over := s.size + size - maxUnread
	dropped := s.drop(over, func(e event) bool { return !e.reply && !s.asking[e.number] })
	// A notification that is longer by itself is kept where there is nothing else.
	return dropped >= over || len(s.events) == 0
}

// drop lets go of the oldest events that may go, until so many bytes are free, and
// tells how many are; mu is held.
func (s *stream) drop(size int, may func(event) bool) (freed int) {
	var stay []event
	rest := s.events
	for ; freed < size && len(rest) > 0; rest = rest[1:] {
		if may(rest[0]) {
			freed += len(rest[0].text)
		} else {
			stay = append(stay, rest[0])
		}
	}
	s.events = rest
	if len(stay) > 0 {
		// Not in place: a reader may have the events.
		s.events = append(stay, rest...)
	}
	s.size -= freed
	s.room.give(int64(freed))
	return freed
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
	if s.freed && s.reader == 0 {
		s.drop(math.MaxInt, func(event) bool { return true })
	}
}

// A view is what is there for a reader.
type view struct {
	events  []event
	ended   bool // nothing more comes
	told    bool
	changed <-chan struct{}
}

// view returns what is there from an event on; mu is held. Events that are gone
// are left out.
func (s *stream) view(from int) view {
	i := sort.Search(len(s.events), func(i int) bool { return s.events[i].number >= from })
	return view{events: s.events[i:], ended: s.open <= 0, told: s.told, changed: s.changed}
}

// look returns all that is there.
func (s *stream) look() view {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.view(0)
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
	s.written = max(s.written, min(from, s.count))
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

// shed lets go of the oldest events until so many bytes are free, and tells how
// many are. What somebody is about to read stays, and so does a question.
func (s *stream) shed(size int) (freed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drop(size, func(e event) bool {
		return !s.asking[e.number] && (s.reader == 0 || e.number < s.written)
	})
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
