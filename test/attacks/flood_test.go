package attacks_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// connections opens up to n connections that say nothing, from many addresses
// of this machine. The end of the test closes them.
func (e *target) connections(n int) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		e.t.Fatal(err)
	}
	if most := int(limit.Cur) - 500; n > most {
		e.t.Logf("%d connections instead of %d: this process may have no more files open", most, n)
		n = most
	}
	var mu sync.Mutex
	var conns []net.Conn
	e.t.Cleanup(func() {
		for _, conn := range conns {
			conn.Close()
		}
	})
	failed := 0
	each(n, 16, func(i int) {
		conn, err := e.tryDial(fmt.Sprintf("127.0.%d.%d", i%200, 1+i%250))
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			failed++
			return
		}
		conns = append(conns, conn)
	})
	// Of those that came to a full house, some had no handshake.
	if failed > n/2 {
		e.t.Errorf("%d of %d connections could not be opened", failed, n)
	}
}

func TestIdleConnectionsMakeRoom(t *testing.T) {
	t.Parallel()
	for _, a := range []struct {
		name  string
		serve func(testing.TB, ...string) *target
		n     int
	}{{"without TLS", serve, 10000}, {"with TLS", serveTLS, 2500}} {
		t.Run(a.name, func(t *testing.T) {
			e := a.serve(t)
			e.withstands(bound, func() { e.connections(a.n) })
			e.Terminate()
		})
	}
}

// A server that may have few files open has fewer connections, and keeps enough
// to run calls.
func TestConnectionsLeaveFilesForCalls(t *testing.T) {
	t.Parallel()
	path := harness.Script(t, script, tools, "{}")
	e := &target{HTTPServer: harness.ServeHTTPWith(t, []string{"prlimit", "--nofile=256:256"}, path), t: t, client: newClient(nil)}
	e.base = "http://" + e.Address
	e.withstands(bound, func() { e.connections(1000) })
	if !strings.Contains(e.Stderr(), "--max-connections") {
		t.Errorf("that there may be fewer is not told:\n%s", e.Stderr())
	}
	e.Terminate()
}

// Sessions that are begun and left make room for each other; there are never
// more than there may be.
func TestSessionsThatAreLeftMakeRoom(t *testing.T) {
	t.Parallel()
	const most = 60
	e := serve(t, "--max-sessions", fmt.Sprint(most))
	var mu sync.Mutex
	var all []map[string]string
	e.withstands(bound, func() {
		each(2000, 32, func(int) {
			header, err := e.begin(harness.NewestLegacy)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, header)
		})
	})
	left := 0
	for _, header := range all[len(all)-200:] {
		if answer := e.post(`{"jsonrpc":"2.0","id":1,"method":"ping"}`, header); answer.status == 200 {
			left++
		}
	}
	if left > most || left < most/2 {
		t.Errorf("%d sessions are there", left)
	}
	e.Terminate()
}

// listen reads what a session says unasked, until the test ends.
func (e *target) listen(header map[string]string) net.Conn {
	conn, err := e.tryDial("")
	if err != nil {
		e.t.Error(err)
		return nil
	}
	e.t.Cleanup(func() { conn.Close() })
	_ = write(conn, bare("GET "+e.Path+" HTTP/1.1", "Host: "+e.Address, "Connection: close", "Accept: text/event-stream", "Mcp-Session-Id: "+header["Mcp-Session-Id"]))
	_ = conn.SetReadDeadline(time.Now().Add(harness.Deadline))
	if _, err := conn.Read(make([]byte, 10)); err != nil {
		e.t.Errorf("a stream does not begin: %v", err)
	}
	return conn
}

