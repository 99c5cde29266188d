package message

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestCheckLetsOneJSONValuePassAndNothingElse(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1)
	tests := []struct{ name, text, want string }{
		{"an object", `{"a":1}`, ""},
		{"an array", `[1,2]`, ""},
		{"a scalar", `7`, ""},
		{"white space around", " \t{} \r", ""},
		{"an escaped NUL", `"\u0000"`, ""},
		{"nesting that is too deep, for Parse to tell with the id", deep, ""},
		{"nesting that encoding/json refuses", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), ""},
		{"nesting that is too deep and has no end", strings.Repeat("[", MaxDepth+2) + "]", "Parse error: expected exactly one JSON document per line"},
		{"nesting that is too deep, and more", deep + "1", "Parse error: expected exactly one JSON document per line"},
		{"nesting that is too deep, beside what is no JSON", `{"a":1x,"b":` + deep + `}`, "Parse error: expected exactly one JSON document per line"},
		{"nesting that is too deep, behind brackets that do not match", "[}" + deep, "Parse error: expected exactly one JSON document per line"},
		{"nothing", "", "Parse error: expected exactly one JSON document per line"},
		{"two documents", `{} {}`, "Parse error: expected exactly one JSON document per line"},
		{"half a document", `{"a":`, "Parse error: expected exactly one JSON document per line"},
		{"a comma too many", `{"a":1,}`, "Parse error: expected exactly one JSON document per line"},
		{"a word", `hello`, "Parse error: expected exactly one JSON document per line"},
		{"a tab inside a string", "\"\t\"", "Parse error: expected exactly one JSON document per line"},
		{"invalid UTF-8", "\"\xff\"", "Parse error: the message is not valid UTF-8"},
		{"an encoded surrogate", "\"\xed\xa0\x80\"", "Parse error: the message is not valid UTF-8"},
		{"a raw NUL", "{}\x00", "Parse error: the message holds a NUL byte"},
		{"a byte order mark", "\ufeff{}", "Parse error: the message begins with a byte order mark"},
		{"a byte order mark inside", "{\ufeff}", "Parse error: expected exactly one JSON document per line"},
		{"a byte order mark in a string", "\"\ufeff\"", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Check([]byte(tt.text))
			switch {
			case err == nil && tt.want != "":
				t.Errorf("Check(%.60q) lets it pass, want %q", tt.text, tt.want)
			case err != nil && (err.Message != tt.want || err.Code != CodeParseError || !err.ID.IsZero()):
				t.Errorf("Check(%.60q) = %+v, want %q", tt.text, err, tt.want)
			}
		})
	}
}

