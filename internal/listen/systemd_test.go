package listen

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// asFile gives a socket's descriptor for a player to inherit. The test keeps
// none: who connects gets to the player.
func asFile(t *testing.T, socket interface {
	File() (*os.File, error)
	Close() error
}) *os.File {
	t.Helper()
	f, err := socket.File()
	if err != nil {
		t.Fatal(err)
	}
	socket.Close()
	t.Cleanup(func() { f.Close() })
	return f
}

const asSystemd = `LISTEN_PID=$$ LISTEN_FDNAMES=a:b LISTEN_PIDFDID=1 exec "$@"`

func TestActivation(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	for _, test := range []struct{ network, at string }{
		{"tcp", "127.0.0.1:0"},
		{"unix", path},
	} {
		l, err := net.Listen(test.network, test.at)
		if err != nil {
			t.Fatal(err)
		}
		if u, ok := l.(*net.UnixListener); ok {
			u.SetUnlinkOnClose(false)
		}
		addr := l.Addr()
		file := asFile(t, l.(interface {
			File() (*os.File, error)
			Close() error
		}))
		second := asFile(t, mustOpen(t, Options{Addr: "0"}).(*net.TCPListener))
		p := play(t, "LISTEN_FDS=2 "+asSystemd, "systemd", file, second)
		file.Close()
		if got, want := p.line(t), "open "+addr.String()+" true"; got != want {
			t.Fatalf("the player says %q, want %q", got, want)
		}
		if got, want := p.line(t), "child [0]"; got != want {
			t.Errorf("the player says %q, want %q: variables or a descriptor are passed on", got, want)
		}
		if got := greeting(t, addr); got != "hello" {
			t.Errorf("who connects is told %q", got)
		}
		p.input.Close()
		if err := p.cmd.Wait(); err == nil || err.Error() != "signal: killed" {
			t.Errorf("the player ended with %v", err)
		}
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the file is systemd's, and yet: %v", err)
	}
}

func TestActivationFails(t *testing.T) {
	udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	datagram := asFile(t, udp)
	server := mustOpen(t, Options{Addr: "0"})
	connected := asFile(t, mustDial(t, server.Addr()).(*net.TCPConn))
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, test := range []struct {
		name, script string
		file         *os.File
		want         string
	}{
		{"nothing", `exec "$@"`, nil, "LISTEN_PID and LISTEN_FDS are not set"},
		{"no pid", `LISTEN_FDS=1 exec "$@"`, null, "LISTEN_PID and LISTEN_FDS are not set"},
		{"another's", `LISTEN_PID=1 LISTEN_FDS=1 exec "$@"`, null, `were passed to process "1"`},
		{"none", `LISTEN_FDS=0 ` + asSystemd, nil, `LISTEN_FDS is "0"`},
		{"no number", `LISTEN_FDS=x ` + asSystemd, nil, `LISTEN_FDS is "x"`},
		{"too many", `LISTEN_FDS=99999999999 ` + asSystemd, nil, "LISTEN_FDS is"},
		{"no socket", `LISTEN_FDS=1 ` + asSystemd, null, "is no socket"},
		{"datagrams", `LISTEN_FDS=1 ` + asSystemd, datagram, "Accept=no"},
		{"Accept=yes", `LISTEN_FDS=1 ` + asSystemd, connected, "Accept=no"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var files []*os.File
			if test.file != nil {
				files = append(files, test.file)
			}
			p := play(t, test.script, "systemd", files...)
			got := p.line(t)
			if !strings.HasPrefix(got, `error --http "systemd": `) || !strings.Contains(got, test.want) {
				t.Errorf("the player says %q, want %q", got, test.want)
			}
			if got := p.line(t); !strings.HasPrefix(got, "child [0") {
				t.Errorf("the player says %q: variables are passed on", got)
			}
		})
	}
}
