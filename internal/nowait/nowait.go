// Package nowait makes system calls that return at once, without telling Go's
// runtime of them.
//
// The runtime is told of every other one, since it may take long, and has a thread
// of its own look after those. Where the whole process was idle a moment ago, that
// thread has to be woken first, which costs more than most of what a call of a tool
// takes here (docs/decisions/0036).
//
// In return nobody interrupts a goroutine that computes for long after it was woken
// by what is read here: [Long] is to be called before.
//
// All of that rests on how Go 1.26's runtime works (sysmon, entersyscall).
//
// The package knows nothing of who uses it.
package nowait

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A File is an open file of the runtime's poller, which is where its reads and
// writes wait, if they have to. It is for one reader, by Read or ReadNow, and one writer
// at a time.
type File struct {
	file        *os.File
	conn        syscall.RawConn
	read, write func(fd int, p []byte) (int, error)

	// The read under way. Functions made for each would take memory for each.
	into    []byte
	n       int
	err     error
	attempt func(fd uintptr) bool // reads, and reports whether that need not wait
	once    func(fd uintptr)      // reads
}

// NewFile returns f, which must be one that the poller takes: a FIFO, a pipe or a
// socket that was opened with O_NONBLOCK.
func NewFile(f *os.File) (*File, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("use %s without waiting: %w", f.Name(), err)
	}
	file := &File{file: f, conn: conn, read: Read, write: Write}
	file.once = func(fd uintptr) { file.n, file.err = file.read(int(fd), file.into) }
	file.attempt = func(fd uintptr) bool {
		file.once(fd)
		return !errors.Is(file.err, unix.EAGAIN)
	}
	return file, nil
}

// Name is the file's name.
func (f *File) Name() string { return f.file.Name() }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// SetReadDeadline is [os.File.SetReadDeadline].
func (f *File) SetReadDeadline(t time.Time) error { return f.file.SetReadDeadline(t) }

// Read implements [io.Reader].
func (f *File) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	f.into, f.n, f.err = p, 0, nil
	waited := f.conn.Read(f.attempt)
	f.into, n = nil, f.n
	switch err = cmp.Or(waited, f.err); {
	case err != nil:
		return 0, &os.PathError{Op: "read", Path: f.Name(), Err: err}
	case n == 0:
		return 0, io.EOF
	case n == len(p):
		// There is more, and much to be done for it.
		Long()
	}
	return n, nil
}

// ReadNow reads what is there: 0 and nil is the end, EAGAIN means that there is
// nothing now.
func (f *File) ReadNow(p []byte) (n int, err error) {
	f.into = p
	closed := f.conn.Control(f.once)
	f.into = nil
	if closed != nil {
		return 0, closed
	}
	return f.n, f.err
}

// Write implements [io.Writer].
func (f *File) Write(p []byte) (n int, err error) {
	waited := f.conn.Write(func(fd uintptr) bool {
		var wrote int
		for n < len(p) && err == nil {
			wrote, err = f.write(int(fd), p[n:])
			n += wrote
		}
		if errors.Is(err, unix.EAGAIN) {
			err = nil
			return false
		}
		return true
	})
	if err = cmp.Or(waited, err); err != nil {
		return n, &os.PathError{Op: "write", Path: f.Name(), Err: err}
	}
	return n, nil
}

// Read reads from a descriptor with O_NONBLOCK: 0 and nil is its end, EAGAIN means
// that there is nothing now. From any other a processor of Go's would wait with it.
func Read(fd int, p []byte) (n int, err error) {
	for {
		if n, err = read(fd, p); !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

// Write writes to a descriptor with O_NONBLOCK.
func Write(fd int, p []byte) (n int, err error) {
	for {
		if n, err = write(fd, p); !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

// IsEmpty reports whether there is nothing to be read from a pipe, not even its end.
// False where that cannot be told.
func IsEmpty(fd int) bool {
	n, err := poll(unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	return n == 0 && err == nil
}

// A Place is a directory, or a file, and what is below it. It is of this machine
// where looking at its files, opening, renaming and writing to them goes to memory and
// not over a network. The zero Place is not, and the runtime is told of all that is
// done there.
type Place struct{ here bool }

// Kernel is the place of what the kernel makes up when it is read, such as /proc.
func Kernel() Place { return Place{here: true} }

// Fstat is [unix.Fstat] of a file in the place.
func (p Place) Fstat(fd int, stat *unix.Stat_t) error {
	if p.here {
		return fstat(fd, stat)
	}
	return unix.Fstat(fd, stat)
}

// Stat is [unix.Stat] of a path in the place.
func (p Place) Stat(path string, stat *unix.Stat_t) error {
	if p.here {
		return fstatat(path, stat, 0)
	}
	return unix.Stat(path, stat)
}

// Lstat is [unix.Lstat] of a path in the place.
func (p Place) Lstat(path string, stat *unix.Stat_t) error {
	if p.here {
		return fstatat(path, stat, unix.AT_SYMLINK_NOFOLLOW)
	}
	return unix.Lstat(path, stat)
}

// Rename is [unix.Rename] within the place.
func (p Place) Rename(from, to string) error {
	if p.here {
		return rename(from, to)
	}
	return unix.Rename(from, to)
}

// Open is [unix.Open] of what is there in the place, for reading; flags says what
// else. It is closed with [Place.Close].
func (p Place) Open(path string, flags int) (fd int, err error) {
	flags |= unix.O_RDONLY | unix.O_CLOEXEC
	if p.here {
		return open(path, flags)
	}
	return unix.Open(path, flags, 0)
}

// Close is [unix.Close] of what Open has opened.
func (p Place) Close(fd int) error {
	if p.here {
		return closeNow(fd)
	}
	return unix.Close(fd)
}

// Rewind has a directory in the place be read from its beginning.
func (p Place) Rewind(fd int) error {
	if p.here {
		return rewind(fd)
	}
	_, err := unix.Seek(fd, 0, io.SeekStart)
	return err
}

// ReadDirent is [unix.ReadDirent] of a directory in the place.
func (p Place) ReadDirent(fd int, buf []byte) (n int, err error) {
	if p.here {
		return readDirent(fd, buf)
	}
	return unix.ReadDirent(fd, buf)
}

// Pread is [unix.Pread] of a file in the place.
func (p Place) Pread(fd int, buf []byte, offset int64) (n int, err error) {
	if p.here {
		return pread(fd, buf, offset)
	}
	return unix.Pread(fd, buf, offset)
}

func (p Place) write(fd int, buf []byte, offset int64) (n int, err error) {
	if p.here {
		return pwrite(fd, buf, offset)
	}
	return unix.Pwrite(fd, buf, offset)
}

// WriteAll writes all of buf to a file in the place, at an offset.
func (p Place) WriteAll(fd int, buf []byte, offset int64) error {
	for len(buf) > 0 {
		n, err := p.write(fd, buf, offset)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return err
		case n == 0:
			return io.ErrShortWrite
		}
		buf, offset = buf[n:], offset+int64(n)
	}
	return nil
}
