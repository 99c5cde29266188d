package attacks_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// The slots that clients hold who do not read are free again after a while.
func TestAnswersThatAreNotReadAreGivenUp(t *testing.T) {
	t.Parallel()
	const most = 10
	e := serve(t, "--max-requests", strconv.Itoa(most))
	header, body := harness.ModernRequest("1", "tools/call", `"name":"print","arguments":{"v":5000000}`)
	var lines []string
	for name, value := range header {
		lines = append(lines, name+": "+value)
	}
	request := e.head(append(lines, fmt.Sprintf("Content-Length: %d", len(body)))...) + body
	var all sync.WaitGroup
	for range most {
		conn := e.dial()
		all.Go(func() {
			_ = write(conn, request)
			_, _ = conn.Read(make([]byte, 100))
		})
	}
	all.Wait()
	if err := e.echo("x"); err == nil || !strings.Contains(err.Error(), "--max-requests") {
		t.Fatalf("the places are not taken: %v", err)
	}
	harness.Eventually(t, 70*time.Second, "the places are free again", func() bool { return e.echo("y") == nil })
	e.Terminate()
}