func TestParseTakesMessagesApart(t *testing.T) {
	tests := []struct {
		name, text         string
		kind               Kind
		id, method, params string
	}{
		{"a request", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, Request, "1", "ping", ""},
		{"a request with params", `{"jsonrpc":"2.0","id":"a","method":"m","params":{"x" : [1, 2]}}`, Request, `"a"`, "m", `{"x" : [1, 2]}`},
		{"members in any order", `{"params":{},"method":"m","id":0,"jsonrpc":"2.0"}`, Request, "0", "m", "{}"},
		{"white space everywhere", " { \"jsonrpc\" : \"2.0\" ,\t\"id\" : 1 , \"method\" : \"m\" , \"params\" : { } } ", Request, "1", "m", "{ }"},
		{"params that are null", `{"jsonrpc":"2.0","id":1,"method":"m","params":null}`, Request, "1", "m", ""},
		{"an id of many digits", `{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"m"}`, Request, "123456789012345678901234567890", "m", ""},
		{"an id with an exponent", `{"jsonrpc":"2.0","id":1E+2,"method":"m"}`, Request, "1E+2", "m", ""},
		{"an id written as a fraction", `{"jsonrpc":"2.0","id":7.0,"method":"m"}`, Request, "7.0", "m", ""},
		{"an id with escapes", `{"jsonrpc":"2.0","id":"\u0041\/","method":"m"}`, Request, `"\u0041\/"`, "m", ""},
		{"an empty id", `{"jsonrpc":"2.0","id":"","method":"m"}`, Request, `""`, "m", ""},
		{"a method with escapes", `{"jsonrpc":"2.0","id":1,"method":"p\u0069ng"}`, Request, "1", "ping", ""},
		{"a key with escapes", `{"jsonrpc":"2.0","\u0069d":1,"method":"m"}`, Request, "1", "m", ""},
		{"an unknown member", `{"jsonrpc":"2.0","id":1,"method":"m","extra":{"id":2}}`, Request, "1", "m", ""},
		{"a result beside a method", `{"jsonrpc":"2.0","id":1,"method":"m","result":{}}`, Request, "1", "m", ""},
		{"jsonrpc with escapes", `{"jsonrpc":"\u0032.0","id":1,"method":"m"}`, Request, "1", "m", ""},
		{"a notification", `{"jsonrpc":"2.0","method":"m"}`, Notification, "", "m", ""},
		{"a response", `{"jsonrpc":"2.0","id":1,"result":{}}`, Response, "1", "", ""},
		{"an error response", `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":""}}`, Response, `"x"`, "", ""},
		{"an error response without an id", `{"jsonrpc":"2.0","error":{"code":1,"message":""}}`, Response, "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Parse([]byte(tt.text))
			if err != nil {
				t.Fatalf("Parse(%s): %v", tt.text, err)
			}
			if m.Kind != tt.kind || m.ID.Raw() != tt.id || m.Method != tt.method || string(m.Params) != tt.params {
				t.Errorf("Parse(%s) = %v, id %s, method %q, params %s", tt.text, m.Kind, m.ID.Raw(), m.Method, m.Params)
			}
		})
	}
}

