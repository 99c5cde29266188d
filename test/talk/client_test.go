package talk_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
	"github.com/conch-mcp/conch/test/judge"
)

// client speaks to one server. It judges all that the server says.
type client struct {
	t testing.TB
	way
	server  *harness.Server
	url     string // of the endpoint; "" on stdio
	session string
	caps    string // what it can be asked, JSON
	ended   bool

	// answer is asked what the server asks; nil has nothing answered.
	answer func(q question) reply

	mu      sync.Mutex
	last    int
	byID    map[string]*pending
	byToken map[string]*pending
	asked   []question // by the server, in the older era
}

// question is what a server asks.
type question struct {
	key, method string
	params      json.RawMessage
}

// reply is what it is answered: a result, an error, or nothing at all.
type reply struct{ result, err string }

// ask is what a client sends of a call.
type ask struct {
	tool, args string
	token      string // of progress, JSON; "" is none
	level      string // of log messages
	state      string // of an earlier round, with the answers
	answers    map[string]json.RawMessage
}

// pending is a request that was sent.
type pending struct {
	c      *client
	id     string
	method string
	token  string

	told  []json.RawMessage // notifications about it, or while it ran
	last  float64           // progress
	some  bool              // progress was told
	done  chan struct{}     // closed when reply is there, or never comes
	reply harness.Reply
	leave context.CancelFunc
}

// begin initializes a client of the older revisions.
func (c *client) begin() {
	c.t.Helper()
	if c.isModern() {
		return
	}
	p := c.send("initialize", fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":{"name":"suite","version":"1"}}`, c.revision, c.caps), "")
	p.wait()
	c.notify("notifications/initialized", "{}")
}

// send sends a request.
func (c *client) send(method, params, token string) *pending {
	c.t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	c.mu.Lock()
	c.last++
	p := &pending{c: c, id: fmt.Sprint(c.last), method: method, token: token, done: make(chan struct{}), leave: leave}
	c.byID[p.id] = p
	if token != "" {
		c.byToken[token] = p
	}
	c.mu.Unlock()
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, p.id, method, params)
	if c.url == "" {
		c.write(line)
	} else {
		go c.post(ctx, p, line, cmp.Or(text(json.RawMessage(params), "name"), text(json.RawMessage(params), "uri")))
	}
	return p
}

// write sends a line; whole, whoever else does.
func (c *client) write(line string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server.Send(line)
}

func (c *client) notify(method, params string) {
	c.t.Helper()
	line := fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params)
	c.say(line)
}

// say sends what has no answer.
func (c *client) say(line string) {
	if c.url == "" {
		c.write(line)
		return
	}
	c.postAside(line)
}

// params are those of a call.
func (c *client) params(a ask) string {
	var meta []string
	if c.isModern() {
		meta = append(meta, fmt.Sprintf(`"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":%s`, c.revision, c.caps))
		if a.level != "" {
			meta = append(meta, fmt.Sprintf(`"io.modelcontextprotocol/logLevel":%q`, a.level))
		}
	}
	if a.token != "" {
		meta = append(meta, `"progressToken":`+a.token)
	}
	params := fmt.Sprintf(`{"_meta":{%s},"name":%q`, strings.Join(meta, ","), a.tool)
	if a.args != "" {
		params += `,"arguments":` + a.args
	}
	if a.state != "" {
		params += `,"requestState":` + quote(a.state)
	}
	if a.answers != nil {
		params += `,"inputResponses":` + quote(a.answers)
	}
	return params + "}"
}

// start sends a call, or one round of it.
func (c *client) start(a ask) *pending {
	c.t.Helper()
	return c.send("tools/call", c.params(a), a.token)
}

// outcome is what came of a call in the end.
type outcome struct {
	harness.Reply
	told   []json.RawMessage
	rounds int // requests that it took
}

