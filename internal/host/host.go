// Package host joins a catalog and a runner of calls to the protocol engine:
// it answers the methods of MCP from what the catalog says and the tools do.
//
// It knows methods, results and errors. Bytes, ids and sessions are the
// transports' business, processes the runner's.
package host

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/roots"
	"github.com/conch-mcp/conch/internal/schema"
	"github.com/conch-mcp/conch/internal/sparing"
)

// Options say what a host serves.
type Options struct {
	Name    string                          // the server's name where its configuration has none
	Version string                          // the same for its version; default 1.0.0
	Tools   func() (*catalog.Tools, error)  // the tools as they are now
	Config  func() (*catalog.Config, error) // the configuration as it is now
	// The resources and prompts as they are now; nil for none.
	Resources func() (*catalog.Resources, error)
	Prompts   func() (*catalog.Prompts, error)
	Functions func() []string        // the names of the tools that are functions
	Exists    func(tool string) bool // whether a tool is a function
	Run       func(context.Context, call.Call) (call.Outcome, error)
	Limits    call.Limits // what Run abides by, for the messages that name it
	// HasProgram reports whether calls would find a program; nil looks on PATH.
	HasProgram func(program string) bool
	// Tagged says that tags declare tools, too.
	Tagged bool
	// Defined reports whether the script has a function; nil for none.
	Defined func(function string) bool
	Folder  string // what files of resources and prompts are below
	// PageSize is how many entries of a list clients get at once; 0 is all.
	PageSize int
	// Invalid is told of a tool whose arguments were refused; nil for nobody.
	Invalid func(tool string)
	// How long and by whom lists may be kept where nothing else says so; default
	// 0 and public.
	TTLMs      int64
	CacheScope string
	// Manner is whose scripts are served. But for Conch's own, Tools and Config
	// give verbatim readings.
	Manner Manner
	// Unchecked has arguments not held against schemas, with the manner
	// MCPServerBashSDK.
	Unchecked bool
	// Asking says how calls of the stateless era ask their clients; without a
	// Sealer they cannot.
	Asking Asking
	// Heartbeat is how long a call may be silent before its client is told that
	// it goes on; 0 is for ever.
	Heartbeat time.Duration
	Long      Long
	// Roots are in scope for clients that name none.
	Roots roots.Set
	Log   *slog.Logger
}

// A Host answers the requests of any number of sessions.
type Host struct {
	opts     Options
	server   *mcp.Server
	notifies atomic.Bool // see Notify

	mu      sync.Mutex
	tools   *catalog.Tools             // the reading that schemas belong to
	schemas map[string]*compiledSchema // by tool
	logged  map[string]told            // what has been logged of the lists, by what they are
	errors  map[string]string          // what is wrong with a file, by what it is, as logged

	updated atomic.Pointer[func(uri string)] // tells of a resource that is another
	unheard *sparing.Log                     // of what is said outside of calls and makes no sense
	parked  parked                           // calls that wait for their clients
	lives   sync.WaitGroup                   // calls that may be parked
	keepers keepers
}

// told is what is wrong with the latest reading of a list, as logged.
type told struct {
	reading  any
	problems []string
}

// compiledSchema is a tool's inputSchema, compiled at its first call.
type compiledSchema struct {
	once     sync.Once
	schema   *schema.Schema
	err      error
	headers  []schema.Header // in which clients repeat arguments
	problems []string        // headers that it asks for and does not get

	outputOnce sync.Once
	output     *schema.Schema // the tool's outputSchema, compiled at its first result
	outputErr  error
}

// outputSchema is the tool's outputSchema, compiled.
func (c *compiledSchema) outputSchema(text json.RawMessage) (*schema.Schema, error) {
	c.outputOnce.Do(func() { c.output, c.outputErr = schema.CompileValue(text, "result") })
	return c.output, c.outputErr
}

// New returns a host.
func New(opts Options) *Host {
	if opts.Manner == BashMCPSDK {
		opts.Name = sdkName
	}
	opts.Version = cmp.Or(opts.Version, defaultVersion)
	opts.CacheScope = cmp.Or(opts.CacheScope, "public")
	if opts.Resources == nil {
		opts.Resources = func() (*catalog.Resources, error) { return &catalog.Resources{Absent: true}, nil }
	}
	if opts.Prompts == nil {
		opts.Prompts = func() (*catalog.Prompts, error) { return &catalog.Prompts{Absent: true}, nil }
	}
	if opts.HasProgram == nil {
		opts.HasProgram = func(program string) bool {
			_, err := exec.LookPath(program)
			return err == nil
		}
	}
	if opts.Defined == nil {
		opts.Defined = func(string) bool { return false }
	}
	h := &Host{opts: opts, unheard: sparing.New(opts.Log, "more of what the script said makes no sense", time.Minute), errors: map[string]string{}, logged: map[string]told{}, parked: parked{byID: map[string]*life{}}}
	h.server = mcp.NewServer(&mcp.Implementation{Name: opts.Name, Version: opts.Version}, &mcp.ServerOptions{
		// Everything the engine would say of itself is replaced below; this
		// keeps it from refusing what it does not know of.
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		Logger:       slog.New(slog.DiscardHandler),
	})
	h.server.AddReceivingMiddleware(h.middleware)
	return h
}

