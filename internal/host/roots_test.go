package host

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/roots"
)

func TestAnswersToRootsList(t *testing.T) {
	for text, want := range map[string][]roots.ClientRoot{
		`{"roots":[]}`: {}, `{"roots":[{"uri":"file:///a","name":"A","_meta":{}}],"_meta":{}}`: {{URI: "file:///a", Name: "A"}},
		`{"roots":[{}]}`: {{}}, `{"roots":[{"uri":1,"name":null}]}`: {{}},
		`{}`: nil, `null`: nil, `[]`: nil, `{"roots":null}`: nil, `{"roots":{}}`: nil, `{"roots":"a"}`: nil, `{"roots":[1]}`: nil, `{"roots":[null]}`: nil, `{"Roots":[]}`: nil,
	} {
		got, err := parseRoots(json.RawMessage(text))
		if (err == nil) != (want != nil) || len(got) != len(want) || len(want) > 0 && got[0] != want[0] {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func FuzzRootsAnswer(f *testing.F) {
	f.Add(`{"roots":[{"uri":"file:///a"}]}`)
	f.Add(`{"roots":[`)
	f.Fuzz(func(t *testing.T, text string) {
		named, err := parseRoots(json.RawMessage(text))
		if (named == nil) != (err != nil) {
			t.Errorf("%q: %v, %v", text, named, err)
		}
	})
}

// The engine's own form of what a client declares has roots in any case.
func TestRootsThatAreNotDeclared(t *testing.T) {
	for text, want := range map[string]bool{`{}`: false, `{"sampling":{}}`: false, `{"roots":{}}`: true, `{"roots":{"listChanged":true}}`: true} {
		server := mcp.NewServer(&mcp.Implementation{Name: "s"}, nil)
		ctx := t.Context()
		in, out := mcp.NewInMemoryTransports()
		session, err := server.Connect(ctx, in, nil)
		if err != nil {
			t.Fatal(err)
		}
		c, err := out.Connect(ctx)
		if err != nil {
			t.Fatal(err)
		}
		m, err := initialize(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Write(ctx, m); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(ctx); err != nil {
			t.Fatal(err)
		}
		if got := declares(capabilitiesOf(session), methodRoots, nil); got != want {
			t.Errorf("%s: %s", text, capabilitiesOf(session))
		}
		c.Close()
		_ = session.Wait()
	}
}

func initialize(capabilities string) (jsonrpc.Message, error) {
	return jsonrpc.DecodeMessage([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"t","version":"1"}}}`))
}
