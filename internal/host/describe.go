package host

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/message"
)

const defaultVersion = "1.0.0"

// initialize answers the handshake of the older era. The engine sees it too,
// since it keeps the client's capabilities.
func (h *Host) initialize(ctx context.Context, method string, req *mcp.ServerRequest[*mcp.InitializeParams], next mcp.MethodHandler) (mcp.Result, error) {
	result, err := h.handshake(req.Params.ProtocolVersion)
	if err != nil {
		return nil, err
	}
	// What is negotiated is what matters of the session from now on.
	req.Params.ProtocolVersion = message.Text(message.Member(result, "protocolVersion"))
	if _, err := next(ctx, method, req); err != nil {
		return nil, err
	}
	return &rawResult{text: result}, nil
}

// handshake is the result of an initialize that asks for a revision.
func (h *Host) handshake(asked string) (json.RawMessage, error) {
	h.handling("initialize request")
	config, err := h.configNow()
	if err != nil {
		return nil, h.fileError(err)
	}
	if h.opts.Manner == BashMCPSDK {
		return h.handshakeSDK(config, asked)
	}
	revision, err := h.negotiate(asked)
	if err != nil {
		return nil, err
	}
	var f fields
	f.add("protocolVersion", revision)
	f.addRaw("capabilities", h.capabilities(config))
	f.addRaw("serverInfo", h.serverInfo(config))
	f.addUnlessEmpty("instructions", config.Instructions)
	return f.object(), nil
}

// negotiate settles on the revision the client asks for, or on the newest of
// its era that is served.
func (h *Host) negotiate(asked string) (string, error) {
	legacy := slices.DeleteFunc(h.Supported(), message.Modern)
	switch {
	case slices.Contains(legacy, asked):
		return asked, nil
	case len(legacy) > 0:
		return legacy[0], nil
	}
	data, _ := json.Marshal(map[string]any{"supported": h.Supported(), "requested": asked})
	return "", &jsonrpc.Error{Code: message.CodeUnsupportedVersion, Message: "Unsupported protocol version", Data: data}
}

// discover answers server/discover of the stateless era.
func (h *Host) discover() (json.RawMessage, error) {
	config, err := h.configNow()
	if err != nil {
		return nil, h.fileError(err)
	}
	var f fields
	f.add("supportedVersions", h.Supported())
	f.addRaw("capabilities", h.capabilities(config))
	f.addUnlessEmpty("instructions", config.Instructions)
	h.addCaching(&f, config.TTLMs, config.CacheScope)
	f.addModern(h.serverInfo(config))
	return f.object(), nil
}

// asResult is a result of Conch's making for the engine.
func asResult(text json.RawMessage, err error) (mcp.Result, error) {
	if err != nil {
		return nil, err
	}
	return &rawResult{text: text}, nil
}

// listTools answers tools/list.
func (h *Host) listTools(req *mcp.ListToolsRequest) (mcp.Result, error) {
	params := cmp.Or(req.Params, &mcp.ListToolsParams{})
	return asResult(h.list(isModern(params.Meta), negotiated(req.Session), params.Cursor))
}

// negotiated is the revision of a session; "" of none.
func negotiated(session *mcp.ServerSession) string {
	if session == nil || session.InitializeParams() == nil {
		return ""
	}
	return session.InitializeParams().ProtocolVersion
}

// list is the result of a tools/list. A verbatim reading has one page. revision
// says nothing in the stateless era.
func (h *Host) list(modern bool, revision, cursor string) (json.RawMessage, error) {
	h.handling("tools/list request")
	tools, err := h.toolsNow()
	if err != nil {
		return nil, h.fileError(err)
	}
	var f fields
	if h.opts.Manner.isVerbatim() {
		f.addRaw("tools", tools.Listing)
	} else if err := h.addPage(&f, "tools", h.served(tools, modern, revision), cursor); err != nil {
		return nil, err
	}
	if modern {
		config := h.configOrNone()
		ttl, scope := config.TTLMs, config.CacheScope
		if h.opts.Manner == MCPServerBashSDK {
			ttl, scope = cmp.Or(tools.TTLMs, ttl), cmp.Or(tools.CacheScope, scope)
		}
		h.addCaching(&f, ttl, scope)
		f.addModern(h.serverInfo(config))
	}
	return f.object(), nil
}

// served lists the tools that exist, in the author's order.
func (h *Host) served(tools *catalog.Tools, modern bool, revision string) (served []listed) {
	for _, tool := range tools.List {
		if h.exists(tool) {
			served = append(served, listed{tool.Name, h.shown(tools, tool, modern, revision)})
		}
	}
	return served
}

// shown is a tool's entry as clients of a revision get to see it, without what
// they drop a whole list over, or every result of the tool.
func (h *Host) shown(tools *catalog.Tools, tool *catalog.Tool, modern bool, revision string) json.RawMessage {
	c := h.compiled(tools, tool)
	if c.err != nil {
		return tool.Bare
	}
	if tool.OutputSchema == nil {
		return tool.Entry
	}
	isObject := message.Text(message.Member(tool.OutputSchema, "type")) == "object"
	if _, err := c.outputSchema(tool.OutputSchema); err != nil || !hasStructured(modern, revision, isObject) {
		return tool.Unstructured
	}
	return tool.Entry
}

// configOrNone is for answers in which the configuration is a side matter:
// that it cannot be read is told to those who ask for it.
func (h *Host) configOrNone() *catalog.Config {
	config, err := h.configNow()
	if err != nil {
		return &catalog.Config{}
	}
	return config
}

func (h *Host) capabilities(c *catalog.Config) json.RawMessage {
	switch {
	case isObject(c.Capabilities):
		return c.Capabilities
	case h.opts.Manner.isVerbatim():
		return sdkCapabilities
	}
	return h.ownCapabilities()
}

// serverInfo is the configured one, with the two members the protocol demands.
func (h *Host) serverInfo(c *catalog.Config) json.RawMessage {
	info := c.ServerInfo
	if !isObject(info) {
		info = json.RawMessage(`{}`)
	}
	var f fields
	if message.Member(info, "name") == nil {
		f.add("name", h.opts.Name)
	}
	if message.Member(info, "version") == nil {
		f.add("version", h.opts.Version)
	}
	return f.mergedInto(info)
}

// isObject reports whether a JSON value without white space is an object; a
// verbatim reading may hold any.
func isObject(value json.RawMessage) bool { return len(value) > 0 && value[0] == '{' }

// isModern tells the era of a request by its metadata. The transport has
// checked that the rest of what belongs there is there.
func isModern(meta mcp.Meta) bool {
	_, modern := meta[message.MetaProtocolVersion]
	return modern
}

// addCaching tells how long and by whom something may be kept; nil and "" are
// for the default.
func (h *Host) addCaching(f *fields, ttl *int64, scope string) {
	if ttl == nil {
		ttl = &h.opts.TTLMs
	}
	f.add("ttlMs", *ttl)
	f.add("cacheScope", cmp.Or(scope, h.opts.CacheScope))
}

func (f *fields) addModern(serverInfo json.RawMessage) {
	f.add("resultType", "complete")
	f.addRaw("_meta", json.RawMessage(`{"`+message.MetaServerInfo+`":`+string(serverInfo)+`}`))
}