// Whoever only listens, in every session and on every connection there may be,
// keeps nobody out.
func TestListenersMakeRoom(t *testing.T) {
	t.Parallel()
	e := serve(t, "--max-sessions", "200", "--max-connections", "300")
	e.withstands(bound, func() {
		each(1000, 16, func(int) {
			header, err := e.begin(harness.NewestLegacy)
			if err != nil {
				t.Error(err)
				return
			}
			e.listen(header)
		})
	})
	e.Terminate()
}

func TestStreamsOfOneSessionReplaceEachOther(t *testing.T) {
	t.Parallel()
	e := serve(t)
	header := e.session(harness.NewestLegacy)
	e.withstands(bound, func() {
		conns := make([]net.Conn, 2000)
		each(len(conns), 16, func(i int) { conns[i] = e.listen(header) })
		open := 0
		for _, conn := range conns {
			_ = conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			if !closed([]net.Conn{conn}, 100*time.Millisecond) {
				open++
			}
			if open > 5 {
				t.Fatal("streams that were replaced are still open")
			}
		}
	})
	e.Terminate()
}

// Calls whose clients have left hold their places, and what they were called
// with, until they end. Nobody can start any number of them.
func TestCallsThatAreLeftAreBounded(t *testing.T) {
	t.Parallel()
	const most = 5
	e := serve(t, "--concurrency", "2", "--max-requests", strconv.Itoa(most))
	header := e.session("2025-06-18")
	file := filepath.Join(t.TempDir(), "f")
	each(most, most, func(i int) {
		ctx, cancel := context.WithTimeout(t.Context(), soon)
		defer cancel()
		// The answer becomes a stream when the call is at work.
		r, err := http.NewRequestWithContext(ctx, "POST", e.URL(), strings.NewReader(harness.Call(i, "wait", fmt.Sprintf(`{"file":"%s%d"}`, file, i))))
		if err != nil {
			t.Error(err)
			return
		}
		r.Header = http.Header{"Mcp-Session-Id": {header["Mcp-Session-Id"]}, "Content-Type": {"application/json"}}
		resp, err := e.client.Do(r)
		if err != nil {
			t.Error(err)
			return
		}
		resp.Body.Close()
	})
	if answer := e.post(ping, header); answer.status != 503 || !strings.Contains(answer.body, "--max-requests") {
		t.Errorf("one more: %+v", answer)
	}
	ended := 0
	harness.Eventually(t, harness.Deadline, "all calls have been at work", func() bool {
		for i := range most {
			if os.Remove(fmt.Sprintf("%s%d", file, i)) == nil {
				ended++
			}
		}
		return ended == most
	})
	harness.Eventually(t, harness.Deadline, "the places are free again", func() bool { return e.post(ping, header).status == 200 })
	e.withstands(bound, func() {})
	e.Terminate()
}

func TestStormsOfCancellations(t *testing.T) {
	t.Parallel()
	e := serve(t, "--concurrency", "4")
	header := e.session(harness.NewestLegacy)
	cancelled := func(id int) {
		text := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id)
		if answer, err := e.try(t.Context(), "POST", text, header); err != nil || answer.status != 202 {
			t.Errorf("%+v, %v", answer, err)
		}
	}
	e.withstands(bound, func() {
		each(900, 16, func(i int) {
			switch i % 3 {
			case 0: // leaves its request
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%7)*10*time.Millisecond)
				defer cancel()
				head, body := harness.ModernRequest("1", "tools/call", `"name":"sleep","arguments":{"v":2}`)
				_, _ = e.try(ctx, "POST", body, head)
			case 1: // leaves a call, and cancels it
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				defer cancel()
				_, _ = e.try(ctx, "POST", harness.Call(i, "sleep", `{"v":2}`), header)
				cancelled(i)
			default: // cancels what there is not, and what others have
				cancelled(-i)
				cancelled(i - 2)
			}
		})
	})
	if answer, err := e.try(t.Context(), "DELETE", "", header); err != nil || answer.status != 204 {
		t.Errorf("the session cannot be ended: %+v, %v", answer, err)
	}
	e.Terminate()
}
