package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// RemoveTree removes path and all below it, also where a directory was left
// without permission to read or write it. It never follows a symbolic link.
// A path that is not there is no error.
func RemoveTree(path string) error {
	// Most directories are empty when their call ends.
	if err := unix.Rmdir(path); err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	err := os.RemoveAll(path)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	unlock(path)
	if err := os.RemoveAll(path); err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}

// unlock gives the owner full access to every directory at and below path.
// What it cannot change is left for the removal to report.
func unlock(path string) {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return
	}
	if info.Mode().Perm()&0o700 != 0o700 {
		chmodDir(path)
	}
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if e.IsDir() {
			unlock(filepath.Join(path, e.Name()))
		}
	}
}

// chmodDir makes a directory accessible. The path was a directory a moment
// ago; should it have become a link since, the link's target stays as it is
// where the system can tell the two apart.
func chmodDir(path string) {
	err := unix.Fchmodat(unix.AT_FDCWD, path, 0o700, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		_ = os.Chmod(path, 0o700)
	}
}
