package engine

import (
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/conch-mcp/conch/internal/message"
)

// Fault makes an error that answers a request fit for a client: no text of the
// engine's that shows parameters or Go types, and a code for every error.
func Fault(method string, id message.ID, err error) *message.Error {
	e := &message.Error{Code: message.CodeInternalError, Message: "Internal error", ID: id}
	// The engine's words for parameters that do not decode.
	if text := err.Error(); strings.HasPrefix(text, "handling '") || strings.HasPrefix(text, "invalid params") {
		e.Code, e.Message = message.CodeInvalidParams, "Invalid params: a member is missing or has the wrong type"
		return e
	}
	var known *jsonrpc.Error
	if !errors.As(err, &known) || known.Code == 0 {
		return e
	}
	e.Code, e.Message, e.Data = int(known.Code), known.Message, known.Data
	switch {
	case known.Code == jsonrpc.CodeMethodNotFound && method != "tools/call":
		e.Message = "Method not found: " + message.Clip(method)
	case strings.Contains(known.Message, `missing required "params"`):
		e.Code, e.Message = message.CodeInvalidParams, "Invalid params: there are none"
	}
	return e
}
