package listen

import (
	"net"
	"strings"
	"testing"
)

func TestAddress(t *testing.T) {
	for _, test := range []struct {
		addr     string
		place    string
		loopback bool
	}{
		{"3000", "127.0.0.1:3000", true},
		{"0", "127.0.0.1:0", true},
		{"127.0.0.1:3000", "127.0.0.1:3000", true},
		{"127.8.9.10:03000", "127.8.9.10:3000", true},
		{"localhost:3000", "localhost:3000", true},
		{"LocalHost:3000", "LocalHost:3000", true},
		{"[::1]:3000", "[::1]:3000", true},
		{"[::ffff:127.0.0.1]:3000", "[::ffff:127.0.0.1]:3000", true},
		{":3000", ":3000", false},
		{"0.0.0.0:3000", "0.0.0.0:3000", false},
		{"[::]:3000", "[::]:3000", false},
		{"0:3000", "0:3000", false},
		{"10.0.0.1:3000", "10.0.0.1:3000", false},
		{"128.0.0.1:3000", "128.0.0.1:3000", false},
		{"[fe80::1%eth0]:3000", "[fe80::1%eth0]:3000", false},
		{"[::ffff:10.0.0.1]:3000", "[::ffff:10.0.0.1]:3000", false},
		{"localhost.:3000", "localhost.:3000", false},
		{"localhost.example:3000", "localhost.example:3000", false},
		{"my_host-1.example:65535", "my_host-1.example:65535", false},
		{"unix:/run/a.sock", "/run/a.sock", true},
		{"unix:///run/a.sock", "/run/a.sock", true},
		{"unix:a b", "a b", true},
		{"unix:/@a", "/@a", true},
		{"systemd", "", false},
	} {
		if err := (Options{Addr: test.addr}).Check(); err != nil {
			t.Errorf("%s: %v", test.addr, err)
		}
		if a, _ := parse(test.addr); a.place != test.place {
			t.Errorf("%s is %q, want %q", test.addr, a.place, test.place)
		}
		if got := Loopback(test.addr); got != test.loopback {
			t.Errorf("Loopback(%s) = %v", test.addr, got)
		}
	}
}

func TestAddressRefused(t *testing.T) {
	long := "/" + strings.Repeat("d", maxPath)
	for _, test := range []struct{ addr, want string }{
		{"", "it is empty"},
		{"http://localhost:3000", "it is a URL"},
		{"localhost", "none of HOST:PORT"},
		{"Systemd", "none of HOST:PORT"},
		{"-1", "none of HOST:PORT"},
		{"a:b:3000", "none of HOST:PORT"},
		{"127.0.0.1", "it has no port; give 127.0.0.1:PORT"},
		{"::1", "it has no port; give [::1]:PORT"},
		{"[::1]", "it has no port; give [::1]:PORT"},
		{"::1:3000", "it has no port"},
		{"[localhost]:3000", "brackets are for IPv6"},
		{"70000", `the port is "70000"`},
		{"localhost:http", `the port is "http"`},
		{"localhost:+80", `the port is "+80"`},
		{"localhost:", `the port is ""`},
		{"a b:80", `"a b" is neither`},
		{"a..b:80", `"a..b" is neither`},
		{"café:80", `is neither`},
		{"a\nb:80", `"a\nb" is neither`},
		{"[x:y]:80", `"x:y" is neither`},
		{"unix:", "it names no file"},
		{"unix:@abstract", "the path begins with @"},
		{"unix:./@abstract", "the path begins with @"},
		{"unix:\x00abstract", "NUL"},
		{"unix:" + long, "choose a shorter one"},
	} {
		err := Options{Addr: test.addr}.Check()
		if err == nil || !strings.HasPrefix(err.Error(), "--http ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %q", test.addr, err, test.want)
		}
		if Loopback(test.addr) {
			t.Errorf("Loopback(%q)", test.addr)
		}
	}
}

func TestIsLoopback(t *testing.T) {
	for _, test := range []struct {
		addr net.Addr
		want bool
	}{
		{&net.TCPAddr{IP: net.IPv4(127, 1, 2, 3)}, true},
		{&net.TCPAddr{IP: net.IPv6loopback}, true},
		{&net.TCPAddr{IP: net.IPv6unspecified}, false},
		{&net.TCPAddr{}, false},
		{&net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, false},
		{&net.UnixAddr{Name: "/run/a.sock", Net: "unix"}, true},
		{&net.IPAddr{IP: net.IPv6loopback}, false},
		{nil, false},
	} {
		if got := IsLoopback(test.addr); got != test.want {
			t.Errorf("IsLoopback(%v) = %v", test.addr, got)
		}
	}
}

func FuzzAddress(f *testing.F) {
	for _, seed := range []string{
		"3000", ":3000", "localhost:3000", "[::1]:3000", "::1", "[::1%lo]:1", "127.1:80", "unix:/run/a", "unix:@a",
		"unix:./@a", "unix:a/../@b", "systemd", "http://a:1", "[a]:1", "[[::1]]:1", "0:0", "a.:1", "\x00:1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, addr string) {
		a, err := parse(addr)
		if err != nil {
			err = Options{Addr: addr}.Check()
			if !strings.HasPrefix(err.Error(), "--http ") || len(err.Error()) > 2000 || Loopback(addr) {
				t.Fatalf("%q: %v", addr, err)
			}
			return
		}
		switch a.network {
		case networkTCP:
			checkTCP(t, addr, a)
		case networkUnix:
			again, err := parse("unix:" + a.place)
			if err != nil || again != a || len(a.place) > maxPath || a.place[0] == '@' || strings.Contains(a.place, "\x00") {
				t.Fatalf("%q is %+v, and that %+v, %v", addr, a, again, err)
			}
		case networkSystemd:
			if addr != "systemd" {
				t.Fatalf("%q is %+v", addr, a)
			}
		default:
			t.Fatalf("%q is %+v", addr, a)
		}
	})
}

func checkTCP(t *testing.T, addr string, a address) {
	again, err := parse(a.place)
	if err != nil || again != a {
		t.Fatalf("%q is %+v, and that %+v, %v", addr, a, again, err)
	}
	ip, _, _ := strings.Cut(a.host, "%")
	loopback := strings.EqualFold(a.host, "localhost") || net.ParseIP(ip).IsLoopback()
	if Loopback(addr) != loopback {
		t.Fatalf("Loopback(%q) = %v, and the host is %q", addr, !loopback, a.host)
	}
}
