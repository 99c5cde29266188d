package subscription

import (
	"encoding/json"
	"testing"

	"github.com/conch-mcp/conch/internal/message"
)

// What is acknowledged is a filter again, with nothing in it that was not asked
// for.
func FuzzFilter(f *testing.F) {
	f.Add([]byte(`{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:1","\u0061:2"]}}`))
	f.Add([]byte(`{"notifications":{"promptsListChanged":null,"resourcesListChanged":false,"resourceSubscriptions":[ ]}}`))
	f.Fuzz(func(t *testing.T, params []byte) {
		if message.Check(params) != nil {
			return
		}
		wanted, err := readFilter(params)
		if err != nil {
			return
		}
		h := NewHub(Options{
			Tells: func(string) bool { return true }, Subscribes: func() bool { return true }, Find: func(string) (string, bool) { return "", true },
		})
		honoured, _ := h.honour(t.Context(), newListener(), wanted)
		again, err := readFilter(json.RawMessage(`{"notifications":` + string(honoured) + `}`))
		if err != nil || len(again.lists) != len(wanted.lists) || len(again.uris) > len(wanted.uris) {
			t.Errorf("%s is acknowledged as %s: %v", params, honoured, err)
		}
	})
}
