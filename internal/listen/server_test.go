package listen

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// worker is a handler that reads a request and then works: it says on began
// that it does, and goes on until end is closed when the path is /wait.
type worker struct {
	conns *Conns
	began chan string
	end   chan struct{}
}

func (h *worker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	defer h.conns.Busy(r.Context())()
	if r.URL.Path == "/wait" {
		h.began <- string(body)
		<-h.end
	}
	// More than net/http keeps back until the handler has returned.
	fmt.Fprintf(w, "%s %s", body, strings.Repeat("x", 1<<16))
}

// site is a server whose connections are bounded, and a client's way to it.
type site struct {
	*worker
	addr net.Addr
	url  string
	cert pair
}

func newSite(t *testing.T, most int, secure bool) *site {
	t.Helper()
	s := &site{worker: &worker{NewConns(most, nil), make(chan string, 100), make(chan struct{})}}
	opts := Options{Addr: "0"}
	scheme := "http"
	if secure {
		s.cert = newPair(t, 1)
		opts, scheme = newPairFiles(t, s.cert).options(new(logBuffer)), "https"
	}
	l := mustOpen(t, opts)
	s.addr, s.url = l.Addr(), scheme+"://"+l.Addr().String()
	server := &http.Server{Handler: s.worker}
	s.conns.Attach(server)
	serve(t, l, server)
	return s
}

// client is one with connections of its own.
func (s *site) client(t *testing.T, change func(*http.Transport)) *http.Client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: trusting(s.cert)}
	change(transport)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// post sends a body and checks that the whole answer comes back.
func (s *site) post(c *http.Client, path, body string) error {
	resp, err := c.Post(s.url+path, "text/plain", strings.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if got, _, _ := strings.Cut(string(text), " "); got != body || len(text) != len(body)+1+1<<16 {
		return fmt.Errorf("%d bytes are answered, for %q", len(text), got)
	}
	return nil
}

func TestConnsUnderAttack(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls=%v", secure), func(t *testing.T) { attack(t, newSite(t, 50, secure)) })
	}
}

// attack opens 500 connections that do nothing, while one request is at work
// all the time and others come on connections of their own.
func attack(t *testing.T, s *site) {
	const attackers, each = 4, 125
	long := make(chan error, 1)
	go func() { long <- s.post(s.client(t, func(*http.Transport) {}), "/wait", "long") }()
	<-s.began

	// A request takes its time on a busy machine. So no more attack in that time
	// than 20 connections, and those which the attackers had begun.
	allowed := make(chan struct{}, 20)
	var opened atomic.Int64
	var all sync.WaitGroup
	for range attackers {
		all.Go(func() {
			for range each {
				<-allowed
				conn, err := net.Dial("tcp", s.addr.String())
				if err != nil {
					t.Error(err)
					continue
				}
				t.Cleanup(func() { conn.Close() })
				opened.Add(1)
			}
		})
	}
	honest := s.client(t, func(t *http.Transport) { t.DisableKeepAlives = true })
	for i := 0; opened.Load() < attackers*each && !t.Failed(); i++ {
		for len(allowed) < cap(allowed) {
			allowed <- struct{}{}
		}
		if err := s.post(honest, "/", fmt.Sprint(i)); err != nil {
			t.Errorf("request %d, after %d connections: %v", i, opened.Load(), err)
		}
		if got := s.conns.Stats(); got.Open > 50 || got.Busy < 1 {
			t.Errorf("after %d connections there are %+v", opened.Load(), got)
		}
	}
	close(allowed)
	all.Wait()
	eventually(t, "450 are closed", func() bool { return s.conns.Stats().Dropped >= 450 })
	close(s.end)
	if err := <-long; err != nil {
		t.Errorf("the long request: %v", err)
	}
}