// call makes a call and answers what it asks.
func (c *client) call(a ask) outcome {
	c.t.Helper()
	var o outcome
	for {
		p := c.start(a)
		o.Reply = p.wait()
		o.rounds++
		o.told = append(o.told, p.told...)
		if text(o.Result, "resultType") != "input_required" || c.answer == nil {
			return o
		}
		a.state, a.answers = text(o.Result, "requestState"), c.answers(o.Result)
	}
}

// answers is what the client says to a result that asks.
func (c *client) answers(result json.RawMessage) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for _, q := range questions(result) {
		if r := c.answer(q); r.result != "" {
			all[q.key] = json.RawMessage(r.result)
		}
	}
	return all
}

// questions are those of a result that asks, sorted by their keys.
func questions(result json.RawMessage) (all []question) {
	var requests map[string]struct {
		Method string
		Params json.RawMessage
	}
	_ = json.Unmarshal(member(result, "inputRequests"), &requests)
	for _, key := range slices.Sorted(maps.Keys(requests)) {
		all = append(all, question{key, requests[key].Method, requests[key].Params})
	}
	return all
}

// wait waits for the answer to a request.
func (p *pending) wait() harness.Reply {
	p.c.t.Helper()
	select {
	case <-p.done:
	case <-time.After(harness.Deadline):
		p.c.t.Fatalf("no answer to %s %s within %v; the server said:\n%s", p.method, p.id, harness.Deadline, p.c.server.Stderr())
	}
	if p.reply.Raw == "" {
		p.c.t.Fatalf("no answer to %s %s; the server said:\n%s", p.method, p.id, p.c.server.Stderr())
	}
	return p.reply
}

// cancel has the server end a call as clients of its era do.
func (p *pending) cancel() {
	p.c.t.Helper()
	if p.c.url != "" && p.c.isModern() {
		p.leave()
		return
	}
	p.c.notify("notifications/cancelled", fmt.Sprintf(`{"requestId":%s}`, p.id))
}

// readLines takes what the server says on stdio.
func (c *client) readLines() {
	for line := range c.server.Lines() {
		c.take(strings.TrimSuffix(line, "\n"), nil)
	}
}

// take takes one message. about is the request whose stream it is in, nil on
// stdio.
func (c *client) take(line string, about *pending) {
	var m struct {
		ID     json.RawMessage
		Method string
		Params json.RawMessage
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		c.t.Errorf("not JSON: %.2000q", line)
		return
	}
	c.mu.Lock()
	p := c.byID[string(m.ID)]
	c.mu.Unlock()
	switch {
	case m.Method != "" && m.ID != nil:
		judge.Message(c.t, c.revision, "", line)
		go c.respond(m.ID, question{"", m.Method, m.Params})
	case m.Method != "":
		judge.Message(c.t, c.revision, "", line)
		c.note(m.Method, m.Params, about)
	case p == nil:
		c.t.Errorf("an answer to nothing: %.2000s", line)
	default:
		judge.Message(c.t, c.revision, p.method, line)
		c.mu.Lock()
		defer c.mu.Unlock()
		if p.reply.Raw != "" {
			c.t.Errorf("a second answer: %.2000s", line)
			return
		}
		_ = json.Unmarshal([]byte(line), &p.reply)
		p.reply.Raw = line
		if about == nil {
			close(p.done)
		}
	}
}

// note takes a notification. Progress is for a request that is not over, and
// more each time.
func (c *client) note(method string, params json.RawMessage, about *pending) {
	c.mu.Lock()
	defer c.mu.Unlock()
	whole := json.RawMessage(fmt.Sprintf(`{"method":%q,"params":%s}`, method, params))
	if method != "notifications/progress" {
		for _, p := range c.byID {
			if p.reply.Raw == "" && (about == nil || about == p) {
				p.told = append(p.told, whole)
			}
		}
		return
	}
	p := c.byToken[string(member(params, "progressToken"))]
	var value float64
	_ = json.Unmarshal(member(params, "progress"), &value)
	switch {
	case p == nil:
		c.t.Errorf("progress for a token that nobody gave: %s", whole)
	case p.reply.Raw != "":
		c.t.Errorf("progress after the answer: %s", whole)
	case p.some && value <= p.last:
		c.t.Errorf("progress that is none, after %v: %s", p.last, whole)
	default:
		p.last, p.some, p.told = value, true, append(p.told, whole)
	}
}

