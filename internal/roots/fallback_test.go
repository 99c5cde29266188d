package roots_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/roots"
)

func TestPathsSomebodyHasTyped(t *testing.T) {
	base, elsewhere, home := tree(t, "a/x/", "b c/", "~bob/", "link -> a/x", "file"), tree(t, "a/", "y/"), tree(t, "z/")
	t.Setenv("HOME", home)
	t.Chdir(elsewhere)
	tests := []struct{ path, want, name string }{
		{"a", base + "/a", "a"}, {"./a/", base + "/a", "a"}, {"b c", base + "/b c", "b c"}, {"file", base + "/file", "file"}, {".", base, filepath.Base(base)},
		{"a/..", base, filepath.Base(base)}, {"link", base + "/a/x", "x"}, {"link/..", base + "/a", "a"}, {"../" + filepath.Base(base), base, filepath.Base(base)},
		{elsewhere + "/y", elsewhere + "/y", "y"}, {"/", "/", "/"},
		{"~", home, filepath.Base(home)}, {"~/", home, filepath.Base(home)}, {"~/z", home + "/z", "z"}, {"~bob", base + "/~bob", "~bob"}, {"./~bob", base + "/~bob", "~bob"},
	}
	for _, test := range tests {
		set, err := roots.FromList([]string{test.path}, base)
		if err != nil {
			t.Errorf("%q: %v", test.path, err)
			continue
		}
		if got := set.List()[0]; got.Path != test.want || got.Name != test.name {
			t.Errorf("%q: %+v", test.path, got)
		}
	}
}

func TestPathsThatStopTheStart(t *testing.T) {
	base := tree(t, "a/", "b/", "dangling -> nowhere", "two\nlines/", "ro1/")
	tests := []struct {
		paths []string
		want  string
	}{
		{nil, "names no directory"}, {[]string{""}, "the path is empty"}, {[]string{"a", ""}, "the path is empty"}, {[]string{"a", "nowhere", "b"}, `nowhere" does not exist`},
		{[]string{"dangling"}, "does not exist"}, {[]string{"ro[1]"}, "does not exist"}, {[]string{"~nobody"}, "does not exist"}, {[]string{"a\x00"}, "NUL"}, {[]string{"two\nlines"}, "line break"},
		{[]string{"a,b"}, "does not exist"}, {[]string{"file://" + base + "/a"}, "does not exist"},
	}
	for _, test := range tests {
		set, err := roots.FromList(test.paths, base)
		if err == nil || !strings.Contains(err.Error(), test.want) || !plain(err.Error()) || set.Count() != 0 {
			t.Errorf("%q: %v", test.paths, err)
		}
	}
}

func TestHomeThatIsNotKnown(t *testing.T) {
	t.Setenv("HOME", "")
	if _, err := roots.FromList([]string{"~/x"}, "/"); err == nil || !strings.Contains(err.Error(), "HOME does not say") {
		t.Error(err)
	}
}

func TestURIsOfPaths(t *testing.T) {
	base := tree(t, "a b%é?#+/")
	got := list(t, base, "a b%é?#+").List()[0].URI
	if want := "file://" + base + "/a%20b%25%C3%A9%3F%23+"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	set, problems := roots.FromClient([]roots.ClientRoot{{URI: got}})
	wantPaths(t, set, base+"/a b%é?#+")
	if problems != nil {
		t.Error(problems)
	}
}

