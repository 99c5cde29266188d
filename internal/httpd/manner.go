package httpd

import (
	"encoding/json"
	"net/http"

	"github.com/conch-mcp/conch/internal/manner"
	"github.com/conch-mcp/conch/internal/message"
)

// how is what differs in an endpoint for scripts of another framework.
type how interface {
	// judge finds the message in a JSON document.
	judge(text []byte) (message.Message, *message.Error)
	// gate tells what keeps a modern request from being served: what its metadata
	// lacks, what its headers say, and its revision.
	gate(header http.Header, m message.Message, meta message.Meta, supported []string) *message.Error
	// heeded is what the engine is to see in the place of a request's params.
	heeded(m message.Message, modern bool) json.RawMessage
	// status is that of an answer with an error of a code.
	status(code int) int
	// nullIDs reports whether an error without an id says so to a client.
	nullIDs(header http.Header) bool
	// asksOfHTTP reports whether a POST must say what its body is and what it
	// accepts, and whether a path is looked at before a method.
	asksOfHTTP() bool
}

// plain is how the protocol has it.
type plain struct{}

func (plain) judge(text []byte) (message.Message, *message.Error) { return message.Parse(text) }

// gate looks in the order the protocol's conformance tests want.
func (plain) gate(header http.Header, m message.Message, meta message.Meta, supported []string) *message.Error {
	if m.Method == "initialize" && !meta.Modern && !saysModern(header) {
		return message.Unsupported(m.ID, message.Text(message.Member(m.Params, "protocolVersion")), supported)
	}
	fault := meta.Check(m.ID, supported)
	if fault != nil && fault.Code != message.CodeUnsupportedVersion {
		return fault
	}
	if err := checkHeaders(header, m, meta.Revision); err != nil {
		return err
	}
	return fault
}

func (plain) heeded(m message.Message, _ bool) json.RawMessage { return m.Params }

// status follows the protocol's table (MCP 2026-07-28, "Streamable HTTP", "Error
// codes").
func (plain) status(code int) int {
	switch code {
	case message.CodeMethodNotFound:
		return http.StatusNotFound
	case message.CodeInternalError:
		return http.StatusOK
	}
	return http.StatusBadRequest
}

func (plain) nullIDs(header http.Header) bool { return nullIDs(header) }
func (plain) asksOfHTTP() bool                { return true }

// serverBashSDK is how mcp-server-bash-sdk has it.
type serverBashSDK struct{ manner.ServerBashSDK }

func (s serverBashSDK) judge(text []byte) (message.Message, *message.Error) { return s.Judge(text) }

func (s serverBashSDK) gate(header http.Header, m message.Message, meta message.Meta, supported []string) *message.Error {
	if m.Method == "initialize" && !meta.Modern && !saysModern(header) {
		// Its client knows nothing of the headers either.
		return s.Gate(m, meta, supported)
	}
	revision := meta.Revision
	if m.Method == "server/discover" && revision == "" {
		// It need not say which it wants.
		revision = header.Get(headerVersion)
	}
	if err := checkHeaders(header, m, revision); err != nil {
		return err
	}
	if err := s.Gate(m, meta, supported); err != nil {
		return err
	}
	if !s.IsMethod(m.Method, true) {
		return &message.Error{Code: message.CodeMethodNotFound, Message: "Method not found: " + message.Clip(m.Method), ID: m.ID}
	}
	return nil
}

func (s serverBashSDK) heeded(m message.Message, modern bool) json.RawMessage {
	return s.Heeded(m.Method, m.Params, modern)
}

// status has what a tool's caller did wrong be an answer like others.
func (serverBashSDK) status(code int) int {
	if code == message.CodeInvalidParams {
		return http.StatusOK
	}
	return plain{}.status(code)
}

func (serverBashSDK) nullIDs(http.Header) bool { return true }
func (serverBashSDK) asksOfHTTP() bool         { return false }
