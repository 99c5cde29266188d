package stdio_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/test/harness"
)

// Some start servers with one socket for standard input and output. What holds for
// the one end, that it is not waited for in the kernel, holds for the other then.
func TestAClientOnOneSocketMayReadSlowly(t *testing.T) {
	const calls = 20
	dir := t.TempDir()
	script := harness.Script(t, `tool_much() { printf '%050000d' 0; : >"`+dir+`/$arg_n"; }`,
		`{"tools":[{"name":"much","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}]}`, `{}`)
	client, _, ended := onSocket(t, script)
	for i := range calls {
		fmt.Fprintln(client, request(fmt.Sprint(i), "tools/call", fmt.Sprintf(`{"name":"much","arguments":{"n":%d}}`, i)))
	}
	// More answers than a socket holds, before the first is read.
	harness.Eventually(t, time.Minute, "all calls have run", func() bool {
		done, _ := filepath.Glob(dir + "/*")
		return len(done) == calls
	})
	answers := bufio.NewReaderSize(client, 1<<20)
	for i := range calls {
		if line, err := answers.ReadSlice('\n'); err != nil || len(line) < 50_000 {
			t.Fatalf("answer %d has %d bytes, %v", i, len(line), err)
		}
	}
	shutdown(t, client)
	if err := <-ended; err != nil {
		t.Errorf("the server ends with %v", err)
	}
}

// Others have the server's end of the socket, too, such as whoever has started it:
// whether that waits for them is not the server's to say, nor theirs for the server.
func TestASocketIsLeftAsItIs(t *testing.T) {
	script := harness.Script(t, listScript("good"), `{"tools":[{"name":"good","inputSchema":{"type":"object"}}]}`, `{}`)
	client, server, ended := onSocket(t, script)
	answers := bufio.NewReader(client)
	for i, nonblocking := range []bool{false, true, false, false} {
		must(t, unix.SetNonblock(server, nonblocking))
		for range 3 {
			fmt.Fprintln(client, request(fmt.Sprint(i), "tools/call", `{"name":"good"}`))
			if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "ran") {
				t.Fatalf("the answer is %q, %v", line, err)
			}
		}
		flags, err := unix.FcntlInt(uintptr(server), unix.F_GETFL, 0)
		if must(t, err); flags&unix.O_NONBLOCK != 0 != nonblocking {
			t.Errorf("the flags are %#x now", flags)
		}
	}
	shutdown(t, client)
	if err := <-ended; err != nil {
		t.Errorf("the server ends with %v", err)
	}
}

// onSocket starts a server on a socket, of which it returns the client's end and the
// server's.
func onSocket(t *testing.T, script string) (client *os.File, server int, ended chan error) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	must(t, err)
	client, end := os.NewFile(uintptr(fds[0]), "client"), os.NewFile(uintptr(fds[1]), "server")
	cmd := exec.Command(harness.Binary(t), "serve", script)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = end, end, t.Output()
	must(t, cmd.Start())
	ended = make(chan error, 1)
	over := make(chan struct{})
	go func() {
		defer close(over)
		ended <- cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-over
		client.Close()
		end.Close()
	})
	return client, fds[1], ended
}

func shutdown(t *testing.T, client *os.File) {
	t.Helper()
	must(t, unix.Shutdown(int(client.Fd()), unix.SHUT_WR))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
