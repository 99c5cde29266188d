package listen

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// firstPassed is the descriptor at which those that systemd passes begin.
const firstPassed = 3

// mostPassed is more than any unit has.
const mostPassed = 1024

// activated returns the first socket that systemd, or whoever keeps to its
// protocol, has passed to this process.
func activated(log *slog.Logger) (net.Listener, error) {
	n, err := passed(os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS"))
	// They are not meant for processes that this one starts.
	for _, name := range []string{"LISTEN_PID", "LISTEN_PIDFDID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		os.Unsetenv(name)
	}
	if err != nil {
		return nil, err
	}
	for fd := firstPassed; fd < firstPassed+n; fd++ {
		unix.CloseOnExec(fd)
	}
	if n > 1 {
		log.Warn("more than one socket was passed; only the first is used (--http systemd)", "sockets", n)
	}
	return fromDescriptor(firstPassed)
}

// passed says how many sockets this process was passed, of which the
// variables tell.
func passed(pid, fds string) (int, error) {
	if fds == "" || pid == "" {
		return 0, errors.New("no socket was passed: LISTEN_PID and LISTEN_FDS are not set; start from a service that has a .socket unit, or give an address")
	}
	if pid != strconv.Itoa(os.Getpid()) {
		return 0, fmt.Errorf("the sockets were passed to process %.20q, which LISTEN_PID names, and this is %d; whatever stands between must exec", pid, os.Getpid())
	}
	n, err := strconv.Atoi(fds)
	if err != nil || n < 1 || n > mostPassed {
		return 0, fmt.Errorf("no socket was passed: LISTEN_FDS is %.20q", fds)
	}
	return n, nil
}

func fromDescriptor(fd int) (net.Listener, error) {
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return nil, fmt.Errorf("descriptor %d, which was passed, is no socket (%w)", fd, err)
	}
	listens, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
	if kind != unix.SOCK_STREAM || err != nil || listens == 0 {
		return nil, errors.New("the socket that was passed is none to accept connections from; the .socket unit needs ListenStream= and Accept=no")
	}
	f := os.NewFile(uintptr(fd), "passed")
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("use the socket that was passed: %w", err)
	}
	return l, nil
}
