package host

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/talkback"
)

// A verdict is what a function says its result is, whatever it prints: a result
// with success, and result or error, or an error of the protocol.
type verdict struct {
	structured json.RawMessage
	isError    bool
	failure    *jsonrpc.Error
}

// readVerdict reads a message of the kinds that say so; ok is false for one that
// makes no sense. What should be JSON and is not must not cost an error its
// message, nor become a success; defect tells of it.
func readVerdict(m talkback.Message) (v *verdict, defect string, ok bool) {
	switch m.Kind {
	case talkback.Fail:
		return readFailure(m.Payload)
	case talkback.Problem:
		return readProblem(m.Payload)
	}
	var r struct {
		Success bool
		Value   *string
	}
	if json.Unmarshal(m.Payload, &r) != nil || r.Value == nil {
		return nil, "", false
	}
	value, isJSON := asJSON(*r.Value)
	if !isJSON {
		defect = "what it gave for its result is not JSON: " + message.Clip(*r.Value)
	}
	if !isJSON && r.Success {
		return &verdict{structured: outcomeObject(false, "error", marshal(defect)), isError: true}, defect, true
	}
	if r.Success {
		return &verdict{structured: outcomeObject(true, "result", value)}, "", true
	}
	return &verdict{structured: outcomeObject(false, "error", value), isError: true}, defect, true
}

// readProblem reads what went wrong so that a model can mend it.
func readProblem(payload json.RawMessage) (v *verdict, defect string, ok bool) {
	var p struct{ Type, Message, Hint, Data string }
	if json.Unmarshal(payload, &p) != nil {
		return nil, "", false
	}
	var f fields
	f.add("type", p.Type)
	f.add("message", p.Message)
	f.addUnlessEmpty("hint", p.Hint)
	if p.Data != "" {
		data, isJSON := asJSON(p.Data)
		if !isJSON {
			defect = "the data of its error is not JSON: " + message.Clip(p.Data)
		}
		f.addRaw("data", data)
	}
	return &verdict{structured: outcomeObject(false, "error", f.object()), isError: true}, defect, true
}

// readFailure reads an error of the protocol.
func readFailure(payload json.RawMessage) (v *verdict, defect string, ok bool) {
	var p struct {
		Code          int64
		Message, Data string
	}
	if json.Unmarshal(payload, &p) != nil || p.Code == 0 {
		return nil, "", false
	}
	failure := &jsonrpc.Error{Code: p.Code, Message: p.Message}
	if p.Data != "" {
		data, isJSON := asJSON(p.Data)
		if !isJSON {
			defect = "the data of its error is not JSON: " + message.Clip(p.Data)
		}
		failure.Data = data
	}
	return &verdict{failure: failure, isError: true}, defect, true
}

// asJSON is a document that a tool gave as a text, or the text itself, quoted.
func asJSON(text string) (value json.RawMessage, isJSON bool) {
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(text)) == nil {
		return compact.Bytes(), true
	}
	return marshal(text), false
}

func outcomeObject(success bool, member string, value json.RawMessage) json.RawMessage {
	var f fields
	f.add("success", success)
	f.addRaw(member, value)
	return f.object()
}

// fault is the verdict as an error of the protocol, for what has no results of its
// own to tell of errors in; nil for a success.
func (v *verdict) fault(what string) *jsonrpc.Error {
	switch {
	case v == nil || !v.isError:
		return nil
	case v.failure != nil:
		return v.failure
	}
	problem := message.Member(v.structured, "error")
	why := message.Text(message.Member(problem, "message"))
	if why == "" && problem[0] == '"' {
		why = message.Text(problem)
	}
	if why == "" {
		why = "its function says that it failed"
	}
	return &jsonrpc.Error{Code: message.CodeInternalError, Message: what + ": " + why, Data: problem}
}