// Server is the protocol engine, for a transport to connect to.
func (h *Host) Server() *mcp.Server { return h.server }

// Supported lists the protocol revisions served now, newest first.
func (h *Host) Supported() []string {
	all := message.Revisions()
	c, err := h.configNow()
	if h.opts.Manner == MCPServerBashSDK && (err != nil || len(c.SupportedVersions) == 0) {
		return all[:1]
	}
	if err != nil {
		return all
	}
	return slices.DeleteFunc(all, func(r string) bool { return !h.serves(c, r) })
}

// serves reports whether a configuration allows a revision.
func (h *Host) serves(c *catalog.Config, revision string) bool {
	if len(c.SupportedVersions) > 0 && !slices.Contains(c.SupportedVersions, revision) {
		return false
	}
	// With BashSDK the pin may be no revision at all; see revisionSDK.
	pinned := c.ProtocolVersion != "" && !h.opts.Manner.isVerbatim()
	return !pinned || message.Modern(revision) || revision == c.ProtocolVersion
}

// Look reads the files and logs what is wrong with them. Every request does
// the same with the file it needs; what has been logged is logged again only
// when it changes.
func (h *Host) Look() {
	_, _ = h.toolsNow()
	_, _ = h.configNow()
	_, _ = h.resourcesNow()
	_, _ = h.promptsNow()
}

func (h *Host) toolsNow() (*catalog.Tools, error) {
	tools, err := h.opts.Tools()
	h.note("tools list", err)
	if err == nil && !h.opts.Manner.isVerbatim() {
		h.tellProblems("tools list", tools, func() []string { return h.problems(tools) })
	}
	return tools, err
}

// tellProblems logs what is wrong with a reading, unless it was the same with the
// last.
func (h *Host) tellProblems(what string, reading any, problems func() []string) {
	h.mu.Lock()
	before := h.logged[what]
	h.mu.Unlock()
	if before.reading == reading {
		return
	}
	now := problems()
	h.mu.Lock()
	h.logged[what] = told{reading, now}
	h.mu.Unlock()
	if slices.Equal(now, before.problems) {
		return
	}
	for _, p := range now {
		h.opts.Log.Warn(p)
	}
}

func (h *Host) configNow() (*catalog.Config, error) {
	config, err := h.opts.Config()
	h.note("server configuration", err)
	return config, err
}

// note logs what is wrong with a file, and that it is right again.
func (h *Host) note(what string, err error) {
	now := ""
	if err != nil {
		now = err.Error()
	}
	h.mu.Lock()
	before := h.errors[what]
	h.errors[what] = now
	h.mu.Unlock()
	switch {
	case now == before:
	case now != "":
		h.opts.Log.Warn(now)
	default:
		h.opts.Log.Info("the " + what + " can be read again")
	}
}

// Problems tells what keeps tools, or the server, from being served: a sentence
// each.
func (h *Host) Problems() ([]string, error) {
	tools, err := h.opts.Tools()
	if err != nil {
		return nil, err
	}
	problems := append(h.problems(tools), h.otherProblems()...)
	config, err := h.opts.Config()
	if err != nil {
		return append(problems, err.Error()+"; clients cannot begin"), nil
	}
	return append(problems, config.Problems...), nil
}

// Scopes are what a token must be good for to call a tool.
func (h *Host) Scopes(tool string) []string {
	tools, err := h.opts.Tools()
	if err != nil {
		// The call will tell why.
		return nil
	}
	if t := tools.Lookup(tool); t != nil {
		return t.Scopes
	}
	return nil
}

