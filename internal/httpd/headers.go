package httpd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/schema"
)

// Headers of the transport (MCP, "Streamable HTTP").
const (
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	headerSession = "Mcp-Session-Id"
	headerEventID = "Last-Event-Id"
)

// codeHeaderMismatch answers a request whose headers say something else than its
// body, or do not say what they must.
const codeHeaderMismatch = -32020

func mismatch(id message.ID, format string, args ...any) *message.Error {
	return &message.Error{Code: codeHeaderMismatch, Message: "Header mismatch: " + fmt.Sprintf(format, args...), ID: id}
}

// named are the methods whose Mcp-Name header repeats a member of their params.
var named = map[string]string{
	"tools/call": "name", "prompts/get": "name", "resources/read": "uri",
	"tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId",
}

// checkHeaders compares the headers of a modern request with its body. They must
// be there, except that a notification need not have them.
func checkHeaders(header http.Header, m message.Message, revision string) *message.Error {
	required := m.Kind == message.Request
	if err := checkHeader(header, "MCP-Protocol-Version", revision, required, m.ID); err != nil {
		return err
	}
	if err := checkHeader(header, "Mcp-Method", m.Method, required, m.ID); err != nil {
		return err
	}
	member, ok := named[m.Method]
	if !ok {
		return nil
	}
	return checkName(header, message.Text(message.Member(m.Params, member)), required, m.ID)
}

// checkHeader compares one header with what the body says.
func checkHeader(header http.Header, name, body string, required bool, id message.ID) *message.Error {
	values := header.Values(name)
	switch {
	case len(values) == 0 && !required:
		return nil
	case len(values) == 0:
		return mismatch(id, "%s is missing", name)
	case len(values) > 1:
		return mismatch(id, "%s is there %d times", name, len(values))
	case values[0] != body:
		return mismatch(id, "%s is %q, the body says %q", name, message.Clip(values[0]), message.Clip(body))
	}
	return nil
}

func checkName(header http.Header, body string, required bool, id message.ID) *message.Error {
	values := header.Values(headerName)
	if len(values) == 1 {
		decoded, ok := schema.DecodeHeader(values[0])
		if !ok {
			return mismatch(id, "Mcp-Name is not valid base64 of UTF-8")
		}
		values = []string{decoded}
	}
	return checkHeader(http.Header{headerName: values}, headerName, body, required, id)
}

// traceOf is the trace that a request belongs to: what its metadata says, or else
// its headers (W3C Trace Context).
func traceOf(header http.Header, params json.RawMessage) message.Trace {
	if trace := message.ReadTrace(params); trace.Traceparent != "" {
		return trace
	}
	return message.NewTrace(header.Get("Traceparent"), strings.Join(header.Values("Tracestate"), ","), strings.Join(header.Values("Baggage"), ","))
}

// versionOf is the revision that a request's header names; ok is false when
// there is more than one header, or none.
func versionOf(header http.Header) (revision string, ok bool) {
	values := header.Values(headerVersion)
	if len(values) != 1 {
		return "", false
	}
	return values[0], true
}

// saysModern reports whether a header names a revision of the stateless era,
// be it one that does not exist yet.
func saysModern(header http.Header) bool {
	revision, ok := versionOf(header)
	return ok && isRevision(revision) && message.Modern(revision)
}

// isRevision reports whether text is a date, as the names of revisions are.
func isRevision(text string) bool {
	const form = "0000-00-00"
	if len(text) != len(form) {
		return false
	}
	for i, c := range []byte(text) {
		if form[i] == '-' && c != '-' || form[i] == '0' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// nullIDs reports whether the client of a request is of a revision that has
// "id":null in an error without an id.
func nullIDs(header http.Header) bool {
	revision, ok := versionOf(header)
	return !ok || revision < message.Revision20251125
}

// cursor is where a client goes on that comes back to a stream.
type cursor struct{ stream, event int }

// parseEventID reads an id that an event had.
func parseEventID(text string) (c cursor, ok bool) {
	stream, event, ok := strings.Cut(text, "-")
	if !ok {
		return c, false
	}
	c.stream, ok = number(stream)
	if !ok {
		return c, false
	}
	c.event, ok = number(event)
	return c, ok
}

// number reads digits, as many as events may ever have.
func number(text string) (n int, ok bool) {
	if text == "" || len(text) > 9 {
		return 0, false
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}

// toolName is the tool that a request calls, "" for any other.
func toolName(m message.Message) string {
	if m.Method != "tools/call" {
		return ""
	}
	return message.Text(message.Member(m.Params, "name"))
}

func arguments(m message.Message) json.RawMessage { return message.Member(m.Params, "arguments") }
