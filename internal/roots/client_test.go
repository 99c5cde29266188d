package roots_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/roots"
)

var goodURIs = []struct{ uri, want string }{
	{"file://TOP/a", "a"}, {"FILE://TOP/a", "a"}, {"File://localhostTOP/a", "a"}, {"file://LOCALHOSTTOP/a", "a"}, {"file://TOP/a/", "a"}, {"file:////TOP/a", "a"},
	{"file://TOP/a%20b", "a b"}, {"file://TOP/a b", "a b"}, {"file://TOP/a+b", "a+b"}, {"file://TOP/a%2Bb", "a+b"}, {"file://TOP/100%25", "100%"}, {"file://TOP/%2561", "%61"},
	{"file://TOP/%C3%A9", "é"}, {"file://TOP/%c3%a9", "é"}, {"file://TOP/é", "é"}, {"file://TOP/%61", "a"}, {"file://TOP/c%23%3f", "c#?"}, {"file://TOP/%5Bx%5D", "[x]"}, {"file://TOP/[x]", "[x]"},
	{"file://TOP/a/../a", "a"}, {"file://TOP/a%2F..%2Fa", "a"}, {"file://TOP/link", "a"}, {"file://TOP/link/sub", "a/sub"}, {"file://TOP/deep/../a", "a"}, {"file://TOP/deep", "a/sub"}, {"file://TOP/back%5Cslash", `back\slash`},
	{"file://TOP/file", "file"},
}

// uriTree is the tree of which the URIs speak.
func uriTree(t testing.TB) string {
	return tree(t, "a/sub/", "a b/", "a+b/", "100%/", "%61/", "é/", "c#?/", "c/", "[x]/", `back\slash/`, "file", "link -> a", "deep -> a/sub", "a/a -> ../a")
}

func TestURIsOfRoots(t *testing.T) {
	top := uriTree(t)
	for _, test := range goodURIs {
		uri := strings.ReplaceAll(test.uri, "TOP", top)
		set, problems := roots.FromClient([]roots.ClientRoot{{URI: uri, Name: "n"}})
		want := roots.Root{URI: uri, Name: "n", Path: top + "/" + test.want}
		if got := set.List(); len(got) != 1 || got[0] != want || problems != nil {
			t.Errorf("%s: %+v, %q", test.uri, got, problems)
		}
	}
}

var badURIs = []struct{ uri, want string }{
	{"", "does not begin with file://"}, {"TOP/a", "does not begin with file://"}, {"http://localhostTOP/a", "does not begin with file://"}, {"filex://TOP/a", "does not begin with file://"},
	{" file://TOP/a", "does not begin with file://"}, {"vscode-remote://hostTOP/a", "does not begin with file://"}, {"fi%6Ce://TOP/a", "does not begin with file://"},
	{"file:TOP/a", "needs two slashes"}, {"file:a", "needs two slashes"}, {"file:", "needs two slashes"}, {"file:/", "needs two slashes"}, {"file:\\\\TOP/a", "needs two slashes"},
	{"file://", "has no path"}, {"file://localhost", "has no path"}, {"file://.", "has no path"},
	{"file://hostTOP/a", "another machine"}, {"file://localhost:80TOP/a", "another machine"}, {"file://me@localhostTOP/a", "another machine"}, {"file://127.0.0.1TOP/a", "another machine"},
	{"file://localhost.TOP/a", "another machine"}, {"file://%6CocalhostTOP/a", "another machine"}, {"file://[::1]TOP/a", "another machine"}, {"file://./a", "another machine"}, {"file://C:/a", "another machine"},
	{"file://TOP/c#?", "query or a fragment"}, {"file://TOP/a?x=1", "query or a fragment"}, {"file://TOP/a#top", "query or a fragment"},
	{"file://TOP/100%", "two hexadecimal digits"}, {"file://TOP/%zz", "two hexadecimal digits"}, {"file://TOP/%6", "two hexadecimal digits"}, {"file://TOP/%u0061", "two hexadecimal digits"},
	{"file://TOP/a%00", "NUL"}, {"file://TOP/a\x00b", "NUL"}, {"file://TOP/%00/../a", "NUL"},
	{"file://TOP/nowhere", "does not exist"}, {"file://TOP/a/nowhere", "does not exist"}, {"file://TOP/file/below", "does not exist"}, {"file://TOP/nowhere/../a", "does not exist"}, {"file://TOP/file/../a", "does not exist"}, {"file://TOP/A%", "two hexadecimal digits"}, {"file:///C:/a", "does not exist"}, {"file://TOP/dangling", "does not exist"},
	{"file://TOP/a ", "does not exist"}, {"file://TOP/a%0A", "does not exist"}, {"file://TOP/~", "does not exist"}, {"file://TOP/loop", "too many"},
	{"file://TOP/two%0Alines", "line break"}, {"file://TOP/two%0A/etc", "line break"}, {"file://TOP/lines", "line break"},
	{"file:///" + strings.Repeat("x", 5000), "too long"},
}

