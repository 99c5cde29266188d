package message

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

const someParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestReadTrace(t *testing.T) {
	most := strings.Repeat("x", maxTrace)
	meta := func(members string) string { return `{"_meta":{` + members + `}}` }
	parent := `"traceparent":"` + someParent + `"`
	tests := []struct {
		name, params string
		want         Trace
	}{
		{"no params", ``, Trace{}},
		{"no _meta", `{"traceparent":"` + someParent + `"}`, Trace{}},
		{"a _meta that is no object", `{"_meta":"` + someParent + `"}`, Trace{}},
		{"all three", meta(parent + `,"tracestate":"a=b,c=d","baggage":"user=x%20y;p=1"`), Trace{someParent, "a=b,c=d", "user=x%20y;p=1"}},
		{"a traceparent alone", meta(parent), Trace{someParent, "", ""}},
		{"baggage alone", meta(`"baggage":"a=b"`), Trace{"", "", "a=b"}},
		{"a tracestate alone", meta(`"tracestate":"a=b"`), Trace{}},
		{"of two the last", meta(`"baggage":"a=b","baggage":"c=d"`), Trace{"", "", "c=d"}},
		{"a modern request", meta(`"io.modelcontextprotocol/protocolVersion":"2026-07-28",` + parent), Trace{someParent, "", ""}},
		{"what is no string", meta(parent + `,"tracestate":5,"baggage":["a=b"]`), Trace{someParent, "", ""}},
		{"a traceparent that is no string", meta(`"traceparent":[],"tracestate":"a=b","baggage":"c=d"`), Trace{"", "", "c=d"}},
		{"an invalid one takes its tracestate along", meta(`"traceparent":"00-x","tracestate":"a=b","baggage":"c=d"`), Trace{"", "", "c=d"}},
		{"a newline", meta(parent + `,"tracestate":"a=b\n","baggage":"c\u0000d"`), Trace{someParent, "", ""}},
		{"other controls", meta(parent + `,"tracestate":"a\u007f","baggage":"c\u0085d"`), Trace{someParent, "", ""}},
		{"what is not ASCII", meta(`"baggage":"ä=日本"`), Trace{"", "", "ä=日本"}},
		{"as long as may be", meta(parent + `,"tracestate":"` + most + `","baggage":"` + most + `"`), Trace{someParent, most, most}},
		{"longer", meta(parent + `,"tracestate":"` + most + `x","baggage":"` + most + `x"`), Trace{someParent, "", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ReadTrace(json.RawMessage(tt.params)); got != tt.want {
				t.Errorf("got %.300q, want %.300q", got, tt.want)
			}
		})
	}
}

func TestATraceparentThatBreaksARuleIsNone(t *testing.T) {
	for _, text := range []string{
		"", "00", strings.ToUpper(someParent), " " + someParent, someParent + " ", someParent + "-", someParent + "-00", someParent + "\n",
		"01" + someParent[2:], "ff" + someParent[2:], "0" + someParent,
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
		"00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
		"00-4bf92f3577b34da6a3ce929d0e0e47360-0f067aa0ba902b7-01",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
		"00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
		"00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
	} {
		if got := NewTrace(text, "a=b", ""); got != (Trace{}) {
			t.Errorf("%q makes %+v", text, got)
		}
	}
	if got := NewTrace(someParent[:53]+"00", "", ""); got.Traceparent == "" {
		t.Error("flags that are zero are refused")
	}
}

func FuzzReadTrace(f *testing.F) {
	for _, params := range []string{
		`{"_meta":{"traceparent":"` + someParent + `","tracestate":"a=b","baggage":"c=d"}}`, `{"_meta":{"tracestate":"\n","baggage":"\u0001"}}`,
		`{"_meta":{"traceparent":{},"baggage":"\ud800"},"_meta":[]}`, `[]`,
	} {
		f.Add([]byte(params))
	}
	f.Fuzz(func(t *testing.T, params []byte) {
		trace := ReadTrace(params)
		if trace.Traceparent == "" && trace.Tracestate != "" {
			t.Errorf("a tracestate alone: %+v", trace)
		}
		if n := len(trace.Traceparent); n != 0 && n != len(someParent) {
			t.Errorf("the traceparent %q", trace.Traceparent)
		}
		for _, text := range []string{trace.Traceparent, trace.Tracestate, trace.Baggage} {
			if len(text) > maxTrace || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
				t.Errorf("%q passes", text)
			}
		}
	})
}
