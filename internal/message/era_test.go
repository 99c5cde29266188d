package message

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestReadMetaTellsTheEra(t *testing.T) {
	const (
		version = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
		able    = `"io.modelcontextprotocol/clientCapabilities":{}`
	)
	unsupported := `{"supported":["2026-07-28"],"requested":`
	tests := []struct {
		name, params string
		modern       bool
		token        string
		code         int // of Check; 0 when the request may be served
		want         string
	}{
		{"no params", ``, false, "", CodeInvalidParams, MetaProtocolVersion},
		{"no _meta", `{"a":1}`, false, "", CodeInvalidParams, MetaProtocolVersion},
		{"a _meta that is no object", `{"_meta":5}`, false, "", CodeInvalidParams, MetaProtocolVersion},
		{"a token alone", `{"_meta":{"progressToken":9007199254740993}}`, false, "9007199254740993", CodeInvalidParams, MetaProtocolVersion},
		{"a modern request", `{"_meta":{` + version + `,` + able + `}}`, true, "", 0, ""},
		{"a modern request with a token", `{"_meta":{"progressToken" : "x" ,` + version + `,` + able + `}}`, true, `"x"`, 0, ""},
		{"clientInfo is optional and an object", `{"_meta":{` + version + `,` + able + `,"io.modelcontextprotocol/clientInfo":{}}}`, true, "", 0, ""},
		{"keys with escapes", `{"_met\u0061":{"io.modelcontextprotocol\/protocolVersion":"2026-07-28",` + able + `}}`, true, "", 0, ""},
		{"of two the last", `{"_meta":{},"_meta":{` + version + `,` + able + `}}`, true, "", 0, ""},
		{"no capabilities", `{"_meta":{` + version + `}}`, true, "", CodeInvalidParams, MetaClientCapabilities},
		{"capabilities that are no object", `{"_meta":{` + version + `,"io.modelcontextprotocol/clientCapabilities":[]}}`, true, "", CodeInvalidParams, MetaClientCapabilities},
		{"no version", `{"_meta":{` + able + `}}`, true, "", CodeInvalidParams, MetaProtocolVersion},
		{"a version that is no string", `{"_meta":{"io.modelcontextprotocol/protocolVersion":20260728,` + able + `}}`, true, "", CodeInvalidParams, MetaProtocolVersion},
		{"clientInfo that is no object", `{"_meta":{` + version + `,` + able + `,"io.modelcontextprotocol/clientInfo":"x"}}`, true, "", CodeInvalidParams, MetaClientInfo},
		{"a version of the older era", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25",` + able + `}}`, true, "", CodeUnsupportedVersion, unsupported + `"2025-11-25"}`},
		{"a version that does not exist", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01",` + able + `}}`, true, "", CodeUnsupportedVersion, unsupported + `"2099-01-01"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := ReadMeta(json.RawMessage(tt.params))
			if m.Modern != tt.modern || string(m.Token) != tt.token {
				t.Errorf("ReadMeta(%s) = %+v", tt.params, m)
			}
			id, _ := ParseID(json.RawMessage(`7`))
			err := m.Check(id, Revisions())
			if tt.code == 0 {
				if err != nil {
					t.Errorf("Check: %v", err)
				}
				return
			}
			if err == nil || err.Code != tt.code || err.ID != id {
				t.Fatalf("Check = %+v, want %d", err, tt.code)
			}
			if tt.code == CodeInvalidParams && err.Message != "Invalid params: _meta lacks a valid "+tt.want {
				t.Errorf("Check says %q", err.Message)
			}
			if tt.code == CodeUnsupportedVersion && string(err.Data) != tt.want {
				t.Errorf("Check has the data %s, want %s", err.Data, tt.want)
			}
		})
	}
}

func TestCheckKnowsOnlyWhatIsServed(t *testing.T) {
	m := ReadMeta(json.RawMessage(`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`))
	supported := []string{Revision20251125}
	err := m.Check(ID{}, supported)
	if err == nil || string(err.Data) != `{"supported":[],"requested":"2026-07-28"}` {
		t.Errorf("Check = %+v", err)
	}
	if !slices.Equal(supported, []string{Revision20251125}) {
		t.Errorf("Check changes the caller's list to %q", supported)
	}
}

func TestRevisionsAreNewestFirstAndOnlyTheFirstIsModern(t *testing.T) {
	revisions := Revisions()
	if !slices.IsSortedFunc(revisions, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("%q is not sorted", revisions)
	}
	for i, r := range revisions {
		if Modern(r) != (i == 0) {
			t.Errorf("Modern(%s) = %v", r, Modern(r))
		}
	}
}

func TestReplaceMemberTouchesNothingElse(t *testing.T) {
	tests := []struct{ name, object, want string }{
		{"the only member", `{"a":1}`, `{"a":NEW}`},
		{"white space stays", "{ \"a\" :\t1 , \"b\":2 }", "{ \"a\" :\tNEW , \"b\":2 }"},
		{"the last of two", `{"a":1,"a":2}`, `{"a":1,"a":NEW}`},
		{"a value like the key", `{"b":"a","a":"b"}`, `{"b":"a","a":NEW}`},
		{"not one deeper down", `{"b":{"a":1},"c":[{"a":2}]}`, `{"b":{"a":1},"c":[{"a":2}]}`},
		{"an object", `{"a":{"x":[1,{"y":"}"}]},"b":0}`, `{"a":NEW,"b":0}`},
		{"a string with brackets and escapes", `{"a":"\"}],\\","b":0}`, `{"a":NEW,"b":0}`},
		{"a key with escapes", `{"\u0061":1}`, `{"\u0061":NEW}`},
		{"none", `{"b":1}`, `{"b":1}`},
		{"an empty object", `{}`, `{}`},
		{"no object", `[1]`, `[1]`},
		{"nothing", ``, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			object := json.RawMessage(tt.object)
			if got := string(ReplaceMember(object, "a", json.RawMessage("NEW"))); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if string(object) != tt.object {
				t.Errorf("the original has become %s", object)
			}
		})
	}
}

func TestElementsCutsArrays(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string // nil when it is no array
	}{
		{"empty", `[]`, []string{}},
		{"empty with white space", " [ \t] ", []string{}},
		{"scalars", `[1,"a",true,null,-1.5e3]`, []string{`1`, `"a"`, `true`, `null`, `-1.5e3`}},
		{"white space around elements", "[ 1 , \"a\" ,\ttrue ]", []string{`1`, `"a"`, `true`}},
		{"objects and arrays", `[{"a":[1,2]},[[],{}],"],["]`, []string{`{"a":[1,2]}`, `[[],{}]`, `"],["`}},
		{"an object", `{"a":1}`, nil},
		{"a string", `"[]"`, nil},
		{"nothing", ``, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			elements, ok := Elements([]byte(tt.text))
			if ok != (tt.want != nil) {
				t.Fatalf("ok = %v", ok)
			}
			if len(elements) != len(tt.want) {
				t.Fatalf("got %q", elements)
			}
			for i, want := range tt.want {
				if string(elements[i]) != want {
					t.Errorf("element %d is %s, want %s", i, elements[i], want)
				}
			}
		})
	}
}

func TestElementsEndsOnDeepTextThatIsNoJSON(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth+2)
	for _, text := range []string{deep, "[}" + deep, "[,," + deep, "[1}" + deep, `["` + deep, "[1 " + deep + "]"} {
		if Check([]byte(text)) != nil {
			continue
		}
		guard(t, func() { Elements([]byte(text)) })
	}
}
