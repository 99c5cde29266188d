package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/nowait"
)

// pollable returns what a descriptor leads to in a form whose reads and writes wait
// in the runtime's poller. One that waits in the kernel holds on to one of the
// processors that Go was given until somebody notices, which delays a call by a
// tenth of its time. Where there is no such form, it is the file itself. restore
// undoes what that took.
func pollable(f *os.File, fd, flag int) (polled *os.File, restore func()) {
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) != nil {
		return f, func() {}
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFIFO:
		// Opened anew, since the flag would be that of everybody who shares
		// the descriptor.
		if f, err := os.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), flag|unix.O_NONBLOCK, 0); err == nil {
			return f, func() { f.Close() }
		}
	case unix.S_IFSOCK:
		// A socket cannot be. Who makes one for a server's input or output keeps
		// the other end.
		if unix.SetNonblock(fd, true) == nil {
			return os.NewFile(uintptr(fd), f.Name()), func() { _ = unix.SetNonblock(fd, false) }
		}
	}
	return f, func() {}
}

func pollableStdin() (in *os.File, restore func()) { return pollable(os.Stdin, 0, os.O_RDONLY) }

func pollableStdout() (out *os.File, restore func()) { return pollable(os.Stdout, 1, os.O_WRONLY) }

// unwaited returns a stream of the poller's as one that does not trouble the
// runtime, and any other as it is.
func unwaited(f *os.File) io.ReadWriter {
	if isPolled(f) {
		if quick, err := nowait.NewFile(f); err == nil {
			return quick
		}
	}
	return f
}

// isPolled reports whether the poller waits for a file. One whose descriptor was
// asked for has it still, but waits in the kernel.
func isPolled(f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil || f.SetDeadline(time.Time{}) != nil {
		return false
	}
	var flags int
	var failed error
	err = conn.Control(func(fd uintptr) { flags, failed = unix.FcntlInt(fd, unix.F_GETFL, 0) })
	return err == nil && failed == nil && flags&unix.O_NONBLOCK != 0
}
