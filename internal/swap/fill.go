package swap

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// create makes the file, and its directory. A file that somebody else has made
// meanwhile stays.
func (f *File) create(text []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(f.place), 0o755); err != nil {
		return err
	}
	temporary, err := fill(f.place, text, mode, nil)
	if err != nil {
		return err
	}
	defer os.Remove(temporary)
	err = os.Link(temporary, f.place)
	if errors.Is(err, fs.ErrExist) {
		return ErrChanged
	}
	if err == nil {
		return nil
	}
	// Not every file system has links. Then one name has to be looked for and
	// taken in two steps.
	if _, err := os.Lstat(f.place); !errors.Is(err, fs.ErrNotExist) {
		return ErrChanged
	}
	return os.Rename(temporary, f.place)
}

// fill writes a text beside the file, with the file's mode and owner.
func (f *File) fill(text []byte) (temporary string, err error) {
	if err := f.checkWritable(); err != nil {
		return "", err
	}
	return fill(f.place, text, 0o600, f.info)
}

// checkWritable refuses a file that its owner has protected. A rename would not
// ask: it needs the directory alone.
func (f *File) checkWritable() error {
	if f.info.Mode()&0o222 == 0 {
		return errors.New("it is read-only, so something else may be keeping it; chmod u+w it if it is yours to change")
	}
	if err := unix.Faccessat(unix.AT_FDCWD, f.place, unix.W_OK, unix.AT_EACCESS); err != nil {
		return err
	}
	return nil
}

// fill writes a text into a new file beside a place: with a mode within the
// umask, or with the mode and the owner of a file that is there.
func fill(place string, text []byte, mode fs.FileMode, like fs.FileInfo) (temporary string, err error) {
	temporary = filepath.Join(filepath.Dir(place), ".conch-"+rand.Text())
	out, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	_, err = out.Write(text)
	if err == nil && like != nil {
		err = resemble(out, like)
	}
	if err == nil {
		// After a crash the name must not stand for an empty file.
		err = out.Sync()
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return "", errors.Join(err, os.Remove(temporary))
	}
	return temporary, nil
}

// resemble gives a new file the owner and the mode of another.
func resemble(out *os.File, like fs.FileInfo) error {
	info, err := out.Stat()
	if err != nil {
		return err
	}
	is, had := owner(info), owner(like)
	if is != had {
		if err := out.Chown(had.user, had.group); err != nil {
			return fmt.Errorf("it belongs to another user or group (%d, %d), and would not any more: %w", had.user, had.group, cause(err))
		}
	}
	return out.Chmod(like.Mode().Perm())
}

type identity struct{ user, group int }

func owner(info fs.FileInfo) identity {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}
	}
	return identity{int(stat.Uid), int(stat.Gid)}
}
