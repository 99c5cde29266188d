package listen

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// backlog is cut by the system to what it allows.
const backlog = 4096

// lockWait is how long another process may hold the lock of a directory. One
// that holds it longer does so for reasons of its own, and is not waited for.
const lockWait = 2 * time.Second

// unixListener removes its file when it is closed.
type unixListener struct {
	net.Listener
	path  string
	file  fs.FileInfo // what was made at path
	close func() error
}

func (l *unixListener) Close() error { return l.close() }

// remove leaves a file alone that somebody else has put in the place.
func (l *unixListener) remove() error {
	// Before the socket is closed: until then nobody takes the file for stale.
	if now, err := os.Lstat(l.path); err == nil && os.SameFile(now, l.file) {
		_ = os.Remove(l.path)
	}
	return l.Listener.Close()
}

func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	unlock := lockDirectory(ctx, filepath.Dir(path))
	defer unlock()
	if err := clearStale(ctx, path); err != nil {
		return nil, err
	}
	socket, err := newSocket(path)
	if err != nil {
		return nil, err
	}
	defer socket.Close()
	if err := unix.Bind(int(socket.Fd()), &unix.SockaddrUnix{Name: path}); err != nil {
		return nil, fmt.Errorf("make a socket in %s: %w", filepath.Dir(path), err)
	}
	l, err := listenBound(socket, path)
	if err != nil {
		_ = os.Remove(path)
		return nil, err
	}
	return l, nil
}

func newSocket(path string) (*os.File, error) {
	// Not every system can have it made close-on-exec.
	syscall.ForkLock.RLock()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("make a socket: %w", err)
	}
	// Linux gives the mode of a socket to the file it is bound to. Where it
	// cannot be set, the file gets its mode before anybody can connect to it.
	_ = unix.Fchmod(fd, 0o600)
	return os.NewFile(uintptr(fd), path), nil
}

// listenBound makes a listener of a socket that has its file. Nobody can
// connect before listen(2), whatever the mode of the file.
func listenBound(socket *os.File, path string) (net.Listener, error) {
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, fmt.Errorf("keep others from the socket: %w", cause(err))
	}
	file, err := os.Lstat(path)
	if err != nil {
		return nil, fmt.Errorf("look at the socket: %w", cause(err))
	}
	if err := unix.Listen(int(socket.Fd()), backlog); err != nil {
		return nil, fmt.Errorf("listen on the socket: %w", err)
	}
	inner, err := net.FileListener(socket)
	if err != nil {
		return nil, fmt.Errorf("listen on the socket: %w", err)
	}
	l := &unixListener{Listener: inner, path: path, file: file}
	l.close = sync.OnceValue(l.remove)
	return l, nil
}

// clearStale removes a socket that a server which is gone has left at path, and
// says why when something else is there.
func clearStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at the path: %w", cause(err))
	case info.Mode().Type() != fs.ModeSocket:
		return errors.New("a file is there that is no socket; remove it, or choose another path")
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		conn.Close()
		return errors.New("another program listens there; end it, or choose another path")
	case !errors.Is(err, unix.ECONNREFUSED):
		return fmt.Errorf("a socket is there, perhaps another program's (%w); remove it if nobody uses it, or choose another path", err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove the socket of a server that is gone: %w", cause(err))
	}
	return nil
}

// lockDirectory keeps others that come this way from dir. Without it, two that
// start at once could each take the other's socket, bound but not yet listened
// on, for a stale one.
func lockDirectory(ctx context.Context, dir string) (unlock func()) {
	d, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	for ctx.Err() == nil {
		err := unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
	return func() { d.Close() }
}
