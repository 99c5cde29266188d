package trial

import "testing"

func TestWhatIsLackingIsNamedByItsPlace(t *testing.T) {
	tests := []struct{ want, got, lacks string }{
		{`{}`, `{"a":1}`, ""},
		{`{"a":1}`, `{"a":1,"b":2}`, ""},
		{`{"a":null}`, `{"a":null}`, ""},
		{`1`, `1.0`, ""},
		{`1e2`, `100`, ""},
		{`12345678901234567890`, `12345678901234567890`, ""},
		{`[1,{"a":2}]`, `[1,{"a":2,"b":3}]`, ""},
		{`"a"`, `"a"`, ""},
		{`true`, `true`, ""},

		{`{"a":null}`, `{}`, "there is no .a; expected null"},
		{`{"a":{"b":1}}`, `{"a":{}}`, "there is no .a.b; expected 1"},
		{`{"a b":1}`, `{}`, `there is no ["a b"]; expected 1`},
		{`{"a":[{"b":1}]}`, `{"a":[{"b":2}]}`, ".a[0].b is 2, and not 1"},
		{`12345678901234567890`, `12345678901234567891`, ". is 12345678901234567891, and not 12345678901234567890"},
		{`1`, `"1"`, `. is "1", and not 1`},
		{`"<"`, `">"`, `. is ">", and not "<"`},
		{`true`, `false`, ". is false, and not true"},
		{`null`, `0`, ". is 0, and not null"},
		{`[]`, `{}`, ". is {}, and not []"},
		{`{}`, `[]`, ". is [], and not {}"},
		{`[1]`, `[1,2]`, ". has length 2, and not 1"},
		{`[[1,2]]`, `[[1]]`, ".[0] has length 1, and not 2"},
		{`[1,2]`, `[1,3]`, ".[1] is 3, and not 2"},
	}
	for _, tt := range tests {
		want, err := decode([]byte(tt.want))
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode([]byte(tt.got))
		if err != nil {
			t.Fatal(err)
		}
		if lack := lacks(want, got, ""); lack != tt.lacks {
			t.Errorf("%s of %s: %q, not %q", tt.want, tt.got, lack, tt.lacks)
		}
	}
}

func TestOneDocumentIsDecoded(t *testing.T) {
	for text, ok := range map[string]bool{`{}`: true, ` 1 `: true, ``: false, `{} {}`: false, `{}x`: false, `a`: false} {
		if _, err := decode([]byte(text)); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}
