package listen

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	networkTCP     = "tcp"
	networkUnix    = "unix"
	networkSystemd = "systemd"
)

// maxPath is how long the path of a socket may be; a NUL follows it.
const maxPath = len(unix.RawSockaddrUnix{}.Path) - 1

// address is what an --http says.
type address struct {
	network string
	host    string // for TCP; empty for all addresses of the machine
	place   string // host and port, or a path
}

// protocol is the network that an address of TCP is listened on at. One written
// out is meant alone: "tcp" would take 0.0.0.0 for every address of IPv6 too.
func (a address) protocol() string {
	ip, err := netip.ParseAddr(a.host)
	switch {
	case err != nil:
		return "tcp"
	case ip.Unmap().Is4():
		return "tcp4"
	}
	return "tcp6"
}

// Check says what is wrong with an address, as far as that can be told without
// opening it.
func (o Options) Check() error {
	if _, err := parse(o.Addr); err != nil {
		return o.atAddr(err)
	}
	return nil
}

// Loopback tells whether only this machine can reach what will listen on addr.
// It is false where that cannot be known from addr alone: for "systemd", ask
// [IsLoopback] about the listener.
func Loopback(addr string) bool {
	a, err := parse(addr)
	switch {
	case err != nil:
		return false
	case a.network == networkUnix:
		return true
	case a.network != networkTCP:
		return false
	case strings.EqualFold(a.host, "localhost"):
		return true
	}
	ip, err := netip.ParseAddr(a.host)
	return err == nil && ip.Unmap().IsLoopback()
}

// IsLoopback tells whether only this machine can reach a socket.
func IsLoopback(a net.Addr) bool {
	switch a := a.(type) {
	case *net.UnixAddr:
		return true
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	}
	return false
}

func parse(addr string) (address, error) {
	if addr == networkSystemd {
		return address{network: networkSystemd}, nil
	}
	if path, ok := strings.CutPrefix(addr, "unix:"); ok {
		return parsePath(path)
	}
	host, port, err := splitHostPort(addr)
	if err != nil {
		return address{}, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return address{}, fmt.Errorf("the port is %.20q; it must be a number up to 65535", port)
	}
	if !plausibleHost(host) {
		return address{}, fmt.Errorf("%.100q is neither an IP address nor the name of a host", host)
	}
	return address{network: networkTCP, host: host, place: net.JoinHostPort(host, strconv.FormatUint(number, 10))}, nil
}

func splitHostPort(addr string) (host, port string, err error) {
	switch {
	case addr == "":
		return "", "", errors.New("it is empty; give HOST:PORT, PORT, unix:PATH or systemd")
	case strings.Contains(addr, "://"):
		return "", "", errors.New("it is a URL; give only its HOST:PORT")
	case isDigits(addr):
		return "127.0.0.1", addr, nil
	}
	host, port, err = net.SplitHostPort(addr)
	if err == nil && strings.HasPrefix(addr, "[") && !strings.Contains(host, ":") {
		return "", "", errors.New("brackets are for IPv6 addresses")
	}
	if err == nil {
		return host, port, nil
	}
	if ip, err := netip.ParseAddr(strings.Trim(addr, "[]")); err == nil {
		return "", "", fmt.Errorf("it has no port; give %s", net.JoinHostPort(ip.String(), "PORT"))
	}
	return "", "", errors.New("it is none of HOST:PORT, [IPV6]:PORT, PORT, unix:PATH and systemd")
}

func isDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// plausibleHost leaves it to the resolver whether a name exists.
func plausibleHost(host string) bool {
	if host == "" {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, letters) != "" {
			return false
		}
	}
	return len(host) <= 254
}

func parsePath(path string) (address, error) {
	if path == "" {
		return address{}, errors.New("it names no file; give unix:PATH")
	}
	path = filepath.Clean(path)
	switch {
	case strings.Contains(path, "\x00"):
		return address{}, errors.New("the path has a NUL in it")
	case strings.HasPrefix(path, "@"):
		// The system would take it for a name outside of the file system, which
		// no permissions guard.
		return address{}, errors.New("the path begins with @; give it from the root on")
	case len(path) > maxPath:
		return address{}, fmt.Errorf("the path has %d bytes, and this system takes %d for a socket's; choose a shorter one", len(path), maxPath)
	}
	return address{network: networkUnix, place: path}, nil
}
