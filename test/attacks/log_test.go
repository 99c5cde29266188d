package attacks_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

var textLine = regexp.MustCompile(`^time=\S+ level=(DEBUG|INFO|WARN|ERROR) msg=`)

// Whatever clients send, a line of the log is a line, of visible characters, and
// says what conch says.
func TestNothingIsInjectedIntoTheLog(t *testing.T) {
	t.Parallel()
	const forged = "time=2000-01-01T00:00:00Z level=ERROR msg=forged"
	poisons := []string{
		"a\n" + forged, "a\r\n" + forged, "a\r" + forged, "a\u2028" + forged, "a\u0085" + forged, "\x1b[2J\x1b]0;x\x07", "a\x00b", "a\x7fb", "\u202ea\u2066",
		`a" level=ERROR msg="forged`, `a","level":"ERROR","msg":"forged`, "a\\n" + forged, strings.Repeat("x", 50000), "a\tb", "\u009b31m",
	}
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "tokens")
			if err := os.WriteFile(file, []byte("me a-token-0123456789\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			e := serve(t, "--log-format", format, "--log-level", "debug", "--token-file", file)
			e.token = "a-token-0123456789"
			header := e.session("2025-03-26")
			e.withstands(bound, func() {
				each(len(poisons), 4, func(i int) {
					poison := poisons[i]
					quoted, _ := json.Marshal(poison)
					for _, header := range []map[string]string{header, {"MCP-Protocol-Version": harness.Modern}} {
						e.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%s}`, quoted, quoted), header)
						e.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%s}}`, quoted), header)
						e.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{%s:%s}}}`, quoted, quoted), header)
						e.post(fmt.Sprintf(`{"jsonrpc":"2.0","method":%s}`, quoted), header)
					}
					e.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%s,"capabilities":{},"clientInfo":{"name":%s,"version":%s}}}`, quoted, quoted, quoted), nil)
					for _, raw := range []string{
						strings.Replace(e.call("x", "Connection: close"), "/mcp", "/"+url.PathEscape(poison), 1),
						strings.Replace(e.call("x", "Connection: close"), "/mcp", "/mcp?"+url.QueryEscape(poison), 1),
						strings.Replace(e.call("x", "Connection: close"), "/mcp", "/"+poison, 1),
						e.call("x", "Connection: close", "Authorization: Bearer "+poison),
						e.call("x", "Connection: close", "Mcp-Session-Id: "+poison, "Last-Event-ID: "+poison, "Origin: "+poison, "traceparent: "+poison),
						strings.Replace(e.call("x", "Connection: close"), "POST", strings.Map(token, poison), 1),
					} {
						conn := e.dial()
						_ = write(conn, raw)
						closed([]net.Conn{conn}, soon)
					}
				})
			})
			e.Terminate()
			checkLog(t, format, e.Stderr())
		})
	}
}

// token leaves what a method may hold.
func token(c rune) rune {
	if c < 'a' || c > 'z' {
		return 'X'
	}
	return c
}

func checkLog(t *testing.T, format, log string) {
	t.Helper()
	for line := range strings.Lines(log) {
		line = strings.TrimSuffix(line, "\n")
		var record struct{ Time, Level, Msg string }
		broken := format == "text" && !textLine.MatchString(line) || format == "json" && json.Unmarshal([]byte(line), &record) != nil
		if broken || strings.HasPrefix(line, "time=2000") || record.Msg == "forged" || strings.Contains(line, " msg=forged") && !strings.Contains(line, `"`) {
			t.Errorf("the log has the line %.300q", line)
		}
		for _, c := range line {
			if c < ' ' || c >= 0x7f && c < 0xa0 || c == '\u2028' || c == '\u2029' || c == '\u202e' || c == '\u2066' {
				t.Errorf("the log has %U in the line %.300q", c, line)
				break
			}
		}
		if len(line) > 4000 {
			t.Errorf("the log has a line of %d bytes: %.300q", len(line), line)
		}
	}
}
