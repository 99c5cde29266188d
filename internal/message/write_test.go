package message

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func FuzzAppendText(f *testing.F) {
	for _, s := range []string{"", "plain", `"`, `\`, "a\nb", "\x00\x1f\x7f", "<&>", "\u2028é😀", "\xff", "~ ", strings.Repeat("long ", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		before := []byte("before ")
		text, isAppended := bytes.CutPrefix(AppendText(bytes.Clone(before), s), before)
		if !isAppended {
			t.Fatalf("AppendText(%q, %q) = %q", before, s, text)
		}
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil {
			t.Fatal(err)
		}
		if string(text)+"\n" != want.String() {
			t.Errorf("AppendText of %q is %q, and encoding/json has %q", s, text, want.String())
		}
	})
}
