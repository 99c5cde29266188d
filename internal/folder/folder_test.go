package folder

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// tree makes a folder with files in it, one beside it, and links between them.
func tree(t *testing.T) string {
	t.Helper()
	top := t.TempDir()
	for name, text := range map[string]string{"in/a.txt": "inside", "in/sub/b.txt": "deeper", "secret": "outside"} {
		path := filepath.Join(top, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"in/out": "../secret", "in/up": "..", "in/absolute": filepath.Join(top, "secret"), "in/within": "sub/b.txt", "in/nowhere": "gone",
	} {
		if err := os.Symlink(target, filepath.Join(top, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mkfifo(filepath.Join(top, "in/fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(top, "in")
}

func TestFilesOfTheFolderAreReadAndNoOthers(t *testing.T) {
	dir := tree(t)
	for name, want := range map[string]string{"a.txt": "inside", "sub/b.txt": "deeper", "./sub/../a.txt": "inside", "within": "deeper"} {
		if got, err := Read(dir, name, 100); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	outside := []string{"../secret", "sub/../../secret", "out", "up/secret", "absolute", filepath.Join(filepath.Dir(dir), "secret"), "/etc/passwd", "", ".", "sub", "fifo", "nowhere", "gone", "a.txt/x"}
	for _, name := range outside {
		if got, err := Read(dir, name, 100); err == nil {
			t.Errorf("%q is read: %q", name, got)
		}
	}
	if _, err := Read(dir, "gone", 100); !errors.Is(err, ErrAbsent) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "gone"), "a.txt", 100); !errors.Is(err, ErrAbsent) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestAFileIsReadWholeOrNotAtAll(t *testing.T) {
	dir := tree(t)
	if got, err := Read(dir, "a.txt", 6); err != nil || len(got) != 6 {
		t.Errorf("as long as may be: %q, %v", got, err)
	}
	var tooLarge *TooLargeError
	if _, err := Read(dir, "a.txt", 5); !errors.As(err, &tooLarge) {
		t.Errorf("a byte longer: %v", err)
	}
}

func TestTypesTellTextFromBytes(t *testing.T) {
	for name, want := range map[string]struct {
		kind string
		text bool
	}{
		"a.txt": {"text/plain", true}, "A.MD": {"text/markdown", true}, "x.json": {"application/json", true},
		"i.png": {"image/png", false}, "i.svg": {"image/svg+xml", true}, "none": {"", false}, ".png": {"image/png", false},
	} {
		if got := Type(name); got != want.kind || IsText(got) != want.text {
			t.Errorf("%s is %q, text: %v", name, got, IsText(got))
		}
	}
	for kind, want := range map[string]bool{"Text/HTML; charset=utf-8": true, "text/html;profile=mcp-app": true, "application/ld+json": true, "application/pdf": false} {
		if IsText(kind) != want {
			t.Errorf("%s is text: %v", kind, !want)
		}
	}
}
