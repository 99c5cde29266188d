package message

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// AppendText appends a JSON string that says s, which is UTF-8, with no more escapes
// than there must be.
func AppendText(b []byte, s string) []byte {
	if needsNoEscape(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	out := bytes.NewBuffer(b)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	// To encode a string cannot fail.
	_ = e.Encode(s)
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
}

// Reply is the response to a request that has a result. What shields the result
// (see [Shield]) is taken off.
func Reply(id ID, result json.RawMessage) []byte {
	result = Unshield(result)
	b := make([]byte, 0, len(result)+len(id.Raw())+40)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, id.Raw()...)
	b = append(b, `,"result":`...)
	b = append(b, result...)
	return append(b, '}')
}

// ErrorReply is the response that e is. Without an id the member is left out, as
// the schemas since 2025-11-25 want, or null, as JSON-RPC says.
func ErrorReply(e *Error, nullID bool) []byte {
	var b bytes.Buffer
	b.WriteString(`{"jsonrpc":"2.0"`)
	if !e.ID.IsZero() {
		b.WriteString(`,"id":` + e.ID.Raw())
	} else if nullID {
		b.WriteString(`,"id":null`)
	}
	text, _ := json.Marshal(e.Message)
	fmt.Fprintf(&b, `,"error":{"code":%d,"message":%s`, e.Code, Unshield(text))
	if len(e.Data) > 0 {
		b.WriteString(`,"data":`)
		b.Write(Unshield(e.Data))
	}
	b.WriteString(`}}`)
	return b.Bytes()
}

// RequestText is a request of a server's own, under a string for an id.
func RequestText(id, method string, params json.RawMessage) []byte {
	if len(params) == 0 {
		params = json.RawMessage(`{}`)
	}
	quoted, _ := json.Marshal(id)
	name, _ := json.Marshal(method)
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%s,"params":%s}`, quoted, name, params)
}

// NotificationText is a notification, without params an empty object.
func NotificationText(method string, params json.RawMessage) []byte {
	if len(params) == 0 {
		params = json.RawMessage(`{}`)
	}
	name, _ := json.Marshal(method)
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%s,"params":%s}`, name, Unshield(params))
}

// ReplaceToken returns the params of a request with another progress token in
// the place of the one they have.
func ReplaceToken(params json.RawMessage, token string) json.RawMessage {
	text, _ := json.Marshal(token)
	meta := ReplaceMember(Member(params, "_meta"), "progressToken", text)
	return ReplaceMember(params, "_meta", meta)
}
