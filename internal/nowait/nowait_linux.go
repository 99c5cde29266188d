//go:build linux && (amd64 || arm64)

package nowait

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ours are file systems whose data is on this machine or in its memory, as a rule: the
// disk below may be reached over a network, too, which nobody can tell here.
var ours = map[int64]bool{
	unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true, unix.F2FS_SUPER_MAGIC: true,
	unix.TMPFS_MAGIC: true, unix.RAMFS_MAGIC: true, unix.OVERLAYFS_SUPER_MAGIC: true, unix.PROC_SUPER_MAGIC: true,
}

// PlaceOf returns the place at a path; the zero Place where there is nothing.
func PlaceOf(path string) Place {
	var stat unix.Statfs_t
	return Place{unix.Statfs(path, &stat) == nil && ours[int64(stat.Type)]}
}

// NewSocket returns the socket that a descriptor is. Others may share it, and be in
// need of its waiting for them, or make it wait for everybody at any time: it is asked
// not to wait with each call. undo frees what that took.
func NewSocket(fd int, name string) (socket *File, undo func(), err error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err == nil {
		// The poller takes nothing else.
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("use %s without waiting: %w", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags)
	socket, err = NewFile(f)
	if err != nil {
		return nil, nil, err
	}
	socket.read, socket.write = receive, send
	return socket, func() { runtime.KeepAlive(f) }, nil
}

func receive(fd int, p []byte) (int, error) {
	return message(unix.SYS_RECVFROM, fd, p, unix.MSG_DONTWAIT)
}

func send(fd int, p []byte) (int, error) {
	return message(unix.SYS_SENDTO, fd, p, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
}

func message(call uintptr, fd int, p []byte, flags uintptr) (int, error) {
	for {
		n, _, errno := unix.RawSyscall6(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), flags, 0, 0)
		if errno != unix.EINTR {
			n, err := result(n, errno)
			return max(n, 0), err
		}
	}
}

// Yield lets others go first: processes that wait for this processor, and goroutines.
func Yield() {
	_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	runtime.Gosched()
}

// Long tells the runtime that what follows may compute for long.
func Long() { _, _, _ = unix.Syscall(unix.SYS_GETPID, 0, 0, 0) }

func read(fd int, p []byte) (int, error)  { return withBuffer(unix.SYS_READ, fd, p) }
func write(fd int, p []byte) (int, error) { return withBuffer(unix.SYS_WRITE, fd, p) }

func readDirent(fd int, p []byte) (int, error) { return withBuffer(unix.SYS_GETDENTS64, fd, p) }

func withBuffer(call uintptr, fd int, p []byte) (int, error) {
	n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return result(n, errno)
}

// poll looks, and does not wait.
func poll(what unix.PollFd) (int, error) {
	var none unix.Timespec
	n, _, errno := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&what)), 1, uintptr(unsafe.Pointer(&none)), 0, 0, 0)
	return result(n, errno)
}

func pread(fd int, p []byte, offset int64) (int, error) {
	return withOffset(unix.SYS_PREAD64, fd, p, offset)
}

func pwrite(fd int, p []byte, offset int64) (int, error) {
	return withOffset(unix.SYS_PWRITE64, fd, p, offset)
}

func withOffset(call uintptr, fd int, p []byte, offset int64) (int, error) {
	n, _, errno := unix.RawSyscall6(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), uintptr(offset), 0, 0)
	return result(n, errno)
}

func fstat(fd int, stat *unix.Stat_t) error {
	_, _, errno := unix.RawSyscall(unix.SYS_FSTAT, uintptr(fd), uintptr(unsafe.Pointer(stat)), 0)
	_, err := result(0, errno)
	return err
}

func fstatat(path string, stat *unix.Stat_t, flags int) error {
	var room pathRoom
	name, err := room.hold(path)
	if err != nil {
		return err
	}
	_, _, errno := unix.RawSyscall6(unix.SYS_NEWFSTATAT, atFDCWD, uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(stat)), uintptr(flags), 0, 0)
	_, err = result(0, errno)
	return err
}

func rename(from, to string) error {
	var rooms [2]pathRoom
	old, err := rooms[0].hold(from)
	if err != nil {
		return err
	}
	name, err := rooms[1].hold(to)
	if err != nil {
		return err
	}
	_, _, errno := unix.RawSyscall6(unix.SYS_RENAMEAT, atFDCWD, uintptr(unsafe.Pointer(old)), atFDCWD, uintptr(unsafe.Pointer(name)), 0, 0)
	_, err = result(0, errno)
	return err
}

func open(path string, flags int) (int, error) {
	var room pathRoom
	name, err := room.hold(path)
	if err != nil {
		return -1, err
	}
	fd, _, errno := unix.RawSyscall6(unix.SYS_OPENAT, atFDCWD, uintptr(unsafe.Pointer(name)), uintptr(flags), 0, 0, 0)
	return result(fd, errno)
}

func rewind(fd int) error {
	_, _, errno := unix.RawSyscall(unix.SYS_LSEEK, uintptr(fd), 0, unix.SEEK_SET)
	_, err := result(0, errno)
	return err
}

func closeNow(fd int) error {
	_, _, errno := unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
	_, err := result(0, errno)
	return err
}

// pathRoom has room for most paths, those in the temporary directory above all, so that
// they need none of their own.
type pathRoom [128]byte

// hold returns a path as the kernel takes it, as long as the room is there.
func (r *pathRoom) hold(path string) (*byte, error) {
	if len(path) >= len(r) || strings.IndexByte(path, 0) >= 0 {
		return unix.BytePtrFromString(path)
	}
	r[copy(r[:], path)] = 0
	return &r[0], nil
}

// atFDCWD is AT_FDCWD, the working directory, as the kernel takes it.
const atFDCWD = ^uintptr(-unix.AT_FDCWD - 1)

func result(n uintptr, errno unix.Errno) (int, error) {
	if errno != 0 {
		return -1, errno
	}
	return int(n), nil
}
