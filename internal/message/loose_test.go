package message

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDocumentsCountsWhatALineHolds(t *testing.T) {
	tests := []struct {
		text     string
		n        int
		readable bool
	}{
		{``, 0, true},
		{" \t\r", 0, true},
		{`{}`, 1, true},
		{` {"a":[1,2]} ` + "\r", 1, true},
		{"\ufeff{}", 1, true},
		{"\ufeff", 0, true},
		{`false`, 1, true},
		{`null`, 1, true},
		{`{}{}`, 2, true},
		{`{} {}`, 2, true},
		{`1 "a" [] null`, 4, true},
		{`{"a"`, 0, false},
		{`{} {"a"`, 0, false},
		{`{} x`, 0, false},
		{`{}}`, 0, false},
		{`nonsense`, 0, false},
		{`'a'`, 0, false},
		{`[1,]`, 0, false},
		{`// a`, 0, false},
		{"\"\t\"", 0, false},
		{"{}\x00", 0, false},
		{"\"\xff\"", 0, false},
		{strings.Repeat("[", MaxDepth+5) + strings.Repeat("]", MaxDepth+5), 1, true},
		{strings.Repeat("[", MaxDepth+5), 0, false},
	}
	for _, tt := range tests {
		n, readable := Documents([]byte(tt.text))
		if readable != tt.readable || readable && n != tt.n {
			t.Errorf("%.40q holds %d, %v; want %d, %v", tt.text, n, readable, tt.n, tt.readable)
		}
	}
}

func TestReadLooselyTakesTheLastOfEachMember(t *testing.T) {
	tests := []struct {
		name, text string
		want       Envelope
		id         string
	}{
		{"a request", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1}}`, Envelope{JSONRPC: "2.0", Method: "m", HasID: true, Params: json.RawMessage(`{"a":1}`)}, "1"},
		{"behind a byte order mark", "\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"m"}`, Envelope{JSONRPC: "2.0", Method: "m", HasID: true}, "1"},
		{"members twice", `{"jsonrpc":"1.0","id":1,"method":"l","params":{},"jsonrpc":"2.0","id":2,"method":"m","params":[]}`, Envelope{JSONRPC: "2.0", Method: "m", HasID: true, Params: json.RawMessage(`[]`)}, "2"},
		{"members in another case", `{"jsonrpc":"2.0","ID":1,"Method":"l","method":"m","PARAMS":5}`, Envelope{JSONRPC: "2.0", Method: "m"}, ""},
		{"an empty object", `{}`, Envelope{}, ""},
		{"an id that is null", `{"id":null}`, Envelope{HasID: true}, ""},
		{"an id that is a fraction", `{"id":1.5}`, Envelope{HasID: true}, ""},
		{"an id that is an integer in disguise", `{"id":1.50e1}`, Envelope{HasID: true}, "1.50e1"},
		{"an empty id", `{"id":""}`, Envelope{HasID: true}, `""`},
		{"a version that is a number", `{"jsonrpc":2.0}`, Envelope{JSONRPC: "2.0"}, ""},
		{"a version that is another number", `{"jsonrpc":2}`, Envelope{JSONRPC: "2"}, ""},
		{"texts that end with newlines", `{"jsonrpc":"2.0\n","method":"pi\u0000ng\n\n"}`, Envelope{JSONRPC: "2.0", Method: "ping"}, ""},
		{"a method that is a number", `{"method":5}`, Envelope{Method: "5"}, ""},
		{"a method that is true", `{"method":true}`, Envelope{Method: "true"}, ""},
		{"a method that is false", `{"method":false}`, Envelope{}, ""},
		{"a method that is an object", `{"method":{ "a" : [ 1 ] }}`, Envelope{Method: `{"a":[1]}`}, ""},
		{"params that are null", `{"params":null}`, Envelope{}, ""},
		{"params that are false", `{"params":false}`, Envelope{}, ""},
		{"params that are true", `{"params":true}`, Envelope{Params: json.RawMessage(`true`)}, ""},
		{"params that are 0", `{"params":0}`, Envelope{Params: json.RawMessage(`0`)}, ""},
		{"a result", `{"id":1,"result":{}}`, Envelope{HasID: true, Response: true}, "1"},
		{"an error", `{"id":1,"error":{}}`, Envelope{HasID: true, Response: true}, "1"},
		{"a result and a method", `{"id":1,"result":{},"method":null}`, Envelope{HasID: true}, "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := ReadLoosely([]byte(tt.text))
			if !ok || got.ID.Raw() != tt.id {
				t.Errorf("ok is %v, the id %q", ok, got.ID.Raw())
			}
			if got.JSONRPC != tt.want.JSONRPC || got.Method != tt.want.Method || got.HasID != tt.want.HasID ||
				got.Response != tt.want.Response || string(got.Params) != string(tt.want.Params) || got.TooDeep {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestReadLooselyTakesObjectsAlone(t *testing.T) {
	for _, text := range []string{`[1,2]`, `"x"`, `5`, `true`, `null`, `[]`, "\ufeff5"} {
		if e, ok := ReadLoosely([]byte(text)); ok {
			t.Errorf("%q is taken for %+v", text, e)
		}
	}
}

func TestReadLooselyTellsOfWhatNestsTooDeep(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)
	e, ok := ReadLoosely([]byte(`{"id":1,"params":{"a":` + deep + `}}`))
	if !ok || !e.TooDeep || e.ID.Raw() != "1" {
		t.Errorf("got %v, %v, %q", ok, e.TooDeep, e.ID.Raw())
	}
}

// FuzzReadLoosely holds the lenient reader against the strict one: what that
// takes, this takes for the same.
func FuzzReadLoosely(f *testing.F) {
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[1,{"b":null}]}}`,
		`{"jsonrpc":"2.0","method":"m"}`, `{"id":1,"id":2,"ID":3}`, "\ufeff{}", `{}{}`, `[1] 2`, ` `, `{"a"`,
		`{"jsonrpc":"2.0","id":"\u0000","result":{}}`, `{"method":{"a":1},"params":false}`, `{"jsonrpc":"2.0\n","method":"a\n"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		n, readable := Documents(text)
		if strict := Check(text) == nil; strict && (!readable || n != 1) {
			t.Fatalf("one document for the strict reader, %d, %v for the other", n, readable)
		}
		if !readable || n != 1 {
			return
		}
		e, ok := ReadLoosely(text)
		if Check(text) != nil {
			return
		}
		m, err := Parse(text)
		if err != nil {
			return
		}
		switch {
		case !ok || e.JSONRPC != "2.0" || e.ID.Raw() != m.ID.Raw() || e.Response != (m.Kind == Response):
			t.Errorf("%q: %+v against %+v", text, e, m)
		case m.Kind != Response && (e.HasID != (m.Kind == Request) || string(e.Params) != string(m.Params)):
			t.Errorf("%q: %+v against %+v", text, e, m)
		case m.Kind != Response && e.Method != rendered(quoted(m.Method)):
			t.Errorf("%q: the method is %q against %q", text, e.Method, m.Method)
		}
	})
}

func quoted(s string) json.RawMessage {
	text, _ := json.Marshal(s)
	return text
}
