package host

import (
	"encoding/json"

	"github.com/conch-mcp/conch/internal/message"
)

// What follows answers for the functions of scripts written for other
// frameworks, which call them with neither a client nor a session. The function
// for calls is [Host.CallTool], with a nil session and, for params that are not
// there, nil.

// Validate tells what is wrong with a tool's arguments, "" when they conform.
// arguments may be any text.
func (h *Host) Validate(tool string, arguments json.RawMessage) (diagnostic string) {
	d := h.declaration(tool)
	switch {
	case d.defect != "":
		return d.defect
	case d.tool == nil:
		return cannotValidate(tool, "the tool list at "+d.tools.File+" does not declare it")
	}
	return h.judge(d.tools, d.tool, arguments)
}

// Initialize is the result of initialize. params may be any text. An error is
// a [*jsonrpc.Error].
func (h *Host) Initialize(params json.RawMessage) (result json.RawMessage, err error) {
	defer h.recovered("initialize", &err)
	return h.handshake(message.Text(message.Member(params, "protocolVersion")))
}

// ListTools is the result of tools/list for a client of the stateless era or of
// the older. An error is a [*jsonrpc.Error].
func (h *Host) ListTools(modern bool) (result json.RawMessage, err error) {
	defer h.recovered("tools/list", &err)
	return h.list(modern, "", "")
}

// Discover is the result of server/discover. An error is a [*jsonrpc.Error].
func (h *Host) Discover() (result json.RawMessage, err error) {
	defer h.recovered("server/discover", &err)
	return h.discover()
}

// ServerInfo is what the server says it is, a JSON object.
func (h *Host) ServerInfo() json.RawMessage { return h.serverInfo(h.configOrNone()) }

// Completed is a result of the stateless era, a JSON object, with what each has:
// resultType, unless it is there, and who the server is.
func (h *Host) Completed(result json.RawMessage) json.RawMessage {
	result = compactArguments(result)
	meta := message.Member(result, "_meta")
	if len(meta) == 0 || meta[0] != '{' {
		meta = json.RawMessage(`{}`)
	}
	meta = withMember(meta, message.MetaServerInfo, h.ServerInfo())
	if kind := message.Member(result, "resultType"); kind == nil || string(kind) == "null" || string(kind) == "false" {
		result = withMember(result, "resultType", marshal("complete"))
	}
	return withMember(result, "_meta", meta)
}

// withMember returns a compact JSON object with a member set.
func withMember(object json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	if message.Member(object, name) != nil {
		return message.ReplaceMember(object, name, value)
	}
	var f fields
	if inner := object[1 : len(object)-1]; len(inner) > 0 {
		f.Write(inner)
	}
	f.addRaw(name, value)
	return f.object()
}
