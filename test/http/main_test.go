// Package http_test holds what the HTTP endpoint promises, from outside.
package http_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

const (
	modern       = harness.Modern
	newestLegacy = harness.NewestLegacy
)

// script has tools that answer, wait, fail and stay.
const script = `
tool_echo() { printf '%s' "$1"; }
tool_fail() { echo "no luck"; return 3; }
# Waits until somebody removes the file it has made.
tool_wait() {
  echo "$BASHPID" >"$arg_file.pid"
  : >"$arg_file"
  while [[ -e $arg_file ]]; do sleep 0.02; done
  echo "waited"
}
`

const toolsList = `{"tools":[
 {"name":"echo","inputSchema":{"type":"object"}},
 {"name":"fail","inputSchema":{"type":"object"}},
 {"name":"wait","inputSchema":{"type":"object","properties":{"file":{"type":"string"}},"required":["file"]}}]}`

// endpoint is a running conch serve --http.
type endpoint struct {
	*harness.HTTPServer
	t   testing.TB
	url string // of the endpoint
	top string // of the server
}

// serve serves the script above.
func serve(t testing.TB, flags ...string) *endpoint {
	t.Helper()
	return serveScript(t, script, toolsList, "{}", flags...)
}

func serveScript(t testing.TB, script, tools, config string, flags ...string) *endpoint {
	t.Helper()
	return servePath(t, harness.Script(t, script, tools, config), flags...)
}

func servePath(t testing.TB, path string, flags ...string) *endpoint {
	t.Helper()
	e := harness.ServeHTTP(t, append(flags, path)...)
	return &endpoint{HTTPServer: e, t: t, url: e.URL(), top: "http://" + e.Address}
}

// sent is a request to send. Header values replace those a client would send;
// an empty one takes a header away.
type sent struct {
	method string // POST without
	path   string // the endpoint's without
	header map[string]string
	body   string
}

// got is what came back.
type got struct {
	status int
	header http.Header
	body   string
}

func (s sent) request(ctx context.Context, e *endpoint) *http.Request {
	e.t.Helper()
	method, url := s.method, e.url
	if method == "" {
		method = http.MethodPost
	}
	if s.path != "" {
		url = e.top + s.path
	}
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(s.body))
	if err != nil {
		e.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range s.header {
		if value == "" {
			r.Header.Del(name)
			continue
		}
		r.Header[http.CanonicalHeaderKey(name)] = strings.Split(value, "\n")
	}
	return r
}

func (e *endpoint) send(s sent) got {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.Deadline)
	defer cancel()
	resp, err := http.DefaultClient.Do(s.request(ctx, e))
	if err != nil {
		e.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return got{resp.StatusCode, resp.Header, string(body)}
}

// post sends a message of the stateless era with the headers it must have.
func (e *endpoint) post(id, method, params string, header map[string]string) got {
	e.t.Helper()
	return e.send(modernRequest(id, method, params, header))
}

func modernRequest(id, method, params string, header map[string]string) sent {
	all, body := harness.ModernRequest(id, method, params)
	for name, value := range header {
		all[name] = value
	}
	return sent{header: all, body: body}
}

// client is one with a session.
type client struct {
	*endpoint
	id       string
	revision string
}

func (e *endpoint) initialize(revision string) *client {
	e.t.Helper()
	answer := e.send(sent{body: harness.Initialize(revision)})
	if answer.status != 200 {
		e.t.Fatalf("initialize: %+v", answer)
	}
	c := &client{e, answer.header.Get("Mcp-Session-Id"), revision}
	if c.id == "" {
		e.t.Fatalf("initialize gave no session: %+v", answer)
	}
	if ready := c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); ready.status != 202 || ready.body != "" {
		e.t.Fatalf("initialized: %+v", ready)
	}
	return c
}

func (c *client) header() map[string]string {
	return map[string]string{"Mcp-Session-Id": c.id, "MCP-Protocol-Version": c.revision}
}

func (c *client) send(body string) got {
	c.t.Helper()
	return c.endpoint.send(sent{header: c.header(), body: body})
}

// open sends a request and returns its response as soon as its header is there.
func (e *endpoint) open(s sent) *response {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*harness.Deadline)
	resp, err := http.DefaultClient.Do(s.request(ctx, e))
	if err != nil {
		cancel()
		e.t.Fatal(err)
	}
	e.t.Cleanup(cancel)
	return &response{e.t, resp, bufio.NewReader(resp.Body), cancel}
}

// response is one that is being read.
type response struct {
	t testing.TB
	*http.Response
	r     *bufio.Reader
	leave context.CancelFunc
}

// frame is what stands between two empty lines of a stream.
type frame struct{ id, data, comment, retry string }

// next reads the next frame; ok is false at the end of the stream.
func (r *response) next() (f frame, ok bool) {
	r.t.Helper()
	for {
		line, err := r.r.ReadString('\n')
		line = strings.TrimSuffix(line, "\n")
		switch {
		case err != nil:
			return f, false
		case line == "":
			return f, true
		case strings.HasPrefix(line, ":"):
			f.comment = strings.TrimSpace(line[1:])
			continue
		}
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case "id":
			f.id = value
		case "data":
			f.data = value
		case "retry":
			f.retry = value
		}
	}
}

// message reads frames until one has a message.
func (r *response) message() frame {
	r.t.Helper()
	for {
		f, ok := r.next()
		if !ok {
			r.t.Fatal("the stream has ended without a message")
		}
		if f.data != "" {
			return f
		}
	}
}

// sameJSON compares two JSON texts as values, numbers to the digit.
func sameJSON(t testing.TB, got, want string) {
	t.Helper()
	decode := func(text string) string {
		var b bytes.Buffer
		if err := json.Compact(&b, []byte(text)); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return b.String()
	}
	if g, w := decode(got), decode(want); g != w {
		t.Errorf("got  %s\nwant %s", g, w)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// runs reports whether the call of wait with this file does.
func runs(t testing.TB, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file + ".pid")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return harness.Alive(pid)
}

func awaitFile(t testing.TB, path string) {
	t.Helper()
	harness.Eventually(t, harness.Deadline, path+" is there", func() bool { return exists(path) })
}
