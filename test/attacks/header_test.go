package attacks_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// bare is a request of which every line is the caller's.
func bare(lines ...string) string { return strings.Join(lines, "\r\n") + "\r\n\r\n" }

// Whatever a head holds: the connection is answered, or closed, and what is said
// has the status that is told here; 0 is a close without a word.
func TestStrangeHeadsAreAnswered(t *testing.T) {
	t.Parallel()
	e := serve(t, "--idle-timeout", "500ms", "--header-timeout", "500ms", "--read-timeout", "500ms")
	host := "Host: " + e.Address
	encoded := func(text string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?=" }
	many := func(n int, line string) []string {
		lines := make([]string, n)
		for i := range lines {
			lines[i] = fmt.Sprintf(line, i)
		}
		return lines
	}
	on := func(target string) string {
		return strings.Replace(e.call("x", "Connection: close"), "/mcp", target, 1)
	}
	as := func(method string) string { return bare(method+" /mcp HTTP/1.1", host, "Connection: close") }
	tests := []struct {
		name, text string
		want       int
	}{
		{"a bare CR in a value", e.call("x", "X: a\rb"), 400},
		{"a bare LF in a value, which ends a line", e.call("x", "X: a\nY: b", "Connection: close"), 200},
		{"NUL in a value", e.call("x", "X: a\x00b"), 400},
		{"an escape in a value", e.call("x", "X: a\x1b[31mb"), 400},
		{"8 bits in a value", e.call("x", "X: \xff\xfe", "Connection: close"), 200},
		{"a folded value", e.call("x", "X: a\r\n b", "Connection: close"), 200},
		{"a fold in the first line", bare("POST /mcp HTTP/1.1", " folded: x", host), 400},
		{"a name with a space", e.call("x", "X Y: z"), 400},
		{"a name of nothing", e.call("x", ": z"), 400},
		{"a line without a colon", e.call("x", "nothing"), 400},
		{"8 bits in a name", e.call("x", "X\xff: z"), 400},
		{"64 KiB in a value", e.call("x", "X: "+strings.Repeat("x", 80<<10)), 431},
		{"64 KiB in a name", e.call("x", strings.Repeat("x", 80<<10)+": y"), 431},
		{"2,000 headers", e.call("x", append(many(2000, "X-%d: y"), "Connection: close")...), 200},
		{"20,000 headers", e.call("x", many(20000, "X-%d: y")...), 431},
		{"2,000 Accept", e.call("x", append(many(2000, "Accept: a/b;q=0.%d"), "Connection: close")...), 200},
		{"an Accept of commas", e.call("x", "Accept: "+strings.Repeat(",", 60<<10), "Connection: close"), 200},
		{"a Content-Type of parameters", bare("POST /mcp HTTP/1.1", host, "Content-Type: application/json"+strings.Repeat(";a=b", 10000), "Connection: close"), 400},
		{"odd cases", strings.NewReplacer("Mcp-Method", "mCP-mETHOD", "Content-Type", "CONTENT-TYPE", "MCP-Protocol", "mcp-pROTOCOL").Replace(e.call("x", "Connection: close")), 200},
		{"two Host", e.call("x", "Host: localhost"), 400},
		{"no Host", strings.Replace(e.call("x"), host+"\r\n", "", 1), 400},
		{"a Host that is none", strings.Replace(e.call("x", "Connection: close"), host, "Host: a b", 1), 400},
		{"a strange Host", strings.Replace(e.call("x", "Connection: close"), host, "Host: evil.example", 1), 403},
		{"Mcp-Name of control characters", strings.Replace(e.call("x", "Connection: close"), "Mcp-Name: echo", "Mcp-Name: "+encoded("e\r\nX: y\x00"), 1), 400},
		{"Mcp-Name encoded", strings.Replace(e.call("x", "Connection: close"), "Mcp-Name: echo", "Mcp-Name: "+encoded("echo"), 1), 200},
		{"Mcp-Name encoded badly", strings.Replace(e.call("x", "Connection: close"), "Mcp-Name: echo", "Mcp-Name: =?base64?ZWNo?=", 1), 400},
		{"Mcp-Method of another", strings.Replace(e.call("x", "Connection: close"), "Mcp-Method: tools/call", "Mcp-Method: tools/list", 1), 400},
		{"the whole URL", on("http://" + e.Address + "/mcp"), 200},
		{"the whole URL of another", on("http://evil.example/mcp"), 403},
		{"a URL with a user", on("http://a:b@" + e.Address + "/mcp"), 200},
		{"an authority alone", on(e.Address), 400},
		{"a star", strings.Replace(as("OPTIONS"), "/mcp", "*", 1), 200},
		{"a star for POST", on("*"), 404},
		{"//mcp", on("//mcp"), 404},
		{"/mcp/../mcp", on("/mcp/../mcp"), 404},
		{"/mcp/", on("/mcp/"), 404},
		{"/mcp;x", on("/mcp;x"), 404},
		{"/mcp%00", on("/mcp%00"), 404},
		{"/mcp%2f", on("/mcp%2f"), 404},
		{"a letter in other words", on("/%6dcp"), 200},
		{"a broken escape", on("/%zzmcp"), 400},
		{"a fragment", on("/mcp#x"), 404},
		{"a long path", on("/" + strings.Repeat("x", 30<<10)), 404},
		{"a path too long", on("/" + strings.Repeat("x", 80<<10)), 431},
		{"a long query", on("/mcp?" + strings.Repeat("x=y&", 10000)), 200},
		{"8 bits in a path", on("/mcp\xff"), 404},
		{"control characters in a path", on("/mcp\x01"), 400},
		{"HTTP/1.0", strings.Replace(e.call("x"), "HTTP/1.1", "HTTP/1.0", 1), 200},
		{"HTTP/0.9", "GET /mcp\r\n\r\n", 400},
		{"HTTP/3.0", strings.Replace(e.call("x"), "HTTP/1.1", "HTTP/3.0", 1), 505},
		{"HTTP/2 without having asked", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 403},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400},
		{"noise", "\x00\xff\x80\n\n\n\r\n\r\n", 400},
		{"an upgrade", e.call("x", "Connection: Upgrade, HTTP2-Settings, close", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__"), 200},
		{"HEAD", as("HEAD"), 405},
		{"TRACE", as("TRACE"), 405},
		{"CONNECT", strings.Replace(as("CONNECT"), "/mcp", e.Address, 1), 404},
		{"a method nobody knows", as("BREW"), 405},
		{"a method of 40 KiB", as(strings.Repeat("X", 40<<10)), 405},
		{"a method that is none", as("PO(ST"), 400},
	}
	e.withstands(bound, func() {
		each(len(tests), 8, func(i int) {
			conn := e.dial()
			method := "POST"
			if strings.HasPrefix(tests[i].text, "HEAD ") {
				method = "HEAD"
			}
			// Of what is too long the server may not read the end.
			_ = write(conn, tests[i].text)
			got := statuses(t, conn, method)
			if len(got) != 1 || got[0] != tests[i].want {
				t.Errorf("%s: answered with %v, want %d", tests[i].name, got, tests[i].want)
			}
		})
	})
	if log := e.Stderr(); len(log) > 1<<20 {
		t.Errorf("the log has %d bytes", len(log))
	}
	e.Terminate()
}
