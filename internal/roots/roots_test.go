package roots_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/roots"
)

// tree makes a directory with files ("a/b"), directories ("a/") and links
// ("a -> b"), and returns its path without links.
func tree(t testing.TB, entries ...string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if err := grow(top, entry); err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func grow(top, entry string) error {
	name, target, isLink := strings.Cut(entry, " -> ")
	path := filepath.Join(top, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	switch {
	case isLink:
		return os.Symlink(strings.ReplaceAll(target, "TOP", top), path)
	case strings.HasSuffix(name, "/"):
		return os.MkdirAll(path, 0o755)
	}
	return os.WriteFile(path, nil, 0o644)
}

func list(t testing.TB, base string, paths ...string) roots.Set {
	t.Helper()
	set, err := roots.FromList(paths, base)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func wantPaths(t *testing.T, set roots.Set, want ...string) {
	t.Helper()
	if got := set.Paths(); got != strings.Join(want, "\n") || set.Count() != len(want) {
		t.Errorf("%d roots %q, want %q", set.Count(), got, want)
	}
}

func TestTheEmptySet(t *testing.T) {
	fromNobody, problems := roots.FromClient(nil)
	if problems != nil {
		t.Errorf("problems %q", problems)
	}
	for _, set := range []roots.Set{{}, fromNobody} {
		path, single := set.Single()
		if set.JSON() != "[]" || set.Paths() != "" || set.Count() != 0 || len(set.List()) != 0 || path != "" || single {
			t.Errorf("%+v", set)
		}
		for _, path := range []string{"/", "/etc/passwd", "", "."} {
			if set.Contains(path) {
				t.Errorf("%q is in it", path)
			}
		}
	}
}

func TestWhatASetTells(t *testing.T) {
	top := tree(t, "a <&> \"b\"/", "é/")
	set, problems := roots.FromClient([]roots.ClientRoot{
		{URI: "FILE://LocalHost" + top + "/a%20%3C&%3e%20%22b%22", Name: "first\n<one>"},
		{URI: "file://" + top + "/é"},
	})
	if problems != nil {
		t.Fatal(problems)
	}
	wantPaths(t, set, top+`/a <&> "b"`, top+"/é")
	var got []map[string]string
	if err := json.Unmarshal([]byte(set.JSON()), &got); err != nil {
		t.Fatal(err)
	}
	want := []map[string]string{
		{"uri": "FILE://LocalHost" + top + "/a%20%3C&%3e%20%22b%22", "name": "first\n<one>", "path": top + `/a <&> "b"`},
		{"uri": "file://" + top + "/é", "name": "", "path": top + "/é"},
	}
	for i := range want {
		for name, value := range want[i] {
			if len(got) != 2 || len(got[i]) != 3 || got[i][name] != value {
				t.Fatalf("%s\nwant %q", set.JSON(), want)
			}
		}
	}
	if !strings.Contains(set.JSON(), "<&>") || strings.Contains(set.JSON(), "\n") {
		t.Errorf("not written plainly, on one line: %s", set.JSON())
	}
}

func TestASetDoesNotChange(t *testing.T) {
	top := tree(t, "a/")
	set := list(t, top, "a")
	set.List()[0].Path = "/"
	wantPaths(t, set, top+"/a")
	if set.Contains("/") {
		t.Error("a list that was handed out is the set's own")
	}
}

func TestTheOnlyRoot(t *testing.T) {
	top := tree(t, "a/", "b/")
	if path, ok := list(t, top, "a").Single(); !ok || path != top+"/a" {
		t.Errorf("%q, %t", path, ok)
	}
	if path, ok := list(t, top, "a", "b").Single(); ok || path != "" {
		t.Errorf("%q, %t", path, ok)
	}
}

var contained = []struct {
	path string
	want bool
}{
	{"TOP/a/b", true}, {"TOP/a/b/", true}, {"TOP/a/b/.", true}, {"//TOP//a//b", true}, {"TOP/a/b/file", true}, {"TOP/a/b/sub/../file", true},
	// Not by the letters of a path.
	{"TOP/a/bc", false}, {"TOP/a/bc/file", false}, {"TOP/a/b.txt", false}, {"TOP/a", false}, {"TOP", false}, {"/", false},
	{"TOP/a/B", false}, {"TOP/a/?", false}, {"TOP/a/*", false}, {"TOP/a/[b]", false},
	{"TOP/a/b/../bc/file", false}, {"TOP/a/b/..", false}, {"TOP/a/b/sub/../../..", false}, {"TOP/a/../a/b/file", true},
	// What is not there yet.
	{"TOP/a/b/new", true}, {"TOP/a/b/new/newer", true}, {"TOP/a/b/new/../file", true}, {"TOP/a/b/new/../../bc", false}, {"TOP/a/b/new/../out", false}, {"TOP/a/b/new/../out/new", false},
	{"TOP/a/new", false}, {"/nowhere/at/all", false}, {"TOP/a/b/file/below", true}, {"TOP/a/b/file/../../bc/file", false},
	// Links.
	{"TOP/a/b/out", false}, {"TOP/a/b/out/file", false}, {"TOP/a/b/out/new", false}, {"TOP/a/b/dangling", false}, {"TOP/a/b/dangling/new", false},
	{"TOP/a/b/passwd", false}, {"TOP/a/b/up/bc/file", false}, {"TOP/a/b/up/b/file", true}, {"TOP/a/b/in", true}, {"TOP/a/b/inside/new", true}, {"TOP/a/b/hope", true},
	{"TOP/in", true}, {"TOP/in/file", true}, {"TOP/in/new", true}, {"TOP/in/../bc/file", false}, {"TOP/sub/../file", true}, {"TOP/sub/..", true}, {"TOP/a/b/out/../b/file", true},
	{"TOP/a/b/sub/far/..", false}, {"TOP/a/b/far/../file", false},
	{"TOP/a/b/loop", false}, {"TOP/a/b/loop/file", false}, {"TOP/a/b/self", false},
	// No paths.
	{"", false}, {".", false}, {"file", false}, {"a/b/file", false}, {"~", false}, {"TOP/a/b/\x00", false}, {"TOP/a/b/file\x00/../../../..", false}, {"TOP/a/b/\n", true}, {"TOP/a/b/\xff", true},
}

// containing is the tree of which contained speaks.
func containing(t testing.TB) (top string, set roots.Set) {
	t.Helper()
	top = tree(t, "a/b/file", "a/b/sub/", "a/bc/file", "a/b.txt", "far/off/",
		"a/b/out -> ../bc", "a/b/dangling -> TOP/a/new", "a/b/passwd -> /etc/passwd", "a/b/up -> ..", "a/b/in -> file", "a/b/inside -> TOP/a/b/sub", "a/b/hope -> sub/new",
		"a/b/far -> TOP/far/off", "a/b/sub/far -> TOP/far/off", "in -> a/b", "sub -> a/b/sub", "a/b/loop -> pool", "a/b/pool -> loop", "a/b/self -> self")
	return top, list(t, top, "a/b")
}

func TestWhatIsInARoot(t *testing.T) {
	top, set := containing(t)
	t.Chdir(top + "/a/b")
	for _, test := range contained {
		if got := set.Contains(strings.ReplaceAll(test.path, "TOP", top)); got != test.want {
			t.Errorf("%q: %t", test.path, got)
		}
	}
}

func TestAChainOfLinks(t *testing.T) {
	entries := []string{"a/0"}
	for i := 1; i <= 41; i++ {
		entries = append(entries, "a/"+strconv.Itoa(i)+" -> "+strconv.Itoa(i-1))
	}
	top := tree(t, entries...)
	set := list(t, top, "a")
	if !set.Contains(top+"/a/40") || set.Contains(top+"/a/41") {
		t.Errorf("40 links: %t, 41: %t", set.Contains(top+"/a/40"), set.Contains(top+"/a/41"))
	}
}

func TestWhatIsInSeveralRoots(t *testing.T) {
	top := tree(t, "a/b/", "c/", "d/")
	set := list(t, top, "a", "c", "a/b")
	wantPaths(t, set, top+"/a", top+"/c", top+"/a/b")
	for path, want := range map[string]bool{"/a/x": true, "/a/b/x": true, "/c": true, "/d": false, "": false} {
		if set.Contains(top+path) != want {
			t.Errorf("%q: %t", path, !want)
		}
	}
}

func TestTheTopmostRoot(t *testing.T) {
	set := list(t, "/", "/")
	for _, path := range []string{"/", "/x", "/..", "//"} {
		if !set.Contains(path) {
			t.Errorf("%q is not in it", path)
		}
	}
	if got := set.List()[0]; got != (roots.Root{URI: "file:///", Name: "/", Path: "/"}) {
		t.Errorf("%+v", got)
	}
}

func TestARootThatIsAFile(t *testing.T) {
	top := tree(t, "a/file", "a/file2")
	set := list(t, top, "a/file")
	if !set.Contains(top+"/a/file") || set.Contains(top+"/a/file2") || set.Contains(top+"/a") {
		t.Error("a file is all that is in a root that is one")
	}
}

func TestARootThatIsRemovedOrReplaced(t *testing.T) {
	top := tree(t, "a/file", "b/file")
	set := list(t, top, "a")
	if err := os.RemoveAll(top + "/a"); err != nil {
		t.Fatal(err)
	}
	if !set.Contains(top+"/a/file") || set.Contains(top+"/b/file") {
		t.Error("what would be in a root that is gone is in it, and nothing else")
	}
	if err := os.Symlink("b", top+"/a"); err != nil {
		t.Fatal(err)
	}
	if set.Contains(top + "/a/file") {
		t.Error("a link in the place of the root leads out, and is in")
	}
}

func TestRootsAreNamedOnce(t *testing.T) {
	top := tree(t, "a/", "link -> a")
	set, problems := roots.FromClient([]roots.ClientRoot{
		{URI: "file://" + top + "/link", Name: "first"}, {URI: "file://" + top + "/a", Name: "second"}, {URI: "file://" + top + "/./a/", Name: "third"}, {URI: "file://" + top + "/%61"},
	})
	if want := []roots.Root{{URI: "file://" + top + "/link", Name: "first", Path: top + "/a"}}; !slices.Equal(set.List(), want) || problems != nil {
		t.Errorf("%+v, %q", set.List(), problems)
	}
}
