package process

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// errMounted keeps a directory from being removed.
var errMounted = errors.New("something is mounted there, and is left as it is")

// RemoveTree removes path and all below it, also where a directory was left
// without permission to read or write it. It never follows a symbolic link, and
// never goes to where something is mounted: what is there is not of the tree. That
// stays, and is an error. A path that is not there is none.
func RemoveTree(path string) error {
	// Most directories are empty when their call ends.
	if err := unix.Rmdir(path); err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	parent, name := filepath.Split(strings.TrimRight(path, "/"))
	if name == "" || name == "." || name == ".." {
		return fmt.Errorf("remove %q: that is no path of a tree's own", path)
	}
	above, err := os.Open(cmp.Or(parent, "."))
	if err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	defer above.Close()
	if err := removeBelow(int(above.Fd()), name); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}

// removeBelow removes what a directory has by a name.
func removeBelow(above int, name string) error {
	unlinked := unix.Unlinkat(above, name, 0)
	if isGone(unlinked) {
		return nil
	}
	switch err := unix.Unlinkat(above, name, unix.AT_REMOVEDIR); {
	case isGone(err):
		return nil
	case errors.Is(err, unix.ENOTDIR):
		return fmt.Errorf("%s: %w", name, unlinked)
	}
	dir, err := openBelow(above, name)
	switch {
	case errors.Is(err, unix.ENOENT):
		// Somebody else has removed it meanwhile.
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	err = removeAll(dir)
	dir.Close()
	if removed := unix.Unlinkat(above, name, unix.AT_REMOVEDIR); isGone(removed) {
		return nil
	} else if err == nil {
		err = removed
	}
	return fmt.Errorf("%s: %w", name, err)
}

func isGone(err error) bool { return err == nil || errors.Is(err, unix.ENOENT) }

// fewNames is how many are read of a directory at once: it may be large.
const fewNames = 1024

// removeAll removes what is in a directory, and returns the first that went wrong.
func removeAll(dir *os.File) error {
	for {
		names, err := dir.Readdirnames(fewNames)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		removed, first := 0, error(nil)
		for _, name := range names {
			if err := removeBelow(int(dir.Fd()), name); err == nil {
				removed++
			} else if first == nil {
				first = err
			}
		}
		if removed == 0 || len(names) < fewNames {
			return first
		}
		// What is read next may have been where something was removed.
		if _, err := dir.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
}

// openBelow opens a directory in another one, with all access for its owner.
func openBelow(above int, name string) (*os.File, error) {
	fd, err := openHere(above, name)
	if errors.Is(err, unix.EACCES) {
		chmodDir(above, name)
		fd, err = openHere(above, name)
	}
	if err != nil {
		return nil, err
	}
	// What cannot be changed is left for the removal to report.
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) == nil && stat.Mode&0o700 != 0o700 {
		_ = unix.Fchmod(fd, 0o700)
	}
	return os.NewFile(uintptr(fd), name), nil
}

const openDirectory = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// openOnDevice opens a directory in another one that is on the same device.
func openOnDevice(above int, name string) (fd int, err error) {
	if fd, err = unix.Openat(above, name, openDirectory, 0); err != nil {
		return -1, err
	}
	var here, there unix.Stat_t
	err = cmp.Or(unix.Fstat(above, &here), unix.Fstat(fd, &there))
	if err == nil && here.Dev != there.Dev {
		err = errMounted
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// chmodDir makes a directory accessible. It was one a moment ago; should it have
// become a link since, the link's target stays as it is where the system can tell the
// two apart.
func chmodDir(above int, name string) {
	err := unix.Fchmodat(above, name, 0o700, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		_ = unix.Fchmodat(above, name, 0o700, 0)
	}
}
