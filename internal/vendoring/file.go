package vendoring

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/diff"
)

// newMode is that of files which were not there, before the umask.
const newMode = 0o644

// errNoLock says that there is no lock.
var errNoLock = fmt.Errorf("there is no %s here", LockName)

// noLock is errNoLock with what to do about it: whoever is in a subdirectory of
// a project has only to leave it.
func (d *Directory) noLock() error {
	for dir := d.name; dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		if info, err := os.Stat(filepath.Join(dir, LockName)); err == nil && info.Mode().IsRegular() {
			return fmt.Errorf("%w; there is one in %s, run conch vendor there", errNoLock, dir)
		}
	}
	return fmt.Errorf("%w; conch vendor FORMAT [PATH...] writes one", errNoLock)
}

// Difference is a file that is not what it should be.
type Difference struct {
	Path    string
	Missing bool
	got     []byte
	want    string
	mark    string // what is in every file that may be replaced
	place   string // where the file is, without links
	mode    fs.FileMode
}

// Diff is a unified diff from what is there to what should be, as patch -p1
// takes it.
func (x Difference) Diff() []byte {
	return diff.Diff("a/"+x.Path, x.got, "b/"+x.Path, []byte(x.want))
}

// Loss tells what would be lost if the file were put right: one that is there by
// another name than its format's, and is no library, is a script that was named
// by mistake.
func (x Difference) Loss() error {
	if len(x.got) == 0 || bytes.Contains(x.got, []byte(x.mark)) {
		return nil
	}
	return fmt.Errorf("%s is no library, and would be lost; remove it first if it is to be replaced", x.Path)
}

// compare enters a file among the differences unless it holds the text.
func (d *Directory) compare(c *Comparison, path, want string) error {
	x := Difference{Path: path, want: want}
	place, err := d.resolve(path)
	if err != nil {
		return err
	}
	x.place = place
	x.got, x.mode, err = d.read(path, place)
	x.Missing = errors.Is(err, fs.ErrNotExist)
	if err != nil && !x.Missing {
		return err
	}
	if x.Missing || string(x.got) != want {
		c.Differences = append(c.Differences, x)
	}
	return nil
}

// read reads a file, and nothing that could block or is not to be replaced.
func (d *Directory) read(path, place string) ([]byte, fs.FileMode, error) {
	info, err := d.root.Lstat(place)
	if err != nil {
		return nil, 0, fmt.Errorf("look at %s: %w", path, cause(err))
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is %s, no file to replace", path, kind(info.Mode()))
	}
	text, err := d.root.ReadFile(place)
	if err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", path, cause(err))
	}
	return text, info.Mode().Perm(), nil
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// readLock reads the lock. Its error wraps errNoLock if there is none.
func (d *Directory) readLock() (Lock, error) {
	place, err := d.resolve(LockName)
	if err != nil {
		return Lock{}, err
	}
	text, _, err := d.read(LockName, place)
	if errors.Is(err, fs.ErrNotExist) {
		return Lock{}, d.noLock()
	}
	if err != nil {
		return Lock{}, err
	}
	lock, err := ParseLock(text)
	if err != nil {
		return Lock{}, fmt.Errorf("read %s: %w; mend it, or remove it and vendor to each path again", LockName, err)
	}
	return lock, nil
}

// Write puts a file right: whole or not at all, with the mode it had, or 0644
// within the umask. Directories it needs are made.
func (d *Directory) Write(x Difference) error {
	if err := d.replace(x); err != nil {
		return fmt.Errorf("write %s: %w", x.Path, cause(err))
	}
	return nil
}

func (d *Directory) replace(x Difference) error {
	dir := filepath.Dir(x.place)
	if err := d.root.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	temporary := filepath.Join(dir, ".conch-"+rand.Text())
	if err := d.fill(temporary, x); err != nil {
		return err
	}
	if err := d.root.Rename(temporary, x.place); err != nil {
		return errors.Join(err, d.root.Remove(temporary))
	}
	return nil
}

// fill makes the file that is to take the place of another, or nothing.
func (d *Directory) fill(temporary string, x Difference) error {
	f, err := d.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newMode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(x.want)
	if err == nil && !x.Missing {
		err = f.Chmod(x.mode)
	}
	if err == nil {
		// After a crash the new name must not stand for an empty file.
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, d.root.Remove(temporary))
	}
	return nil
}

// cause takes the paths off an error: they are told with the user's own words
// already, and those of temporary files are nobody's.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
