package stdio_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	client, server := os.NewFile(uintptr(fds[0]), "client"), os.NewFile(uintptr(fds[1]), "server")
	defer client.Close()
	cmd := exec.Command(harness.Binary(t), "serve", script)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = server, server, t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	server.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
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
	if err := unix.Shutdown(fds[0], unix.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the server ends with %v", err)
	}
}
