package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/roots"
	"github.com/conch-mcp/conch/internal/schema"
	"github.com/conch-mcp/conch/internal/shell"
)

// CallTool answers tools/call for a transport that does not trouble the engine
// with it. Only a tool that is not there is an error of the protocol; everything
// else that goes wrong is a result, which the model reads and may act on (MCP,
// "Tools", "Error handling").
func (h *Host) CallTool(ctx context.Context, asked engine.ToolCall) (result json.RawMessage, err error) {
	defer h.recovered("tools/call", &err)
	switch h.opts.Manner {
	case BashMCPSDK:
		return h.callToolSDK(ctx, asked)
	case MCPServerBashSDK:
		return h.callFunction(ctx, asked)
	}
	name, run, err := h.runOf(asked)
	if err != nil {
		return nil, err
	}
	c := h.newCall(asked)
	if c.modern && h.mayAsk(c.capabilities, asked.Params) {
		return h.attend(ctx, c, cmp.Or(asked.Method, "tools/call")+" "+name, asked, run)
	}
	c.talk = newTalk(ctx, h)
	return run(ctx, c)
}

// runOf returns what a request asks for by name, and how that is run.
func (h *Host) runOf(asked engine.ToolCall) (name string, run runFunc, err error) {
	member := "name"
	if asked.Method == "resources/read" {
		member = "uri"
	}
	raw := message.Member(asked.Params, member)
	if len(raw) == 0 || raw[0] != '"' {
		return "", nil, invalidParams("%s must be a string", member)
	}
	name = message.Text(raw)
	switch asked.Method {
	case "prompts/get":
		run, err = h.promptCall(asked.Params)
	case "resources/read":
		run, err = h.readCall(name)
	default:
		run = func(ctx context.Context, c toolCall) (json.RawMessage, error) {
			return c.answer(ctx, name, message.Member(asked.Params, "arguments"))
		}
	}
	return name, run, err
}

// begin has what a function that is no tool's says go to its client, and tells it
// the roots.
func (c *toolCall) begin(ctx context.Context, name string) (err error) {
	if c.tool = (&catalog.Tool{Name: name}); c.talk != nil {
		c.talk.begin(c)
		c.roots, err = c.inScope(ctx)
	}
	return err
}

// conclude ends what a function that is no tool's says, and returns the error that
// it says it ended with. what begins that.
func (c toolCall) conclude(what string) error {
	if c.talk == nil {
		return nil
	}
	c.talk.close()
	if fault := c.talk.verdict.fault(what); fault != nil {
		return fault
	}
	if c.talk.excess != "" {
		return cannot(what, c.talk.excess)
	}
	return nil
}

// notServed is the error for a method that no capability speaks of.
func notServed(method string) error {
	return &jsonrpc.Error{Code: message.CodeMethodNotFound, Message: "Method not found: " + message.Clip(method)}
}

// newCall returns what is known of a call from its request.
func (h *Host) newCall(asked engine.ToolCall) toolCall {
	meta := message.ReadMeta(asked.Params)
	c := toolCall{
		host: h, modern: meta.Modern, revision: asked.Revision, trace: shell.Trace(asked.Trace), meta: asked.Meta, token: meta.Token,
		queued: asked.Queued, send: asked.Notify, ask: asked.Ask, capabilities: meta.Capabilities,
		log: func(ctx context.Context, params logMessage) error {
			if meta.Modern {
				return sendLogIf(meta.LogLevel, params, asked.Notify)
			}
			return sendLog(ctx, asked.Session, params)
		},
	}
	if !meta.Modern {
		c.session, c.keeper = asked.Session, h.keepers.of(asked.Session)
	}
	return c
}

// callTool answers tools/call for the engine.
func (h *Host) callTool(ctx context.Context, req *mcp.CallToolRequest) (mcp.Result, error) {
	c := toolCall{host: h, modern: isModern(req.Params.Meta), trace: traceIn(req.Params.Meta), queued: func() {}, log: func(ctx context.Context, params logMessage) error {
		return sendLog(ctx, req.Session, params)
	}}
	answer := c.answer
	switch h.opts.Manner {
	case BashMCPSDK:
		answer = sdkCall{c}.answer
	case MCPServerBashSDK:
		answer = functionCall{c}.answer
	}
	text, err := answer(ctx, req.Params.Name, req.Params.Arguments)
	if err != nil {
		return nil, err
	}
	return &rawResult{text: text}, nil
}

