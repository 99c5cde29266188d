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

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/process"
)

// dirs makes the private directory of each call and removes it.
//
// On a disk that takes as long as a good part of forking a shell, while to
// rename a directory takes next to nothing. So a directory whose call has left
// nothing, neither in it nor running, is used again under another name, and
// any other is moved out of sight at once and removed a moment later.
type dirs struct {
	base     string // holds all of this server's
	lifeline *process.Lifeline
	log      *slog.Logger
	count    atomic.Int64

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
		base: filepath.Join(tmp, "conch-"+rand.Text()[:12]), lifeline: l, log: log,
		spare: make(chan string, 16), trash: make(chan string, 64),
		closing: make(chan struct{}), closed: make(chan struct{}),
	}
	if err := l.Remove(d.base); err != nil {
		return nil, err
	}
	go func() {
		defer close(d.closed)
		for {
			select {
			case old := <-d.trash:
				d.remove(old)
			case <-d.closing:
				return
			}
		}
	}()
	return d, nil
}

func (d *dirs) name(kind string) string {
	return d.base + "/" + kind + "-" + strconv.FormatInt(d.count.Add(1), 10)
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
	if !d.lifeline.HasOrphans() && isPristine(path) && d.recycle(path) {
		return
	}
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

func (d *dirs) recycle(path string) bool {
	spare := d.name("spare")
	if os.Rename(path, spare) != nil {
		return false
	}
	select {
	case d.spare <- spare:
	default:
		d.remove(spare)
	}
	return true
}

// isPristine reports whether path is a directory as mkdir makes it.
func isPristine(path string) bool {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) != nil || stat.Mode&0o7777 != 0o700 || int(stat.Uid) != os.Geteuid() {
		return false
	}
	// Large enough for more than the two entries every directory has.
	var buf [1024]byte
	n, err := unix.ReadDirent(fd, buf[:])
	if err != nil {
		return false
	}
	_, count, _ := unix.ParseDirent(buf[:n], -1, nil)
	return count == 0
}

func (d *dirs) remove(path string) {
	if err := process.RemoveTree(path); err != nil {
		d.log.Warn("cannot remove a call's directory", "err", err)
	}
}

// close removes all there is. No call may be under way.
func (d *dirs) close() {
	close(d.closing)
	<-d.closed
	d.remove(d.base)
}
