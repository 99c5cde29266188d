package listen

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long anything awaited may take before a test fails.
const patience = 30 * time.Second

// roleOpen is played by the test binary when it is the first argument: it opens
// the address that follows, and says what came of it.
const roleOpen = "play-open"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == roleOpen {
		playOpen(os.Args[2])
		// Not by Exit: the race detector makes that take a second.
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
	}
	os.Exit(m.Run())
}

// playOpen prints two lines: what it listens on, and what a child of it has of
// that. It greets who connects, until its input ends.
func playOpen(addr string) {
	l, err := Open(context.Background(), Options{Addr: addr})
	if err != nil {
		fmt.Println("error", err)
	} else {
		fmt.Println("open", l.Addr(), IsLoopback(l.Addr()))
	}
	child, _ := exec.Command("sh", "-c", `env | grep -c '^LISTEN_'; for fd in 3 4; do [ -S /dev/fd/$fd ] && echo socket $fd; done`).Output()
	fmt.Println("child", strings.Fields(string(child)))
	go func() {
		for l != nil {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprintln(conn, "hello")
			conn.Close()
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// player is a process that plays roleOpen.
type player struct {
	cmd   *exec.Cmd
	input io.Closer
	lines *bufio.Scanner
}

// play has sh run a script whose "$@" becomes the player.
func play(t *testing.T, script, addr string, files ...*os.File) *player {
	t.Helper()
	cmd := exec.Command("sh", "-c", script, "sh", os.Args[0], roleOpen, addr)
	cmd.ExtraFiles = files
	cmd.Stderr = os.Stderr
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &player{cmd, input, bufio.NewScanner(output)}
	t.Cleanup(p.kill)
	return p
}

func (p *player) line(t *testing.T) string {
	t.Helper()
	if !p.lines.Scan() {
		t.Fatal("the player has ended without a word")
	}
	return p.lines.Text()
}

func (p *player) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func mustOpen(t *testing.T, opts Options) net.Listener {
	t.Helper()
	l, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// serve runs a server on l until the test is over.
func serve(t *testing.T, l net.Listener, s *http.Server) {
	t.Helper()
	s.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() {
		s.Close()
		<-over
	})
}

func mustDial(t *testing.T, a net.Addr) net.Conn {
	t.Helper()
	conn, err := net.Dial(a.Network(), a.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// eventually waits for what no event tells of.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("in vain: " + what)
		}
	}
}

// logBuffer is a log that can be read while it is written.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }

// take returns the lines since the last time.
func (b *logBuffer) take() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.text.Reset()
	return strings.FieldsFunc(b.text.String(), func(r rune) bool { return r == '\n' })
}
