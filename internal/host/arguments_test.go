package host

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"
)

func TestCompactArgumentsHaveOneForm(t *testing.T) {
	tests := []struct{ name, arguments, want string }{
		{"nothing to do", `{"b":1,"a":[true,false,null,"x"]}`, `{"b":1,"a":[true,false,null,"x"]}`},
		{"white space", " { \"b\" :\t1 ,\n\"a\": [ 1 , 2 ] , \"c\" : { } , \"d\" : [ ] } ", `{"b":1,"a":[1,2],"c":{},"d":[]}`},
		{"white space in strings stays", `{"a b":"c  d"}`, `{"a b":"c  d"}`},
		{"digits stay", `[1.50,1e2,-0,9007199254740993,1E+400]`, `[1.50,1e2,-0,9007199254740993,1E+400]`},
		{"needless escapes go", `{"\u0061":"\u00e9\/\u2028\ud83d\ude00"}`, "{\"a\":\"é/\u2028😀\"}"},
		{"needed ones stay", `["\"\\\b\f\n\r\t\u0000\u001F"]`, `["\"\\\b\f\n\r\t\u0000\u001f"]`},
		{"DEL", "[\"\x7f\"]", `["\u007f"]`},
		{"half a surrogate pair", `["\ud800"]`, `["�"]`},
		{"no escapes for web pages", `["<&>"]`, `["<&>"]`},
		{"the last of two in the place of the first", `{"a":1,"b":2,"\u0061":3}`, `{"a":3,"b":2}`},
		{"of several, deeper down", `[{"a":{"x":1,"x":2},"b":[{"y":1,"y":[]}],"a":{"x":3,"x":4}}]`, `[{"a":{"x":4},"b":[{"y":[]}]}]`},
		{"no object", `"x"`, `"x"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(compactArguments(json.RawMessage(tt.arguments))); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func FuzzCompactArguments(f *testing.F) {
	for _, arguments := range []string{
		`{}`, `{"a":1,"b":[1.50,{"c":null}],"a":"\u00e9\/"}`, `[[],{}," \u0000\ud800"]`, `1e5`, ` {"":{"":1,"":2}} `,
	} {
		f.Add([]byte(arguments))
	}
	f.Fuzz(func(t *testing.T, arguments []byte) {
		before, ok := decoded(arguments)
		if !ok {
			return
		}
		compact := compactArguments(arguments)
		after, ok := decoded(compact)
		if !ok || !reflect.DeepEqual(before, after) {
			t.Errorf("%q becomes %q", arguments, compact)
		}
		if bytes.ContainsAny(compact, "\n\r\t") {
			t.Errorf("%q is not on one line", compact)
		}
		if again := compactArguments(compact); !bytes.Equal(again, compact) {
			t.Errorf("%q is not the form of itself, but %q", compact, again)
		}
	})
}

// decoded keeps the text of every number.
func decoded(text []byte) (value any, ok bool) {
	if !json.Valid(text) || !utf8.Valid(text) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err := d.Decode(&value)
	return value, err == nil
}
