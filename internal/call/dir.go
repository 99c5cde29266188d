package call

import (
	"bufio"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/nowait"
	"github.com/conch-mcp/conch/internal/process"
)

// dirs makes the private directory of each call and removes it.
//
// On a disk that takes as long as a good part of forking a shell, while to
// rename a directory takes a hundredth. So a directory whose call has left
// nothing, neither in it nor running, gets the name under which the next call
// will have it, and any other is moved out of sight at once and removed a moment
// later.
type dirs struct {
	tmp     string
	place   nowait.Place // of tmp
	base    string       // holds all of this server's, or those that no call has
	roots   string       // the beginning of the roots' paths, of calls that have one
	layout  Layout
	user    int   // whom they belong to
	refused error // why no directory may be made: it would be on no record
	log     *slog.Logger
	count   atomic.Int64
	secrets secrets

	next    chan dir     // empty directories that wait for a call
	trash   chan trashed // directories that wait for their removal
	closing chan struct{}
	closed  chan struct{}
}

// Layout says where below the temporary directory a call's directory is.
type Layout int

const (
	Flat   Layout = iota // conch-…/call-N-SECRET, and next-N-SECRET where it is used again
	Rooted               // mcp-call.…/tmp, where scripts written for bash-mcp-sdk expect it
)

// newDirs puts the calls' directories below tmp and on the lifeline's record.
// Where they cannot be, calls have none, and do not run.
func newDirs(tmp string, layout Layout, l *process.Lifeline, log *slog.Logger) (*dirs, error) {
	tmp, err := filepath.Abs(tmp)
	if err != nil {
		return nil, fmt.Errorf("find the temporary directory: %w", err)
	}
	id := rand.Text()[:12]
	d := &dirs{
		tmp: tmp, place: nowait.PlaceOf(tmp), base: filepath.Join(tmp, "conch-"+id), roots: filepath.Join(tmp, "mcp-call."+id),
		layout: layout, user: os.Geteuid(), log: log,
		next: make(chan dir, 16), trash: make(chan trashed, 64),
		closing: make(chan struct{}), closed: make(chan struct{}),
	}
	d.refused = errors.Join(l.Remove(d.base), l.Remove(d.roots+"*"))
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

func (d *dirs) secretName(kind string) string { return d.name(kind) + "-" + d.secrets.next() }

// take returns an empty directory of mode 700, whose path no other call has had,
// and which nobody can guess: what it ends with is how a call's channel knows its
// own.
func (d *dirs) take() (dir, error) {
	select {
	case next := <-d.next:
		if d.isThere(next) {
			return next, nil
		}
		// Somebody cleans up here. Make a new one.
		d.forget(next)
		d.discard(trashed{next.path, next.path})
	default:
	}
	outer := d.secretName("call")
	if d.layout == Rooted {
		outer = d.roots + "-" + strconv.FormatInt(d.count.Add(1), 10)
	}
	err := d.refused
	if err == nil {
		err = d.make(outer)
	}
	if err != nil {
		return dir{}, fmt.Errorf("cannot create its call directory in %s: %w", d.tmp, err)
	}
	return dir{path: d.inner(outer)}, nil
}

// A dir is the directory of one call.
type dir struct {
	path string
	fd   int         // of one that a call has had before: it is kept open; 0, which is standard input, for any other
	stat unix.Stat_t // what that was
}

// secrets are texts that nobody can guess. The zero value is ready.
type secrets struct {
	mu     sync.Mutex
	random *bufio.Reader // so that a call does not go to the system for each
}

// next returns 16 letters and digits.
func (s *secrets) next() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.random == nil {
		s.random = bufio.NewReaderSize(rand.Reader, 1000)
	}
	var secret [10]byte
	// It ends the process where there is nothing random to be had.
	_, _ = io.ReadFull(s.random, secret[:])
	return base32.StdEncoding.EncodeToString(secret[:])
}

// inner is the directory that a call gets, and outer what is made and removed.
func (d *dirs) inner(outer string) string {
	if d.layout == Rooted {
		return outer + "/tmp"
	}
	return outer
}

func (d *dirs) outer(inner string) string {
	if d.layout == Rooted {
		return filepath.Dir(inner)
	}
	return inner
}

