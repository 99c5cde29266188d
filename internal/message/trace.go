package message

import (
	"encoding/json"
	"strings"
	"unicode"
)

// Trace is the trace that a request belongs to (W3C Trace Context and Baggage).
// What a request did not bring is empty.
type Trace struct{ Traceparent, Tracestate, Baggage string }

// maxTrace is how long each part of a trace may be: as much as Baggage has
// everybody pass on.
const maxTrace = 8 << 10

// NewTrace returns the trace of three texts that a client has sent. What breaks
// a rule is left out: nobody's call shall fail for it. A tracestate means
// nothing without its traceparent.
func NewTrace(traceparent, tracestate, baggage string) Trace {
	var t Trace
	if isTraceparent(traceparent) {
		t.Traceparent = traceparent
		t.Tracestate = passable(tracestate)
	}
	t.Baggage = passable(baggage)
	return t
}

// ReadTrace reads the trace in params._meta.
func ReadTrace(params json.RawMessage) Trace { return ReadMeta(params).Trace }

// isTraceparent reports whether text is 00-TRACE-PARENT-FLAGS, all of them
// lower-case hexadecimal and neither of the ids zero.
func isTraceparent(text string) bool {
	parts := strings.Split(text, "-")
	return len(parts) == 4 && parts[0] == "00" &&
		isHex(parts[1], 32) && isHex(parts[2], 16) && isHex(parts[3], 2) &&
		strings.Trim(parts[1], "0") != "" && strings.Trim(parts[2], "0") != ""
}

func isHex(text string, length int) bool {
	return len(text) == length && strings.Trim(text, "0123456789abcdef") == ""
}

func passable(text string) string {
	if len(text) > maxTrace || strings.ContainsFunc(text, unicode.IsControl) {
		return ""
	}
	return text
}
