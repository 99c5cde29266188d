package httpd

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
)

// stopping is how long cancelled calls may take to end: their grace time, and
// as much again for a slow machine.
const stopping = 10 * time.Second

// sessions are those of a handler, and the count of what is at work in it, with
// a session or without.
type sessions struct {
	handler *Handler
	stop    chan struct{} // closed to end the sweeping
	swept   chan struct{} // closed when it has ended

	mu      sync.Mutex
	changed *sync.Cond // mu; less is at work
	byID    map[string]*session
	opening int // sessions that are not yet admitted
	atWork  int
	closed  bool
}

func newSessions(h *Handler) *sessions {
	l := &sessions{handler: h, byID: map[string]*session{}, stop: make(chan struct{}), swept: make(chan struct{})}
	l.changed = sync.NewCond(&l.mu)
	go l.sweep()
	return l
}

// open makes a session, which nobody finds until it is admitted. When there are
// as many as may be, the one makes room that nobody has used for longest.
func (l *sessions) open(owner string) (*session, *refusal) {
	if why := l.makeRoom(); why != nil {
		return nil, why
	}
	s := &session{
		handler: l.handler, id: rand.Text(), owner: owner, users: 1, touched: time.Now(),
		unasked: newStream(&l.handler.answers, 0, 1), inFlight: map[string]*inFlight{},
	}
	s.ctx, s.cancel = context.WithCancel(l.handler.ctx)
	var err error
	s.client, err = engine.NewClient(s.ctx, l.handler.opts.Server, false, s.notify)
	if err != nil {
		s.cancel()
		l.opened()
		l.handler.opts.Log.Error("cannot open a session", "err", err)
		return nil, &refusal{status: http.StatusInternalServerError, code: message.CodeInternalError, text: "Internal error"}
	}
	s.hearing = s.join()
	return s, nil
}

// makeRoom has one session more be opened, which is then to be admitted or
// abandoned.
func (l *sessions) makeRoom() *refusal {
	l.mu.Lock()
	var victim *session
	full := len(l.byID)+l.opening >= l.handler.opts.MaxSessions
	if full && !l.closed {
		victim = l.unused()
	}
	switch {
	case l.closed:
		l.mu.Unlock()
		return shuttingDown()
	case victim != nil:
		delete(l.byID, victim.id)
	case full:
		l.mu.Unlock()
		return busy("There are too many sessions, and all are in use (--max-sessions)")
	}
	l.opening++
	l.mu.Unlock()
	if victim != nil {
		l.handler.opts.Log.Info("ended the session that was idle for longest, to make room (--max-sessions)")
		victim.close()
	}
	return nil
}

// unused picks, of the sessions of whoever has most of them, the one that nobody
// has sent anything in for longest; nil when all are in use. Who only listens
// does not use one. mu is held.
func (l *sessions) unused() *session {
	owned := map[string]int{}
	for _, s := range l.byID {
		owned[s.owner]++
	}
	var found *session
	for _, s := range l.byID {
		if s.users > s.listeners {
			continue
		}
		more := found == nil || owned[s.owner] > owned[found.owner]
		same := found != nil && owned[s.owner] == owned[found.owner]
		if more || same && s.touched.Before(found.touched) {
			found = s
		}
	}
	return found
}

// opened tells that a session is not being opened any more.
func (l *sessions) opened() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opening--
}

// abandon ends a session that was not admitted.
func (l *sessions) abandon(s *session) {
	l.opened()
	s.close()
}

// notify sends a notification on the stream of the request that it is about, or
// else to whoever reads what the session says unasked.
func (s *session) notify(ctx context.Context, method string, params json.RawMessage) {
	if ctx.Value(streamKey{}) != nil {
		notifyStream(ctx, method, params)
		return
	}
	s.unasked.tell(message.NotificationText(method, params))
	s.trim()
}

// admit has a session be found.
func (l *sessions) admit(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.opening--
	if l.closed {
		s.close()
		return
	}
	l.byID[s.id] = s
}

// find returns a session to its owner, who is to release it. To anybody else
// there is none.
func (l *sessions) find(id, owner string) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.byID[id]
	if s == nil || s.owner != owner {
		return nil
	}
	s.users++
	return s
}

// release tells that one who has found a session, or opened it, is done.
func (l *sessions) release(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.users--
	s.touched = time.Now()
}

// listen notes that one who has found a session only listens, until left is
// called.
func (l *sessions) listen(s *session) (left func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.listeners++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		s.listeners--
	}
}

// begin notes work, in a session unless it is nil.
func (l *sessions) begin(s *session) (ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.atWork++
	if s != nil {
		s.users++
	}
	return true
}

// done notes the end of work.
func (l *sessions) done(s *session) {
	if s != nil {
		l.release(s)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.atWork--
	l.changed.Broadcast()
}

// end ends a session.
func (l *sessions) end(s *session) {
	l.mu.Lock()
	delete(l.byID, s.id)
	l.mu.Unlock()
	s.close()
}

// sweep ends, from time to time, sessions that nobody uses.
func (l *sessions) sweep() {
	defer close(l.swept)
	timeout := l.handler.opts.SessionTimeout
	if timeout == 0 {
		return
	}
	tick := time.NewTicker(max(timeout/4, 10*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			for _, s := range l.idle(timeout) {
				l.end(s)
			}
		case <-l.stop:
			return
		}
	}
}

func (l *sessions) idle(since time.Duration) (idle []*session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.byID {
		if s.users == 0 && time.Since(s.touched) > since {
			idle = append(idle, s)
		}
	}
	return idle
}

func (l *sessions) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byID)
}

// wait waits until nothing is at work, and reports whether that came before the
// end of ctx.
func (l *sessions) wait(ctx context.Context) bool {
	defer context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.changed.Broadcast()
	})()
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.atWork > 0 && ctx.Err() == nil {
		l.changed.Wait()
	}
	return l.atWork == 0
}

// close ends all sessions, and waits for the end of what is at work, which has
// been cancelled.
func (l *sessions) close() {
	l.mu.Lock()
	wasClosed := l.closed
	l.closed = true
	var all []*session
	for id, s := range l.byID {
		all = append(all, s)
		delete(l.byID, id)
	}
	l.mu.Unlock()
	if wasClosed {
		return
	}
	for _, s := range all {
		s.close()
	}
	close(l.stop)
	<-l.swept
	ctx, cancel := context.WithTimeout(context.Background(), stopping)
	defer cancel()
	l.wait(ctx)
}
