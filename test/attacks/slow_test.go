package attacks_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// drip sends a byte at a time on each connection until the server has closed
// all of them, or long has passed.
func drip(conns []net.Conn, text string, long time.Duration) {
	var all sync.WaitGroup
	for _, conn := range conns {
		all.Go(func() {
			end := time.Now().Add(long)
			for i := 0; time.Now().Before(end); i++ {
				if write(conn, text[i%len(text):][:1]) != nil {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
		})
	}
	all.Wait()
}

// Whoever sends slowly is cut off when the time for it is over, in whatever it
// sends, and whether the server wants to have it or not.
func TestSlowSendersAreCutOff(t *testing.T) {
	t.Parallel()
	e := serve(t, "--header-timeout", "500ms", "--read-timeout", "500ms", "--idle-timeout", "1s")
	attacks := []struct{ name, begin, drip string }{
		{"nothing at all", "", ""},
		{"the request line", "POST /", "m"},
		{"the header", "POST /mcp HTTP/1.1\r\nHost: " + e.Address + "\r\n", "X: y\r\n"},
		{"a header in which nothing is said", "POST /mcp HTTP/1.1\r\nHost: " + e.Address + "\r\n", ""},
		{"the body", e.head("Content-Length: 1000"), " "},
		{"a body of which nothing comes", e.head("Content-Length: 1000"), ""},
		{"a body in chunks", e.head("Transfer-Encoding: chunked"), "1\r\nx\r\n"},
		{"the extension of a chunk", e.head("Transfer-Encoding: chunked") + "1;", "x"},
		{"the trailer", e.head("Transfer-Encoding: chunked") + "2\r\n{}\r\n0\r\n", "X: y\r\n"},
		{"a body that is expected", e.head("Expect: 100-continue", "Content-Length: 1000"), ""},
		{"a body that is refused for its type", e.head("Content-Type: text/plain", "Content-Length: 1000"), ""},
		{"a body for another path", strings.Replace(e.head("Content-Length: 1000"), "/mcp", "/nowhere", 1), ""},
		{"a body for health", strings.Replace(e.head("Content-Length: 1000"), "POST /mcp", "GET /healthz", 1), ""},
		{"a body from a strange page", e.head("Origin: http://evil.example", "Content-Length: 1000"), ""},
		{"a body that nobody reads", strings.Replace(e.head("Content-Length: 1000"), "POST", "PUT", 1), " "},
		{"a body of DELETE", strings.Replace(e.head("Mcp-Session-Id: x", "Content-Length: 1000"), "POST", "DELETE", 1), " "},
		{"a preflight with a body", strings.Replace(e.head("Origin: http://localhost", "Access-Control-Request-Method: POST", "Content-Length: 1000"), "POST", "OPTIONS", 1), ""},
	}
	e.withstands(bound, func() {
		each(len(attacks), len(attacks), func(i int) {
			a := attacks[i]
			conns := make([]net.Conn, 20)
			for i := range conns {
				conns[i] = e.dial()
				_ = write(conns[i], a.begin)
			}
			if a.drip != "" {
				drip(conns, a.drip, 2*soon)
			}
			if !closed(conns, soon) {
				t.Errorf("%s is still waited for", a.name)
			}
		})
	})
	e.Terminate()
}

// A body that belongs to no POST holds up neither a stream nor its end.
func TestABodyOfGETIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	e := serve(t, "--read-timeout", "300ms")
	session := e.session(harness.NewestLegacy)
	conn := e.dial()
	head := strings.Replace(e.head("Mcp-Session-Id: "+session["Mcp-Session-Id"], "Content-Length: 1000"), "POST", "GET", 1)
	if err := write(conn, head); err != nil {
		t.Fatal(err)
	}
	if !closed([]net.Conn{conn}, soon) {
		t.Error("the connection is still open")
	}
	e.Terminate()
}

// Who does not take answers in is given up after a while. Until then, and in
// whatever numbers, that takes nobody else's place.
func TestClientsThatDoNotReadTakeNobodysPlace(t *testing.T) {
	t.Parallel()
	e := serve(t, "--max-requests", "40", "--concurrency", "2")
	e.withstands(2*bound, func() {
		header, body := harness.ModernRequest("1", "tools/call", `"name":"print","arguments":{"v":5000000}`)
		var lines []string
		for name, value := range header {
			lines = append(lines, name+": "+value)
		}
		request := e.head(append(lines, fmt.Sprintf("Content-Length: %d", len(body)))...) + body
		conns := make([]net.Conn, 30)
		for i := range conns {
			conns[i] = e.dial()
			_ = conns[i].(*net.TCPConn).SetReadBuffer(4 << 10)
			if err := write(conns[i], request); err != nil {
				t.Fatal(err)
			}
		}
		for _, conn := range conns {
			_ = conn.SetReadDeadline(time.Now().Add(2 * harness.Deadline))
			if _, err := io.ReadFull(conn, make([]byte, 100)); err != nil {
				t.Fatal(err)
			}
		}
		for _, conn := range conns {
			conn.Close()
		}
	})
	e.Terminate()
}

// Requests in a row whose answers nobody reads come to a stop, and then to an
// end.
func TestAPipelineThatIsNotReadIsCutOff(t *testing.T) {
	t.Parallel()
	e := serve(t)
	e.withstands(bound, func() {
		conns := make([]net.Conn, 20)
		for i := range conns {
			conns[i] = e.dial()
			_ = conns[i].(*net.TCPConn).SetReadBuffer(4 << 10)
		}
		each(len(conns), len(conns), func(i int) {
			request := strings.Repeat("GET /nowhere HTTP/1.1\r\nHost: "+e.Address+"\r\n\r\n", 1000)
			for range 100 {
				_ = conns[i].SetWriteDeadline(time.Now().Add(time.Second))
				if _, err := io.WriteString(conns[i], request); err != nil {
					return
				}
			}
			t.Error("100,000 answers were written to nobody")
		})
	})
	e.Terminate()
}
