package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/message"
)

// deadline is how long anything awaited may take before a test fails.
const deadline = 30 * time.Second

// tools are those of the test server's:
//
//	progress  tells of its progress, then waits for gate if that is not nil
//	wait      tells that it has started, and ends when it is cancelled
//	echo      gives its arguments back
type tools struct {
	gate    chan struct{}
	started chan struct{}
}

func (ts tools) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ServerOptions{Logger: slog.New(slog.DiscardHandler)})
	add := func(name string, f mcp.ToolHandler) {
		s.AddTool(&mcp.Tool{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`)}, f)
	}
	add("progress", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if token := req.Params.GetProgressToken(); token != nil {
			if err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1}); err != nil {
				return nil, err
			}
		}
		if ts.gate != nil {
			select {
			case <-ts.gate:
			case <-ctx.Done():
			}
		}
		return textResult("done"), nil
	})
	add("wait", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if ts.started != nil {
			ts.started <- struct{}{}
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	add("echo", func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return textResult(string(req.Params.Arguments)), nil
	})
	return s
}

func textResult(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

func options() Options {
	return Options{Drain: deadline, Supported: message.Revisions, Log: slog.New(slog.DiscardHandler)}
}

// client speaks to Serve over pipes in memory.
type client struct {
	t     *testing.T
	conn  *conn
	in    *io.PipeWriter
	lines chan string
	ended chan error
}

func connect(t *testing.T, s *mcp.Server, opts Options) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, in: inW, lines: make(chan string, 1000), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancelCause(context.Background())
	c.conn = newConn(ctx, cancel, s, outW, opts)
	go func() {
		err := c.conn.serve(inR)
		outW.Close()
		c.ended <- err
	}()
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(c.lines)
		for r := bufio.NewReader(outR); ; {
			line, err := r.ReadString('\n')
			if line != "" {
				c.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		cancel(nil)
		inW.Close()
		// Or what nobody has asked for would keep the reader.
		for range c.lines {
		}
		<-read
	})
	return c
}

func (c *client) send(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(c.in, line+"\n"); err != nil {
			c.t.Fatal(err)
		}
	}
}

// line is the next line of the server's.
func (c *client) line() string {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatal("the output has ended")
		}
		return strings.TrimSuffix(line, "\n")
	case <-time.After(deadline):
		c.t.Fatalf("no line within %v", deadline)
		return ""
	}
}

// ask sends a line and expects the next of the server's to hold want.
func (c *client) ask(line, want string) {
	c.t.Helper()
	c.send(line)
	if got := c.line(); !strings.Contains(got, want) {
		c.t.Fatalf("%s\nis answered by %s\nwithout %s", line, got, want)
	}
}

// rest ends the input and returns what the server still says, and how Serve ended.
func (c *client) rest() (lines []string, err error) {
	c.t.Helper()
	c.in.Close()
	for line := range c.lines {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	select {
	case err := <-c.ended:
		return lines, err
	case <-time.After(deadline):
		c.t.Fatal("Serve does not return")
		return nil, nil
	}
}

func initialize(revision string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":%q,"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, revision)
}

// call is a tools/call request; meta holds members of _meta, as JSON.
func call(id, tool, meta string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"a":1},"_meta":{%s}}}`, id, tool, meta)
}

const modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`

func joined(members ...string) string { return strings.Join(members, ",") }
