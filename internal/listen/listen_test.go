package listen

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestOpenTCP(t *testing.T) {
	for _, addr := range []string{"0", "127.0.0.1:0", "localhost:0"} {
		l := mustOpen(t, Options{Addr: addr})
		if !IsLoopback(l.Addr()) {
			t.Errorf("%s is %s", addr, l.Addr())
		}
		serve(t, l, &http.Server{Handler: greeter()})
		resp, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if string(body) != "hello" {
			t.Errorf("%s answers %q", addr, body)
		}
	}
}

func TestOpenFails(t *testing.T) {
	taken := mustOpen(t, Options{Addr: "0"}).Addr().String()
	for _, test := range []struct{ addr, want string }{
		{"nonsense", "none of HOST:PORT"},
		{taken, "another program listens there"},
		// Set aside for documentation.
		{"192.0.2.1:0", "this machine has no such address"},
	} {
		l, err := Open(t.Context(), Options{Addr: test.addr})
		if err == nil {
			l.Close()
			t.Errorf("%s is open", test.addr)
		} else if !strings.HasPrefix(err.Error(), "--http ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.addr, err, test.want)
		}
	}
}

func TestAnAddressIsCalledByItsName(t *testing.T) {
	_, err := Open(t.Context(), Options{Addr: "nonsense", Name: "$ADDRESS"})
	if err == nil || !strings.HasPrefix(err.Error(), `$ADDRESS "nonsense": `) {
		t.Errorf("%v", err)
	}
}

func greeter() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
}

// greeting reads what a player says to who connects.
func greeting(t *testing.T, a net.Addr) string {
	t.Helper()
	text, err := io.ReadAll(mustDial(t, a))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

// An address of one family is not listened on in the other.
func TestAnAddressThatIsWrittenOutIsMeantAlone(t *testing.T) {
	for _, test := range []struct{ addr, host, other string }{
		{"0.0.0.0:0", "0.0.0.0", "::1"},
		{"[::ffff:127.0.0.1]:0", "127.0.0.1", "::1"},
		{"[::]:0", "::", "127.0.0.1"},
		{"[::1]:0", "::1", "127.0.0.1"},
	} {
		t.Run(test.addr, func(t *testing.T) {
			if probe, err := net.Listen("tcp6", "[::1]:0"); err != nil {
				t.Skip("this machine has no IPv6")
			} else {
				probe.Close()
			}
			l := mustOpen(t, Options{Addr: test.addr})
			host, port, err := net.SplitHostPort(l.Addr().String())
			if err != nil || host != test.host {
				t.Errorf("it listens at %s, %v", l.Addr(), err)
			}
			if conn, err := net.Dial("tcp", net.JoinHostPort(test.other, port)); err == nil {
				conn.Close()
				t.Errorf("%s is served too", test.other)
			}
		})
	}
}
