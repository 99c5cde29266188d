package process

import (
	"errors"

	"golang.org/x/sys/unix"
)

// openHere opens a directory in another one, unless something is mounted there, be it
// of the same device. Linux before 5.6, and some containers, tell of another device
// alone.
func openHere(above int, name string) (fd int, err error) {
	fd, err = unix.Openat2(above, name, &unix.OpenHow{Flags: openDirectory, Resolve: unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_SYMLINKS})
	switch {
	case errors.Is(err, unix.EXDEV):
		return -1, errMounted
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
		return openOnDevice(above, name)
	}
	return fd, err
}