func TestURIsThatAreRefused(t *testing.T) {
	top := uriTree(t)
	for _, entry := range []string{"dangling -> nowhere", "loop -> loop", "two\nlines/", "two\n/etc/", "lines -> two\nlines"} {
		if err := grow(top, entry); err != nil {
			t.Fatal(err)
		}
	}
	for i, test := range badURIs {
		named := []roots.ClientRoot{{URI: "file://" + top + "/a"}, {URI: strings.ReplaceAll(test.uri, "TOP", top)}, {URI: "file://" + top + "/file"}}
		set, problems := roots.FromClient(named)
		wantPaths(t, set, top+"/a", top+"/file")
		if len(problems) != 1 || !strings.Contains(problems[0], test.want) || !strings.Contains(problems[0], "root 2 of the client") || !plain(problems[0]) {
			t.Errorf("%d, %.100q: %q", i, test.uri, problems)
		}
	}
}

// plain says that a text may stand in a log: it is short and on one line.
func plain(s string) bool {
	return len(s) < 2500 && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == '\ufffd' })
}

func TestPathsThatAreNotUTF8(t *testing.T) {
	top := tree(t, "link -> a\xff")
	if err := os.Mkdir(top+"/a\xff", 0o755); err != nil {
		t.Skipf("the file system has UTF-8 only: %v", err)
	}
	for _, uri := range []string{"file://" + top + "/a%FF", "file://" + top + "/a\xff", "file://" + top + "/link"} {
		set, problems := roots.FromClient([]roots.ClientRoot{{URI: uri}})
		if set.Count() != 0 || len(problems) != 1 || !strings.Contains(problems[0], "not UTF-8") || !plain(problems[0]) {
			t.Errorf("%q: %d roots, %q", uri, set.Count(), problems)
		}
	}
}

func TestAClientAllOfWhoseRootsAreRefusedHasNone(t *testing.T) {
	set, problems := roots.FromClient([]roots.ClientRoot{{URI: "https://example.com/"}, {URI: "file:/"}})
	if set.Count() != 0 || set.JSON() != "[]" || set.Contains("/etc/passwd") || len(problems) != 2 {
		t.Errorf("%s, %q", set.JSON(), problems)
	}
}

func TestAClientThatNamesTooManyRoots(t *testing.T) {
	top := tree(t, "a/", "b/", "c/")
	var named []roots.ClientRoot
	for range 100_000 {
		named = append(named, roots.ClientRoot{URI: "file://" + top + "/a"})
	}
	named[999].URI, named[1000].URI = "file://"+top+"/b", "file://"+top+"/c"
	set, problems := roots.FromClient(named)
	wantPaths(t, set, top+"/a", top+"/b")
	if len(problems) != 1 || !strings.Contains(problems[0], "100000 roots") {
		t.Errorf("%q", problems)
	}
}

func TestRootsThatWouldNotFitIntoAVariable(t *testing.T) {
	top := tree(t)
	var named []roots.ClientRoot
	for i := range 900 {
		name := fmt.Sprintf("%03d", i)
		if err := grow(top, name+"/"); err != nil {
			t.Fatal(err)
		}
		named = append(named, roots.ClientRoot{URI: "file://" + top + "/" + name, Name: strings.Repeat("n", 100)})
	}
	named = append(named[:1:1], append([]roots.ClientRoot{{URI: "file://" + top, Name: strings.Repeat("<", 70_000)}}, named[1:]...)...)
	set, problems := roots.FromClient(named)
	if len(set.JSON()) > 64<<10 || len(set.JSON()) < 63<<10 {
		t.Errorf("%d bytes of JSON", len(set.JSON()))
	}
	if set.Count()+len(problems) != len(named) || set.Contains(top) || !strings.Contains(problems[0], "64 KiB") || !strings.Contains(problems[0], "root 2 ") || !plain(problems[0]) {
		t.Errorf("%d roots and %d problems of %d, the first %.500q", set.Count(), len(problems), len(named), problems[0])
	}
}
