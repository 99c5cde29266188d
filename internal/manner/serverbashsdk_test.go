package manner

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/conch-mcp/conch/internal/message"
)

func TestWhatHasNoIDIsNeverAnswered(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		kind       message.Kind
		code       int // 0 for none
	}{
		{"a request", `{"jsonrpc":"2.0","id":1,"method":"m"}`, message.Request, 0},
		{"a notification", `{"jsonrpc":"2.0","method":"m"}`, message.Notification, 0},
		{"a notification of another JSON-RPC", `{"jsonrpc":"1.0","method":"m"}`, message.Notification, message.CodeInvalidRequest},
		{"a notification without a method", `{}`, message.Notification, message.CodeInvalidRequest},
		{"a notification with odd params", `{"jsonrpc":"2.0","method":"m","params":5}`, message.Notification, message.CodeInvalidParams},
		{"a request of another JSON-RPC", `{"jsonrpc":"1.0","id":1,"method":"m"}`, message.Request, message.CodeInvalidRequest},
		{"a request with a null id", `{"jsonrpc":"2.0","id":null,"method":"m"}`, message.Request, message.CodeInvalidRequest},
		{"a response", `{"jsonrpc":"2.0","id":1,"result":{}}`, message.Response, 0},
		{"a list", `[]`, message.Request, message.CodeInvalidRequest},
		{"a number", `5`, message.Request, message.CodeInvalidRequest},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := ServerBashSDK{}.Judge([]byte(tt.text))
			if m.Kind != tt.kind || (err == nil) != (tt.code == 0) || err != nil && err.Code != tt.code {
				t.Errorf("kind %d, %+v", m.Kind, err)
			}
		})
	}
}

const (
	modernParams  = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`
	futureParams  = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}`
	legacyParams  = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-06-18"}}`
	oddParams     = `{"_meta":{"io.modelcontextprotocol/protocolVersion":5}}`
	initialParams = `{"protocolVersion":"2025-06-18"}`
)

func TestTheGateLooksAtTheRevisionAlone(t *testing.T) {
	modern, both := []string{message.Revision20260728}, []string{message.Revision20260728, message.Revision20250618}
	for _, tt := range []struct {
		name, method, params string
		supported            []string
		refused              bool
		requested            string
	}{
		{"the revision that is served", "tools/list", modernParams, modern, false, ""},
		{"one that is not", "tools/list", legacyParams, modern, true, "2025-06-18"},
		{"one that is not, in another era's way", "tools/list", legacyParams, both, true, "2025-06-18"},
		{"one of the future", "tools/list", futureParams, both, true, "2099-01-01"},
		{"one that is no text", "tools/list", oddParams, modern, true, ""},
		{"none", "tools/list", ``, modern, true, ""},
		{"none, where sessions are served", "tools/list", ``, both, false, ""},
		{"discover, whatever is named", "server/discover", futureParams, modern, false, ""},
		{"discover, with nothing", "server/discover", ``, modern, false, ""},
		{"initialize", "initialize", initialParams, modern, true, "2025-06-18"},
		{"initialize, where sessions are served", "initialize", initialParams, both, false, ""},
		{"nothing served", "tools/list", modernParams, nil, true, "2026-07-28"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := message.Message{Method: tt.method, Params: json.RawMessage(tt.params)}
			err := ServerBashSDK{}.Gate(m, message.ReadMeta(m.Params), tt.supported)
			if (err != nil) != tt.refused {
				t.Fatalf("%+v", err)
			}
			if err == nil {
				return
			}
			requested := message.Text(message.Member(err.Data, "requested"))
			if err.Code != message.CodeUnsupportedVersion || requested != tt.requested {
				t.Errorf("%d, %s", err.Code, err.Data)
			}
		})
	}
}

func TestMethodsAreThoseOfTheEra(t *testing.T) {
	for _, tt := range []struct {
		name           string
		modern, legacy bool
	}{
		{"tools/list", true, true}, {"tools/call", true, true}, {"server/discover", true, false},
		{"initialize", false, true}, {"ping", false, true}, {"resources/list", false, false}, {"", false, false},
	} {
		if got := (ServerBashSDK{}).IsMethod(tt.name, true); got != tt.modern {
			t.Errorf("%q, stateless: %t", tt.name, got)
		}
		if got := (ServerBashSDK{}).IsMethod(tt.name, false); got != tt.legacy {
			t.Errorf("%q, in a session: %t", tt.name, got)
		}
	}
}

func TestTheEngineSeesOnlyParamsThatAreLookedAt(t *testing.T) {
	const odd = `{"cursor":5,"_meta":7}`
	for _, tt := range []struct {
		method string
		modern bool
		want   string
	}{
		{"tools/list", true, string(complete)}, {"server/discover", true, string(complete)}, {"tools/call", true, odd},
		{"tools/list", false, ""}, {"ping", false, ""}, {"tools/call", false, odd},
		{"initialize", false, `{"protocolVersion":"","capabilities":{},"clientInfo":{"name":"","version":""}}`},
	} {
		if got := string(ServerBashSDK{}.Heeded(tt.method, json.RawMessage(odd), tt.modern)); got != tt.want {
			t.Errorf("%s, stateless %t: %s", tt.method, tt.modern, got)
		}
	}
}

// FuzzJudge has any document judged: a request that passes the gate has an id, a
// revision that is served, and params that the engine can read.
func FuzzJudge(f *testing.F) {
	for _, params := range []string{modernParams, futureParams, oddParams, initialParams, `5`, `null`} {
		for _, method := range []string{"tools/list", "tools/call", "server/discover", "initialize", "a\\u001fb"} {
			f.Add(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`)
		}
	}
	for _, text := range []string{`{}`, `[]`, `{"jsonrpc":"1.0"}`, `{"id":[1],"jsonrpc":"2.0","method":"m"}`, `"`, "\xff"} {
		f.Add(text)
	}
	supported := []string{message.Revision20260728}
	f.Fuzz(func(t *testing.T, text string) {
		if message.Check([]byte(text)) != nil {
			return
		}
		m, err := ServerBashSDK{}.Judge([]byte(text))
		if err != nil {
			if err.Code == 0 || !utf8.ValidString(err.Message) || strings.ContainsRune(err.Message, '\n') {
				t.Fatalf("%+v", err)
			}
			return
		}
		meta := message.ReadMeta(m.Params)
		if m.Kind != message.Request || (ServerBashSDK{}).Gate(m, meta, supported) != nil {
			return
		}
		if m.ID.IsZero() || m.Method != "server/discover" && meta.Revision != message.Revision20260728 {
			t.Errorf("%q passes the gate", text)
		}
		for _, modern := range []bool{true, false} {
			if params := (ServerBashSDK{}).Heeded(m.Method, m.Params, modern); params != nil && !json.Valid(params) {
				t.Errorf("%q: the engine gets %q", text, params)
			}
		}
	})
}
