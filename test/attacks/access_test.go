package attacks_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

func TestStrangePagesAndNamesAreRefused(t *testing.T) {
	t.Parallel()
	e := serve(t, "--allow-origin", "https://app.example", "--allow-host", "mcp.example")
	port := e.Address[strings.LastIndexByte(e.Address, ':'):]
	origins := []string{
		"http://evil.example", "https://app.example.evil.example", "https://evil.example/https://app.example", "https://app.example@evil.example",
		"https://app.example:444@evil.example", "https://app.exampl", "https://xapp.example", "null", "file://", "", " ", "*",
		"http://localhost.evil.example", "http://127.0.0.1.evil.example", "http://127.0.0.1@evil.example", "http://[::1].evil.example",
		"http://0x7f.1.evil.example", "javascript://localhost", "chrome-extension://localhost", "http://localhost/\\evil.example",
		"HTTPS://APP.EXAMPLE, https://evil.example", "https://app.example https://evil.example", "https://app.example%00.evil.example",
		"http://xn--lcalhost-w0a", "http://loc\u0430lhost", strings.Repeat("x", 60000),
	}
	hosts := []string{
		"evil.example", "evil.example" + port, "localhost.evil.example", "127.0.0.1.evil.example", "mcp.example.evil.example", "xmcp.example",
		"127.0.0.1" + port + "@evil.example", "[::1].evil.example", "[::1", "::1", "mcp.example:x", "mcp.example:99999", "2130706433", "0x7f000001",
		"127.1", "mcp.example,evil.example", "mcp.example/evil", "localhost#", "localhost?", strings.Repeat("x", 60000), "",
	}
	e.withstands(bound, func() {
		refused := func(name, text string) {
			conn := e.dial()
			_ = write(conn, text)
			got := statuses(t, conn, "POST")
			if !slices.Equal(got, []int{403}) && !slices.Equal(got, []int{400}) {
				t.Errorf("%s: answered with %v", name, got)
			}
		}
		for _, origin := range origins {
			refused("Origin "+message(origin), e.call("x", "Connection: close", "Origin: "+origin))
		}
		for _, host := range hosts {
			refused("Host "+message(host), strings.Replace(e.call("x", "Connection: close"), "Host: "+e.Address, "Host: "+host, 1))
		}
		refused("two Origin", e.call("x", "Connection: close", "Origin: https://app.example", "Origin: https://app.example"))
	})
	e.Terminate()
}

// Guesses are refused, cost little, and leave no token in the log, which grows
// by one short line for each.
func TestTokensAreGuessedInNumbers(t *testing.T) {
	t.Parallel()
	const right, n = "the-right-token-0123456789abcdef", 10000
	file := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(file, []byte("me "+right+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := serve(t, "--token-file", file, "--log-level", "debug")
	e.token = right
	e.withstands(bound, func() {
		each(100, 8, func(i int) {
			var all strings.Builder
			for j := range 100 {
				guess := fmt.Sprintf("guess-%d-%d-%s", i, j, right[:i%len(right)])
				all.WriteString(e.call("x", "Authorization: Bearer "+guess))
			}
			conn := e.dial()
			go func() {
				_ = write(conn, all.String())
				_ = conn.(*net.TCPConn).CloseWrite()
			}()
			got := statuses(t, conn, "POST")
			if len(got) != 100 || slices.Max(got) != 401 || slices.Min(got) != 401 {
				t.Errorf("answered with %v", got)
			}
		})
	})
	log := e.Stderr()
	if strings.Contains(log, "guess-") || strings.Contains(log, right) {
		t.Error("a token is in the log")
	}
	if len(log) > 600*n {
		t.Errorf("the log has %d bytes", len(log))
	}
	for _, header := range []string{
		"Bearer", "Bearer ", "Basic " + right, "Bearer " + right + " x", "Bearer \"" + right + "\"", right, "Bearer " + strings.ToUpper(right),
		"Bearer " + right + ",", "Bearer " + strings.Repeat("x", 50000), "Bearer " + right[:len(right)-1], "Bearer\t" + right,
	} {
		if answer := e.post(ping, map[string]string{"Authorization": header}); answer.status != 401 && answer.status != 400 {
			t.Errorf("Authorization %q: %+v", message(header), answer)
		}
	}
	e.Terminate()
}

// A rate is kept for each address. Whoever has many gets more, but no address
// gets more than its own, and what is remembered is bounded.
func TestRatesAreKeptForManyAddresses(t *testing.T) {
	t.Parallel()
	e := serve(t, "--rate", "0.01", "--burst", "1000")
	var served, limited atomic.Int64
	e.withstands(bound, func() {
		each(1500, 8, func(i int) {
			conn, err := e.tryDial(fmt.Sprintf("127.%d.%d.%d", 1+i%3, i%250, 1+i%200))
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			_ = write(conn, e.call("x", "Connection: close"))
			for _, status := range statuses(t, conn, "POST") {
				switch status {
				case 200:
					served.Add(1)
				case 429:
					limited.Add(1)
				default:
					t.Errorf("answered with %d", status)
				}
			}
		})
		var one atomic.Int64
		each(1100, 8, func(int) {
			conn, err := e.tryDial("127.9.9.9")
			if err != nil {
				t.Error(err)
				return
			}
			_ = write(conn, e.head("Content-Length: 2", "Connection: close")+"{}")
			for _, status := range statuses(t, conn, "POST") {
				if status != 429 {
					one.Add(1)
				}
			}
			conn.Close()
		})
		if n := one.Load(); n < 1000 || n > 1010 {
			t.Errorf("one address was served %d times", n)
		}
	})
	if served.Load() != 1500 {
		t.Errorf("%d were served and %d limited", served.Load(), limited.Load())
	}
	e.Terminate()
}