// traceIn is the trace in metadata that the engine has decoded.
func traceIn(meta mcp.Meta) shell.Trace {
	text := func(member string) string {
		s, _ := meta[member].(string)
		return s
	}
	return shell.Trace(message.NewTrace(text("traceparent"), text("tracestate"), text("baggage")))
}

// toolCall is one call of a tool.
type toolCall struct {
	host     *Host
	modern   bool
	revision string // of the client's session; "" in the stateless era, or unknown
	trace    shell.Trace
	meta     json.RawMessage // of the request; nil is none
	token    json.RawMessage // for telling progress; nil is none
	// log sends a log message to a client that wants it, send a notification.
	log          func(context.Context, logMessage) error
	send         func(method string, params json.RawMessage)
	ask          engine.Ask         // nil where a client is not sent requests
	capabilities json.RawMessage    // of a client of the stateless era, a JSON object
	session      *mcp.ServerSession // of any other; nil where it cannot be asked
	keeper       *roots.Keeper      // of the roots that the session has; nil for none
	roots        shell.Roots        // that the call is told of
	life         *life              // of a call that outlives the request it began with; nil of any other
	queued       func()             // called when the call begins to wait for its turn
	talk         *talk              // what it says besides what it prints; nil where it cannot
	tools        *catalog.Tools     // the reading of the list that tool is of
	tool         *catalog.Tool
}

// answer finds the tool, runs it, and makes the result.
func (c toolCall) answer(ctx context.Context, name string, arguments json.RawMessage) (json.RawMessage, error) {
	h := c.host
	var err error
	if c.tools, err = h.toolsNow(); err != nil {
		return nil, h.fileError(err)
	}
	c.tool = c.tools.Lookup(name)
	if c.tool == nil || !h.exists(c.tool) {
		return nil, invalidParams("unknown tool %q", message.Clip(name))
	}
	if err := c.lacks(); err != nil {
		return nil, err
	}
	if c.talk != nil {
		c.talk.begin(&c)
		var err error
		if c.roots, err = c.inScope(ctx); err != nil {
			return nil, err
		}
	}
	return c.resultOf(ctx, c.run, arguments)
}

// resultOf makes the result of what run says of a call with these arguments;
// without any, they are an empty object.
func (c toolCall) resultOf(ctx context.Context, run func(context.Context, json.RawMessage) (string, bool), arguments json.RawMessage) (json.RawMessage, error) {
	if len(arguments) == 0 {
		arguments = json.RawMessage(`{}`)
	}
	start := time.Now()
	text, isError := run(ctx, arguments)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	c.host.opts.Log.Debug("call", "tool", c.tool.Name, "error", isError, "took", time.Since(start))
	if c.talk != nil {
		return c.talk.answer(ctx, c, text, isError)
	}
	return c.result(text, isError), nil
}

// call is what is run for it. The text of an error is for the model.
func (c toolCall) call(arguments json.RawMessage) (asked call.Call, err error) {
	asked = c.function("tool_"+c.tool.Name, arguments)
	if c.tool.Engine == nil {
		return asked, nil
	}
	if asked.Invocation, err = c.tool.Engine.Invocation(arguments); err == nil && !asked.Invocation.Environment.Says {
		asked.Invocation.Environment = c.host.configOrNone().Environment
	}
	return asked, err
}

// function is a call of a function, which is heard.
func (c toolCall) function(name string, arguments json.RawMessage) call.Call {
	asked := call.Call{Function: name, Arguments: arguments, Trace: c.trace, Meta: c.meta, Roots: c.roots}
	if c.talk != nil {
		asked.Hear, asked.Clock = c.talk.hear, &c.talk.clock
		c.talk.giveOut(arguments)
		asked.Failed = func(o call.Outcome) bool { return c.talk.hasFailed(c, clean(o.Output)) }
	}
	switch {
	case c.life != nil:
		asked.Slot = c.life.slot
	case c.talk != nil && c.ask != nil:
		asked.Slot = &c.talk.slot
	}
	return asked
}