func (d *dirs) make(outer string) error {
	if d.layout == Flat {
		return d.mkdir(outer)
	}
	if err := os.Mkdir(outer, 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(d.inner(outer), 0o700); err != nil {
		d.remove(trashed{outer, outer})
		return err
	}
	return nil
}

// mkdir also makes the base, the first time and when it was removed.
func (d *dirs) mkdir(path string) error {
	err := os.Mkdir(path, 0o700)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.makeBase(); err != nil {
		return err
	}
	return os.Mkdir(path, 0o700)
}

func (d *dirs) makeBase() error {
	if err := os.Mkdir(d.base, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// drop makes the directory of a call disappear. Where the call may have left somebody
// running, who may still be in it, no other call gets it. What was put in the place of
// one is found by who takes it next.
func (d *dirs) drop(had dir, left bool) {
	if d.layout == Flat && !left && d.isPristine(&had) && d.recycle(had) {
		return
	}
	d.forget(had)
	outer, old := d.outer(had.path), d.name("old")
	if d.rename(outer, old) != nil {
		// Out of sight is not to be had: gone at once then.
		d.remove(trashed{outer, outer})
		return
	}
	d.discard(trashed{old, outer})
}

// discard removes a directory in a moment, when nobody waits for it.
func (d *dirs) discard(t trashed) {
	select {
	case d.trash <- t:
	default:
		d.remove(t)
	}
}

// rename moves a directory into the base. Nobody has to look, as [os.Rename] does,
// what there is by the new name: there is nothing.
func (d *dirs) rename(outer, to string) error {
	err := d.place.Rename(outer, to)
	if !errors.Is(err, fs.ErrNotExist) || d.layout == Flat {
		return err
	}
	if err := d.makeBase(); err != nil {
		return err
	}
	return d.place.Rename(outer, to)
}

// recycle has the next call get a directory that is [dirs.isPristine].
func (d *dirs) recycle(had dir) bool {
	next := had
	next.path = d.secretName("next")
	if d.rename(had.path, next.path) != nil {
		return false
	}
	select {
	case d.next <- next:
	default:
		d.forget(next)
		d.discard(trashed{next.path, next.path})
	}
	return true
}

// isPristine reports whether a call has left its directory as Mkdir made it, and
// keeps it open then.
func (d *dirs) isPristine(had *dir) bool {
	if !d.open(had) || d.place.Fstat(had.fd, &had.stat) != nil || !d.isPrivate(&had.stat) {
		return false
	}
	// Large enough for one entry beside the two of every directory.
	var buf [1024]byte
	n, err := d.place.ReadDirent(had.fd, buf[:])
	if err != nil {
		return false
	}
	_, count, _ := unix.ParseDirent(buf[:n], -1, nil)
	return count == 0
}

// open has a directory be read from its beginning.
func (d *dirs) open(had *dir) bool {
	if had.fd != 0 {
		return d.place.Rewind(had.fd) == nil
	}
	fd, err := d.place.Open(had.path, unix.O_DIRECTORY|unix.O_NOFOLLOW)
	if err != nil {
		return false
	}
	had.fd = fd
	return true
}

// isThere reports whether a directory that waits for a call still has its name, nobody
// else may enter it, and nobody has put anything into it.
func (d *dirs) isThere(next dir) bool {
	var stat unix.Stat_t
	return d.place.Lstat(next.path, &stat) == nil && d.isPrivate(&stat) &&
		stat.Dev == next.stat.Dev && stat.Ino == next.stat.Ino && stat.Mtim == next.stat.Mtim
}

// isPrivate reports whether something is a directory as Mkdir makes it.
func (d *dirs) isPrivate(stat *unix.Stat_t) bool {
	return stat.Mode == unix.S_IFDIR|0o700 && int(stat.Uid) == d.user
}

// forget lets go of a directory that no call gets any more.
func (d *dirs) forget(had dir) {
	if had.fd != 0 {
		_ = d.place.Close(had.fd)
	}
}

// trashed is a directory to be removed, and the path its call knew it by.
type trashed struct{ path, known string }

func (d *dirs) remove(t trashed) {
	if err := process.RemoveTree(t.path); err != nil {
		d.log.Warn(fmt.Sprintf("Cannot remove call directory %s: %v", t.known, err))
	}
}

// close removes all there is. No call may be under way.
func (d *dirs) close() {
	close(d.closing)
	<-d.closed
	for len(d.next) > 0 {
		d.forget(<-d.next)
	}
	d.remove(trashed{d.base, d.base})
}
