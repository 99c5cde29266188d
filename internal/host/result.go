package host

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/message"
)

// rawResult is a result whose JSON is made here, in the author's own bytes
// where he wrote some: the engine's result types would reorder and reword it.
type rawResult struct {
	mcp.ResultBase
	text json.RawMessage
}

// MarshalJSON implements [json.Marshaler]. The transport takes the shield off.
func (r *rawResult) MarshalJSON() ([]byte, error) { return message.Shield(r.text), nil }

// GetMeta tells the engine that there is metadata already, or it would add its
// own for no use.
func (r *rawResult) GetMeta() map[string]any {
	return map[string]any{mcp.MetaKeyServerInfo: nil}
}

// fields is a JSON object in the making; its members stay in order.
type fields struct{ bytes.Buffer }

func (f *fields) addRaw(name string, value json.RawMessage) {
	if f.Len() > 0 {
		f.WriteByte(',')
	}
	f.Write(message.AppendText(f.AvailableBuffer(), name))
	f.WriteByte(':')
	f.Write(value)
}

func (f *fields) add(name string, value any) { f.addRaw(name, marshal(value)) }

func (f *fields) addUnlessEmpty(name, value string) {
	if value != "" {
		f.add(name, value)
	}
}

func (f *fields) object() json.RawMessage {
	object := make(json.RawMessage, 0, f.Len()+2)
	return append(append(append(object, '{'), f.Bytes()...), '}')
}

// mergedInto returns a compact JSON object with the fields before its own.
func (f *fields) mergedInto(object json.RawMessage) json.RawMessage {
	rest := string(object[1:])
	if f.Len() > 0 && rest != "}" {
		f.WriteByte(',')
	}
	return json.RawMessage("{" + f.String() + rest)
}

// marshal encodes values that cannot fail to be: strings, numbers, and lists
// of them.
func marshal(value any) json.RawMessage {
	if s, ok := value.(string); ok {
		return message.AppendText(nil, s)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

func joinArray(elements []json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, e := range elements {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(e)
	}
	b.WriteByte(']')
	return b.Bytes()
}
