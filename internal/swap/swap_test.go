package swap_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/internal/swap"
)

// place is a directory with one file of mode 640, "old".
func place(t *testing.T) (dir, path string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "settings")
	put(t, path, "old")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	return dir, path
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, path string) *swap.File {
	t.Helper()
	f, err := swap.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func wantFile(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != text {
		t.Errorf("%s holds %q, not %q (%v)", path, got, text, err)
	}
	if info, err := os.Stat(path); err == nil && info.Mode() != mode {
		t.Errorf("%s has mode %v, not %v", path, info.Mode(), mode)
	}
}

func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s holds %q, not %q", dir, got, want)
	}
}

func TestAFileIsReplaced(t *testing.T) {
	dir, path := place(t)
	for _, texts := range [][2]string{{"old", "new"}, {"new", ""}, {"", "newer"}} {
		f := open(t, path)
		if string(f.Text) != texts[0] || f.Missing {
			t.Fatalf("%q is there, missing %t", f.Text, f.Missing)
		}
		if err := f.Write([]byte(texts[1]), 0o777); err != nil {
			t.Fatal(err)
		}
		wantFile(t, path, texts[1], 0o640)
		wantFile(t, f.Backup(), texts[0], 0o640)
		if got := f.ReadBackup(); got == nil || string(got) != texts[0] {
			t.Errorf("%q is kept, not %q", got, texts[0])
		}
		f.Close()
	}
	wantNames(t, dir, "settings", "settings.conch.bak")
}

func TestAFileIsMadeWithItsDirectory(t *testing.T) {
	dir, _ := place(t)
	path := filepath.Join(dir, "a", "b", "new")
	f := open(t, path)
	if !f.Missing || f.Text != nil || f.ReadBackup() != nil {
		t.Errorf("%+v is there", f)
	}
	if err := f.Write([]byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "text", 0o600)
	wantNames(t, filepath.Dir(path), "new")
}

func TestAFileIsRemovedAndKept(t *testing.T) {
	dir, path := place(t)
	f := open(t, path)
	if err := f.Remove(); err != nil {
		t.Fatal(err)
	}
	wantNames(t, dir, "settings.conch.bak")
	wantFile(t, f.Backup(), "old", 0o640)
}

func TestLinksAreFollowedAndStay(t *testing.T) {
	dir, path := place(t)
	for _, link := range []string{"one", "two/three"} {
		link = filepath.Join(dir, link)
		if err := errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(path, link)); err != nil {
			t.Fatal(err)
		}
		f := open(t, link)
		if err := f.Write([]byte(link), 0o600); err != nil {
			t.Fatal(err)
		}
		f.Close()
		wantFile(t, path, link, 0o640)
		if to, err := os.Readlink(link); err != nil || to != path {
			t.Errorf("%s leads to %q, %v", link, to, err)
		}
	}
	wantNames(t, dir, "one", "settings", "settings.conch.bak", "two")
	wantNames(t, filepath.Join(dir, "two"), "three")
}

func TestAFileIsMadeInADirectoryThatIsALink(t *testing.T) {
	dir, path := place(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if err := open(t, filepath.Join(link, "new")).Write([]byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantFile(t, filepath.Join(filepath.Dir(path), "new"), "text", 0o600)
}

func TestWhatHasChangedMeanwhileStays(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"written":               func(t *testing.T, path string) { put(t, path, "theirs") },
		"written the same long": func(t *testing.T, path string) { put(t, path, "mld") },
		"replaced by the same": func(t *testing.T, path string) {
			put(t, path+".new", "old")
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		},
		"removed": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, path := place(t)
			f := open(t, path)
			change(t, path)
			before, _ := os.ReadFile(path)
			for _, err := range []error{f.Write([]byte("new"), 0o600), f.Remove()} {
				if !errors.Is(err, swap.ErrChanged) && (name != "removed" || err == nil) {
					t.Errorf("got %v", err)
				}
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Errorf("it was %q, and is %q", before, after)
			}
			if name == "removed" {
				wantNames(t, dir)
			} else {
				wantNames(t, dir, "settings")
			}
		})
	}
}

func TestWhatWasMadeMeanwhileStays(t *testing.T) {
	dir, _ := place(t)
	path := filepath.Join(dir, "new")
	f := open(t, path)
	put(t, path, "theirs")
	if err := f.Write([]byte("ours"), 0o600); !errors.Is(err, swap.ErrChanged) {
		t.Errorf("got %v", err)
	}
	wantFile(t, path, "theirs", 0o644)
	wantNames(t, dir, "new", "settings")
}

func TestAReadOnlyFileStays(t *testing.T) {
	dir, path := place(t)
	if err := os.Chmod(path, 0o440); err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	for _, err := range []error{f.Write([]byte("new"), 0o600), f.Remove()} {
		if err == nil || !strings.Contains(err.Error(), path+": it is read-only") {
			t.Errorf("got %v", err)
		}
	}
	wantFile(t, path, "old", 0o440)
	wantNames(t, dir, "settings")
}

func TestABackupThatCannotBeMadeEndsIt(t *testing.T) {
	dir, path := place(t)
	if err := os.MkdirAll(filepath.Join(path+swap.BackupSuffix, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	f := open(t, path)
	if err := f.Write([]byte("new"), 0o600); err == nil || !strings.Contains(err.Error(), "keep it as "+f.Backup()) {
		t.Errorf("got %v", err)
	}
	wantFile(t, path, "old", 0o640)
	wantNames(t, dir, "settings", "settings.conch.bak")
}

func TestWhatIsNoFileIsRefused(t *testing.T) {
	dir, path := place(t)
	fifo, nothing, loop := filepath.Join(dir, "fifo"), filepath.Join(dir, "nothing"), filepath.Join(dir, "loop")
	if err := errors.Join(syscall.Mkfifo(fifo, 0o600), os.Symlink("gone", nothing), os.Symlink("loop", loop)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir: "it is not a regular file", fifo: "it is not a regular file", nothing: "is a link to nothing",
		loop: "too many links", filepath.Join(path, "below"): "not a directory",
	} {
		if _, err := swap.Open(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

func TestAnotherConchWaits(t *testing.T) {
	_, path := place(t)
	first := open(t, path)
	second := make(chan *swap.File)
	go func() {
		f, err := swap.Open(path)
		if err != nil {
			t.Error(err)
		}
		second <- f
	}()
	select {
	case <-second:
		t.Fatal("both have the file")
	case <-time.After(50 * time.Millisecond):
	}
	if err := first.Write([]byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	first.Close()
	f := <-second
	defer f.Close()
	if string(f.Text) != "new" {
		t.Errorf("it has read %q", f.Text)
	}
}
