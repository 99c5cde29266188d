package watch

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

const deadline = 20 * time.Second

// stage is a folder, and a watcher that tells what changes.
type stage struct {
	t *testing.T
	*Watcher
	dir     string
	changes chan string
}

func newStage(t *testing.T, opts Options) *stage {
	t.Helper()
	s := &stage{t: t, dir: t.TempDir(), changes: make(chan string, 1000)}
	opts.Changed = func(path string) { s.changes <- filepath.Base(path) }
	opts.Log = slog.New(slog.DiscardHandler)
	s.Watcher = New(opts)
	t.Cleanup(s.Close)
	return s
}

func (s *stage) path(name string) string { return filepath.Join(s.dir, name) }

func (s *stage) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) watch(names ...string) {
	paths := make([]string, len(names))
	for i, name := range names {
		paths[i] = s.path(name)
	}
	s.Watch(paths)
}

// next waits for the next change.
func (s *stage) next() string {
	s.t.Helper()
	select {
	case name := <-s.changes:
		return name
	case <-time.After(deadline):
		s.t.Fatal("nothing is told")
		return ""
	}
}

// changed holds the watcher to telling of one file.
func (s *stage) changed(want string) {
	s.t.Helper()
	if got := s.next(); got != want {
		s.t.Errorf("%s has changed, want %s", got, want)
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestEveryWayToChangeAFileIsTold(t *testing.T) {
	s := newStage(t, Options{})
	s.write("a", "1")
	s.write("b", "1")
	s.watch("a", "b", "later")
	s.write("b", "22")
	s.changed("b")
	s.write("new", "3")
	must(t, os.Rename(s.path("new"), s.path("a")))
	s.changed("a")
	must(t, os.Remove(s.path("a")))
	s.changed("a")
	s.write("a", "4")
	s.changed("a")
	s.write("later", "5")
	s.changed("later")
	s.write("unwatched", "6")
	s.write("b", "7")
	s.changed("b")
}

func TestAFileIsWatchedWhereverLinksLead(t *testing.T) {
	s := newStage(t, Options{})
	must(t, os.MkdirAll(s.path("one"), 0o700), os.MkdirAll(s.path("two"), 0o700), os.MkdirAll(s.path("top"), 0o700))
	s.write("one/file", "1")
	s.write("two/file", "2")
	must(t, os.Symlink(s.path("one"), s.path("top/now")), os.Symlink("now/file", s.path("top/file")))
	s.watch("top/file")
	s.write("one/file", "11")
	s.changed("file")
	must(t, os.Symlink(s.path("two"), s.path("top/next")), os.Rename(s.path("top/next"), s.path("top/now")))
	s.changed("file")
	s.write("two/file", "22")
	s.changed("file")
}

func TestAFolderThatIsNotThereYetIsLookedFor(t *testing.T) {
	s := newStage(t, Options{})
	s.watch("sub/file")
	must(t, os.Mkdir(s.path("sub"), 0o700))
	s.write("sub/file", "1")
	s.changed("file")
	must(t, os.RemoveAll(s.path("sub")))
	s.changed("file")
	must(t, os.Mkdir(s.path("sub"), 0o700))
	s.write("sub/file", "1")
	s.changed("file")
}

func TestManyChangesInARowAreOne(t *testing.T) {
	s := newStage(t, Options{Quiet: time.Second, Longest: time.Hour})
	s.write("a", "1")
	s.watch("a")
	for range 50 {
		s.write("a", time.Now().String())
	}
	s.changed("a")
	s.Watch(nil)
	select {
	case name := <-s.changes:
		t.Errorf("%s is told again", name)
	default:
	}
}

func TestASteadyStreamOfChangesIsTold(t *testing.T) {
	s := newStage(t, Options{Quiet: time.Hour, Longest: 100 * time.Millisecond})
	s.write("a", "1")
	s.watch("a")
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Add(1)
	go func() {
		defer writer.Done()
		for {
			select {
			case <-stop:
				return
			default:
				_ = os.WriteFile(s.path("a"), []byte(time.Now().String()), 0o600)
			}
		}
	}()
	defer writer.Wait()
	defer close(stop)
	s.changed("a")
	s.changed("a")
}

func TestTheFilesMayBeOthersFromWithinAChange(t *testing.T) {
	dir := t.TempDir()
	told := make(chan string, 100)
	var w *Watcher
	ready := make(chan struct{})
	w = New(Options{Log: slog.New(slog.DiscardHandler), Changed: func(path string) {
		<-ready
		w.Watch([]string{filepath.Join(dir, "b")})
		told <- filepath.Base(path)
	}})
	close(ready)
	defer w.Close()
	w.Watch([]string{filepath.Join(dir, "a")})
	var names []string
	for _, name := range []string{"a", "b"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600))
		select {
		case name := <-told:
			names = append(names, name)
		case <-time.After(deadline):
			t.Fatal("nothing is told")
		}
	}
	if !slices.Equal(names, []string{"a", "b"}) {
		t.Errorf("got %q", names)
	}
}
