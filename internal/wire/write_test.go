package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

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
			c := &conn{negotiated: tt.negotiated}
			got := string(c.errorReply(&message.Error{Code: -32600, Message: `a "b" <c>`, ID: id(tt.id), Data: json.RawMessage(`{"x":"\u003c"}`)}))
			want := `{"jsonrpc":"2.0"` + tt.want + `,"error":{"code":-32600,"message":"a \"b\" <c>","data":{"x":"<"}}}`
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestErrorsOfTheEngineShowNothingOfItsInside(t *testing.T) {
	id, _ := message.ParseID(json.RawMessage(`1`))
	r := &request{id: id, method: "m"}
	tests := []struct {
		name string
		err  error
		code int
		want string
	}{
		{"a plain error", errors.New("secret"), -32603, "Internal error"},
		{"an error without a code", &jsonrpc.Error{Message: "secret"}, -32603, "Internal error"},
		{"an unknown method", &jsonrpc.Error{Code: -32601, Message: "secret"}, -32601, "Method not found: m"},
		{"params of the wrong type", &jsonrpc.Error{Code: -32602, Message: "invalid params: json: cannot unmarshal secret"}, -32602, "Invalid params: a member is missing or has the wrong type"},
		{"a failure while handling", &jsonrpc.Error{Code: -32600, Message: "handling 'm': secret"}, -32602, "Invalid params: a member is missing or has the wrong type"},
		{"no params", &jsonrpc.Error{Code: -32600, Message: `missing required "params"`}, -32602, "Invalid params: there are none"},
		{"an error of the host's", fmt.Errorf("wrapped: %w", &jsonrpc.Error{Code: -32602, Message: "Invalid params: unknown tool"}), -32602, "Invalid params: unknown tool"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if e := wireError(r, tt.err); e.Code != tt.code || e.Message != tt.want || e.ID != id {
				t.Errorf("got %+v", e)
			}
		})
	}
}