func TestAVariable(t *testing.T) {
	base, elsewhere := tree(t, "a/", "b c/", "ro[1]/", "*/", "$HOME/", "a,b/", "ro1/"), tree(t, "ro1/", "a/")
	t.Chdir(elsewhere)
	tests := []struct {
		text string
		want []string
	}{
		{"a:b c", []string{"a", "b c"}}, {"ro[1]", []string{"ro[1]"}}, {"*", []string{"*"}}, {"$HOME", []string{"$HOME"}}, {"a,b", []string{"a,b"}},
		{":a::" + base + "/a:", []string{"a"}}, {"a:./b c/:a", []string{"a", "b c"}},
	}
	for _, test := range tests {
		set, err := roots.FromVariable(test.text, base)
		if err != nil {
			t.Errorf("%q: %v", test.text, err)
			continue
		}
		var want []string
		for _, name := range test.want {
			want = append(want, base+"/"+name)
		}
		wantPaths(t, set, want...)
	}
	for text, want := range map[string]string{"": "names no directory", "::": "names no directory", "a:r?[1]": "does not exist", "nowhere:a": "does not exist", "a:\x00": "NUL"} {
		if _, err := roots.FromVariable(text, base); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestADirectory(t *testing.T) {
	dir := tree(t, "server/", "link -> server")
	set, err := roots.FromDir(dir + "/link")
	if err != nil {
		t.Fatal(err)
	}
	if want := []roots.Root{{URI: "file://" + dir + "/server", Name: "server", Path: dir + "/server"}}; !slices.Equal(set.List(), want) {
		t.Errorf("%+v", set.List())
	}
	if _, err := roots.FromDir(dir + "/nowhere"); err == nil || !strings.Contains(err.Error(), "does not exist") || !strings.Contains(err.Error(), "server's directory") {
		t.Error(err)
	}
}

// writeFile makes config/roots.json in a server's directory.
func writeFile(t testing.TB, dir, text string) string {
	t.Helper()
	path := filepath.Join(dir, "config", "roots.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFileOfRoots(t *testing.T) {
	dir, home := tree(t, "data/", "more/", "config/inner/"), tree(t, "docs/")
	t.Setenv("HOME", home)
	t.Chdir(home)
	path := writeFile(t, dir, "\ufeff"+`{"$schema":"x","roots":[{"path":"./data","name":"Data","note":1},{"path":"~/docs"},{"name":null,"path":"more/"},{"path":"data","name":"again"},{"path":"`+home+`","name":""}]}`)
	set, warnings, err := roots.FromFile(path, dir)
	if err != nil || warnings != nil {
		t.Fatalf("%q, %v", warnings, err)
	}
	want := []roots.Root{
		{URI: "file://" + dir + "/data", Name: "Data", Path: dir + "/data"}, {URI: "file://" + home + "/docs", Name: "docs", Path: home + "/docs"},
		{URI: "file://" + dir + "/more", Name: "more", Path: dir + "/more"}, {URI: "file://" + home, Name: filepath.Base(home), Path: home},
	}
	if !slices.Equal(set.List(), want) {
		t.Errorf("%+v", set.List())
	}
}

func TestEntriesOfAFileThatAreLeftOut(t *testing.T) {
	dir := tree(t, "a/", "b/", "config/inner/")
	const object = `must be an object with a string "path"`
	for entry, want := range map[string]string{
		`{"path":"nowhere"}`: "does not exist", `{"path":"inner"}`: "does not exist", `{"path":""}`: "path is empty", `{"path":"a\u0000"}`: "NUL", `{"path":null}`: "path is empty",
		`{"path":1}`: object, `{"path":["a"]}`: object, `{}`: object, `"a"`: object, `null`: object, `{"PATH":"a"}`: object, `{"path":"a","name":1}`: "name must be a string", `{"path":"*"}`: "does not exist",
	} {
		path := writeFile(t, dir, `{"roots":[{"path":"a"},`+entry+`,{"path":"b"}]}`)
		set, warnings, err := roots.FromFile(path, dir)
		wantPaths(t, set, dir+"/a", dir+"/b")
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], want) || !strings.HasPrefix(warnings[0], path+": root 2 is left out: ") || !plain(warnings[0]) {
			t.Errorf("%s: %q, %v", entry, warnings, err)
		}
	}
}

var brokenFiles = []struct{ text, want string }{
	{"", "line 1 is not JSON"}, {"{\"roots\":\n[}", "line 2 is not JSON"}, {"{\"roots\":[]}\n\n{}", "line 3 is not JSON"}, {"[]", "JSON object"}, {`"x"`, "JSON object"}, {"\xff", "UTF-8"}, {"{\"roots\":[{\"path\":\"\xff\"}]}", "UTF-8"},
	{"null", `a member "roots"`}, {"{}", `a member "roots"`}, {`{"Roots":[]}`, `a member "roots"`}, {`{"roots":null}`, `a member "roots"`}, {`{"roots":{}}`, `a member "roots"`}, {`{"roots":"a"}`, `a member "roots"`},
	{`{"roots":[]}` + strings.Repeat(" ", 1<<20), "larger than 1 MiB"},
}

func TestFilesThatCannotBeUsed(t *testing.T) {
	dir := tree(t)
	for _, test := range brokenFiles {
		path := writeFile(t, dir, test.text)
		set, warnings, err := roots.FromFile(path, dir)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) || !plain(err.Error()) || errors.Is(err, fs.ErrNotExist) || warnings != nil || set.Count() != 0 {
			t.Errorf("%.50q: %v", test.text, err)
		}
		// What was meant to narrow the scope must not widen it.
		set, warnings, err = roots.Fallback(sources(dir, nil))
		wantPaths(t, set)
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], test.want) || !strings.Contains(warnings[0], "nothing is in scope") {
			t.Errorf("%.50q: %q, %v", test.text, warnings, err)
		}
	}
}

