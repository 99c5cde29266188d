package cli

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/nowait"
)

// stream is what a client's messages come from, or go to.
type stream interface {
	io.Reader
	io.Writer
	SetReadDeadline(time.Time) error
}

// pollable returns what a descriptor leads to in a form whose reads and writes wait
// in the runtime's poller. One that waits in the kernel holds on to one of the
// processors that Go was given until somebody notices, which delays a call by a
// tenth of its time. Where there is no such form, it is the file itself. undo frees
// what that took.
func pollable(f *os.File, fd, flag int) (s stream, undo func()) {
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) != nil {
		return f, func() {}
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFIFO:
		if polled, err := openAgain(f, fd, flag); err == nil {
			return polled, func() { polled.Close() }
		}
	case unix.S_IFSOCK:
		if polled, undo, err := nowait.NewSocket(fd, f.Name()); err == nil {
			return polled, undo
		}
	}
	return f, func() {}
}

// openAgain opens a FIFO anew: that it does not wait would hold for everybody who
// shares the descriptor.
func openAgain(f *os.File, fd, flag int) (*nowait.File, error) {
	again, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), flag|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return nowait.NewFile(os.NewFile(uintptr(again), f.Name()))
}

func pollableStdin() (in stream, undo func()) { return pollable(os.Stdin, 0, os.O_RDONLY) }

func pollableStdout() (out stream, undo func()) { return pollable(os.Stdout, 1, os.O_WRONLY) }

// isPolled reports whether the poller waits for a stream. A file whose descriptor was
// asked for has it still, but waits in the kernel.
func isPolled(s stream) bool {
	f, isFile := s.(*os.File)
	if !isFile {
		return true
	}
	conn, err := f.SyscallConn()
	if err != nil || f.SetReadDeadline(time.Time{}) != nil {
		return false
	}
	var flags int
	var failed error
	err = conn.Control(func(fd uintptr) { flags, failed = unix.FcntlInt(fd, unix.F_GETFL, 0) })
	return err == nil && failed == nil && flags&unix.O_NONBLOCK != 0
}
