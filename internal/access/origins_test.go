package access_test

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/access"
)

// request is a POST to the endpoint with these headers, names and values.
func request(headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://tools.example/mcp", nil)
	for n := 0; n < len(headers); n += 2 {
		r.Header.Add(headers[n], headers[n+1])
	}
	return r
}

func newOrigins(t testing.TB, allowOrigins, allowHosts string, loopback bool) *access.Origins {
	t.Helper()
	o, err := access.NewOrigins(strings.Fields(allowOrigins), strings.Fields(allowHosts), loopback)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// checkEach expects Check to take requests that differ in one thing, or to
// refuse them with this error.
func checkEach(t *testing.T, o *access.Origins, refused string, values []string, set func(*http.Request, string)) {
	t.Helper()
	for _, value := range values {
		r := request()
		r.Host = "localhost"
		set(r, value)
		switch err := o.Check(r); {
		case refused == "" && err != nil:
			t.Errorf("%q: %v", value, err)
		case refused != "" && (err == nil || !strings.Contains(err.Error(), refused)):
			t.Errorf("%q: error %v, want %q", value, err, refused)
		}
	}
}

func setHost(r *http.Request, value string)   { r.Host = value }
func setOrigin(r *http.Request, value string) { r.Header.Set("Origin", value) }

var loopbackHosts = []string{
	"localhost", "localhost:1", "LocalHost:65535", "localhost.", "127.0.0.1", "127.0.0.1:8080", "127.255.0.9", "[::1]", "[::1]:8080", "[0:0:0:0:0:0:0:1]:1", "[::ffff:127.0.0.1]",
}

func TestHostsOfAServerOnLoopback(t *testing.T) {
	o := newOrigins(t, "", "", true)
	checkEach(t, o, "", loopbackHosts, setHost)
	checkEach(t, o, "--allow-host", []string{
		"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example", "0.0.0.0", "[::]", "10.0.0.1", "[fe80::1]:8080", "127.1", "2130706433",
	}, setHost)
	checkEach(t, o, "not a name or address", []string{
		"", ":8080", "localhost:", "localhost:x", "localhost:65536", "localhost:1:2", "::1", "[::1", "[::1]x", "[127.0.0.1]", "[fe80::1%25lo]", "a@localhost", "localhost/", "localhost ", " localhost", "localhost,evil.example", "lócalhost", "localhost\x00", ".", "127.0.0.1.",
	}, setHost)
}

func TestHostsThatAreAllowed(t *testing.T) {
	o := newOrigins(t, "", "tools.example Other.Example:8443 plain.example:443 [2001:DB8::1] 192.0.2.1:80", true)
	checkEach(t, o, "", loopbackHosts, setHost)
	checkEach(t, o, "", []string{
		"tools.example", "TOOLS.example.", "tools.example:1", "other.example:8443", "plain.example", "plain.example:443", "[2001:db8:0::1]:9", "192.0.2.1",
	}, setHost)
	checkEach(t, o, "--allow-host", []string{
		"x.tools.example", "xtools.example", "other.example", "other.example:8444", "plain.example:80", "[2001:db8::2]", "192.0.2.1:81",
	}, setHost)
	// Whoever lists hosts for a server on all addresses means these alone.
	checkEach(t, newOrigins(t, "", "tools.example", false), "--allow-host", []string{"other.example"}, setHost)
}

func TestAnyHost(t *testing.T) {
	for _, o := range []*access.Origins{newOrigins(t, "", "", false), newOrigins(t, "", "*", true), newOrigins(t, "", "*", false)} {
		checkEach(t, o, "", []string{"evil.example", "", "unix", "/run/x.sock", "a b"}, setHost)
		checkEach(t, o, "--allow-origin", []string{"http://evil.example"}, setOrigin)
	}
}

func TestOriginsOfPages(t *testing.T) {
	o := newOrigins(t, "https://app.example http://fixed.example:8080 https://plain.example:443 Vscode-Webview://abc", "", true)
	checkEach(t, o, "", []string{
		"http://localhost", "https://localhost:3000", "http://127.0.0.1:8080", "http://[::1]:1", "HTTP://LOCALHOST",
		"https://app.example", "https://app.example:8443", "https://APP.example", "http://fixed.example:8080", "https://plain.example", "https://plain.example:443", "vscode-webview://abc",
	}, setOrigin)
	checkEach(t, o, "--allow-origin", []string{
		"null", "http://app.example", "https://app.example.evil.example", "https://x.app.example", "https://evil.example", "http://fixed.example", "http://fixed.example:8081", "https://plain.example:80",
		"vscode-webview://abcd", "ftp://localhost", "localhost", "//localhost", "://localhost", "http:localhost", "http://localhost/", "http://localhost/x", "http://a@localhost", "http://localhost,http://evil.example", "http://evil.example http://localhost", "http://", "*", strings.Repeat("x", 9999),
	}, setOrigin)
	checkEach(t, o, "is empty", []string{""}, setOrigin)
	checkEach(t, newOrigins(t, "null", "", true), "", []string{"null"}, setOrigin)
	checkEach(t, newOrigins(t, "*", "", true), "", []string{"null", "http://evil.example", "whatever"}, setOrigin)
}

func TestHeadersThatAreThereTwice(t *testing.T) {
	o := newOrigins(t, "*", "*", false)
	checkEach(t, o, "2 Origin headers", []string{"http://localhost"}, func(r *http.Request, value string) {
		r.Header["Origin"] = []string{value, value}
	})
	checkEach(t, o, "more than one Host", []string{"localhost"}, func(r *http.Request, value string) {
		r.Header["Host"] = []string{value}
	})
}

// The Host that counts is the one that net/http reads.
func TestTheHostOfARequestAsItIsSent(t *testing.T) {
	o := newOrigins(t, "", "", true)
	for text, want := range map[string]bool{
		"POST /mcp HTTP/1.1\r\nHost: localhost:1\r\n\r\n":                          true,
		"POST /mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n":                         false,
		"POST http://evil.example/mcp HTTP/1.1\r\nHost: localhost\r\n\r\n":         false,
		"POST /mcp HTTP/1.0\r\n\r\n":                                               false,
		"POST //evil.example/mcp HTTP/1.1\r\nHost: evil.example:localhost\r\n\r\n": false,
	} {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		if err := o.Check(r); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestWhatCannotBeAllowed(t *testing.T) {
	for _, test := range []struct{ origin, host, want string }{
		{origin: "app.example", want: "--allow-origin"},
		{origin: "https://app.example/", want: "--allow-origin"},
		{origin: "https://*.example", want: "--allow-origin"},
		{origin: "1x://app", want: "--allow-origin"},
		{origin: "", want: "--allow-origin"},
		{host: "https://example.org", want: "--allow-host"},
		{host: "*.example.org", want: "--allow-host"},
		{host: "2001:db8::1", want: "--allow-host"},
		{host: "example.org:http", want: "--allow-host"},
	} {
		var origins, hosts []string
		if test.want == "--allow-origin" {
			origins = []string{test.origin}
		} else {
			hosts = []string{test.host}
		}
		if _, err := access.NewOrigins(origins, hosts, true); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}