// respond answers a request of the server's. One for roots is also made by the
// server itself, for a client that has some, as soon as it is there: it is
// answered here, so that what tools ask is all that a test counts.
func (c *client) respond(id json.RawMessage, q question) {
	if q.method == "roots/list" {
		c.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"roots":[]}}`, id))
		return
	}
	c.mu.Lock()
	c.asked = append(c.asked, q)
	answer := c.answer
	c.mu.Unlock()
	if answer == nil {
		return
	}
	r := answer(q)
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, r.result)
	switch {
	case r.err != "":
		line = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`, id, r.err)
	case r.result == "":
		return
	}
	if c.url == "" {
		c.write(line)
		return
	}
	c.postAside(line)
}

// request is a POST.
func (c *client) request(ctx context.Context, line, name string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(line))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", c.revision)
	if c.isModern() {
		r.Header.Set("Mcp-Method", text(json.RawMessage(line), "method"))
		if name != "" {
			r.Header.Set("Mcp-Name", name)
		}
	} else if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	} else {
		r.Header.Del("MCP-Protocol-Version")
	}
	return r
}

// postAside sends what has no answer.
func (c *client) postAside(line string) {
	resp, err := http.DefaultClient.Do(c.request(context.Background(), line, ""))
	if err != nil {
		c.t.Errorf("post %.200s: %v", line, err)
		return
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		body, _ := io.ReadAll(resp.Body)
		c.t.Errorf("status %d for %.200s: %s", resp.StatusCode, line, body)
	}
}

// post sends a request and takes what comes, until the end of the response.
func (c *client) post(ctx context.Context, p *pending, line, name string) {
	defer close(p.done)
	defer p.leave()
	resp, err := http.DefaultClient.Do(c.request(ctx, line, name))
	if err != nil {
		if ctx.Err() == nil {
			c.t.Errorf("post %.200s: %v", line, err)
		}
		return
	}
	defer resp.Body.Close()
	if p.method == "initialize" {
		c.session = resp.Header.Get("Mcp-Session-Id")
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		body, _ := io.ReadAll(resp.Body)
		c.take(string(bytes.TrimSpace(body)), p)
		return
	}
	r := bufio.NewReader(resp.Body)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		if data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: "); ok && data != "" {
			c.take(data, p)
		}
	}
}

// progress are the values of progress that were told, as they were written.
func (o outcome) progress() (all []string) {
	for _, n := range o.told {
		if text(n, "method") == "notifications/progress" {
			all = append(all, string(member(n, "params", "progress")))
		}
	}
	return all
}

// logs are the log messages that were told: level, logger, data.
func (o outcome) logs() (all []string) {
	for _, n := range o.told {
		if text(n, "method") == "notifications/message" {
			all = append(all, text(n, "params", "level")+" "+text(n, "params", "logger")+" "+string(member(n, "params", "data")))
		}
	}
	return all
}

// content are the items of the result.
func (o outcome) content() (all []json.RawMessage) {
	_ = json.Unmarshal(member(o.Result, "content"), &all)
	return all
}

// says is the text of the only item, and whether the tool failed.
func (o outcome) says() (string, bool) {
	items := o.content()
	if len(items) != 1 || text(items[0], "type") != "text" {
		return "no single text: " + o.Raw, true
	}
	return text(items[0], "text"), string(member(o.Result, "isError")) == "true"
}

// wantSays checks the text of a call that has not failed.
func (o outcome) wantSays(t testing.TB, want string) {
	t.Helper()
	if got, failed := o.says(); got != want || failed {
		t.Errorf("it says %.2000q, want %.1000q: %.3000s", got, want, o.Raw)
	}
}
