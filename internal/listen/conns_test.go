package listen

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// mockConn is a connection that only knows whether it was closed.
type mockConn struct {
	net.Conn
	name   string
	closed bool
}

func (c *mockConn) Close() error {
	c.closed = true
	return nil
}

// drill drives a server's hooks by words, as the server would.
type drill struct {
	conns  *Conns
	server http.Server
	byName map[string]*mockConn
	ctx    map[string]context.Context
	done   map[string][]func()
}

func newDrill(most int) *drill {
	d := &drill{
		conns: NewConns(most, nil), byName: map[string]*mockConn{},
		ctx: map[string]context.Context{}, done: map[string][]func(){},
	}
	d.conns.Attach(&d.server)
	return d
}

// do does "verb name ..." one after the other, a millisecond apart.
func (d *drill) do(t *testing.T, script string) {
	words := strings.Fields(script)
	for i := 0; i < len(words); i += 2 {
		verb, name := words[i], words[i+1]
		conn := d.byName[name]
		switch verb {
		case "new":
			conn = &mockConn{name: name}
			d.byName[name] = conn
			d.ctx[name] = d.server.ConnContext(t.Context(), conn)
			d.server.ConnState(conn, http.StateNew)
		case "active":
			d.server.ConnState(conn, http.StateActive)
		case "busy":
			d.done[name] = append(d.done[name], d.conns.Busy(d.ctx[name]))
		case "done":
			last := len(d.done[name]) - 1
			d.done[name][last]()
			d.done[name][last]() // counts once
			d.done[name] = d.done[name][:last]
		case "idle":
			d.server.ConnState(conn, http.StateIdle)
		case "gone":
			d.server.ConnState(conn, http.StateClosed)
		case "hijacked":
			d.server.ConnState(conn, http.StateHijacked)
		case "wait":
			time.Sleep(flushing)
		default:
			t.Fatalf("what is %s?", verb)
		}
		time.Sleep(time.Millisecond)
	}
}

func (d *drill) closed(script string) string {
	var names []string
	for i, word := range strings.Fields(script) {
		if conn := d.byName[word]; i%2 == 1 && conn != nil && conn.closed {
			names = append(names, word)
			conn.closed = false
		}
	}
	return strings.Join(names, " ")
}

func TestConnsWhoIsClosed(t *testing.T) {
	for _, test := range []struct {
		name, script, closed string
		want                 Stats
	}{
		{"room for all", "new a new b new c", "", Stats{Open: 3}},
		{"the oldest", "new a new b new c new d new e", "a b", Stats{3, 0, 2}},
		{"sending does not help", "new a new b new c active a new d", "a", Stats{3, 0, 1}},
		{"work does", "new a new b new c active a busy a new d", "b", Stats{3, 1, 1}},
		{"the new one, all being at work", "new a busy a new b busy b new c busy c new d", "d", Stats{3, 3, 1}},
		{"work makes young again", "new a new b new c busy a done a idle a new d new e", "b c", Stats{3, 0, 2}},
		{"an answer on its way is spared", "new a new b busy a busy b new c busy c done b new d", "d", Stats{3, 2, 1}},
		{"and not for ever", "new a new b busy a busy b new c busy c done b wait - new d", "b", Stats{3, 2, 1}},
		{"nor longer than it takes", "new a new b busy a busy b new c busy c done b idle b new d", "b", Stats{3, 2, 1}},
		{"nor before older ones", "new a busy a done a wait - new b new c new d", "a", Stats{3, 0, 1}},
		{"nor after younger ones", "new b new a new c busy a done a new d wait - new e", "b c", Stats{3, 0, 2}},
		{"a request beside another", "new a busy a busy a done a new b busy b new c busy c new d", "d", Stats{3, 3, 1}},
		{"the last one's end", "new a busy a busy a done a done a new b busy b new c busy c wait - new d", "a", Stats{3, 2, 1}},
		{"idle with work left", "new a busy a idle a new b busy b new c busy c new d", "d", Stats{3, 3, 1}},
		{"who has left makes room", "new a new b new c gone b new d", "", Stats{Open: 3}},
		{"who has left at work too", "new a busy a new b new c gone a done a new d", "", Stats{Open: 3}},
		{"and who is another's", "new a busy a new b new c hijacked a new d gone a", "", Stats{Open: 3}},
		{"the closed do no work", "new a new b new c new d busy a done a gone a new e", "a b", Stats{3, 0, 2}},
		{"nor do the refused", "new a busy a new b busy b new c busy c new d busy d done d gone d", "d", Stats{3, 3, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDrill(3)
				d.do(t, test.script)
				if got := d.closed(test.script); got != test.closed {
					t.Errorf("%s closes %q, want %q", test.script, got, test.closed)
				}
				if got := d.conns.Stats(); got != test.want {
					t.Errorf("%s makes %+v, want %+v", test.script, got, test.want)
				}
			})
		})
	}
}

func TestConnsAllowOneAtLeast(t *testing.T) {
	d := newDrill(0)
	d.do(t, "new a")
	if d.byName["a"].closed {
		t.Error("not one is allowed")
	}
}

func TestConnsKeepOtherHooks(t *testing.T) {
	type key struct{}
	var states []http.ConnState
	s := &http.Server{
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context { return context.WithValue(ctx, key{}, true) },
		ConnState:   func(_ net.Conn, state http.ConnState) { states = append(states, state) },
	}
	c := NewConns(1, nil)
	c.Attach(s)
	conn := &mockConn{}
	ctx := s.ConnContext(t.Context(), conn)
	s.ConnState(conn, http.StateActive)
	defer c.Busy(ctx)()
	if ctx.Value(key{}) != true || fmt.Sprint(states) != "[active]" || c.Stats().Busy != 1 {
		t.Errorf("the value is %v, the states are %v, the connections %+v", ctx.Value(key{}), states, c.Stats())
	}
}

func TestConnsOtherContexts(t *testing.T) {
	c := NewConns(1, nil)
	done := c.Busy(t.Context())
	if got := c.Stats(); got.Busy != 0 {
		t.Errorf("a context without a connection makes %+v", got)
	}
	done()
}

func TestConnsTellOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logBuffer
		c := NewConns(2, log.logger().With("flag", "--most"))
		s := new(http.Server)
		c.Attach(s)
		open := func(n int) {
			for range n {
				s.ConnContext(t.Context(), &mockConn{})
			}
		}
		for _, step := range []struct {
			open int
			want string
		}{
			{2, ""}, {1, "flag=--most limit=2 closed=1"}, {40, ""}, {2, ""},
		} {
			open(step.open)
			if got := strings.Join(log.take(), "\n"); !strings.HasSuffix(got, step.want) || (got == "") != (step.want == "") {
				t.Errorf("%d more: the log is %q, want %q", step.open, got, step.want)
			}
		}
		time.Sleep(tellEvery)
		open(1)
		if got := log.take(); len(got) != 1 || !strings.HasSuffix(got[0], "closed=43") {
			t.Errorf("a minute later the log is %q", got)
		}
	})
}
