package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/shell"
)

// This file is what the manner MCPServerBashSDK changes: a tool is there when its
// function is, whether it is listed or not, and the list says what its arguments
// must be.

// callFunction answers tools/call.
func (h *Host) callFunction(ctx context.Context, asked engine.ToolCall) (json.RawMessage, error) {
	c := functionCall{toolCall{host: h, modern: message.ReadMeta(asked.Params).Modern, trace: shell.Trace(asked.Trace), queued: asked.Queued}}
	return c.answer(ctx, message.Text(message.Member(asked.Params, "name")), message.Member(asked.Params, "arguments"))
}

// functionCall is one call of a tool whose script was written for
// mcp-server-bash-sdk.
type functionCall struct{ toolCall }

// answer finds the tool, runs it, and makes the result.
func (c functionCall) answer(ctx context.Context, name string, arguments json.RawMessage) (json.RawMessage, error) {
	switch {
	case !isFunctionPart(name):
		return nil, &jsonrpc.Error{Code: message.CodeInvalidRequest, Message: "Invalid tool name: " + message.Clip(name)}
	case !c.host.opts.Exists(name):
		return nil, &jsonrpc.Error{Code: message.CodeInvalidParams, Message: "Tool not found: " + message.Clip(name)}
	case string(arguments) == "null":
		arguments = nil
	case len(arguments) > 0 && arguments[0] != '{':
		return nil, invalidParams("arguments must be an object")
	}
	c.tool = &catalog.Tool{Name: name}
	return c.resultOf(ctx, c.run, arguments)
}

// isFunctionPart reports whether tool_<name> is a name this framework calls.
func isFunctionPart(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return name != ""
}

func (c functionCall) run(ctx context.Context, arguments json.RawMessage) (text string, isError bool) {
	h := c.host
	if defect := c.defect(arguments); defect != "" {
		h.opts.Log.Info("arguments refused", "tool", c.tool.Name)
		return defect, true
	}
	c.queued()
	outcome, err := h.opts.Run(ctx, c.function("tool_"+c.tool.Name, compactArguments(arguments)))
	switch {
	case ctx.Err() != nil:
		return "", true
	case err != nil:
		h.opts.Log.Error("the tool could not be run", "tool", c.tool.Name, "err", err)
		return c.cannotRun(err), true
	}
	return c.outcome(outcome), failed(outcome)
}

// defect tells what is wrong with arguments, "" when nothing is, or nobody says
// what they must be.
func (c functionCall) defect(arguments json.RawMessage) string {
	h := c.host
	if h.opts.Unchecked {
		return ""
	}
	tools, err := h.toolsNow()
	var file *catalog.FileError
	switch {
	case errors.As(err, &file) && file.NotFound:
		return ""
	case err != nil:
		return uncheckable(c.tool.Name, err.Error())
	case !tools.Declares(c.tool.Name):
		return ""
	}
	tool := tools.Lookup(c.tool.Name)
	switch {
	case tool == nil:
		return uncheckable(c.tool.Name, fmt.Sprintf("the tool list at %s declares it more than once", tools.File))
	case tool.InputSchema == nil:
		return ""
	}
	return h.judge(tools, tool, arguments)
}

// uncheckable also names the way out: in that framework nothing was checked.
func uncheckable(name, why string) string {
	return cannotValidate(name, why) + " (MCP_VALIDATE=0 has arguments not validated.)"
}

// outcome words what came of a call.
func (c functionCall) outcome(o call.Outcome) string {
	log := c.host.opts.Log.With("tool", c.tool.Name)
	switch {
	case o.Hook != nil:
		text, line := c.hookEnd(o.Hook)
		log.Info(line)
		return text
	case o.End != call.Returned:
		why, text := c.ended(o)
		log.Warn("the call was ended: " + why)
		return text
	}
	output := clean(o.Output)
	if o.Status == 0 {
		return output
	}
	log.Info(fmt.Sprintf("the tool ended with status %d", o.Status))
	if output == "" {
		return fmt.Sprintf("Tool '%s' failed with exit status %d", c.tool.Name, o.Status)
	}
	return output
}
