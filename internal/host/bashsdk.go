package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/shell"
)

// This file is what the manner BashMCPSDK changes: the answers, their texts and the
// log lines of bash-mcp-sdk, on which scripts and their tests rely.

// What a server has that says nothing of its own.
const sdkName = "mcp-server"

var (
	sdkServerInfo   = json.RawMessage(`{"name":"` + sdkName + `","version":"` + defaultVersion + `"}`)
	sdkCapabilities = json.RawMessage(`{"tools":{}}`)
)

// handling logs that a request has come, where scripts expect that.
func (h *Host) handling(what string) {
	if h.opts.Manner == BashMCPSDK {
		h.opts.Log.Info("Handling " + what)
	}
}

// noteSDK logs a file that cannot be read, each time an answer needs it. The
// reason for it is logged when it changes.
func (h *Host) noteSDK(err error) {
	var file *catalog.FileError
	if errors.As(err, &file) {
		h.opts.Log.Error(file.Brief())
	}
}

// withoutReason tells of a file that cannot be read, but not why: that is for
// the log.
func withoutReason(err error) string {
	var file *catalog.FileError
	if !errors.As(err, &file) {
		return err.Error()
	}
	return fmt.Sprintf("Cannot read %s: %s", file.What, file.Path)
}

// handshakeSDK shows the configuration as it is.
func (h *Host) handshakeSDK(c *catalog.Config, asked string) (json.RawMessage, error) {
	revision, err := h.revisionSDK(c, asked)
	if err != nil {
		return nil, err
	}
	var f fields
	f.add("protocolVersion", revision)
	f.addRaw("serverInfo", given(c.ServerInfo, sdkServerInfo))
	f.addRaw("capabilities", given(c.Capabilities, sdkCapabilities))
	f.addUnlessEmpty("instructions", c.Instructions)
	return f.object(), nil
}

func given(value, otherwise json.RawMessage) json.RawMessage {
	if value == nil {
		return otherwise
	}
	return value
}

// revisionSDK is the revision the configuration demands, or what the client
// and the server have in common. A client that asks for none gets the only
// one that bash-mcp-sdk speaks by itself.
func (h *Host) revisionSDK(c *catalog.Config, asked string) (string, error) {
	if c.ProtocolVersion != "" {
		return c.ProtocolVersion, nil
	}
	if asked == "" {
		asked = message.Revision20241105
	}
	return h.negotiate(asked)
}

// callToolSDK answers tools/call from whatever params are; nil stands for
// absent ones.
func (h *Host) callToolSDK(ctx context.Context, asked engine.ToolCall) (json.RawMessage, error) {
	params := asked.Params
	switch text := strings.TrimSpace(string(params)); {
	case params == nil, text == "null", text == "false":
		params = json.RawMessage(`{}`)
	case !strings.HasPrefix(text, "{"), !json.Valid(params):
		h.opts.Log.Error("tools/call params is not a JSON object")
		return nil, invalidParams("expected an object")
	}
	c := sdkCall{toolCall{host: h, modern: message.ReadMeta(params).Modern, trace: shell.Trace(asked.Trace), queued: asked.Queued}}
	return c.answer(ctx, nameIn(params), message.Member(params, "arguments"))
}

// nameIn is the tool's name as a shell gets it to see.
func nameIn(params json.RawMessage) string {
	switch raw := message.Member(params, "name"); {
	case raw == nil, string(raw) == "null", string(raw) == "false":
		return ""
	case raw[0] != '"':
		return string(compactArguments(raw))
	default:
		// No variable holds a NUL, and command substitution takes newlines off
		// the end.
		return strings.TrimRight(strings.ReplaceAll(message.Text(raw), "\x00", ""), "\n")
	}
}