// run validates and runs, and says what the model is to read of it.
func (c toolCall) run(ctx context.Context, arguments json.RawMessage) (text string, isError bool) {
	s, err := c.host.schema(c.tools, c.tool)
	if err != nil {
		return fmt.Sprintf("Cannot validate arguments for %s: %v.", c.tool.Name, err), true
	}
	if defect := s.Check(arguments); defect != "" {
		if c.host.opts.Invalid != nil {
			c.host.opts.Invalid(c.tool.Name)
		}
		return defect, true
	}
	asked, err := c.call(arguments)
	if err != nil {
		return fmt.Sprintf("Cannot run %s: %v.", c.tool.Name, err), true
	}
	c.queued()
	outcome, err := c.host.opts.Run(ctx, asked)
	if err != nil {
		return c.notRun(ctx, err), true
	}
	return c.outcome(ctx, outcome), failed(outcome)
}

func failed(o call.Outcome) bool {
	return o.End != call.Returned || o.Status != 0 || o.Hook != nil
}

// notRun tells why a tool did not run.
func (c toolCall) notRun(ctx context.Context, err error) string {
	if !errors.Is(err, shell.ErrNUL) {
		c.tell(ctx, slog.LevelError, "the tool could not be run", "err", err)
	}
	return c.cannotRun(err)
}

// cannotRun words why a tool did not run. What went wrong inside the server is
// for its log, not for the model.
func (c toolCall) cannotRun(err error) string {
	why := "the server could not start it. Its log says why"
	switch {
	case errors.Is(err, shell.ErrNUL):
		why = err.Error()
	case errors.Is(err, call.ErrDirectory):
		why = call.ErrDirectory.Error()
	}
	return fmt.Sprintf("Cannot run %s: %s.", c.tool.Name, why)
}

func (c toolCall) outcome(ctx context.Context, o call.Outcome) string {
	if o.Hook != nil {
		text, line := c.hookEnd(o.Hook)
		level := slog.LevelError
		if o.Hook.How == call.HookRefused {
			// It is what the hook is for.
			level = slog.LevelInfo
		}
		c.tell(ctx, level, line)
		return text
	}
	if o.End != call.Returned {
		why, text := c.ended(o)
		c.tell(ctx, slog.LevelWarn, "the call was ended: "+why)
		return text
	}
	output := clean(o.Output)
	if o.Status == 0 {
		return output
	}
	c.tell(ctx, slog.LevelInfo, fmt.Sprintf("the tool ended with status %d", o.Status))
	if output == "" {
		output = fmt.Sprintf("it ended with status %d and printed nothing", o.Status)
	}
	return c.failure(output)
}

// ended tells why a call that did not end by itself was ended, and the same
// with what it had printed by then.
func (c toolCall) ended(o call.Outcome) (why, text string) {
	output, limits := clean(o.Output), c.host.opts.Limits
	switch o.End {
	case call.TimedOut:
		why = c.timedOut()
	case call.Overflowed:
		why, output = fmt.Sprintf("it was stopped because it printed more than %d bytes, the limit set by --max-output", limits.MaxOutput), ""
	default:
		why = "the shell that ran it was killed"
	}
	if output == "" {
		return why, c.failure(why)
	}
	return why, c.failure(why + ". It had printed:\n" + output)
}

// timedOut names the limit of time that a call has exceeded.
func (c toolCall) timedOut() string {
	switch {
	case c.tool.Timeout == 0:
		return fmt.Sprintf("it was stopped after %v, the limit set by --timeout", c.host.opts.Limits.Timeout)
	case c.tool.MaxTimeout > c.tool.Timeout:
		return fmt.Sprintf("it was stopped after %v without progress, or %v in all, the limits set by its timeout and maxTimeout", c.tool.Timeout, c.tool.MaxTimeout)
	}
	return fmt.Sprintf("it was stopped after %v, the limit set by its timeout", c.tool.Timeout)
}

func (c toolCall) failure(text string) string {
	return fmt.Sprintf("Error executing %s: %s", c.tool.Name, text)
}