func TestParseTellsWhatIsWrong(t *testing.T) {
	deep := strings.Repeat(`{"a":`, MaxDepth) + "1" + strings.Repeat("}", MaxDepth)
	long := strings.Repeat("ID", 100)
	tests := []struct {
		name, text string
		code       int
		id, want   string
	}{
		{"an array", `[1]`, CodeInvalidRequest, "", "expected a JSON object"},
		{"a string", `"x"`, CodeInvalidRequest, "", "expected a JSON object"},
		{"null", `null`, CodeInvalidRequest, "", "expected a JSON object"},
		{"an empty object", `{}`, CodeInvalidRequest, "", `jsonrpc must be "2.0"`},
		{"no jsonrpc", `{"id":1,"method":"m"}`, CodeInvalidRequest, "1", `jsonrpc must be "2.0"`},
		{"another jsonrpc", `{"jsonrpc":"1.0","id":1,"method":"m"}`, CodeInvalidRequest, "1", `jsonrpc must be "2.0"`},
		{"a jsonrpc that is a number", `{"jsonrpc":2.0,"id":"a","method":"m"}`, CodeInvalidRequest, `"a"`, `jsonrpc must be "2.0"`},
		{"no method", `{"jsonrpc":"2.0","id":1}`, CodeInvalidRequest, "1", "there is no method"},
		{"a method that is a number", `{"jsonrpc":"2.0","id":1,"method":5}`, CodeInvalidRequest, "1", "method must be a string"},
		{"a method that is null", `{"jsonrpc":"2.0","id":1,"method":null}`, CodeInvalidRequest, "1", "method must be a string"},
		{"an id that is null", `{"jsonrpc":"2.0","id":null,"method":"m"}`, CodeInvalidRequest, "", "id must be a string or an integer"},
		{"an id that is a fraction", `{"jsonrpc":"2.0","id":1.5,"method":"m"}`, CodeInvalidRequest, "", "id must be a string or an integer"},
		{"an id that is a small fraction", `{"jsonrpc":"2.0","id":1e-400,"method":"m"}`, CodeInvalidRequest, "", "id must be a string or an integer"},
		{"an id that is a boolean", `{"jsonrpc":"2.0","id":true,"method":"m"}`, CodeInvalidRequest, "", "id must be a string or an integer"},
		{"an id that is an object", `{"jsonrpc":"2.0","id":{"a":1},"method":"m"}`, CodeInvalidRequest, "", "id must be a string or an integer"},
		{"an id that is an array", `{"jsonrpc":"2.0","id":[1],"method":"m"}`, CodeInvalidRequest, "", "id must be a string or an integer"},
		{"two ids", `{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}`, CodeInvalidRequest, "", `the member "id" occurs twice`},
		{"the same id twice", `{"jsonrpc":"2.0","id":1,"method":"m","\u0069d":1}`, CodeInvalidRequest, "", `the member "id" occurs twice`},
		{"two methods", `{"jsonrpc":"2.0","id":1,"method":"m","method":"n"}`, CodeInvalidRequest, "1", `the member "method" occurs twice`},
		{"an unknown member twice", `{"jsonrpc":"2.0","id":1,"method":"m","x":1,"x":1}`, CodeInvalidRequest, "1", `the member "x" occurs twice`},
		{"a long member twice", `{"` + long + `":1,"` + long + `":1,"jsonrpc":"2.0","id":1,"method":"m"}`, CodeInvalidRequest, "1", `the member "` + long[:100] + `…" occurs twice`},
		{"a key in another case", `{"jsonrpc":"2.0","id":1,"Method":"m"}`, CodeInvalidRequest, "1", `the member "Method" must be written "method"`},
		{"an id in another case", `{"jsonrpc":"2.0","ID":1,"method":"m"}`, CodeInvalidRequest, "", `the member "ID" must be written "id"`},
		{"params that are an array", `{"jsonrpc":"2.0","id":1,"method":"m","params":[]}`, CodeInvalidParams, "1", "expected an object"},
		{"params that are a string", `{"jsonrpc":"2.0","id":1,"method":"m","params":"x"}`, CodeInvalidParams, "1", "expected an object"},
		{"params that nest too deep", `{"jsonrpc":"2.0","id":1,"method":"m","params":` + deep + `}`, CodeInvalidParams, "1", "the message nests deeper than 1000 levels"},
		{"params that nest too deep, before the id", `{"params":` + deep + `,"jsonrpc":"2.0","method":"m","id":"a"}`, CodeInvalidParams, `"a"`, "the message nests deeper than 1000 levels"},
	}
	prefix := map[int]string{CodeInvalidRequest: "Invalid Request: ", CodeInvalidParams: "Invalid params: "}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := Check([]byte(tt.text)); err != nil {
				t.Fatalf("Check(%.80s): %v", tt.text, err)
			}
			_, err := Parse([]byte(tt.text))
			if err == nil {
				t.Fatalf("Parse(%.80s) takes it", tt.text)
			}
			if err.Code != tt.code || err.ID.Raw() != tt.id || err.Message != prefix[tt.code]+tt.want {
				t.Errorf("Parse(%.80s) = %d, id %s, %q; want %d, id %s, %q", tt.text, err.Code, err.ID.Raw(), err.Message, tt.code, tt.id, prefix[tt.code]+tt.want)
			}
		})
	}
}

