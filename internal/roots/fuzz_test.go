package roots_test

import (
	"encoding/json"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/internal/roots"
)

// wantSound says what is true of every set, wherever its roots come from.
func wantSound(t *testing.T, set roots.Set) {
	t.Helper()
	var told []roots.Root
	if err := json.Unmarshal([]byte(set.JSON()), &told); err != nil || len(told) != set.Count() {
		t.Fatalf("%v: %s", err, set.JSON())
	}
	var paths []string
	for i, r := range set.List() {
		paths = append(paths, r.Path)
		if place, err := filepath.EvalSymlinks(r.Path); err != nil || place != r.Path || !filepath.IsAbs(place) {
			t.Errorf("%q leads to %q: %v", r.Path, place, err)
		}
		if told[i].Path != r.Path || !set.Contains(r.Path) {
			t.Errorf("%+v is told as %+v, and in it: %t", r, told[i], set.Contains(r.Path))
		}
	}
	if strings.Join(paths, "\n") != set.Paths() || strings.Count(set.Paths(), "\n") != max(0, set.Count()-1) {
		t.Errorf("%q", set.Paths())
	}
}

// FuzzURI feeds URIs, and compares with what net/url reads.
func FuzzURI(f *testing.F) {
	top := uriTree(f)
	for _, test := range goodURIs {
		f.Add(test.uri)
	}
	for _, test := range badURIs {
		f.Add(test.uri)
	}
	f.Fuzz(func(t *testing.T, text string) {
		uri := strings.ReplaceAll(text, "TOP", top)
		set, problems := roots.FromClient([]roots.ClientRoot{{URI: uri, Name: text}})
		wantSound(t, set)
		if set.Count()+len(problems) != 1 || len(problems) == 1 && !plain(problems[0]) {
			t.Fatalf("%q: %d roots, %q", uri, set.Count(), problems)
		}
		if set.Count() == 0 {
			return
		}
		if set.List()[0].URI != uri {
			t.Errorf("%q is not kept, but %q", uri, set.List()[0].URI)
		}
		u, err := url.Parse(uri)
		if err != nil {
			return // of characters that it wants encoded
		}
		place, err := filepath.EvalSymlinks(u.Path)
		if u.Scheme != "file" || u.Host != "" && !strings.EqualFold(u.Host, "localhost") || u.User != nil || err != nil || place != set.List()[0].Path {
			t.Errorf("%q is taken for %q; net/url reads %+v", uri, set.Paths(), u)
		}
	})
}

// FuzzFile feeds files of roots.
func FuzzFile(f *testing.F) {
	for _, test := range brokenFiles {
		if len(test.text) < 1<<10 {
			f.Add(test.text)
		}
	}
	f.Add(`{"roots":[{"path":"./data","name":"Data"},{"path":"data/../data"},{"path":"~"},{"path":"link"},{"path":""},{"path":1},[],{"name":null,"path":"/"}]}`)
	dir := tree(f, "data/", "link -> data")
	f.Setenv("HOME", dir)
	f.Fuzz(func(t *testing.T, text string) {
		path := writeFile(t, dir, text)
		set, warnings, err := roots.FromFile(path, dir)
		wantSound(t, set)
		if err != nil && (!strings.HasPrefix(err.Error(), path+" cannot be used: ") && !strings.HasPrefix(err.Error(), "read "+path) || set.Count() != 0 || warnings != nil) {
			t.Errorf("%v, %q", err, warnings)
		}
		for _, warning := range warnings {
			if strings.ContainsAny(warning, "\n\r\x00") || len(warning) > 2000 {
				t.Errorf("%q", warning)
			}
		}
		for _, r := range set.List() {
			if r.Name == "" || !strings.HasPrefix(r.URI, "file:///") {
				t.Errorf("%+v", r)
			}
		}
	})
}

// FuzzContains feeds paths. What is taken for inside must not be outside once it
// is opened, and what is there and inside must be taken for inside.
func FuzzContains(f *testing.F) {
	for _, test := range contained {
		f.Add(test.path)
	}
	top, set := containing(f)
	root := top + "/a/b"
	f.Fuzz(func(t *testing.T, text string) {
		path := strings.ReplaceAll(text, "TOP", top)
		if !filepath.IsAbs(path) {
			if set.Contains(path) {
				t.Errorf("%q is relative, and in it", path)
			}
			return
		}
		place, ok := opened(path)
		if !ok {
			return
		}
		inside := place == root || strings.HasPrefix(place, root+"/")
		if set.Contains(path) != inside {
			t.Errorf("%q leads to %q, and is in it: %t", path, place, !inside)
		}
	})
}

// opened asks the kernel where a path leads.
func opened(path string) (place string, ok bool) {
	file, err := os.OpenFile(path, os.O_RDONLY, fs.FileMode(0))
	if err != nil {
		return "", false
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return "", false
	}
	place, err = filepath.EvalSymlinks(path)
	return place, err == nil && !strings.HasPrefix(place, "/proc")
}
