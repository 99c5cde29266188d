// Package swap replaces files that are other programs' own: whole or not at all,
// never over what somebody has written meanwhile, and with what was there before
// kept beside.
//
// It must not know what is in a file, nor why it changes.
package swap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// BackupSuffix ends the name of a backup. It is nobody else's, so that no backup
// of the user's or of another program's is lost.
const BackupSuffix = ".conch.bak"

// most bounds a file. Some programs keep much more in it than settings.
const most = 64 << 20

// ErrChanged says that a file is no longer what was read.
var ErrChanged = errors.New("it was changed meanwhile, and is left as it is; try again")

// A File is one that is to be replaced, as it was when it was read.
type File struct {
	Path    string // as it was named
	Text    []byte
	Missing bool
	place   string // without links
	info    fs.FileInfo
	lock    *os.File
}

// Open reads a file, which need not be there, nor its directory. Close it.
//
// Another conch that opens a file of the same directory waits until then. Other
// programs do not, so what they write is looked for.
func Open(path string) (*File, error) {
	place, err := resolve(path)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, place: place, lock: lockDirectory(filepath.Dir(place))}
	f.Text, f.info, err = read(place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Missing = true
	case err != nil:
		f.Close()
		return nil, fmt.Errorf("read %s: %w", path, cause(err))
	}
	return f, nil
}

// Close lets others open files of the directory.
func (f *File) Close() {
	if f.lock != nil {
		f.lock.Close()
	}
}

// resolve follows links, so that a link stays one and leads to what is new.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, err)
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return missing(path)
	}
	place, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is a link to nothing; remove it, or make what it leads to", path)
	}
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, cause(err))
	}
	return place, nil
}

// missing is where a file is to be whose directory may be a link.
func missing(path string) (string, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, cause(err))
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// lockDirectory keeps other conchs out, where the file system can. A file itself
// is no place for a lock: the one that comes in its place would have none.
func lockDirectory(dir string) *os.File {
	lock, err := os.Open(dir)
	if err != nil {
		return nil
	}
	_ = unix.Flock(int(lock.Fd()), unix.LOCK_EX)
	return lock
}

func read(place string) ([]byte, fs.FileInfo, error) {
	// Without O_NONBLOCK the open of a FIFO would wait for a writer.
	in, err := os.OpenFile(place, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	switch {
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, nil, errors.New("it is not a regular file")
	}
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if len(text) > most {
		return nil, nil, fmt.Errorf("it is larger than %d MiB", most>>20)
	}
	return text, info, err
}

// Backup is where [File.Write] and [File.Remove] keep what was there before.
func (f *File) Backup() string { return f.place + BackupSuffix }

// ReadBackup reads the backup. It is nil where there is none that can be read.
func (f *File) ReadBackup() []byte {
	text, _, err := read(f.Backup())
	if err != nil {
		return nil
	}
	return append([]byte{}, text...)
}

// Write puts a text in the place of the file's, which goes into the backup. Mode
// and owner stay. A file that was missing gets a mode, within the umask, and its
// directory is made.
func (f *File) Write(text []byte, mode fs.FileMode) error {
	if err := f.write(text, mode); err != nil {
		return fmt.Errorf("write %s: %w", f.Path, cause(err))
	}
	return nil
}

func (f *File) write(text []byte, mode fs.FileMode) error {
	if f.Missing {
		return f.create(text, mode)
	}
	temporary, err := f.fill(text)
	if err != nil {
		return err
	}
	defer os.Remove(temporary)
	if err := f.keep(); err != nil {
		return err
	}
	return os.Rename(temporary, f.place)
}

// Remove removes the file, and keeps what was in it.
func (f *File) Remove() error {
	err := f.checkWritable()
	if err == nil {
		err = f.keep()
	}
	if err == nil {
		err = os.Remove(f.place)
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", f.Path, cause(err))
	}
	return nil
}

// keep makes the backup, and says whether the file may go.
func (f *File) keep() error {
	if err := f.checkUnchanged(); err != nil {
		return err
	}
	temporary, err := f.fill(f.Text)
	if err != nil {
		return err
	}
	if err := os.Rename(temporary, f.Backup()); err != nil {
		return errors.Join(fmt.Errorf("keep it as %s: %w", f.Backup(), cause(err)), os.Remove(temporary))
	}
	return f.checkUnchanged()
}

func (f *File) checkUnchanged() error {
	text, info, err := read(f.place)
	if err != nil || !os.SameFile(info, f.info) || !bytes.Equal(text, f.Text) {
		return ErrChanged
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
