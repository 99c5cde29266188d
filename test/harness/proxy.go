package harness

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ProxyTimeout is for how long a proxy puts up with a server that is silent.
const ProxyTimeout = 2 * time.Second

// A Proxy stands in front of a server. Each hands on another Host than it gets.
type Proxy struct {
	Name    string
	Keeps   bool // connections to the server
	program string
	args    []string // %s is the directory
	config  func(address, server string) string
	env     []string // has it take the socket that it inherits
}

// Proxies are those that servers are tried behind. Without a word in its
// configuration, nginx speaks HTTP/1.0 to servers and keeps answers back until it
// has a buffer full of them.
var Proxies = []Proxy{
	{Name: "nginx", Keeps: true, program: "nginx", args: nginxArgs, config: nginxConfig("proxy_http_version 1.1; proxy_set_header Connection '';"), env: nginxEnv},
	{Name: "nginx with HTTP 1.0", program: "nginx", args: nginxArgs, config: nginxConfig(""), env: nginxEnv},
	{Name: "haproxy", Keeps: true, program: "haproxy", args: []string{"-db", "-f", "%s/proxy.conf"}, config: haproxyConfig},
}

var (
	nginxArgs = []string{"-p", "%s", "-c", "proxy.conf", "-e", "stderr"}
	nginxEnv  = []string{"NGINX=3;"}
)

func nginxConfig(directives string) func(address, server string) string {
	user := ""
	if os.Geteuid() == 0 {
		// Its worker could not enter the test's directories otherwise.
		user = "user root;"
	}
	return func(address, server string) string {
		return fmt.Sprintf(`
daemon off;
pid nginx.pid;
%s
events {}
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  upstream conch {
    server %s;
    keepalive 8;
  }
  server {
    listen %s;
    location / {
      proxy_pass http://conch;
      proxy_set_header Host 127.0.0.1;
      proxy_read_timeout %dms;
      %s
    }
  }
}
`, user, server, address, ProxyTimeout.Milliseconds(), directives)
	}
}

func haproxyConfig(_, server string) string {
	return fmt.Sprintf(`
global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server %dms
frontend clients
  bind fd@3
  default_backend conch
backend conch
  http-request set-header Host 127.0.0.1
  server conch %s
`, ProxyTimeout.Milliseconds(), server)
}

// Before starts the proxy before a server, and returns the endpoint as its
// clients see it. The proxy is ended when the test ends.
func (p Proxy) Before(t testing.TB, s *HTTPServer) (url string) {
	t.Helper()
	program, err := findProgram(p.program)
	if err != nil {
		t.Fatal(err)
	}
	// The proxy inherits the socket: nobody else takes its port, and clients
	// can connect at once.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	dir, address := t.TempDir(), listener.Addr().String()
	if err := os.WriteFile(filepath.Join(dir, "proxy.conf"), []byte(p.config(address, s.Address)), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	for _, arg := range p.args {
		cmd.Args = append(cmd.Args, strings.ReplaceAll(arg, "%s", dir))
	}
	cmd.Env = append(os.Environ(), p.env...)
	cmd.ExtraFiles = []*os.File{socket}
	start(t, cmd)
	return "http://" + address + "/mcp"
}

// start starts a command that is to run until the test ends.
func start(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-exited:
		case <-time.After(Deadline):
			_ = cmd.Process.Kill()
			<-exited
			t.Errorf("%s had to be killed", cmd.Path)
		}
		if t.Failed() {
			t.Logf("%s ended with %v; it said:\n%s", cmd.Path, cmd.ProcessState, said.Bytes())
		}
	})
}

// findProgram looks for a program also where only root's PATH leads.
func findProgram(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	if path, err := exec.LookPath(filepath.Join("/usr/sbin", name)); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("%s is not installed; run make test-deps", name)
}