func TestWhatIsNoFile(t *testing.T) {
	dir := tree(t, "dir/")
	if err := unix.Mkfifo(dir+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dir", "fifo"} {
		if _, _, err := roots.FromFile(dir+"/"+name, dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func sources(dir string, variables map[string]string, list ...string) roots.Sources {
	return roots.Sources{List: list, Dir: dir, Getenv: func(name string) string { return variables[name] }}
}

func TestWhereTheRootsComeFrom(t *testing.T) {
	bare, dir := tree(t, "a/", "b/"), tree(t, "a/", "b/", "c/", "d/")
	writeFile(t, dir, `{"roots":[{"path":"d"}]}`)
	oddly := tree(t, "config")
	both := map[string]string{"CONCH_ROOTS": "b", "MCPBASH_ROOTS": "c"}
	tests := []struct {
		name    string
		sources roots.Sources
		want    string
	}{
		{"all", sources(dir, both, "a"), dir + "/a"},
		{"no list", sources(dir, both), dir + "/b"},
		{"mcp-bash's variable", sources(dir, map[string]string{"MCPBASH_ROOTS": "c"}), dir + "/c"},
		{"an empty variable", sources(dir, map[string]string{"CONCH_ROOTS": "", "MCPBASH_ROOTS": "c"}), dir + "/c"},
		{"a file", sources(dir, nil), dir + "/d"},
		{"nothing", sources(bare, nil), bare},
		{"a file called config", sources(oddly, nil), oddly},
	}
	for _, test := range tests {
		set, warnings, err := roots.Fallback(test.sources)
		if err != nil || warnings != nil {
			t.Errorf("%s: %q, %v", test.name, warnings, err)
		}
		wantPaths(t, set, test.want)
	}
}

func TestAFileWithoutRootsLeavesNothingInScope(t *testing.T) {
	dir := tree(t, "a/")
	for text, warned := range map[string]int{`{"roots":[]}`: 0, `{"roots":[{"path":"nowhere"}]}`: 1} {
		writeFile(t, dir, text)
		set, warnings, err := roots.Fallback(sources(dir, nil))
		wantPaths(t, set)
		if err != nil || len(warnings) != warned {
			t.Errorf("%s: %q, %v", text, warnings, err)
		}
	}
}

func TestErrorsNameTheirSource(t *testing.T) {
	dir := tree(t, "a/")
	for source, s := range map[string]roots.Sources{
		"--roots: ":       sources(dir, nil, "a", "nowhere"),
		"CONCH_ROOTS: ":   sources(dir, map[string]string{"CONCH_ROOTS": "a:nowhere", "MCPBASH_ROOTS": "a"}),
		"MCPBASH_ROOTS: ": sources(dir, map[string]string{"MCPBASH_ROOTS": "a:nowhere"}),
	} {
		set, warnings, err := roots.Fallback(s)
		if err == nil || !strings.HasPrefix(err.Error(), source) || !strings.Contains(err.Error(), "does not exist") || warnings != nil || set.Count() != 0 {
			t.Errorf("%s: %v", source, err)
		}
	}
	if _, _, err := roots.Fallback(roots.Sources{List: []string{}, Dir: dir}); err == nil || !strings.Contains(err.Error(), "--roots") {
		t.Errorf("an empty list is taken for none: %v", err)
	}
}
