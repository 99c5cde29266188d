package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/conch-mcp/conch/internal/message"
)

func TestErrorsOfTheEngineShowNothingOfItsInside(t *testing.T) {
	id, _ := message.ParseID(json.RawMessage(`1`))
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
			if e := Fault("m", id, tt.err); e.Code != tt.code || e.Message != tt.want || e.ID != id {
				t.Errorf("got %+v", e)
			}
		})
	}
}