// hookEnd words how mcp_before_tool_call kept the tool from running, for the
// model and for the log.
func (c toolCall) hookEnd(end *call.HookEnd) (text, line string) {
	tool, output := c.tool.Name, clean(end.Output)
	switch end.How {
	case call.HookRefused:
		if output == "" && c.host.opts.Manner != BashMCPSDK {
			output = fmt.Sprintf("mcp_before_tool_call refused with status %d and printed nothing", end.Status)
		}
		return c.failure(output), fmt.Sprintf("before-tool hook refused tool %s (status %d)", tool, end.Status)
	case call.HookExited:
		text = fmt.Sprintf("mcp_before_tool_call ended the call instead of returning; tool %s did not run.", tool)
		if output != "" {
			text += "\n" + output
		}
		return text, fmt.Sprintf("Before-tool hook mcp_before_tool_call for tool %s ended the call (status %d)", tool, end.Status)
	}
	return fmt.Sprintf("mcp_before_tool_call was killed by signal %d; tool %s did not run.", end.Status, tool),
		fmt.Sprintf("Before-tool hook mcp_before_tool_call for tool %s was killed (status %d)", tool, signalled+end.Status)
}

// signalled is what a shell adds to a signal's number to make a status of it.
const signalled = 128

// tell logs what became of a call; to the client too, if it asked for logs of
// that level. details are for the server's log alone.
func (c toolCall) tell(ctx context.Context, level slog.Level, what string, details ...any) {
	if ctx.Err() != nil {
		return
	}
	c.host.opts.Log.With("tool", c.tool.Name).Log(ctx, level, what, details...)
	data := map[string]string{"tool": c.tool.Name, "message": what}
	log := c.log
	if c.talk != nil {
		// Its client may have another request by now.
		log = c.talk.tellClient
	}
	if err := log(ctx, logMessage{mcpLevels[level], "conch", data}); err != nil {
		c.host.opts.Log.Debug("cannot send a log message to the client", "err", err)
	}
}

// clean makes text of what a tool printed: no trailing newlines, no NULs, and
// U+FFFD for what is not UTF-8.
func clean(output []byte) string {
	output = bytes.TrimRight(output, "\n")
	if bytes.IndexByte(output, 0) >= 0 {
		output = bytes.TrimRight(bytes.ReplaceAll(output, []byte{0}, nil), "\n")
	}
	return strings.ToValidUTF8(string(output), "\uFFFD")
}

func (c toolCall) result(text string, isError bool) json.RawMessage {
	return c.resultWith([]json.RawMessage{textItem(text)}, nil, isError)
}

// schema returns a tool's compiled inputSchema.
func (h *Host) schema(tools *catalog.Tools, tool *catalog.Tool) (*schema.Schema, error) {
	c := h.compiled(tools, tool)
	return c.schema, c.err
}

// HeaderParams returns the headers in which clients repeat arguments of a tool;
// none for a tool that is not there.
func (h *Host) HeaderParams(tool string) ([]schema.Header, error) {
	tools, err := h.toolsNow()
	if err != nil {
		return nil, err
	}
	t := tools.Lookup(tool)
	if t == nil || !h.exists(t) {
		return nil, nil
	}
	return h.compiled(tools, t).headers, nil
}

// compiled returns what is compiled of a tool. tools is the reading of the list
// that tool is of; schemas live as long as it is the latest.
func (h *Host) compiled(tools *catalog.Tools, tool *catalog.Tool) *compiledSchema {
	h.mu.Lock()
	if h.tools != tools {
		h.tools, h.schemas = tools, map[string]*compiledSchema{}
	}
	c := h.schemas[tool.Name]
	if c == nil {
		c = &compiledSchema{}
		h.schemas[tool.Name] = c
	}
	h.mu.Unlock()
	c.once.Do(func() { c.compile(tool.InputSchema, h.opts.Manner.isVerbatim()) })
	return c
}

func (c *compiledSchema) compile(inputSchema json.RawMessage, lenient bool) {
	switch {
	case inputSchema == nil:
		c.err = errors.New("its entry in the tools list declares no inputSchema")
	case lenient:
		c.schema, c.err = schema.CompileLenient(inputSchema)
	default:
		c.schema, c.err = schema.Compile(inputSchema)
	}
	if c.err == nil {
		c.headers, c.problems = schema.Headers(inputSchema)
	}
}
