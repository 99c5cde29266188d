package wire

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/conch-mcp/conch/internal/message"
)

// BashSDK has a connection behave as scripts written for bash-mcp-sdk expect it:
// lines are read leniently and answered in order, every error has an id, null
// where none can be told, and a journal is kept in the framework's words. The
// protocol's revisions are served all the same.
type BashSDK struct {
	// Log takes the lines of the journal. It is called by several goroutines,
	// and what is being served waits for it.
	Log func(level, text string)
	// AlwaysAnswerLast says that the input is the text of one request, not a
	// stream: all of it is one line, and none of it has been cut off.
	AlwaysAnswerLast bool
}

func (*BashSDK) judgeText(text []byte) verdict { return judgeTextLoosely(text) }
func (*BashSDK) judge(text []byte) verdict     { return judgeLoosely(text) }
func (*BashSDK) isBlank(text []byte) bool      { return len(text) == 0 }
func (s *BashSDK) isOneRequest() bool          { return s.AlwaysAnswerLast }
func (s *BashSDK) answersLast() bool           { return s.AlwaysAnswerLast }
func (*BashSDK) nullIDs(string) bool           { return true }

func (*BashSDK) isMethod(name string, _ bool) bool { return slices.Contains(sdkMethods, name) }

func (*BashSDK) gate(m message.Message, meta message.Meta, supported []string) *message.Error {
	return checkEra(m, meta, supported)
}

// heeds is about requests of the older era: params that nobody looks at, whatever
// they are, must not be the engine's to judge.
func (*BashSDK) heeds(method string, params json.RawMessage, modern bool) (json.RawMessage, bool) {
	return heeded(method, params), !modern
}

// sdkMethods are the methods that scripts of bash-mcp-sdk answer, and the one
// with which clients of the stateless era begin.
var sdkMethods = []string{"initialize", "ping", "tools/list", "tools/call", "server/discover"}

// Words of the journal for what is no message.
const (
	faultTooLong   = "Received a line that is too long"
	faultInvalid   = "Invalid JSON received"
	faultDocuments = "Received a line holding %d JSON documents; expected exactly one"
	faultNoObject  = "JSON-RPC request is not a JSON object"
	faultVersion   = "Invalid JSON-RPC version: %s"
	faultID        = "Request id must be a string or an integer"
)

// judgeTextLoosely tells what keeps text from being one JSON document.
func judgeTextLoosely(text []byte) verdict {
	refused := func(why, fault string) verdict {
		return verdict{err: &message.Error{Code: message.CodeParseError, Message: "Parse error: " + why}, fault: fault}
	}
	n, readable := message.Documents(text)
	switch {
	case !readable:
		return refused("Invalid JSON", faultInvalid)
	case n != 1:
		return refused("Expected exactly one JSON document per line", fmt.Sprintf(faultDocuments, n))
	}
	return verdict{}
}

// judgeLoosely finds the message in a JSON document. The order in which it looks
// for faults is the framework's.
func judgeLoosely(text []byte) verdict {
	refused := func(id message.ID, why, fault string) verdict {
		return verdict{err: &message.Error{Code: message.CodeInvalidRequest, Message: "Invalid Request: " + why, ID: id}, fault: fault}
	}
	e, isObject := message.ReadLoosely(text)
	m := message.Message{Kind: message.Request, ID: e.ID, Method: e.Method, Params: e.Params}
	switch {
	case !isObject:
		return refused(message.ID{}, "expected a JSON object", faultNoObject)
	case e.JSONRPC != "2.0":
		return refused(e.ID, "jsonrpc must be 2.0", fmt.Sprintf(faultVersion, message.Clip(e.JSONRPC)))
	case e.Response:
		m.Kind = message.Response
		return verdict{message: m}
	case !e.HasID:
		m.Kind = message.Notification
		return verdict{message: m}
	case e.ID.IsZero():
		return refused(message.ID{}, "id must be a string or an integer", faultID)
	case e.TooDeep:
		why := fmt.Sprintf("the message nests deeper than %d levels", message.MaxDepth)
		return verdict{message: m, err: &message.Error{Code: message.CodeInvalidParams, Message: "Invalid params: " + why, ID: e.ID}, fault: "Invalid params: " + why}
	}
	return verdict{message: m}
}

// heeded is what the engine is to see of the params of a request.
func heeded(method string, params []byte) []byte {
	switch method {
	case "initialize":
		revision, _ := json.Marshal(message.Text(message.Member(params, "protocolVersion")))
		return fmt.Appendf(nil, `{"protocolVersion":%s,"capabilities":{},"clientInfo":{"name":"","version":""}}`, revision)
	case "ping", "tools/list":
		return nil
	}
	return params
}

// readWhole passes the input on as one line.
func (c *conn) readWhole(in io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(in, int64(c.opts.MaxLine)+2))
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if n := len(text); n > 0 && text[n-1] == '\n' {
		text = text[:n-1]
	}
	switch {
	case len(text) > c.opts.MaxLine:
		c.pass(c.tooLong())
	case !c.manner.isBlank(text):
		c.pass(c.parse(text, true))
	}
	return nil
}
