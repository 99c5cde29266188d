package keep_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/conch-mcp/conch/internal/keep"
)

const uri = "conch://output/ABCDEFGHIJKLMNOPQRSTUVWXYZ"

var note = regexp.MustCompile(`\n\[(\d+) bytes left out(; all of it is at conch://output/[A-Z]{26})?\]\n`)

func numbered(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestAShortTextStays(t *testing.T) {
	for _, text := range []string{"", "a", strings.Repeat("é", 50)} {
		if got, cut := keep.Shorten(text, 100, uri); got != text || cut {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestALongTextIsItsHeadANoteAndItsTail(t *testing.T) {
	for name, text := range map[string]string{
		"lines":      numbered(5000),
		"one line":   strings.Repeat("x", 50_000),
		"characters": strings.Repeat("語🐚é", 5000),
		"newlines":   strings.Repeat("\n", 50_000),
	} {
		for _, where := range []string{"", uri} {
			for _, max := range []int{300, 301, 302, 303, 1000, 20_000} {
				checkShortened(t, name, text, max, where)
			}
		}
	}
}

func checkShortened(t *testing.T, name, text string, max int, where string) {
	t.Helper()
	got, cut := keep.Shorten(text, max, where)
	at := note.FindStringSubmatchIndex(got)
	if !cut || at == nil {
		t.Fatalf("%s in %d: no note in %q", name, max, got)
	}
	head, tail := got[:at[0]], got[at[1]:]
	left, _ := strconv.Atoi(got[at[2]:at[3]])
	switch {
	case len(got) > max:
		t.Errorf("%s in %d: %d bytes", name, max, len(got))
	case len(got) < max*3/4:
		t.Errorf("%s in %d: %d bytes are few", name, max, len(got))
	case !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) || len(head)+len(tail)+left != len(text):
		t.Errorf("%s in %d: %d and %d bytes of %d, and %d said to be left out", name, max, len(head), len(tail), len(text), left)
	case !utf8.ValidString(got):
		t.Errorf("%s in %d: a character was cut in two", name, max)
	case strings.Contains(got, uri) != (where != ""):
		t.Errorf("%s in %d: where it is: %q", name, max, got[at[0]:at[1]])
	}
}

func TestLinesAreNotCutWhereTheyEndNear(t *testing.T) {
	got, _ := keep.Shorten(numbered(5000), 1000, "")
	head, tail, _ := strings.Cut(got, " bytes left out]\n")
	head = head[:strings.LastIndexByte(head, '[')]
	if !strings.HasSuffix(head, "\n\n") || !strings.HasPrefix(tail, "line ") {
		t.Errorf("%q and %q", head[len(head)-10:], tail[:10])
	}
}

func TestWhereThereIsNoRoomForANote(t *testing.T) {
	for max, want := range map[int]string{0: "", 1: "", 2: "é", 3: "é", 10: "ééééé", -1: ""} {
		if got, cut := keep.Shorten(strings.Repeat("é", 100), max, uri); got != want || !cut {
			t.Errorf("in %d: %q, %t", max, got, cut)
		}
	}
}

func FuzzShorten(f *testing.F) {
	f.Add(numbered(100), 300)
	f.Add(strings.Repeat("🐚", 100), 203)
	f.Add("\xff\xfe\x80\x80\x80\x80\x80\x80", 5)
	f.Add("", -1)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		got, cut := keep.Shorten(text, limit, uri)
		switch {
		case cut != (len(text) > max(limit, 0)):
			t.Errorf("cut: %t", cut)
		case cut && len(got) > max(limit, 0):
			t.Errorf("%d bytes instead of %d", len(got), limit)
		case utf8.ValidString(text) && !utf8.ValidString(got):
			t.Errorf("%q", got)
		}
	})
}
