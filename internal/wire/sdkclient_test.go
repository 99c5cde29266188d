package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
)

// sdkTools are the tools of a server with the manner BashSDK:
//
//	slow      tells that it has started, and ends once it is let or cancelled
//	stubborn  the same, but goes on when it is cancelled
//	fast      ends at once
//
// A call of any other is refused before anything runs.
type sdkTools struct {
	started chan string // the params of each that waits
	let     chan struct{}
}

func newSDKTools() *sdkTools {
	return &sdkTools{started: make(chan string, 1000), let: make(chan struct{}, 1000)}
}

func (ts *sdkTools) call(ctx context.Context, asked engine.ToolCall) (json.RawMessage, error) {
	name := message.Text(message.Member(asked.Params, "name"))
	switch name {
	case "slow", "stubborn", "fast":
	default:
		return nil, &jsonrpc.Error{Code: message.CodeMethodNotFound, Message: "Tool not found: " + name}
	}
	asked.Queued()
	if name == "fast" {
		return json.RawMessage(`{}`), nil
	}
	ts.started <- string(asked.Params)
	ended := ctx.Done()
	if name == "stubborn" {
		ended = nil
	}
	select {
	case <-ts.let:
	case <-ended:
	}
	return json.RawMessage(`{}`), ctx.Err()
}

// journal keeps what a connection logs.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) log(level, text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, level+" "+text)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.lines, "\n")
}

func (j *journal) count(part string) (n int) {
	for line := range strings.SplitSeq(j.String(), "\n") {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

// sdkClient speaks to a server with the manner BashSDK.
type sdkClient struct {
	*client
	*sdkTools
	journal *journal
}

func connectSDK(t *testing.T, inOrder int) *sdkClient {
	t.Helper()
	ts, j := newSDKTools(), &journal{}
	opts := options()
	opts.InOrder, opts.CallTool, opts.Manner = inOrder, ts.call, &BashSDK{Log: j.log}
	return &sdkClient{connect(t, tools{}.server(), opts), ts, j}
}

// write writes a text that ends in no newline, and returns once it has been
// noted as such.
func (c *sdkClient) write(text string) {
	c.t.Helper()
	for _, part := range []string{text, ""} {
		// The empty write ends with the read behind the one that took the text.
		if _, err := io.WriteString(c.in, part); err != nil {
			c.t.Fatal(err)
		}
	}
}

// begin sends a call of a tool that waits, and returns once it does.
func (c *sdkClient) begin(id, tool string) {
	c.t.Helper()
	c.send(call(id, tool, ""))
	c.awaitStart()
}

func (c *sdkClient) awaitStart() {
	c.t.Helper()
	select {
	case <-c.started:
	case <-time.After(deadline):
		c.t.Fatal("no call starts")
	}
}

func (c *sdkClient) end() { c.let <- struct{}{} }

// endInput ends the input, and returns once the server knows.
func (c *sdkClient) endInput() {
	c.t.Helper()
	c.in.Close()
	c.await("the end of the input", func() bool { return c.conn.tail.ended })
}

// await waits until what is asked of the connection holds; its mu is held.
func (c *sdkClient) await(what string, holds func() bool) {
	c.t.Helper()
	poll(c.t, what, func() bool {
		c.conn.mu.Lock()
		defer c.conn.mu.Unlock()
		return holds()
	})
}

func poll(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(deadline); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s is not seen", what)
		}
	}
}

// queued waits until that many lines wait for their turn.
func (c *sdkClient) queued(n int) {
	c.t.Helper()
	c.await(fmt.Sprintf("a queue of %d", n), func() bool { return len(c.conn.queue.lines) == n })
}

// answers ends the input and expects the server to say this, and nothing else.
func (c *sdkClient) answers(want ...string) {
	c.t.Helper()
	lines, err := c.rest()
	if err != nil || strings.Join(lines, "\n") != strings.Join(want, "\n") {
		c.t.Errorf("Serve: %v; it says\n%s\nand should\n%s\nThe journal:\n%s", err, strings.Join(lines, "\n"), strings.Join(want, "\n"), c.journal)
	}
}

// logged expects the journal to hold a line that many times.
func (c *sdkClient) logged(times int, part string) {
	c.t.Helper()
	if n := c.journal.count(part); n != times {
		c.t.Errorf("%q is there %d times, not %d:\n%s", part, n, times, c.journal)
	}
}

func ping(id string) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id) }

func cancelled(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)
}

func empty(id string) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id) }

func refused(id string, code int, text string) string {
	quoted, _ := json.Marshal(text)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, quoted)
}

const (
	noObject    = "Invalid Request: expected a JSON object"
	noDocument  = "Parse error: Expected exactly one JSON document per line"
	noJSON      = "Parse error: Invalid JSON"
	noVersion   = "Invalid Request: jsonrpc must be 2.0"
	noID        = "Invalid Request: id must be a string or an integer"
	handedOver  = "Handing a partial line of "
	discarded   = "Discarding a partial line of "
	closedInMid = "INFO Client closed stdin during an in-flight call; shutting down"
)
