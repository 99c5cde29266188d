package host

import (
	"encoding/json"

	"github.com/conch-mcp/conch/internal/message"
)

// What follows answers for the functions of scripts written for bash-mcp-sdk,
// which call them with neither a client nor a session. Options.BashSDK is set.
// The function for calls is [Host.CallTool], with a nil session and, for params
// that are not there, nil.

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

// ListTools is the result of tools/list for a client of the older era. An
// error is a [*jsonrpc.Error].
func (h *Host) ListTools() (result json.RawMessage, err error) {
	defer h.recovered("tools/list", &err)
	return h.list(false)
}
