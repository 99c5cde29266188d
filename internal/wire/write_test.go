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

func TestPlainUndoesOnlyTheEscapesForWebPages(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"the three of HTML", `"\u003ca\u003e \u0026"`, `"<a> &"`},
		{"the two of JavaScript", `"\u2028\u2029"`, "\"\u2028\u2029\""},
		{"an escaped backslash before", `"\\u003c"`, `"\\u003c"`},
		{"an escaped backslash and an escape", `"\\\u003c"`, `"\\<"`},
		{"two escaped backslashes", `"\\\\u0026"`, `"\\\\u0026"`},
		{"an escaped quote before", `"\"\u003c\""`, `"\"<\""`},
		{"a quote as an escape", `"\u0022"`, `"\u0022"`},
		{"a backslash as an escape", `"\u005cu003c"`, `"\u005cu003c"`},
		{"control characters", `"\u0000\u001f\n"`, `"\u0000\u001f\n"`},
		{"others of the same block", `"\u00e9\u2027\u2030"`, `"\u00e9\u2027\u2030"`},
		{"keys", `{"\u003c":1}`, `{"<":1}`},
		{"an escape at the very end", `"\u003c`, `"<`},
		{"half an escape at the very end", `"\u003c\u00`, `"<\u00`},
		{"a backslash at the very end", `"\u003c\`, `"<\`},
		{"nothing", ``, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(plain([]byte(tt.text))); got != tt.want {
				t.Errorf("plain(%s) = %s, want %s", tt.text, got, tt.want)
			}
		})
	}
}

func FuzzPlain(f *testing.F) {
	for _, text := range []string{`"\u003c\\u003c\\\u003c"`, `{"\u0026":["\u2028",1e400]}`, `"\u0022"`, `"<>&"`, `[]`, "\u2028", `\\\`, "a\nb"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if json.Valid([]byte(text)) {
			requireSameJSON(t, text, string(plain([]byte(text))))
		}
		// Any text as encoding/json writes it comes out with none of its escapes.
		text = strings.ToValidUTF8(text, "")
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		got := string(plain(encoded))
		requireSameJSON(t, string(encoded), got)
		var want strings.Builder
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(text); err != nil {
			t.Fatal(err)
		}
		// Without \u2028 and \u2029, which the encoder always escapes.
		if !strings.ContainsAny(text, "\u2028\u2029") && got != strings.TrimSuffix(want.String(), "\n") {
			t.Errorf("got %s, want %s", got, want.String())
		}
	})
}

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
