package message

import (
	"bytes"
	"encoding/json"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// guard runs f and ends the test binary when f fills memory or takes for ever:
// what does not end by itself cannot be ended in any other way.
func guard(t testing.TB, f func()) {
	t.Helper()
	const mostMemory, mostTime = 1 << 30, 30 * time.Second
	done := make(chan struct{})
	go func() {
		end := time.Now().Add(mostTime)
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
			var m runtime.MemStats
			if runtime.ReadMemStats(&m); m.HeapAlloc > mostMemory || time.Now().After(end) {
				panic(t.Name() + " does not end, or fills memory")
			}
		}
	}()
	f()
	close(done)
}

func FuzzParse(f *testing.F) {
	deep := strings.Repeat("[", MaxDepth+1)
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"a\u0041","method":"m","params":{"_meta":{"progressToken":1e3}}}`,
		`{"jsonrpc":"2.0","method":"m","params":null}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, ` { "id" : 1 } `, `[]`, `null`, `{"a":1,}`, `{} {}`,
		"\ufeff{}", "{\"a\":\"\xff\"}", "{}\x00", `{"id":1,"id":2}`, `{"ID":1}`, `{"jsonrpc":"2.0","id":1e5,"method":"x","params":[]}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":` + deep + strings.Repeat("]", MaxDepth+1) + `}}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":` + deep, `{"jsonrpc":"2.0","id":1,"result":` + deep + strings.Repeat("]", MaxDepth+1) + `}`, "{\"a\" \t\r: 1}", `{"":""}`, `{"a":"\\\""}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		original := bytes.Clone(text)
		err := Check(text)
		requireVerdict(t, text, err)
		if err != nil {
			return
		}
		m, err := Parse(text)
		if !bytes.Equal(text, original) {
			t.Errorf("Parse has changed the text to %q", text)
		}
		if err != nil {
			requireError(t, err)
			if err.Code != CodeInvalidParams {
				return
			}
			if err.ID != m.ID {
				t.Errorf("the error is for the id %s, the message has %s", err.ID.Raw(), m.ID.Raw())
			}
		}
		requireMessage(t, shallow(text), m)
	})
}

// requireVerdict compares what Check says with what encoding/json does.
func requireVerdict(t *testing.T, text []byte, err *Error) {
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		if err == nil {
			t.Error("Check lets pass what is no text")
		}
		return
	}
	pruned := shallow(text)
	if again := shallow(pruned); !bytes.Equal(again, pruned) {
		t.Errorf("pruned twice it is %q, once %q", again, pruned)
	}
	switch valid := json.Valid(text); {
	case valid && err != nil:
		t.Errorf("Check says %v of JSON", err)
	case len(pruned) == len(text) && (err == nil) != valid:
		t.Errorf("Check says %v; JSON: %v", err, valid)
	}
}

func requireError(t *testing.T, err *Error) {
	if !utf8.ValidString(err.Message) || err.Message == "" || strings.ContainsAny(err.Message, "\n\x00") {
		t.Errorf("the message is %q", err.Message)
	}
	if !slices.Contains([]int{CodeParseError, CodeInvalidRequest, CodeInvalidParams}, err.Code) {
		t.Errorf("the code is %d", err.Code)
	}
}

// requireMessage compares a message with what encoding/json has to say.
func requireMessage(t *testing.T, text []byte, m Message) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatalf("%q was taken: %v", text, err)
	}
	if _, has := members["method"]; has != (m.Kind != Response) {
		t.Errorf("has a method: %v, kind %v", has, m.Kind)
	}
	if string(members["id"]) != m.ID.Raw() {
		t.Errorf("the id %s has become %s", members["id"], m.ID.Raw())
	}
	if m.Kind == Notification && !m.ID.IsZero() || m.Kind == Request && m.ID.IsZero() {
		t.Errorf("kind %v with the id %s", m.Kind, m.ID.Raw())
	}
	var method string
	if m.Kind != Response && (json.Unmarshal(members["method"], &method) != nil || method != m.Method) {
		t.Errorf("the method %s has become %q", members["method"], m.Method)
	}
	if params := string(members["params"]); m.Kind != Response && params != string(m.Params) && params != "null" {
		t.Errorf("the params %s have become %s", params, m.Params)
	}
	for name := range members {
		// Raw, since Member must find what is there at its very place.
		value := Member(text, name)
		if string(value) != string(members[name]) {
			t.Errorf("the member %q is %s, not %s", name, value, members[name])
		}
		if same := ReplaceMember(text, name, value); !bytes.Equal(same, text) {
			t.Errorf("replaced by itself, %q makes %q", name, same)
		}
		other := ReplaceMember(text, name, json.RawMessage(`{"new":1}`))
		if !json.Valid(other) || string(Member(other, name)) != `{"new":1}` {
			t.Errorf("replaced, %q makes %q", name, other)
		}
	}
	ReadMeta(m.Params)
}

func FuzzElements(f *testing.F) {
	for _, text := range []string{
		`[]`, ` [ ] `, `[1]`, `[1,2,"a",{"b":[1]},[[]],null]`, "[ 1 ,\t\"],\\\"[\" ]", `{}`, `"x"`, `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
		strings.Repeat("[", 50) + strings.Repeat("]", 50), `[1,]`, `[1 2]`,
		strings.Repeat("[", MaxDepth+1), "[}" + strings.Repeat("[", MaxDepth+2),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if Check(text) != nil {
			return
		}
		var elements []json.RawMessage
		var ok bool
		guard(t, func() { elements, ok = Elements(text) })
		// What was not cut out decides where elements begin and end.
		pruned := shallow(text)
		var want []json.RawMessage
		isArray := json.Unmarshal(pruned, &want) == nil && want != nil
		if ok != isArray || len(elements) != len(want) {
			t.Fatalf("%q: an array %v with %d elements, but got %v and %q", text, isArray, len(want), ok, elements)
		}
		for i := range want {
			if len(pruned) == len(text) && !bytes.Equal(elements[i], want[i]) {
				t.Errorf("element %d of %q is %q, want %q", i, text, elements[i], want[i])
			}
		}
	})
}
