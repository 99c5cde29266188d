package message

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestUnshieldUndoesOnlyTheEscapesForWebPages(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"the three of HTML", `"\u003ca\u003e \u0026"`, `"<a> &"`},
		{"the two of JavaScript", `"\u2028\u2029"`, "\"\u2028\u2029\""},
		{"an escaped backslash before", `"\\u003c"`, `"\\u003c"`},
		{"an escaped backslash and an escape", `"\\\u003c"`, `"\\<"`},
		{"two escaped backslashes", `"\\\\u0026"`, `"\\\\u0026"`},
		{"an escaped quote before", `"\"\u003c\""`, `"\"<\""`},
		{"a quote as an escape", `"\u0022"`, `"\u0022"`},
		{"a backslash as an escape", `"\u005cu003c"`, `"\u005cu003c"`},
		{"control characters", `"\u0000\u001f\n"`, `"\u0000\u001f\n"`},
		{"others of the same block", `"\u00e9\u2027\u2030"`, `"\u00e9\u2027\u2030"`},
		{"as the engine never writes them", `"\u003C\u003E"`, `"\u003C\u003E"`},
		{"keys", `{"\u003c":1}`, `{"<":1}`},
		{"a marked escape", `"\ue000\u003c\u003c"`, `"\u003c<"`},
		{"a marked mark", `"\ue000\uE000\u003c"`, `"\uE000<"`},
		{"half an escape behind a mark at the very end", `"\ue000\u00`, `"\ue000\u00`},
		{"an escape at the very end", `"\u003c`, `"<`},
		{"half an escape at the very end", `"\u003c\u00`, `"<\u00`},
		{"a backslash at the very end", `"\u003c\`, `"<\`},
		{"nothing", ``, ``},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(Unshield([]byte(tt.text))); got != tt.want {
				t.Errorf("Unshield(%s) = %s, want %s", tt.text, got, tt.want)
			}
		})
	}
}

// shieldedTexts are JSON texts with all that an encoder may reword.
var shieldedTexts = []string{
	`"\u003c\\u003c\\\u003c"`, `"\u003C<\u003c"`, `{"\u0026":["\u2028",1e400]}`, `"\u0022"`, `"<>&"`, `[]`, "\"\u2028\u2029\"", ` { "a" : [ 1.50 , -0 ] } `,
	`"\ue000"`, `"\uE000\u003c"`, `"\ue000\ue000<\ue000"`, `"\\ue000\u003c"`, "\"\ue000\\u003c\"", `"\ue000\\u003c"`, `"\u2028\U"`, `"\u"`, "\"\xff\\u003c\xe2\x80\"",
}

func TestShieldedTextPassesTheEngineByteForByte(t *testing.T) {
	for _, text := range shieldedTexts {
		if json.Valid([]byte(text)) {
			requirePassage(t, text)
		}
	}
}

// requirePassage has text encoded as the engine encodes results.
func requirePassage(t *testing.T, text string) {
	t.Helper()
	var want bytes.Buffer
	if err := json.Compact(&want, []byte(text)); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(json.RawMessage(Shield([]byte(text))))
	if err != nil {
		t.Fatalf("the shield makes %q no JSON: %v", text, err)
	}
	if got := Unshield(encoded); !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%q has become %q by way of %q", text, got, encoded)
	}
}

func FuzzShield(f *testing.F) {
	for _, text := range shieldedTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		original := []byte(text)
		Shield(original)
		Unshield(original)
		if string(original) != text {
			t.Errorf("%q itself has become %q", text, original)
		}
		if json.Valid([]byte(text)) {
			requirePassage(t, text)
		}
	})
}

// What the engine itself writes is not shielded.
func FuzzUnshield(f *testing.F) {
	for _, text := range append(shieldedTexts, `\\\`, "a\nb") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// Any text as encoding/json writes it comes out with none of its escapes.
		text = strings.ToValidUTF8(text, "")
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		got := string(Unshield(encoded))
		requireSameJSON(t, string(encoded), got)
		var want strings.Builder
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(text); err != nil {
			t.Fatal(err)
		}
		// Without \u2028 and \u2029, which the encoder always escapes.
		if !strings.ContainsAny(text, "\u2028\u2029") && got != strings.TrimSuffix(want.String(), "\n") {
			t.Errorf("got %s, want %s", got, want.String())
		}
	})
}

func requireSameJSON(t *testing.T, a, b string) {
	t.Helper()
	var values [2]any
	for i, text := range []string{a, b} {
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		if err := dec.Decode(&values[i]); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
	if !reflect.DeepEqual(values[0], values[1]) {
		t.Errorf("%s has become %s", a, b)
	}
}
