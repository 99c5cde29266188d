package message

import (
	"encoding/json"
	"slices"
)

// Protocol revisions, newest first. The first alone is stateless: each of its
// requests says what it needs in params._meta.
const (
	Revision20260728 = "2026-07-28"
	Revision20251125 = "2025-11-25"
	Revision20250618 = "2025-06-18"
	Revision20250326 = "2025-03-26"
	Revision20241105 = "2024-11-05"
)

// Revisions lists every revision Conch speaks, newest first.
func Revisions() []string {
	return []string{Revision20260728, Revision20251125, Revision20250618, Revision20250326, Revision20241105}
}

// Modern reports whether a revision is of the stateless era.
func Modern(revision string) bool { return revision >= Revision20260728 }

// Members of params._meta that make a request a modern one (MCP 2026-07-28,
// "Base protocol").
const (
	MetaProtocolVersion    = "io.modelcontextprotocol/protocolVersion"
	MetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities"
	MetaClientInfo         = "io.modelcontextprotocol/clientInfo"
	MetaLogLevel           = "io.modelcontextprotocol/logLevel"
	MetaServerInfo         = "io.modelcontextprotocol/serverInfo"
)

// CodeUnsupportedVersion answers a revision that is not served.
const CodeUnsupportedVersion = -32022

// Meta is what a message's params._meta says about itself.
type Meta struct {
	Modern   bool   // the request is of the stateless era
	Revision string // the protocolVersion of a modern request
	LogLevel string // the logLevel of a modern request, "" when there is none
	// Capabilities is what the client of a modern request can do, a JSON object.
	Capabilities json.RawMessage
	Token        json.RawMessage
	Trace        Trace // of a request of either era
	missing      string
}

// ReadMeta reads params._meta. A request that carries a modern member is
// modern, also when others are missing; [Meta.Check] tells which.
func ReadMeta(params json.RawMessage) Meta {
	var m Meta
	meta := Member(params, "_meta")
	if meta == nil || meta[0] != '{' {
		return m
	}
	var version, capabilities, info, traceparent, tracestate, baggage json.RawMessage
	eachMember(meta, func(key []byte, _ int, value json.RawMessage) {
		switch string(key) {
		case MetaProtocolVersion:
			version = value
		case MetaClientCapabilities:
			capabilities = value
		case MetaClientInfo:
			info = value
		case MetaLogLevel:
			m.LogLevel = Text(value)
		case "progressToken":
			m.Token = value
		case "traceparent":
			traceparent = value
		case "tracestate":
			tracestate = value
		case "baggage":
			baggage = value
		}
	})
	m.Trace = NewTrace(Text(traceparent), Text(tracestate), Text(baggage))
	m.Modern = version != nil || capabilities != nil
	switch {
	case !m.Modern:
	case version == nil || version[0] != '"':
		m.missing = MetaProtocolVersion
	case capabilities == nil || capabilities[0] != '{':
		m.missing = MetaClientCapabilities
	case info != nil && info[0] != '{':
		m.missing = MetaClientInfo
	}
	m.Revision, m.Capabilities = Text(version), capabilities
	return m
}

// Check reports what keeps a modern request from being served: a member that
// is missing or of the wrong type, or a revision that is not among supported.
func (m Meta) Check(id ID, supported []string) *Error {
	switch {
	case !m.Modern:
		return missing(id, MetaProtocolVersion)
	case m.missing != "":
		return missing(id, m.missing)
	case Modern(m.Revision) && slices.Contains(supported, m.Revision):
		return nil
	}
	return Unsupported(id, m.Revision, supported)
}

func missing(id ID, member string) *Error {
	return &Error{Code: CodeInvalidParams, ID: id, Message: "Invalid params: _meta lacks a valid " + member}
}

// Unsupported answers a request that wants a revision which is not served, or
// names none where only the stateless era is.
func Unsupported(id ID, requested string, supported []string) *Error {
	modern := slices.DeleteFunc(slices.Clone(supported), func(r string) bool { return !Modern(r) })
	data, _ := json.Marshal(struct {
		Supported []string `json:"supported"`
		Requested string   `json:"requested"`
	}{modern, requested})
	return &Error{Code: CodeUnsupportedVersion, ID: id, Message: "Unsupported protocol version", Data: data}
}

// EachMember calls f for each member of a valid JSON object, in order. It is false for
// another value.
func EachMember(object json.RawMessage, f func(name string, value json.RawMessage)) bool {
	return eachMember(object, func(key []byte, _ int, value json.RawMessage) { f(string(key), value) })
}

// Member returns a member of a JSON object, nil when there is none. Of several
// the last counts.
func Member(object json.RawMessage, name string) json.RawMessage {
	_, value := find(object, name)
	return value
}

func find(object json.RawMessage, name string) (at int, value json.RawMessage) {
	eachMember(object, func(key []byte, start int, v json.RawMessage) {
		if string(key) == name {
			at, value = start, v
		}
	})
	return at, value
}

// ReplaceMember returns object with the value of the named member replaced, if
// it has one. object itself stays as it is.
func ReplaceMember(object json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	at, old := find(object, name)
	if old == nil {
		return object
	}
	out := make(json.RawMessage, 0, len(object)-len(old)+len(value))
	out = append(out, object[:at]...)
	out = append(out, value...)
	return append(out, object[at+len(old):]...)
}
