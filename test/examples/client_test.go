package examples_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

// client speaks to a server in one revision.
type client struct {
	t        *testing.T
	revision string
	via      transport
	ids      int
}

// transport is how messages get to the server and back.
type transport interface {
	// exchange sends a request, with what HTTP says of it, and returns its answer.
	exchange(header map[string]string, body string) harness.Reply
	// notify sends what is not answered.
	notify(body string)
	// listen has the server tell of changes: a request asks for it, or "" where that
	// has been done.
	listen(header map[string]string, body string)
	// told is the next notification.
	told() string
	// end ends the server, of which nothing may be left.
	end()
}

// everyClient runs a test with clients of both eras over stdio and over HTTP, each
// of which has a server of the example's to itself.
func everyClient(t *testing.T, name string, test func(t *testing.T, c *client)) {
	script := theExample(t, name).script
	for _, revision := range []string{modern, harness.NewestLegacy} {
		for transportName, begin := range map[string]func(*testing.T, string) transport{"stdio": beginStdio, "HTTP": beginHTTP} {
			t.Run(revision+" over "+transportName, func(t *testing.T) {
				c := &client{t: t, revision: revision, via: begin(t, script)}
				if revision != modern {
					c.via.exchange(nil, harness.Initialize(revision))
					c.via.notify(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				}
				test(t, c)
				if !t.Failed() {
					c.via.end()
				}
			})
		}
	}
}

// ask sends a request and returns its answer. params are the members of an object.
func (c *client) ask(method, params string) harness.Reply {
	c.t.Helper()
	header, body := c.request(method, params)
	r := c.via.exchange(header, body)
	if string(r.ID) != fmt.Sprint(c.ids) {
		c.t.Fatalf("request %d was answered %s", c.ids, r.Raw)
	}
	return r
}

func (c *client) request(method, params string) (header map[string]string, body string) {
	c.ids++
	if c.revision != modern {
		return nil, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, c.ids, method, params)
	}
	header, body = harness.ModernRequest(fmt.Sprint(c.ids), method, params)
	var named struct{ URI string }
	if json.Unmarshal([]byte("{"+params+"}"), &named) == nil && named.URI != "" {
		header["Mcp-Name"] = named.URI
	}
	return header, body
}

// subscribe has the client hear of resources from now on.
func (c *client) subscribe(uris ...string) {
	c.t.Helper()
	if c.revision != modern {
		for _, uri := range uris {
			if r := c.ask("resources/subscribe", fmt.Sprintf(`"uri":%q`, uri)); r.Error != nil {
				c.t.Fatalf("%s: %s", uri, r.Raw)
			}
		}
		c.via.listen(nil, "")
		return
	}
	list, _ := json.Marshal(uris)
	c.via.listen(c.request("subscriptions/listen", `"notifications":{"resourceSubscriptions":`+string(list)+`}`))
	if line := c.via.told(); !strings.Contains(line, `"notifications/subscriptions/acknowledged"`) || !strings.Contains(line, `"notifications":{"resourceSubscriptions":`+string(list)+`}`) {
		c.t.Fatalf("it does not listen: %s", line)
	}
}

// hears is the URI of the next resource that the client is told of.
func (c *client) hears() string {
	c.t.Helper()
	line := c.via.told()
	var n struct {
		Method string
		Params struct{ URI string }
	}
	if json.Unmarshal([]byte(line), &n) != nil || n.Method != "notifications/resources/updated" {
		c.t.Fatalf("told of something else: %s", line)
	}
	return n.Params.URI
}

// stdio is one connection for all.
type stdio struct {
	t       *testing.T
	server  *harness.Server
	waiting []string // notifications that came before an answer
}

func beginStdio(t *testing.T, script string) transport {
	return &stdio{t: t, server: harness.Serve(t, script)}
}

func (s *stdio) exchange(_ map[string]string, body string) harness.Reply {
	s.t.Helper()
	s.server.Send(body)
	r, told := reply(s.t, s.server)
	s.waiting = append(s.waiting, told...)
	return r
}

func (s *stdio) notify(body string) { s.server.Send(body) }

func (s *stdio) listen(_ map[string]string, body string) {
	s.t.Helper()
	if body != "" {
		s.server.Send(body)
	}
}

func (s *stdio) told() string {
	s.t.Helper()
	if len(s.waiting) == 0 {
		return s.server.Line()
	}
	line := s.waiting[0]
	s.waiting = s.waiting[1:]
	return line
}

func (s *stdio) end() {
	s.t.Helper()
	for _, line := range append(s.waiting, s.server.Rest()...) {
		// What listens is answered at the end.
		if !strings.Contains(line, `"resultType":"complete"`) {
			s.t.Errorf("nobody expected %s", line)
		}
	}
	if state := s.server.Wait(); state.ExitCode() != 0 {
		s.t.Errorf("the server ended with %v", state)
	}
	s.server.LeavesNothing(harness.Deadline)
}

// overHTTP is a request for each message, and one whose answer goes on.
type overHTTP struct {
	t       *testing.T
	server  *harness.HTTPServer
	session map[string]string // its headers
	stream  *bufio.Reader
	leave   context.CancelFunc
}

func beginHTTP(t *testing.T, script string) transport {
	return &overHTTP{t: t, server: harness.ServeHTTP(t, script), leave: func() {}}
}

// send sends a request that may take until ctx ends.
func (h *overHTTP) send(ctx context.Context, method string, header map[string]string, body string) *http.Response {
	h.t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, h.server.URL(), strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	for _, all := range []map[string]string{h.session, header} {
		for name, value := range all {
			request.Header.Set(name, value)
		}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		h.t.Fatal(err)
	}
	return response
}

func (h *overHTTP) exchange(header map[string]string, body string) harness.Reply {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), harness.Deadline)
	defer cancel()
	response := h.send(ctx, http.MethodPost, header, body)
	defer response.Body.Close()
	text, err := message(response)
	if err != nil {
		h.t.Fatal(err)
	}
	if id := response.Header.Get("Mcp-Session-Id"); id != "" && h.session == nil {
		h.session = map[string]string{"Mcp-Session-Id": id, "MCP-Protocol-Version": harness.NewestLegacy}
	}
	return harness.ParseReply(h.t, text)
}

func (h *overHTTP) notify(body string) {
	h.t.Helper()
	response := h.send(h.t.Context(), http.MethodPost, nil, body)
	response.Body.Close()
	if response.StatusCode != http.StatusAccepted {
		h.t.Fatalf("%s was answered with %s", body, response.Status)
	}
}

func (h *overHTTP) listen(header map[string]string, body string) {
	h.t.Helper()
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	ctx, cancel := context.WithTimeout(h.t.Context(), tableDeadline)
	h.t.Cleanup(cancel)
	response := h.send(ctx, method, header, body)
	h.t.Cleanup(func() { response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		h.t.Fatalf("it does not listen: %s", response.Status)
	}
	h.stream, h.leave = bufio.NewReader(response.Body), cancel
}

func (h *overHTTP) told() string {
	h.t.Helper()
	for {
		line, err := h.stream.ReadString('\n')
		if err != nil {
			h.t.Fatalf("nothing more is told: %v", err)
		}
		if text, found := strings.CutPrefix(line, "data: "); found && text != "\n" {
			return strings.TrimSuffix(text, "\n")
		}
	}
}

func (h *overHTTP) end() {
	h.t.Helper()
	h.leave()
	h.server.Terminate()
}
