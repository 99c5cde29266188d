package engine

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/message"
)

// CallTool answers a request that runs a function (see [IsCall]) beside the engine, which would take three goroutines and as many decodings for
// it; and servers are asked hardly anything else. An error is one that [Fault]
// takes.
type CallTool func(context.Context, ToolCall) (json.RawMessage, error)

// IsCall reports whether requests of a method are for a CallTool.
func IsCall(method string) bool {
	return method == "tools/call" || method == "prompts/get" || method == "resources/read"
}

// A ToolCall is a request of a method for which [IsCall] is true.
type ToolCall struct {
	Method  string             // "" is tools/call
	Session *mcp.ServerSession // the engine's for the request's era; nil for none
	Params  json.RawMessage
	Meta    json.RawMessage // the metadata in Params, as the client wrote it; nil is none
	Trace   message.Trace   // for the tool to take part in
	// Revision is what the session has negotiated; "" in the stateless era, or
	// before initialize.
	Revision string
	// Notify sends a notification about the request.
	Notify func(method string, params json.RawMessage)
	// Ask sends the client a request and waits for its result; nil where servers
	// do not, in the stateless era.
	Ask Ask
	// Owner is who asks, where senders are told apart.
	Owner string
	// Queued is called when nothing is left to do but to wait for the tool.
	Queued func()
}