// AllScopes are those of all tools, sorted.
func (h *Host) AllScopes() []string {
	tools, err := h.opts.Tools()
	if err != nil {
		return nil
	}
	var all []string
	for _, t := range tools.List {
		all = append(all, t.Scopes...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// problems tells where a list of tools and the script's functions disagree.
func (h *Host) problems(tools *catalog.Tools) []string {
	problems := slices.Clone(tools.Problems)
	for _, tool := range tools.List {
		if !h.exists(tool) {
			problems = append(problems, fmt.Sprintf("the tools list declares %s, but there is no function tool_%s; %s", tool.Name, tool.Name, h.unimplemented()))
			continue
		}
		if tool.Engine != nil {
			for _, phrase := range tool.Engine.Missing(h.opts.HasProgram) {
				problems = append(problems, fmt.Sprintf("%s needs %s; it is listed, and calls are refused", tool.Name, phrase))
			}
		}
		c := h.compiled(tools, tool)
		if c.err != nil && tool.InputSchema != nil {
			problems = append(problems, fmt.Sprintf("the inputSchema of %s cannot be used: %v; calls are refused", tool.Name, c.err))
		}
		if tool.OutputSchema != nil {
			if _, err := c.outputSchema(tool.OutputSchema); err != nil {
				problems = append(problems, fmt.Sprintf("the outputSchema of %s cannot be used: %v; it is not shown, and no result is held to it", tool.Name, err))
			}
		}
		for _, p := range c.problems {
			problems = append(problems, fmt.Sprintf("the inputSchema of %s: %s", tool.Name, p))
		}
	}
	for _, name := range h.opts.Functions() {
		if !tools.Declares(name) && !h.isHook(tools, name) {
			problems = append(problems, h.undeclared(name))
		}
	}
	return problems
}

// isHook reports whether the function of that name is the cancel hook of a tool,
// declared or not: of one that is not, to tell of the tool is enough.
func (h *Host) isHook(tools *catalog.Tools, name string) bool {
	tool, ok := strings.CutSuffix(name, "_cancel")
	return ok && (tools.Declares(tool) || h.opts.Exists(tool))
}

// exists reports whether there is something that runs a tool.
func (h *Host) exists(tool *catalog.Tool) bool {
	return tool.Engine != nil || h.opts.Exists(tool.Name)
}

// undeclared tells of a function that nothing declares a tool.
func (h *Host) undeclared(name string) string {
	if h.opts.Tagged {
		return fmt.Sprintf("there is a function tool_%s, and no # @cmd above it; it is not served", name)
	}
	return fmt.Sprintf("there is a function tool_%s, but the tools list does not declare %s; it is not served", name, name)
}

// unimplemented tells what becomes of a tool without a function.
func (h *Host) unimplemented() string {
	if h.opts.Manner.isVerbatim() {
		return "it is listed, and calls are refused"
	}
	return "it is not served"
}

// middleware stands before the engine's own methods. It answers those that
// depend on the catalog, and refuses those that Conch does not serve.
func (h *Host) middleware(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		defer h.recovered(method, &err)
		switch req := req.(type) {
		case *mcp.ServerRequest[*mcp.InitializeParams]:
			return h.initialize(ctx, method, req, next)
		case *mcp.ServerRequest[*mcp.DiscoverParams]:
			return asResult(h.discover())
		case *mcp.ListToolsRequest:
			return h.listTools(req)
		case *mcp.CallToolRequest:
			return h.callTool(ctx, req)
		case *setLevelRequest:
			if !h.opts.Manner.isVerbatim() {
				return h.setLevel(ctx, method, req, next)
			}
		}
		if answer := h.offered(req); answer != nil {
			return asResult(answer(ctx))
		}
		if slices.Contains(passed, method) {
			return next(ctx, method, req)
		}
		return nil, notServed(method)
	}
}

// passed are the methods left to the engine.
var passed = []string{"ping", "notifications/initialized", "notifications/cancelled", "notifications/roots/list_changed"}

// recovered, deferred, makes an error of a panic: a fault of the server's own
// costs the request that met it.
func (h *Host) recovered(method string, err *error) {
	if p := recover(); p != nil {
		h.opts.Log.Error("panic", "method", method, "panic", p, "stack", string(debug.Stack()))
		*err = &jsonrpc.Error{Code: message.CodeInternalError, Message: "Internal error"}
	}
}

func invalidParams(format string, args ...any) error {
	return &jsonrpc.Error{Code: message.CodeInvalidParams, Message: "Invalid params: " + fmt.Sprintf(format, args...)}
}

// fileError answers a request that a file of the server's keeps from being
// answered.
func (h *Host) fileError(err error) error {
	text := err.Error()
	if h.opts.Manner == BashMCPSDK {
		h.noteSDK(err)
		text = withoutReason(err)
	}
	return &jsonrpc.Error{Code: message.CodeInternalError, Message: text}
}
