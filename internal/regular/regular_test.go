package regular

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(in("small"), []byte("text"), 0o600))
	must(os.WriteFile(in("empty"), nil, 0o600))
	must(os.WriteFile(in("large"), make([]byte, 1<<20+1), 0o600))
	must(os.Symlink("small", in("link")))
	must(os.Symlink("none", in("dangling")))
	must(unix.Mkfifo(in("fifo"), 0o600))
	for name, want := range map[string]string{
		"small": "text", "empty": "", "link": "text",
		"fifo": "!not a regular file", "/dev/zero": "!not a regular file", ".": "!not a regular file",
		"large": "!larger than 1 MiB", "none": "!no such file", "dangling": "!no such file", "small/x": "!not a directory",
	} {
		path := name
		if !filepath.IsAbs(name) {
			path = in(name)
		}
		text, state, err := Read(path, 1<<20)
		problem, fails := strings.CutPrefix(want, "!")
		switch {
		case fails && (err == nil || !strings.Contains(err.Error(), problem)):
			t.Errorf("%s: %v, not %q", name, err, problem)
		case !fails && (err != nil || string(text) != want || state.Ino == 0):
			t.Errorf("%s: %q, %v", name, text, err)
		case fails && errors.Is(err, ErrAbsent) != (problem == "no such file"):
			t.Errorf("%s: absent by %v", name, err)
		}
	}
}
