package shell

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/nowait"
)

// A fifo is one end of a named pipe, used without ever waiting. The zero fifo
// is none.
type fifo struct {
	fd   int
	path string
	made unix.Stat_t // what it was when it was made
}

// makeFIFO creates a named pipe and opens it with flag.
func makeFIFO(path string, flag int) (fifo, error) {
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return fifo{}, fmt.Errorf("make the FIFO %s: %w", path, err)
	}
	fd, err := unix.Open(path, flag|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		os.Remove(path)
		return fifo{}, fmt.Errorf("open the FIFO %s: %w", path, err)
	}
	f := fifo{fd: fd, path: path}
	if err := unix.Fstat(fd, &f.made); err != nil {
		f.remove()
		return fifo{}, fmt.Errorf("look at the FIFO %s: %w", path, err)
	}
	return f, nil
}

// makeOutput makes a named pipe of which it can be told whether it has a writer:
// Linux says that there is none only once there has been one.
func makeOutput(path string) (fifo, error) {
	f, err := makeFIFO(path, unix.O_RDONLY)
	if err != nil {
		return f, err
	}
	first, err := openFIFO(path, unix.O_WRONLY)
	if err != nil {
		f.remove()
		return fifo{}, err
	}
	return f, first.Close()
}

// openFIFO opens an end of a named pipe for the poller, which [os.OpenFile]
// does not do on every system.
func openFIFO(path string, flag int) (*os.File, error) {
	fd, err := unix.Open(path, flag|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// again opens this end a second time, for the poller, whatever its name leads to by
// now.
func (f fifo) again() (*os.File, error) {
	fd, err := unix.FcntlInt(uintptr(f.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open the FIFO %s again: %w", f.path, err)
	}
	return os.NewFile(uintptr(fd), f.path), nil
}

// isIn reports whether the name still leads to the pipe, which is in a place.
func (f fifo) isIn(place nowait.Place) bool {
	var named unix.Stat_t
	return place.Lstat(f.path, &named) == nil && named.Dev == f.made.Dev && named.Ino == f.made.Ino
}

// way leads to the pipe, whose name may lead elsewhere by now. Only where there is
// /proc does another way lead there then.
func (f fifo) way(place nowait.Place) string {
	if f.isIn(place) {
		return f.path
	}
	return "/proc/self/fd/" + strconv.Itoa(f.fd)
}

// hasWriter reports whether somebody holds the other end and has written nothing.
// To poll would not tell of a writer who has never been there.
func (f fifo) hasWriter() bool {
	_, err := f.readNow(make([]byte, 1))
	return errors.Is(err, unix.EAGAIN)
}

// isEmpty reports whether there is nothing to be read, not even the end. False
// where that cannot be told.
func (f fifo) isEmpty() bool { return nowait.IsEmpty(f.fd) }

// close closes this end; the pipe keeps its name.
func (f *fifo) close() {
	if f.fd != 0 {
		_ = unix.Close(f.fd)
		f.fd = 0
	}
}

func (f *fifo) remove() {
	f.close()
	if f.path != "" {
		_ = os.Remove(f.path)
	}
}

func (f fifo) write(p []byte) error {
	_, err := nowait.Write(f.fd, p)
	return err
}

// readNow reads what is there: 0 and nil is the end, EAGAIN means that there
// is a writer who has written nothing.
func (f fifo) readNow(buf []byte) (int, error) { return nowait.Read(f.fd, buf) }
