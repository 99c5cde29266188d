package wire

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/message"
)

func requireSameJSON(t *testing.T, a, b string) {
	t.Helper()
	if va, vb := decode(t, a), decode(t, b); !reflect.DeepEqual(va, vb) {
		t.Errorf("%s has become %s", a, b)
	}
}

func decode(t *testing.T, text string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

func TestErrorRepliesCarryTheIDAsItWasWritten(t *testing.T) {
	id := func(raw string) message.ID {
		id, ok := message.ParseID(json.RawMessage(raw))
		if !ok && raw != "" {
			t.Fatalf("%s is no id", raw)
		}
		return id
	}
	tests := []struct {
		name, negotiated, id, want string
	}{
		{"a number", "", "1", `,"id":1`},
		{"many digits", "", "9007199254740993", `,"id":9007199254740993`},
		{"a fraction that is an integer", "", "1.0", `,"id":1.0`},
		{"a string with escapes", "", `"\u0041\u003c"`, `,"id":"\u0041\u003c"`},
		{"none, before anything was negotiated", "", "", ``},
		{"none, in 2025-11-25", message.Revision20251125, "", ``},
		{"none, in 2025-06-18", message.Revision20250618, "", `,"id":null`},
		{"none, in 2025-03-26", message.Revision20250326, "", `,"id":null`},
		{"none, in 2024-11-05", message.Revision20241105, "", `,"id":null`},
		{"a number, in 2024-11-05", message.Revision20241105, "1", `,"id":1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &conn{manner: plain{}, negotiated: tt.negotiated}
			got := string(c.errorReply(&message.Error{Code: -32600, Message: `a "b" <c>`, ID: id(tt.id), Data: json.RawMessage(`{"x":"\u003c"}`)}))
			want := `{"jsonrpc":"2.0"` + tt.want + `,"error":{"code":-32600,"message":"a \"b\" <c>","data":{"x":"<"}}}`
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