func TestConnsAllAtWork(t *testing.T) {
	s := newSite(t, 2, false)
	answers := make(chan error, 2)
	for range 2 {
		go func() { answers <- s.post(s.client(t, func(*http.Transport) {}), "/wait", "a") }()
		<-s.began
	}
	if !isHungUp(mustDial(t, s.addr)) {
		t.Error("a third connection is open")
	}
	if got, want := s.conns.Stats(), (Stats{Open: 2, Busy: 2, Dropped: 1}); got != want {
		t.Errorf("there are %+v, want %+v", got, want)
	}
	close(s.end)
	for range 2 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	eventually(t, "no more work", func() bool { return s.conns.Stats().Busy == 0 })
	if err := s.post(s.client(t, func(*http.Transport) {}), "/", "b"); err != nil {
		t.Error(err)
	}
}

func TestConnsSlowSenderGivesWay(t *testing.T) {
	for _, begin := range []string{"", "POST / HTTP/1.1\r\nHo", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf"} {
		s := newSite(t, 1, false)
		slow := mustDial(t, s.addr)
		if _, err := io.WriteString(slow, begin); err != nil {
			t.Fatal(err)
		}
		if err := s.post(s.client(t, func(*http.Transport) {}), "/", "quick"); err != nil {
			t.Errorf("%q is in the way: %v", begin, err)
		}
		if !isHungUp(slow) {
			t.Errorf("%q is open still", begin)
		}
	}
}

// The farewell of TLS would wait for a client that does not read, and all
// others with it.
func TestConnsHangUpOnTheDeaf(t *testing.T) {
	p := newPair(t, 1)
	cert, err := tls.X509KeyPair(p.cert, p.key)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		defer far.Close()
		server := tls.Server(near, &tls.Config{Certificates: []tls.Certificate{cert}, SessionTicketsDisabled: true})
		config := trusting(p)
		config.ServerName = "127.0.0.1"
		client := tls.Client(far, config)
		shaken := make(chan error, 1)
		go func() { shaken <- client.Handshake() }()
		if err := server.Handshake(); err != nil {
			t.Fatal(err)
		}
		if err := <-shaken; err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		hangUp(server)
		if took := time.Since(begin); took != 0 {
			t.Errorf("it takes %v", took)
		}
		if !isHungUp(far) {
			t.Error("the connection is open still")
		}
	})
}

func TestConnsHTTP2(t *testing.T) {
	s := newSite(t, 1, true)
	client := s.client(t, func(t *http.Transport) { t.ForceAttemptHTTP2 = true })
	// The connection is there before two requests share it.
	if err := s.post(client, "/", "first"); err != nil {
		t.Fatal(err)
	}
	answers := make(chan error, 2)
	for _, body := range []string{"a", "b"} {
		go func() { answers <- s.post(client, "/wait", body) }()
		<-s.began
	}
	if got, want := s.conns.Stats(), (Stats{Open: 1, Busy: 1}); got != want {
		t.Errorf("there are %+v, want %+v", got, want)
	}
	s.end <- struct{}{}
	if err := <-answers; err != nil {
		t.Error(err)
	}
	if !isHungUp(mustDial(t, s.addr)) {
		t.Error("one request at work does not keep the connection")
	}
	close(s.end)
	if err := <-answers; err != nil {
		t.Error(err)
	}
	eventually(t, "no more work", func() bool { return s.conns.Stats().Busy == 0 })
}

func TestConnsForgetTheClosed(t *testing.T) {
	for _, secure := range []bool{false, true} {
		s := newSite(t, 10, secure)
		silent := mustDial(t, s.addr)
		client := s.client(t, func(t *http.Transport) { t.ForceAttemptHTTP2 = true })
		if err := s.post(client, "/", "a"); err != nil {
			t.Fatal(err)
		}
		eventually(t, "two are open", func() bool { return s.conns.Stats().Open == 2 })
		silent.Close()
		client.CloseIdleConnections()
		eventually(t, "none is open", func() bool { return s.conns.Stats().Open == 0 })
	}
}

// A pipelined request that waits behind one at work changes nothing.
func TestConnsPipelined(t *testing.T) {
	s := newSite(t, 1, false)
	conn := mustDial(t, s.addr)
	const request = "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n"
	if _, err := io.WriteString(conn, request+request); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	for range 2 {
		<-s.began
		if got, want := s.conns.Stats(), (Stats{Open: 1, Busy: 1}); got != want {
			t.Errorf("there are %+v, want %+v", got, want)
		}
		s.end <- struct{}{}
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
	}
}
