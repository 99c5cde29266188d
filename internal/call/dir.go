package call

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"

	"github.com/conch-mcp/conch/internal/process"
)

// dirs makes the private directory of each call and removes it.
//
// Making and removing a directory on a disk takes longer than forking a shell,
// and renaming one takes next to nothing. So directories are made ahead, and
// one whose call has ended is moved out of sight at once and removed a moment
// later.
type dirs struct {
	base  string // holds all of this server's
	count atomic.Int64
	log   *slog.Logger

	spare   chan string // empty directories that wait for a call
	trash   chan string // directories that wait for their removal
	closing chan struct{}
	closed  chan struct{}
}

// newDirs puts the calls' directories below tmp and on the lifeline's record.
func newDirs(tmp string, l *process.Lifeline, log *slog.Logger) (*dirs, error) {
	tmp, err := filepath.Abs(tmp)
	if err != nil {
		return nil, fmt.Errorf("find the temporary directory: %w", err)
	}
	d := &dirs{
		base: filepath.Join(tmp, "conch-"+rand.Text()[:12]), log: log,
		spare: make(chan string), trash: make(chan string, 64),
		closing: make(chan struct{}), closed: make(chan struct{}),
	}
	if err := l.Remove(d.base); err != nil {
		return nil, err
	}
	go d.keep()
	return d, nil
}

func (d *dirs) name(kind string) string {
	return filepath.Join(d.base, kind+"-"+strconv.FormatInt(d.count.Add(1), 10))
}

// take returns an empty directory of mode 700, whose path no other call has had.
func (d *dirs) take() (string, error) {
	path := d.name("call")
	select {
	case spare := <-d.spare:
		if os.Rename(spare, path) == nil {
			return path, nil
		}
		// Somebody cleans up here. Make a new one.
	default:
	}
	return path, d.mkdir(path)
}

// mkdir also makes the base, the first time and when it was removed.
func (d *dirs) mkdir(path string) error {
	err := os.Mkdir(path, 0o700)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Mkdir(d.base, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Mkdir(path, 0o700)
}

// drop makes the directory of a call disappear.
func (d *dirs) drop(path string) {
	old := d.name("old")
	if os.Rename(path, old) != nil {
		old = path
	}
	select {
	case d.trash <- old:
	default:
		d.remove(old)
	}
}

func (d *dirs) remove(path string) {
	if err := process.RemoveTree(path); err != nil {
		d.log.Warn("cannot remove a call's directory", "err", err)
	}
}

// keep has one directory ready and removes old ones.
func (d *dirs) keep() {
	defer close(d.closed)
	var ready string
	for {
		var offer chan string
		if ready == "" {
			ready = d.name("spare")
			if d.mkdir(ready) != nil {
				// The call that wants one finds out why.
				ready = ""
			}
		}
		if ready != "" {
			offer = d.spare
		}
		select {
		case offer <- ready:
			ready = ""
		case old := <-d.trash:
			d.remove(old)
		case <-d.closing:
			return
		}
	}
}

// close removes all there is. No call may be under way.
func (d *dirs) close() {
	close(d.closing)
	<-d.closed
	d.remove(d.base)
}
