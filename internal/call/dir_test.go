package call

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func newTestDirs(t *testing.T, tmp string) *dirs {
	t.Helper()
	l, _ := newLifeline(t)
	d, err := newDirs(tmp, Flat, l, slog.New(slog.DiscardHandler))
	must(t, err)
	return d
}

// take takes a directory that must be empty and private.
func take(t *testing.T, d *dirs) dir {
	t.Helper()
	had, err := d.take()
	must(t, err)
	path := had.path
	info, err := os.Lstat(path)
	must(t, err)
	if !info.IsDir() || info.Mode().Perm() != 0o700 {
		t.Errorf("%s has mode %v", path, info.Mode())
	}
	if entries, err := os.ReadDir(path); err != nil || len(entries) > 0 {
		t.Errorf("%s holds %v, %v", path, entries, err)
	}
	return had
}

func TestEveryCallHasAnEmptyPrivateDirectoryOfItsOwn(t *testing.T) {
	tmp := t.TempDir()
	d := newTestDirs(t, tmp)
	changes := []func(path string) error{
		func(string) error { return nil },
		func(path string) error { return os.WriteFile(path+"/file", []byte("x"), 0o600) },
		func(path string) error { return os.Mkdir(path+"/dir", 0) },
		func(path string) error { return os.Chmod(path, 0o777) },
		func(path string) error { return os.Chmod(path, 0) },
		func(path string) error { return os.Chmod(path, 0o1700) },
		os.Remove,
		func(path string) error { return os.Rename(path, path+"-moved") },
		func(path string) error { _ = os.Rename(path, path+"-moved"); return os.Mkdir(path, 0o700) },
		func(path string) error { _ = os.Remove(path); return os.Symlink(tmp, path) },
		func(path string) error { _ = os.Remove(path); return os.WriteFile(path, nil, 0o600) },
	}
	seen := map[string]bool{}
	for range 3 {
		for i, change := range changes {
			had := take(t, d)
			path := had.path
			if seen[path] {
				t.Errorf("%s is had again", path)
			}
			seen[path] = true
			if err := change(path); err != nil {
				t.Fatalf("change %d: %v", i, err)
			}
			d.drop(had, false)
			if _, err := os.Lstat(path); err == nil {
				t.Errorf("change %d: %s is there after the call", i, path)
			}
		}
	}
	d.close()
	if entries, err := os.ReadDir(tmp); err != nil || len(entries) > 0 {
		t.Errorf("left are %v, %v", entries, err)
	}
}

func TestADirectoryIsUsedAgainOnlyWhereNobodyMayBeInIt(t *testing.T) {
	d := newTestDirs(t, t.TempDir())
	defer d.close()
	look := func(had dir) os.FileInfo {
		f, err := os.Open(had.path)
		must(t, err)
		t.Cleanup(func() { f.Close() }) // so that no other gets its number
		info, err := f.Stat()
		must(t, err)
		return info
	}
	first := take(t, d)
	before := look(first)
	d.drop(first, false)
	second := take(t, d)
	if !os.SameFile(before, look(second)) {
		t.Error("a directory that nobody may be in is not used again")
	}
	d.drop(second, true)
	if os.SameFile(before, look(take(t, d))) {
		t.Error("a directory that somebody may be in is used again")
	}
}

func TestADirectoryThatWasReplacedWhileItWaitedIsNotUsed(t *testing.T) {
	d := newTestDirs(t, t.TempDir())
	defer d.close()
	d.drop(take(t, d), false)
	next := <-d.next
	d.next <- next
	must(t, os.Rename(next.path, next.path+"-moved"))
	must(t, os.Mkdir(next.path, 0o700))
	must(t, os.WriteFile(next.path+"/theirs", nil, 0o600))
	// take finds it empty.
	d.drop(take(t, d), false)
	next = <-d.next
	d.next <- next
	// Later than the directory was last changed, however coarse the system's clock.
	eventually(t, "the clock goes on", func() bool {
		return os.WriteFile(next.path+"/theirs", nil, 0o600) == nil && os.Remove(next.path+"/theirs") == nil && !d.isThere(next)
	})
	must(t, os.WriteFile(next.path+"/theirs", nil, 0o600))
	take(t, d)
}

