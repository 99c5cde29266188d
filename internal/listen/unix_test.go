package listen

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// shortDir is one whose path leaves room for a socket's: macOS has long ones.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "listen")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func TestUnixServesAndRemoves(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	l := mustOpen(t, Options{Addr: "unix:" + path})
	if l.Addr().String() != path || !IsLoopback(l.Addr()) {
		t.Errorf("the address is %v", l.Addr())
	}
	s := &http.Server{Handler: greeter()}
	serve(t, l, s)
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}}
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://socket/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	s.Close()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
}

// The window in which others could connect would be short; so it is looked for
// many times.
func TestUnixModeFromBirth(t *testing.T) {
	// Tests that change it cannot be parallel.
	defer unix.Umask(unix.Umask(0))
	path := filepath.Join(shortDir(t), "s")
	ctx, cancel := context.WithCancel(t.Context())
	var watch sync.WaitGroup
	watch.Go(func() {
		for ctx.Err() == nil {
			info, err := os.Lstat(path)
			// Elsewhere the file may be seen before its mode is set, but then
			// nobody can connect.
			if err == nil && info.Mode().Perm() != 0o600 && runtime.GOOS == "linux" {
				t.Errorf("the mode is %v", info.Mode())
				return
			}
		}
	})
	for range 300 {
		l := mustOpen(t, Options{Addr: "unix:" + path})
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the file is %v, %v", info.Mode(), err)
		}
		l.Close()
	}
	cancel()
	watch.Wait()
}

func TestUnixStaleIsReplaced(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	p := play(t, `exec "$@"`, "unix:"+path)
	if got, want := p.line(t), "open "+path+" true"; got != want {
		t.Fatalf("the player says %q, want %q", got, want)
	}
	if got := greeting(t, &net.UnixAddr{Name: path, Net: "unix"}); got != "hello" {
		t.Errorf("the player says %q", got)
	}
	_, err := Open(t.Context(), Options{Addr: "unix:" + path})
	if err == nil || !strings.Contains(err.Error(), "another program listens there") {
		t.Fatalf("with a live one there: %v", err)
	}
	if got := greeting(t, &net.UnixAddr{Name: path, Net: "unix"}); got != "hello" {
		t.Errorf("after the try the player says %q", got)
	}
	p.kill()
	if _, err := os.Lstat(path); err != nil {
		t.Fatalf("nothing is stale: %v", err)
	}
	l := mustOpen(t, Options{Addr: "unix:" + path})
	serve(t, l, &http.Server{Handler: greeter()})
	mustDial(t, l.Addr())
}

func TestUnixRefuses(t *testing.T) {
	dir := shortDir(t)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	datagram := filepath.Join(dir, "datagram")
	d, err := net.ListenPacket("unixgram", datagram)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, test := range []struct{ path, want string }{
		{file, "a file is there that is no socket"},
		{dir, "a file is there that is no socket"},
		{link, "a file is there that is no socket"},
		{datagram, "a socket is there, perhaps another program's"},
		{filepath.Join(dir, "none", "s"), "make a socket in " + filepath.Join(dir, "none")},
		{filepath.Join(file, "s"), "look at the path: not a directory"},
	} {
		before, _ := os.Lstat(test.path)
		_, err := Open(t.Context(), Options{Addr: "unix:" + test.path})
		if err == nil || !strings.HasPrefix(err.Error(), "--http ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.path, err, test.want)
		}
		if after, _ := os.Lstat(test.path); !same(before, after) {
			t.Errorf("%s is another file now", test.path)
		}
	}
}

func TestUnixLongestPath(t *testing.T) {
	dir := shortDir(t)
	path := filepath.Join(dir, strings.Repeat("s", maxPath-len(dir)-1))
	l := mustOpen(t, Options{Addr: "unix:" + path})
	mustDial(t, l.Addr())
	if err := (Options{Addr: "unix:" + path + "s"}).Check(); err == nil {
		t.Error("a byte more is taken")
	}
}

func TestUnixCloseLeavesAnothersFile(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	first := mustOpen(t, Options{Addr: "unix:" + path})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second := mustOpen(t, Options{Addr: "unix:" + path})
	first.Close()
	mustDial(t, second.Addr())
	second.Close()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is left: %v", err)
	}
	third := mustOpen(t, Options{Addr: "unix:" + path})
	second.Close()
	mustDial(t, third.Addr())
}

// Of many who find a stale socket at once, one gets its place and keeps it.
func TestUnixManyAtOnce(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	for range 20 {
		leaveStale(t, path)
		var mu sync.Mutex
		var opened []net.Listener
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if l, err := Open(t.Context(), Options{Addr: "unix:" + path}); err == nil {
					mu.Lock()
					defer mu.Unlock()
					opened = append(opened, l)
				}
			})
		}
		all.Wait()
		if len(opened) != 1 {
			t.Fatalf("%d have it", len(opened))
		}
		mustDial(t, opened[0].Addr())
		opened[0].Close()
	}
}

func leaveStale(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
}

// A lock that somebody holds on the directory for good is not waited for.
func TestUnixLockedDirectory(t *testing.T) {
	dir := shortDir(t)
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := unix.Flock(int(d.Fd()), unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, Options{Addr: "unix:" + filepath.Join(dir, "s")})
	mustDial(t, l.Addr())
}
