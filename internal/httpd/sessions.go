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
	l.mu.Lock()
	closed := l.closed
	full := len(l.byID) >= l.handler.opts.MaxSessions
	l.mu.Unlock()
	switch {
	case closed:
		return nil, shuttingDown()
	case full && !l.evict():
		return nil, busy("There are too many sessions, and all are in use (--max-sessions)")
	}
	s := &session{
		handler: l.handler, id: rand.Text(), owner: owner, users: 1, touched: time.Now(),
		unasked: newStream(0, 1, nil), inFlight: map[string]*inFlight{},
	}
	s.ctx, s.cancel = context.WithCancel(l.handler.ctx)
	var err error
	s.client, err = engine.NewClient(s.ctx, l.handler.opts.Server, false, s.notify)
	if err != nil {
		s.cancel()
		l.handler.opts.Log.Error("cannot open a session", "err", err)
		return nil, &refusal{status: http.StatusInternalServerError, code: message.CodeInternalError, text: "Internal error"}
	}
	s.hearing = s.join()
	return s, nil
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

// evict ends the session that nobody has used for longest; false when all are in
// use.
func (l *sessions) evict() bool {
	l.mu.Lock()
	var oldest *session
	for _, s := range l.byID {
		if s.users == 0 && (oldest == nil || s.touched.Before(oldest.touched)) {
			oldest = s
		}
	}
	l.mu.Unlock()
	if oldest == nil {
		return false
	}
	l.handler.opts.Log.Info("ended the session that was idle for longest, to make room (--max-sessions)")
	l.end(oldest)
	return true
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
