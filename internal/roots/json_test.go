package roots_test

import (
	"testing"

	"github.com/conch-mcp/conch/internal/roots"
)

func TestASetIsReadAsItWasWritten(t *testing.T) {
	base := tree(t, "a b/", "é<&>/", `q"\/`)
	for _, paths := range [][]string{{"a b"}, {"é<&>", `q"\`, "a b"}, {"/"}} {
		set := list(t, base, paths...)
		read, err := roots.FromJSON(set.JSON())
		if err != nil || read.JSON() != set.JSON() || read.Paths() != set.Paths() || read.Count() != set.Count() {
			t.Errorf("%s: %s, %v", set.JSON(), read.JSON(), err)
		}
	}
	if read, err := roots.FromJSON("[]"); err != nil || read.Count() != 0 {
		t.Errorf("got %s, %v", read.JSON(), err)
	}
}

func TestWhatIsNoSet(t *testing.T) {
	for _, text := range []string{"", "{}", `"/"`, "[1]", `[{"path":1}]`, `[{}]`, `[{"path":"a"}]`, `[{"path":"/a\nb"}]`, `[{"path":"/a\u0000"}]`, `[{"path":"/a"}] x`} {
		if set, err := roots.FromJSON(text); err == nil || set.Count() != 0 {
			t.Errorf("%q: %s, %v", text, set.JSON(), err)
		}
	}
}

func TestWhereAPathLeads(t *testing.T) {
	base := tree(t, "a/sub/", "in -> a/sub", "a/out -> ..")
	set := list(t, base, "a")
	for path, want := range map[string]string{"/a": "/a", "/in/x/../y": "/a/sub/y", "/in/..": "/a", "/a/new/file": "/a/new/file", "/a/out": "", "/in/../..": "", "": ""} {
		place, ok := set.Place(base + path)
		if ok != (want != "") || ok && place != base+want {
			t.Errorf("%s: %q, %v", path, place, ok)
		}
	}
	if place, ok := set.Place("a"); ok {
		t.Errorf("a relative path: %q", place)
	}
}

func FuzzFromJSON(f *testing.F) {
	for _, text := range []string{"[]", `[{"uri":"file:///","name":"","path":"/"}]`, `[{"path":"/a"},{"path":"/a"}]`, `[{"path":"/\ud800"}]`, "null"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		set, err := roots.FromJSON(text)
		if err != nil {
			return
		}
		again, err := roots.FromJSON(set.JSON())
		if err != nil || again.JSON() != set.JSON() {
			t.Errorf("%q: %s, then %s, %v", text, set.JSON(), again.JSON(), err)
		}
	})
}
