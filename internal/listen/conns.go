package listen

import (
	"container/list"
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// flushing is how long a connection may take to send the end of an answer
// before it counts as one that does nothing.
const flushing = 5 * time.Second

// tellEvery is how often at most the log hears of closed connections.
const tellEvery = time.Minute

// Conns bounds how many connections a server has. For one too many, the one
// that has done no work for longest is closed: it may be idle, or in its
// handshake, or sending a request. Where all are at work the new one is closed.
// So whoever opens connections and does nothing with them takes no place from
// those who do.
//
// Its methods are safe for concurrent use.
type Conns struct {
	most int
	log  *slog.Logger

	mu   sync.Mutex
	open map[net.Conn]*connection
	// Connections that are not at work, the one longest so in front: those whose
	// last answer may not be out yet, and all others.
	answering, idle *list.List
	busy            int
	dropped, untold int64
	told            time.Time
}

type connection struct {
	conn     net.Conn
	requests int // at work; with HTTP/2 there may be several

	queue *list.List // the one it is in; nil while it is at work, or gone
	place *list.Element
	since time.Time // when it was put there
}

// Stats say how things are, and how many connections have been closed so far
// to keep to the limit.
type Stats struct {
	Open, Busy int
	Dropped    int64
}

// NewConns allows for most connections, which is at least one. The log hears,
// once a minute at most, that connections were closed; give it the name of the
// limit's flag with [slog.Logger.With]. It may be nil.
func NewConns(most int, log *slog.Logger) *Conns {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Conns{
		most: max(most, 1), log: log, open: map[net.Conn]*connection{},
		answering: list.New(), idle: list.New(),
	}
}

// Attach has the connections of a server counted. It is called before the
// server serves; hooks that the server has already are called too.
func (c *Conns) Attach(s *http.Server) {
	connContext, connState := s.ConnContext, s.ConnState
	s.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		if connContext != nil {
			ctx = connContext(ctx, conn)
		}
		return context.WithValue(ctx, c, c.admit(conn))
	}
	s.ConnState = func(conn net.Conn, state http.ConnState) {
		c.note(conn, state)
		if connState != nil {
			connState(conn, state)
		}
	}
}

// Busy marks the connection of a request, whose context ctx is, as at work
// until done is called. A handler calls it once it has read all of the request:
// a client that is slow to send one is not at work.
func (c *Conns) Busy(ctx context.Context) (done func()) {
	conn, ok := ctx.Value(c).(*connection)
	if !ok {
		return func() {}
	}
	c.begin(conn)
	return sync.OnceFunc(func() { c.end(conn) })
}

// Stats returns the numbers of this moment.
func (c *Conns) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Stats{Open: len(c.open), Busy: c.busy, Dropped: c.dropped}
}

// admit enters a new connection, and closes one where that is one too many.
func (c *Conns) admit(conn net.Conn) *connection {
	entered := &connection{conn: conn}
	c.mu.Lock()
	var loser *connection
	if len(c.open) >= c.most {
		if loser = c.unemployed(); loser != nil {
			c.forget(loser)
		} else {
			loser = entered
		}
	}
	if loser != entered {
		c.open[conn] = entered
		c.enqueue(entered, c.idle)
	}
	tell := c.count(loser)
	c.mu.Unlock()

	if loser != nil {
		hangUp(loser.conn)
	}
	if tell > 0 {
		c.log.Warn("connections were closed to keep to the limit of connections", "limit", c.most, "closed", tell)
	}
	return entered
}

// unemployed picks the connection that has done no work for longest. One that
// has just been answered is spared: its client would not get the answer, though
// the work was done.
func (c *Conns) unemployed() *connection {
	idle, answering := front(c.idle), front(c.answering)
	if answering != nil && time.Since(answering.since) < flushing {
		answering = nil
	}
	if idle == nil || answering != nil && answering.since.Before(idle.since) {
		return answering
	}
	return idle
}

func front(l *list.List) *connection {
	if e := l.Front(); e != nil {
		return e.Value.(*connection)
	}
	return nil
}

// count returns how many closed connections the log is to be told of now.
func (c *Conns) count(loser *connection) int64 {
	if loser == nil {
		return 0
	}
	c.dropped++
	c.untold++
	if !c.told.IsZero() && time.Since(c.told) < tellEvery {
		return 0
	}
	tell := c.untold
	c.told, c.untold = time.Now(), 0
	return tell
}

// hangUp closes a connection without a word: the farewell of TLS could wait
// for a client that does not read.
func hangUp(conn net.Conn) {
	if t, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = t.NetConn()
	}
	conn.Close()
}

// note follows what the server makes of a connection.
func (c *Conns) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.open[conn]
	if !ok {
		return
	}
	switch state {
	case http.StateIdle:
		if known.queue == c.answering {
			c.enqueue(known, c.idle)
		}
	case http.StateClosed, http.StateHijacked:
		c.forget(known)
	}
}

func (c *Conns) begin(conn *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[conn.conn] != conn {
		return
	}
	if conn.requests++; conn.requests == 1 {
		c.dequeue(conn)
		c.busy++
	}
}

func (c *Conns) end(conn *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[conn.conn] != conn {
		return
	}
	if conn.requests--; conn.requests == 0 {
		c.busy--
		c.enqueue(conn, c.answering)
	}
}

func (c *Conns) forget(conn *connection) {
	delete(c.open, conn.conn)
	c.dequeue(conn)
	if conn.requests > 0 {
		c.busy--
	}
}

func (c *Conns) enqueue(conn *connection, queue *list.List) {
	c.dequeue(conn)
	conn.queue, conn.place, conn.since = queue, queue.PushBack(conn), time.Now()
}

func (c *Conns) dequeue(conn *connection) {
	if conn.queue != nil {
		conn.queue.Remove(conn.place)
		conn.queue, conn.place = nil, nil
	}
}