func TestParseTakesNestingUpToTheLimit(t *testing.T) {
	// The message and its params are two levels.
	for levels, want := range map[int]bool{MaxDepth - 2: true, MaxDepth - 1: false} {
		text := `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `}}`
		if _, err := Parse([]byte(text)); (err == nil) != want {
			t.Errorf("with %d arrays inside params: %v", levels, err)
		}
	}
}

func TestBracketsInStringsAreNoNesting(t *testing.T) {
	text := `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"` + strings.Repeat(`[{\"`, MaxDepth) + `"}}`
	if _, err := Parse([]byte(text)); err != nil {
		t.Error(err)
	}
}

func TestShallowCutsOutWhatBeginsBelowTheLimit(t *testing.T) {
	inside := func(text string) string {
		return strings.Repeat("[", MaxDepth) + text + strings.Repeat("]", MaxDepth)
	}
	tests := []struct{ name, text, want string }{
		{"nothing to cut", `{"a":[1]}`, `{"a":[1]}`},
		{"nesting to the limit", inside("1"), inside("1")},
		{"one level more", inside("[]"), inside("0")},
		{"many levels more", inside(`{"a":[{"b":[1]}]}`), inside("0")},
		{"several", inside(`1, [2] ,{"a":3},"b"`), inside(`1, 0 ,0,"b"`)},
		{"brackets in a string that stays", inside(`"]}\"[{",[]`), inside(`"]}\"[{",0`)},
		{"brackets in a string that goes", inside(`["]}\"]",{"]":1}],1`), inside(`0,1`)},
		{"what has no end", strings.Repeat("[", MaxDepth+3) + "]]", strings.Repeat("[", MaxDepth) + "0"},
		{"what ends in a string", strings.Repeat("[", MaxDepth+1) + `"]`, strings.Repeat("[", MaxDepth) + "0"},
		{"nothing at all", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(shallow([]byte(tt.text))); got != tt.want {
				t.Errorf("got %q, want %q", strings.Trim(got, "["), strings.Trim(tt.want, "["))
			}
		})
	}
}

// Who is told must be able to tell a notification, which is never answered.
func TestParseReturnsAMessageWhoseParamsAloneAreWrong(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1)
	for _, params := range []string{`[]`, `"x"`, `5`, `{"a":` + deep + `}`} {
		for id, want := range map[string]Kind{`"id":"a",`: Request, ``: Notification} {
			m, err := Parse([]byte(`{"jsonrpc":"2.0",` + id + `"method":"m","params":` + params + `}`))
			if err == nil || err.Code != CodeInvalidParams || err.ID != m.ID || m.Kind != want || m.Method != "m" || m.ID.IsZero() != (id == "") {
				t.Errorf("%s params %.20s: kind %v, id %s, method %q, %+v", id, params, m.Kind, m.ID.Raw(), m.Method, err)
			}
		}
	}
	if m, _ := Parse([]byte(`{"jsonrpc":"2.0","id":1,"result":` + deep + `}`)); m.Kind != Response {
		t.Errorf("a response that nests too deep is of kind %v", m.Kind)
	}
}

// Text that nests too deep is left to Parse. What is no JSON there must not get
// into an answer.
func TestAnIDIsEchoedOnlyWhenItIsJSON(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1)
	for _, id := range []string{`1x`, `-`, `1 "a"`, `1 2`, `01`, `1.`, `1e`, "\"a\tb\"", `"\x"`} {
		text := `{"jsonrpc":"2.0","id":` + id + `,"method":"m","params":{"a":` + deep + `}}`
		err := Check([]byte(text))
		if err == nil {
			_, err = Parse([]byte(text))
		}
		switch {
		case err == nil:
			t.Errorf("an id %s is taken", id)
		case !err.ID.IsZero() && !json.Valid([]byte(err.ID.Raw())):
			t.Errorf("an id %s is echoed as %s, with %q", id, err.ID.Raw(), err.Message)
		}
	}
}

// What is taken as it stands is what it would be decoded to.
func TestStringsAreUnquotedAsTheyAreDecoded(t *testing.T) {
	for _, raw := range []string{
		`""`, `"plain"`, `" ~!#[]"`, `"a\"b"`, `"a\\"`, `"\u0041"`, "\"\x7f\"", "\"\x1f\"", "\"\u00e4\"", "\"\xff\"",
		`"`, `"a`, `a"`, `"a"b"`, `'a'`, `null`, `1`, ` "a"`, `"a" `, ``,
	} {
		var want string
		decodes := json.Unmarshal([]byte(raw), &want) == nil
		got, ok := unquote([]byte(raw))
		if got != want || ok != decodes {
			t.Errorf("%q: %q, %v; decoded %q, %v", raw, got, ok, want, decodes)
		}
	}
}