// isName reports whether name can be that of a tool.
func isName(name string) bool {
	for i, c := range name {
		isLetter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !isLetter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// sdkCall is one call of a tool whose script was written for bash-mcp-sdk.
type sdkCall struct{ toolCall }

// answer finds the tool, runs it, and makes the result.
func (c sdkCall) answer(ctx context.Context, name string, arguments json.RawMessage) (json.RawMessage, error) {
	h := c.host
	h.handling("tools/call: " + message.Clip(name))
	if !isName(name) {
		return nil, &jsonrpc.Error{Code: message.CodeInvalidParams, Message: "Invalid tool name: " + message.Clip(name)}
	}
	d := h.declaration(name)
	if d.defect != "" {
		return c.result(c.refusal(name, d.defect), true), nil
	}
	if d.tool == nil || !h.opts.Exists(name) {
		return nil, &jsonrpc.Error{Code: message.CodeMethodNotFound, Message: "Tool not found: " + message.Clip(name)}
	}
	c.tools, c.tool = d.tools, d.tool
	return c.resultOf(ctx, c.run, arguments)
}

func (c sdkCall) refusal(name, defect string) string {
	c.host.opts.Log.Error("Tool " + name + " argument validation failed: " + defect)
	return defect
}

func (c sdkCall) run(ctx context.Context, arguments json.RawMessage) (text string, isError bool) {
	if defect := c.host.judge(c.tools, c.tool, arguments); defect != "" {
		return c.refusal(c.tool.Name, defect), true
	}
	c.queued()
	outcome, err := c.host.opts.Run(ctx, c.function("tool_"+c.tool.Name, compactArguments(arguments)))
	switch {
	case ctx.Err() != nil:
		return "", true
	case err != nil:
		c.host.opts.Log.Error(fmt.Sprintf("Tool %s not run: %v", c.tool.Name, err))
		return c.cannotRun(err), true
	}
	text, level, line := c.outcome(outcome)
	if line != "" {
		c.host.opts.Log.Log(ctx, level, line)
	}
	return text, failed(outcome)
}

// outcome words what came of a call, for the model and for the log.
func (c sdkCall) outcome(o call.Outcome) (text string, level slog.Level, line string) {
	switch {
	case o.Hook != nil:
		text, line = c.hookEnd(o.Hook)
		return text, slog.LevelError, line
	case o.End != call.Returned:
		why, text := c.ended(o)
		return text, slog.LevelWarn, fmt.Sprintf("Tool %s did not end: %s", c.tool.Name, why)
	case o.Status != 0:
		return c.failure(clean(o.Output)), slog.LevelError, fmt.Sprintf("Tool %s failed with exit code %d", c.tool.Name, o.Status)
	}
	return clean(o.Output), slog.LevelInfo, ""
}

// declaration is what the list of tools says of a name.
type declaration struct {
	tools  *catalog.Tools
	tool   *catalog.Tool // nil when the list has no such tool
	defect string        // why its arguments cannot be validated
}

// declaration looks a name up in the list as it is now.
func (h *Host) declaration(name string) declaration {
	tools, err := h.toolsNow()
	h.noteSDK(err)
	var file *catalog.FileError
	switch {
	case errors.As(err, &file):
		return unusable(name, "the tool list at %s is missing or does not hold one JSON object", file.Path)
	case err != nil:
		return unusable(name, "%v", err)
	case tools.Unusable:
		return unusable(name, "the tool list at %s does not hold a usable tools list", tools.File)
	case !tools.Declares(name):
		return declaration{tools: tools}
	}
	tool := tools.Lookup(name)
	switch {
	case tool == nil:
		return unusable(name, "the tool list at %s declares it more than once", tools.File)
	case tool.InputSchema == nil:
		return unusable(name, "its entry in %s declares no inputSchema", tools.File)
	}
	return declaration{tools: tools, tool: tool}
}

func unusable(name, format string, args ...any) declaration {
	return declaration{defect: cannotValidate(name, fmt.Sprintf(format, args...))}
}

func cannotValidate(name, why string) string {
	return fmt.Sprintf("Cannot validate arguments for %s: %s.", name, why)
}

// judge tells what is wrong with arguments, "" when they conform.
func (h *Host) judge(tools *catalog.Tools, tool *catalog.Tool, arguments json.RawMessage) (defect string) {
	s, err := h.schema(tools, tool)
	if err == nil {
		defect, err = s.Judge(arguments)
	}
	if err != nil {
		h.opts.Log.Warn(fmt.Sprintf("Tool %s: %v", tool.Name, err))
		return cannotValidate(tool.Name, "they could not be evaluated against its schema")
	}
	return defect
}
