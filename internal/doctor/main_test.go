package doctor_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/process"
)

// Roles the test binary plays when it is started with one as first argument.
const (
	roleSentinel = "play-sentinel"
	roleServer   = "play-server"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 {
		switch os.Args[1] {
		case roleSentinel:
			_ = process.Sentinel(os.Args[2])
			// Not by Exit: the race detector makes that take a second.
			_ = unix.Kill(os.Getpid(), unix.SIGKILL)
		case roleServer:
			serve(os.Args[2])
			_ = unix.Kill(os.Getpid(), unix.SIGKILL)
		}
	}
	os.Exit(m.Run())
}

// serve is a server of a kind.
func serve(kind string) {
	server := mcp.NewServer(&mcp.Implementation{Name: kind, Version: "7"}, nil)
	if kind != "bare" && kind != "prompts" {
		for n := range 10 {
			tool := &mcp.Tool{Name: fmt.Sprintf("tool%d", n), InputSchema: map[string]any{"type": "object"}}
			server.AddTool(tool, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{}, nil
			})
		}
	}
	if kind == "prompts" {
		server.AddPrompt(&mcp.Prompt{Name: "p"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{}, nil
		})
	}
	if kind == "loud" {
		for range 100000 {
			fmt.Fprintln(os.Stderr, "level=WARN that is no log of conch's")
		}
	}
	if kind == "lingering" {
		signal.Ignore(unix.SIGTERM)
	}
	_ = server.Run(context.Background(), &mcp.StdioTransport{})
	if kind == "lingering" {
		time.Sleep(time.Hour)
	}
}
