// Package watch notices when files change.
//
// It tells which of the files it was given are not what they were, whether they
// have been written, replaced, made or removed, and wherever a link leads. It
// knows nothing of what is in them.
package watch

import (
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
)

// Options say how a Watcher watches.
type Options struct {
	// Changed is told of each file that has changed, from one goroutine. It may
	// call [Watcher.Watch].
	Changed func(path string)
	// Quiet is how long nothing must happen before changes are told, and Longest
	// how long that may put them off. The defaults are 100 ms and a second.
	Quiet, Longest time.Duration
	Log            *slog.Logger
}

// poll is how often files are looked at that the system does not watch.
const poll = time.Second

// A Watcher watches files. What the system tells of the folders they are in only
// says that it is time to look: the files themselves say what has changed.
type Watcher struct {
	opts    Options
	system  *fsnotify.Watcher // nil where there is none
	news    chan struct{}     // the files to watch are others now
	stop    chan struct{}
	stopped chan struct{}

	mu      sync.Mutex
	files   map[string]file
	folders map[string]bool // those that are watched
	missing bool            // not all folders are
}

// file is a file as it was when it was last looked at.
type file struct {
	stamp   stamp
	folders []string // where it is, and where it is when links have been followed
}

// stamp is what changes when a file does; that of none is zero.
type stamp struct {
	dev, ino     uint64
	size         int64
	mtime, ctime int64
}

// New returns a Watcher, which watches nothing yet.
func New(opts Options) *Watcher {
	if opts.Quiet == 0 {
		opts.Quiet = 100 * time.Millisecond
	}
	if opts.Longest == 0 {
		opts.Longest = time.Second
	}
	w := &Watcher{
		opts: opts, news: make(chan struct{}, 1), stop: make(chan struct{}), stopped: make(chan struct{}),
		files: map[string]file{}, folders: map[string]bool{},
	}
	var err error
	if w.system, err = fsnotify.NewWatcher(); err != nil {
		opts.Log.Warn("the system does not watch files; they are looked at once a second", "err", err)
	}
	go w.run()
	return w
}

// Watch has these files watched, and no others. A change is one from what they
// are now, or from what they were where they have been watched already.
func (w *Watcher) Watch(paths []string) {
	w.mu.Lock()
	files := map[string]file{}
	for _, path := range paths {
		known, ok := w.files[path]
		if !ok {
			// The folders first: what changes meanwhile has an event, at least.
			known.folders = foldersOf(path)
			known.stamp = stampOf(path)
		}
		files[path] = known
	}
	w.files = files
	w.watchFolders(false)
	w.mu.Unlock()
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// Close ends the watching. Changed is not called any more once it returns.
func (w *Watcher) Close() {
	close(w.stop)
	<-w.stopped
}

func foldersOf(path string) []string {
	folders := []string{filepath.Dir(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		folders = append(folders, filepath.Dir(real))
	}
	return folders
}

// watchFolders has the system watch the folders that the files are in, mu held.
// again says that those it watches may be others of the same name by now.
func (w *Watcher) watchFolders(again bool) {
	wanted := map[string]bool{}
	for _, f := range w.files {
		for _, folder := range f.folders {
			wanted[folder] = true
		}
	}
	if w.system == nil {
		w.missing = len(wanted) > 0
		return
	}
	for folder := range w.folders {
		if !wanted[folder] {
			_ = w.system.Remove(folder)
			delete(w.folders, folder)
		}
	}
	w.missing = false
	for folder := range wanted {
		if w.folders[folder] && !again {
			continue
		}
		if w.folders[folder] = w.system.Add(folder) == nil; !w.folders[folder] {
			w.missing = true
		}
	}
}

func (w *Watcher) run() {
	defer close(w.stopped)
	var events <-chan fsnotify.Event
	var errs <-chan error
	if w.system != nil {
		defer w.system.Close()
		events, errs = w.system.Events, w.system.Errors
	}
	d := debounce{quiet: w.opts.Quiet, longest: w.opts.Longest, timer: time.NewTimer(w.wait())}
	defer d.timer.Stop()
	for {
		select {
		case <-w.stop:
			return
		case _, ok := <-events:
			if !ok {
				return
			}
			d.event(time.Now())
		case <-errs:
			// Events may have been lost.
			d.event(time.Now())
		case <-w.news:
			d.rest(w.wait())
		case <-d.timer.C:
			d.pending = false
			for _, path := range w.look() {
				w.opts.Changed(path)
			}
			d.rest(w.wait())
		}
	}
}

// wait is how long it takes until the files are looked at with no event.
func (w *Watcher) wait() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.missing {
		return poll
	}
	return never
}

const never = 1 << 62

// look returns the files that have changed, sorted.
func (w *Watcher) look() (changed []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(w.files)) {
		before := w.files[path]
		now := file{stampOf(path), foldersOf(path)}
		w.files[path] = now
		if now.stamp != before.stamp {
			changed = append(changed, path)
		}
	}
	w.watchFolders(true)
	return changed
}

func stampOf(path string) stamp {
	var s unix.Stat_t
	if unix.Stat(path, &s) != nil {
		return stamp{}
	}
	return stamp{uint64(s.Dev), uint64(s.Ino), s.Size, s.Mtim.Nano(), s.Ctim.Nano()}
}

// debounce puts off what events ask for until there are none for a while, and not
// for longer than so long.
type debounce struct {
	quiet, longest time.Duration
	timer          *time.Timer
	pending        bool
	first          time.Time // of the events
}

func (d *debounce) event(now time.Time) {
	if !d.pending {
		d.pending, d.first = true, now
	}
	d.timer.Reset(min(d.quiet, max(0, d.longest-now.Sub(d.first))))
}

// rest sets the timer for when there is no event.
func (d *debounce) rest(wait time.Duration) {
	if !d.pending {
		d.timer.Reset(wait)
	}
}
