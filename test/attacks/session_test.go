package attacks_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func with(header map[string]string, name, value string) map[string]string {
	all := map[string]string{name: value}
	for n, v := range header {
		if n != name {
			all[n] = v
		}
	}
	return all
}

func TestSessionsAreNotGuessed(t *testing.T) {
	t.Parallel()
	e := serve(t)
	header := e.session(harness.NewestLegacy)
	id := header["Mcp-Session-Id"]
	guesses := []string{"x", id[:len(id)-1], id + "A", strings.ToLower(id), " ", "*", "../" + id, id + "," + id, strings.Repeat("A", 50000)}
	for i := range id {
		guesses = append(guesses, id[:i]+"A"+id[i+1:], id[:i]+"?"+id[i+1:])
	}
	e.withstands(bound, func() {
		for _, guess := range guesses {
			for _, method := range []string{"POST", "GET", "DELETE"} {
				if guess == id {
					continue
				}
				body := ping
				if method != "POST" {
					body = ""
				}
				answer, err := e.try(t.Context(), method, body, with(header, "Mcp-Session-Id", guess))
				if err != nil || answer.status < 400 {
					t.Errorf("%s %q: %+v, %v", method, message(guess), answer, err)
				}
			}
		}
	})
	if answer := e.post(ping, header); answer.status != 200 {
		t.Errorf("the session itself: %+v", answer)
	}
	e.Terminate()
}

func message(text string) string { return text[:min(len(text), 60)] }

// A session is its owner's alone, whoever knows its id, and so are its streams.
func TestSessionsAreOfOneToken(t *testing.T) {
	t.Parallel()
	const mine, yours = "a-token-of-mine-0123456789", "a-token-of-yours-0123456789"
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte("me "+mine+"\nyou "+yours+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := serve(t, "--token-file", file, "--max-sessions", "20")
	e.token = mine
	header := e.session(harness.NewestLegacy)
	as := with(header, "Authorization", "Bearer "+yours)
	e.withstands(bound, func() {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			for _, event := range []string{"", "0-0", "1-0"} {
				header, body := as, ""
				if event != "" {
					header = with(as, "Last-Event-ID", event)
				}
				if method == "POST" {
					body = ping
				}
				if answer, err := e.try(t.Context(), method, body, header); err != nil || answer.status != 404 {
					t.Errorf("%s %s: %+v, %v", method, event, answer, err)
				}
			}
		}
		// Whoever opens more than there may be pushes out none but his own.
		for range 100 {
			answer, err := e.try(t.Context(), "POST", harness.Initialize(harness.NewestLegacy), map[string]string{"Authorization": "Bearer " + yours})
			if err != nil || answer.status != 200 {
				t.Errorf("initialize: %+v, %v", answer, err)
			}
		}
	})
	if answer := e.post(ping, header); answer.status != 200 {
		t.Errorf("the session itself: %+v", answer)
	}
	e.Terminate()
}

func TestEventIDsOfNobody(t *testing.T) {
	t.Parallel()
	e := serve(t)
	header := e.session(harness.NewestLegacy)
	// Another session has a stream of this number.
	other := e.session(harness.NewestLegacy)
	file := filepath.Join(t.TempDir(), "f")
	left, leave := context.WithTimeout(t.Context(), 2*time.Second)
	_, _ = e.try(left, "POST", harness.Call(1, "wait", fmt.Sprintf(`{"file":%q}`, file)), other)
	leave()
	ids := []string{
		"1-0", "1-1", "2-0", "999999999-999999999", "9999999999-0", "0-9999999999999999999", "-1-0", "0--1", "0", "-", "0-", "-0",
		"0x1-0", "1e9-0", "٣-٣", "0-0-0", "0-0 ", "", strings.Repeat("9", 60000), strings.Repeat("0-", 30000),
	}
	e.withstands(bound, func() {
		each(len(ids)*20, 16, func(i int) {
			id := ids[i%len(ids)]
			ctx, cancel := context.WithTimeout(t.Context(), soon)
			defer cancel()
			r, err := http.NewRequestWithContext(ctx, "GET", e.base+e.Path, nil)
			if err != nil {
				t.Error(err)
				return
			}
			r.Header = http.Header{"Accept": {"text/event-stream"}, "Mcp-Session-Id": {header["Mcp-Session-Id"]}, "Last-Event-Id": {id}}
			resp, err := e.client.Do(r)
			if err != nil {
				t.Errorf("%q: %v", message(id), err)
				return
			}
			// What is said unasked may be read from anywhere: 0 is its number.
			if mayRead := id == "0-0 "; (resp.StatusCode == 200) != mayRead {
				t.Errorf("%q: %s", message(id), resp.Status)
			}
			resp.Body.Close()
		})
	})
	if err := os.Remove(file); err != nil {
		t.Error(err)
	}
	e.Terminate()
}

// Nor does what is kept for those who come back take it from those who are there.
func TestLargeAnswersReachThoseWhoRead(t *testing.T) {
	t.Parallel()
	e := serve(t)
	for _, revision := range []string{"2025-03-26", harness.NewestLegacy} {
		header := e.session(revision)
		each(20, 4, func(i int) {
			answer, err := e.try(t.Context(), "POST", harness.Call(i, "print", `{"v":3000000}`), header)
			if n := strings.Count(answer.body, "x"); err != nil || answer.status != 200 || n < 3000000 {
				t.Errorf("%d bytes of 3,000,000: %d %.200s, %v", n, answer.status, answer.body, err)
			}
		})
	}
	e.Terminate()
}

// A client of a session that does not read its stream loses what is said, not
// the server's memory.
func TestStreamsThatAreNotRead(t *testing.T) {
	t.Parallel()
	e := serve(t, "--concurrency", "4")
	e.withstands(2*bound, func() {
		conns := make([]net.Conn, 10)
		for i := range conns {
			header := e.session(harness.NewestLegacy)
			conns[i] = e.dial()
			_ = conns[i].(*net.TCPConn).SetReadBuffer(4 << 10)
			body := harness.Call(1, "print", `{"v":8000000}`)
			head := e.head("Mcp-Session-Id: "+header["Mcp-Session-Id"], fmt.Sprintf("Content-Length: %d", len(body)))
			if err := write(conns[i], head+body); err != nil {
				t.Fatal(err)
			}
		}
		for _, conn := range conns {
			_ = conn.SetReadDeadline(time.Now().Add(3 * soon))
			if _, err := io.ReadFull(conn, make([]byte, 100)); err != nil {
				t.Error(err)
			}
		}
	})
	e.Terminate()
}
