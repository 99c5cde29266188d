package scaffold

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// tree is what is below a directory: the paths of directories end in a slash, and
// files have their text behind a blank.
func tree(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		path = strings.TrimPrefix(path, dir+"/")
		if entry.IsDir() {
			path += "/"
		}
		if entry.Type().IsRegular() {
			text, err := os.ReadFile(filepath.Join(dir, path))
			if err != nil {
				return err
			}
			path += " " + string(text)
		}
		paths = append(paths, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// put writes files of the text "mine".
func put(t *testing.T, dir string, paths ...string) {
	t.Helper()
	for _, path := range paths {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func find(t *testing.T, name string) Template {
	t.Helper()
	template, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return template
}

func TestMakeMakesAllFiles(t *testing.T) {
	for _, template := range Templates() {
		dir := filepath.Join(t.TempDir(), "not", "there", "disks")
		got, err := template.Make(dir)
		if err != nil {
			t.Errorf("%s: %v", template.Name, err)
			continue
		}
		want := files(t, template)
		if len(got) != len(want) {
			t.Errorf("%s: made %q", template.Name, got)
		}
		for _, path := range got {
			at := filepath.Join(dir, path)
			text, err := os.ReadFile(at)
			if err != nil || string(text) != string(want[path].text) {
				t.Errorf("%s: %s: %v, %q", template.Name, path, err, text)
			}
			isExecutable := syscall.Access(at, 1) == nil
			if isExecutable != strings.HasPrefix(string(text), "#!") {
				t.Errorf("%s: %s is executable: %v", template.Name, path, isExecutable)
			}
		}
	}
}

func TestMakeUsesADirectoryThatIsThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "disks")
	put(t, dir, "LICENSE", "tools/mine.sh")
	if _, err := find(t, "folder").Make(dir); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"LICENSE mine", "tools/mine.sh mine"} {
		if !slices.Contains(tree(t, dir), want) {
			t.Errorf("%s is gone", want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "tools/greet.sh")); err != nil {
		t.Error(err)
	}
}

func TestMakeOverwritesNothing(t *testing.T) {
	for _, test := range []struct {
		name, template string
		there          func(t *testing.T, dir string)
		want           string
	}{
		{"a file", "minimal", func(t *testing.T, dir string) { put(t, dir, "disks/server.sh") }, "disks/server.sh is there already"},
		{"files", "minimal", func(t *testing.T, dir string) { put(t, dir, "disks/server.sh", "disks/README.md") },
			"disks/README.md, disks/server.sh are there already"},
		{"a file in a directory", "folder", func(t *testing.T, dir string) { put(t, dir, "disks/tools/greet.sh") }, "disks/tools/greet.sh is there already"},
		{"a directory by the name of a file", "minimal", func(t *testing.T, dir string) { put(t, dir, "disks/README.md/x") }, "disks/README.md is there already"},
		{"a file by the name of a directory", "folder", func(t *testing.T, dir string) { put(t, dir, "disks/tools") }, "disks/tools is there already"},
		{"a file by the name of the whole", "folder", func(t *testing.T, dir string) { put(t, dir, "disks") }, "disks is there already"},
		{"a link that leads nowhere", "minimal", func(t *testing.T, dir string) {
			put(t, dir, "disks/x")
			link(t, "nowhere", filepath.Join(dir, "disks/server.sh"))
		}, "disks/server.sh is there already"},
		{"a link in the place of a directory", "folder", func(t *testing.T, dir string) {
			put(t, dir, "disks/x", "elsewhere/x")
			link(t, "../elsewhere", filepath.Join(dir, "disks/tools"))
		}, "disks/tools is there already"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			test.there(t, dir)
			before := tree(t, dir)
			t.Chdir(dir)
			_, err := find(t, test.template).Make("disks")
			var there *InTheWayError
			if !errors.As(err, &there) || err.Error() != test.want+", and nothing was written" {
				t.Errorf("%v, want %s", err, test.want)
			}
			if after := tree(t, dir); !slices.Equal(before, after) {
				t.Errorf("there was %q and is %q", before, after)
			}
		})
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}

// What fails half way leaves nothing: neither files nor directories.
func TestMakingThatFailsIsUndone(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "there/mine")
	before := tree(t, dir)
	for _, target := range []string{"new/er/disks", "there"} {
		m := making{}
		// Two files of one name: the second cannot be made.
		err := m.all(filepath.Join(dir, target), []file{{"a", nil}, {"b/c/d", nil}, {"b/e", nil}, {"a", nil}})
		if !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", target, err)
		}
		if len(m.made) < 5 {
			t.Errorf("%s: made only %q", target, m.made)
		}
		if err := m.undo(); err != nil {
			t.Errorf("%s: %v", target, err)
		}
		if after := tree(t, dir); !slices.Equal(before, after) {
			t.Errorf("%s: there was %q and is %q", target, before, after)
		}
	}
}

func TestMakeWhereNothingCanBeMade(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "file")
	for _, target := range []string{"file/disks", "file/x/disks"} {
		if _, err := find(t, "minimal").Make(filepath.Join(dir, target)); err == nil || !strings.Contains(err.Error(), "not a directory") {
			t.Errorf("%s: %v", target, err)
		}
	}
	if after := tree(t, dir); !slices.Equal(after, []string{"file mine"}) {
		t.Errorf("there is %q", after)
	}
}
