package proxies_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// A client speaks to one endpoint over connections of its own.
type client struct {
	t       *testing.T
	url     string
	session string // "" in the stateless era
	http    *http.Client
}

func newClient(t *testing.T, url string) *client {
	transport := &http.Transport{ResponseHeaderTimeout: harness.Deadline}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{t: t, url: url, http: &http.Client{Transport: transport}}
}

// do sends a request. Its answer is there until the test ends, or ctx.
func (c *client) do(ctx context.Context, method, body string, header ...string) *http.Response {
	c.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	timer := time.AfterFunc(harness.Deadline, func() { response.Body.Close() })
	c.t.Cleanup(func() {
		timer.Stop()
		response.Body.Close()
	})
	return response
}

// callModern calls a tool as a client of the stateless era does.
func (c *client) callModern(ctx context.Context, tool string, arguments map[string]string) *http.Response {
	c.t.Helper()
	text, _ := json.Marshal(arguments)
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, tool, text)
	return c.do(ctx, http.MethodPost, body, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", tool)
}

// call calls a tool in the session.
func (c *client) call(ctx context.Context, tool string, arguments map[string]string) *http.Response {
	c.t.Helper()
	text, _ := json.Marshal(arguments)
	return c.do(ctx, http.MethodPost, harness.Call(2, tool, string(text)))
}

// begin begins a session.
func (c *client) begin() {
	c.t.Helper()
	response := c.do(c.t.Context(), http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{`+
		`"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"proxied","version":"1"}}}`)
	c.session = response.Header.Get("Mcp-Session-Id")
	if text := whole(c.t, response, http.StatusOK); c.session == "" {
		c.t.Fatalf("no session was begun: %s", text)
	}
	whole(c.t, c.do(c.t.Context(), http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`), http.StatusAccepted)
}

// whole reads an answer to its end.
func whole(t *testing.T, response *http.Response, status int) string {
	t.Helper()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != status {
		t.Fatalf("status %d, want %d: %s", response.StatusCode, status, text)
	}
	return string(text)
}

// says fails the test unless a message is the result of a tool that said text.
func says(t *testing.T, message, text string) {
	t.Helper()
	if got, isError := harness.ParseReply(t, message).ToolText(t); got != text || isError {
		t.Errorf("the tool said %q, error %v; want %q", got, isError, text)
	}
}

// A stream is an answer of server-sent events.
type stream struct {
	t     *testing.T
	lines *bufio.Reader
	id    string // of the last event
}

func newStream(t *testing.T, response *http.Response) *stream {
	t.Helper()
	if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != "text/event-stream" {
		t.Fatalf("status %d, %q; want a stream: %s", response.StatusCode, got, whole(t, response, response.StatusCode))
	}
	return &stream{t: t, lines: bufio.NewReader(response.Body)}
}

// next returns the field and the value of the next line that says something. A
// comment has no field.
func (s *stream) next() (field, value string) {
	s.t.Helper()
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			s.t.Fatalf("the stream has ended after event %q: %v", s.id, err)
		}
		if line == "\n" {
			continue
		}
		field, value, _ = strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")
		if field == "id" {
			s.id = value
		}
		return field, value
	}
}

// comments waits until so many comments have come.
func (s *stream) comments(count int) {
	s.t.Helper()
	for count > 0 {
		field, value := s.next()
		if field == "" {
			count--
		}
		if field == "data" && value != "" {
			s.t.Fatalf("a message where comments were to come: %s", value)
		}
	}
}

// message returns the next message.
func (s *stream) message() string {
	s.t.Helper()
	for {
		if field, value := s.next(); field == "data" && value != "" {
			return value
		}
	}
}
