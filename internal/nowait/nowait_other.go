//go:build !linux || (!amd64 && !arm64)

package nowait

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// PlaceOf returns the zero Place: the system calls that there are here all tell the
// runtime.
func PlaceOf(string) Place { return Place{} }

// Long does nothing: the runtime has been told.
func Long() {}

// NewSocket returns the socket that a descriptor is, which does not wait for anybody
// until undo.
func NewSocket(fd int, name string) (socket *File, undo func(), err error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, nil, fmt.Errorf("use %s without waiting: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	socket, err = NewFile(f)
	return socket, func() {
		_ = unix.SetNonblock(fd, false)
		runtime.KeepAlive(f)
	}, err
}

// Yield lets other goroutines go first.
func Yield() { runtime.Gosched() }

func read(fd int, p []byte) (int, error)  { return unix.Read(fd, p) }
func write(fd int, p []byte) (int, error) { return unix.Write(fd, p) }

func poll(what unix.PollFd) (int, error) { return unix.Poll([]unix.PollFd{what}, 0) }

// What follows is for what the kernel makes up: there is no other Place here.

func readDirent(fd int, p []byte) (int, error)           { return unix.ReadDirent(fd, p) }
func pread(fd int, p []byte, offset int64) (int, error)  { return unix.Pread(fd, p, offset) }
func pwrite(fd int, p []byte, offset int64) (int, error) { return unix.Pwrite(fd, p, offset) }
func fstat(fd int, stat *unix.Stat_t) error              { return unix.Fstat(fd, stat) }
func rename(from, to string) error                       { return unix.Rename(from, to) }
func open(path string, flags int) (int, error)           { return unix.Open(path, flags, 0) }
func closeNow(fd int) error                              { return unix.Close(fd) }

func rewind(fd int) error {
	_, err := unix.Seek(fd, 0, unix.SEEK_SET)
	return err
}

func fstatat(path string, stat *unix.Stat_t, flags int) error {
	return unix.Fstatat(unix.AT_FDCWD, path, stat, flags)
}
