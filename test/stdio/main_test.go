// Package stdio_test holds the built binary to the protocol on standard input
// and output: what is no message, ids, eras, batches, cancellation, the end of
// the input, and the two files a server is described in.
//
// Every line a server sends in this suite goes through client.judge, which
// holds it to the official JSON Schema of its revision.
package stdio_test

import (
	"os"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/test/harness"
)

func TestMain(m *testing.M) {
	keepDescriptors()
	// Or the race detector keeps each of hundreds of servers for a second.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	os.Exit(harness.Main(m))
}

// keepDescriptors keeps what this process has inherited from the servers, whose
// tools write to every descriptor they find.
func keepDescriptors() {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