func TestDirectoriesAreTakenAndDroppedByManyAtOnce(t *testing.T) {
	tmp := t.TempDir()
	d := newTestDirs(t, tmp)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for i := range 30 {
				had, err := d.take()
				if err != nil {
					t.Error(err)
					return
				}
				// Fails where two have the same directory.
				if err := os.Mkdir(had.path+"/mine", 0o700); err != nil {
					t.Error(err)
				}
				if i%2 == 0 {
					_ = os.Remove(had.path + "/mine")
				}
				d.drop(had, false)
			}
		})
	}
	all.Wait()
	d.close()
	if entries, err := os.ReadDir(tmp); err != nil || len(entries) > 0 {
		t.Errorf("left are %v, %v", entries, err)
	}
}

func TestABaseThatVanishesIsMadeAgain(t *testing.T) {
	tmp := t.TempDir()
	d := newTestDirs(t, tmp)
	for range 3 {
		a, b := take(t, d), take(t, d)
		d.drop(a, false)
		must(t, os.RemoveAll(d.base))
		d.drop(b, false)
		d.drop(take(t, d), false)
		must(t, os.RemoveAll(d.base))
	}
	take(t, d)
	d.close()
	if entries, err := os.ReadDir(tmp); err != nil || len(entries) > 0 {
		t.Errorf("left are %v, %v", entries, err)
	}
}

func TestAParentThatCannotBeWrittenToIsAnErrorAndMendable(t *testing.T) {
	tmp := filepath.Join(t.TempDir(), "tmp")
	d := newTestDirs(t, tmp)
	defer d.close()
	if path, err := d.take(); err == nil {
		t.Errorf("without a parent there is %s", path.path)
	}
	must(t, os.WriteFile(tmp, nil, 0o600))
	if path, err := d.take(); err == nil || !strings.Contains(err.Error(), tmp) {
		t.Errorf("below a file: %q, %v", path.path, err)
	}
	must(t, os.Remove(tmp))
	must(t, os.Mkdir(tmp, 0o700))
	d.drop(take(t, d), false)
}

func TestOutputTakesUpToTheLimitAndTellsOnce(t *testing.T) {
	tests := []struct {
		name   string
		limit  int64
		writes []string
		want   string
		full   int
	}{
		{"nothing", 3, nil, "", 0},
		{"less than the limit", 3, []string{"a", "b"}, "ab", 0},
		{"the limit", 3, []string{"a", "", "bc"}, "abc", 0},
		{"one more", 3, []string{"abcd"}, "abc", 1},
		{"one more, later", 3, []string{"abc", "d"}, "abc", 1},
		{"much more", 3, []string{"ab", strings.Repeat("c", 1000), "d", "e"}, "abc", 1},
		{"a limit of one", 1, []string{"a", "b", "c"}, "a", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			full := 0
			o := &output{limit: tt.limit, full: func() { full++ }}
			for _, text := range tt.writes {
				if n, err := o.Write([]byte(text)); n != len(text) || err != nil {
					t.Errorf("Write(%d bytes) = %d, %v", len(text), n, err)
				}
			}
			if string(o.data) != tt.want || full != tt.full || o.over != (tt.full > 0) {
				t.Errorf("got %q, told %d times", o.data, full)
			}
		})
	}
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

func TestADirectoryThatCannotBeRemovedIsNamedAsItsCallKnewIt(t *testing.T) {
	l, _ := newLifeline(t)
	for _, layout := range []Layout{Flat, Rooted} {
		var log strings.Builder
		d, err := newDirs(t.TempDir(), layout, l, slog.New(slog.NewTextHandler(&log, nil)))
		must(t, err)
		// No system removes a directory by that name.
		d.remove(trashed{path: t.TempDir() + "/.", known: "/its/name"})
		d.close()
		if !strings.Contains(log.String(), "Cannot remove call directory /its/name: ") {
			t.Errorf("the log says %q", log.String())
		}
	}
}
