package host

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/message"
)

func TestItemsThatClientsWouldRefuseAreNoContent(t *testing.T) {
	tests := []struct {
		item string
		want bool
	}{
		{`{"type":"text","text":"x"}`, true},
		{`{"type":"text","text":"x","annotations":{"audience":["user","assistant"],"priority":0.5},"_meta":{"a":1}}`, true},
		{`{"type":"image","data":"AP8=","mimeType":"image/png"}`, true},
		{`{"type":"audio","data":"","mimeType":"audio/wav"}`, true},
		{`{"type":"resource_link","uri":"x:1","name":"one"}`, true},
		{`{"type":"resource","resource":{"uri":"x:1","text":""}}`, true},
		{`{"type":"resource","resource":{"uri":"x:1","blob":"AP8="}}`, true},
		{`{}`, false}, {`[]`, false}, {`"x"`, false}, {`null`, false},
		{`{"type":"text"}`, false}, {`{"type":"text","text":1}`, false}, {`{"type":"Text","text":"x"}`, false}, {`{"type":5,"text":"x"}`, false},
		{`{"type":"text","text":"x","annotations":5}`, false},
		{`{"type":"text","text":"x","annotations":{"audience":["model"]}}`, false},
		{`{"type":"text","text":"x","annotations":{"priority":1.5}}`, false},
		{`{"type":"text","text":"x","annotations":{"priority":"1"}}`, false},
		{`{"type":"text","text":"x","annotations":{"lastModified":5}}`, false}, {`{"type":"text","text":"x","_meta":5}`, false},
		{`{"type":"resource_link","uri":"x:1","name":"one","size":"x"}`, false}, {`{"type":"resource_link","uri":"x:1","name":"one","icons":5}`, false},
		{`{"type":"resource","resource":{"uri":"x:1","text":"x","mimeType":5}}`, false},
		{`{"type":"image","data":"AP8","mimeType":"image/png"}`, false}, {`{"type":"image","data":"AP8="}`, false},
		{`{"type":"resource_link","uri":"x:1"}`, false}, {`{"type":"resource_link","name":"x"}`, false},
		{`{"type":"resource","resource":{"text":"x"}}`, false}, {`{"type":"resource","resource":{"uri":"x:1"}}`, false},
		{`{"type":"resource","resource":{"uri":"x:1","blob":"AP8"}}`, false}, {`{"type":"resource","resource":"x:1"}`, false},
	}
	for _, tt := range tests {
		if got := isContent(json.RawMessage(tt.item)); got != tt.want {
			t.Errorf("isContent(%s) = %t", tt.item, got)
		}
	}
}

// FuzzContent looks for items and results of a tool's that Conch takes and the
// SDK's client does not, in whatever revision.
func FuzzContent(f *testing.F) {
	for _, item := range []string{
		`{"type":"text","text":"x","annotations":{"audience":["user"],"priority":1}}`, `{"type":"image","data":"AP8=","mimeType":"image/png"}`,
		`{"type":"audio","data":"AA==","mimeType":"audio/wav"}`, `{"type":"resource","resource":{"uri":"x:1","text":"x"}}`,
		`{"type":"resource","resource":{"uri":"x:1","blob":"AA==","mimeType":5}}`, `{"type":"resource_link","uri":"x:1","name":"one","size":"x"}`,
		`{"type":"text","text":"x","_meta":5}`, `{"type":"text","Text":"x","text":"y"}`, `{"type":"text","text":"x","type":"image"}`,
		`{"type":"text","text":"x","annotations":{"lastModified":5}}`, `{"type":"resource_link","uri":"x:1","name":"one","icons":5}`, `[]`, `{`, ``,
	} {
		f.Add(item)
	}
	f.Fuzz(func(t *testing.T, item string) {
		if !json.Valid([]byte(item)) || !isContent(json.RawMessage(item)) {
			return
		}
		for _, c := range []toolCall{{modern: true}, {revision: message.Revision20241105}, {revision: message.Revision20250326}, {revision: message.Revision20250618}, {revision: message.Revision20251125}} {
			known := c.known(json.RawMessage(item))
			if !isContent(known) {
				t.Errorf("%s becomes %s, which is no content", item, known)
			}
			var result mcp.CallToolResult
			if err := json.Unmarshal([]byte(`{"content":[`+string(known)+`]}`), &result); err != nil {
				t.Errorf("a client refuses %s: %v", known, err)
			}
		}
	})
}
