// Package proxies_test puts nginx and HAProxy before the built binary: what
// stands between a client and a server must neither hold an answer back nor give
// it up, and a client that leaves must be seen to.
package proxies_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// keepAlive is how often a silent answer gets a comment.
const keepAlive = 200 * time.Millisecond

// enough is how many comments come in a time after which each proxy would have
// given up a silent answer.
const enough = int(harness.ProxyTimeout/keepAlive) + 3

// behindEach runs a test behind each proxy, and then ends the server.
func behindEach(t *testing.T, test func(t *testing.T, server *harness.HTTPServer, c *client)) {
	behind(t, harness.Proxies, test)
}

func behind(t *testing.T, proxies []harness.Proxy, test func(t *testing.T, server *harness.HTTPServer, c *client)) {
	for _, proxy := range proxies {
		t.Run(proxy.Name, func(t *testing.T) {
			script := filepath.Join(harness.Root(), "test", "proxies", "testdata", "server.sh")
			server := harness.ServeHTTP(t, "--keep-alive", keepAlive.String(), script)
			test(t, server, newClient(t, proxy.Before(t, server)))
			server.Terminate()
		})
	}
}

func TestALongAnswerArrivesWhileItIsMade(t *testing.T) {
	behindEach(t, func(t *testing.T, _ *harness.HTTPServer, c *client) {
		until := filepath.Join(t.TempDir(), "until")
		s := newStream(t, c.callModern(t.Context(), "hold", map[string]string{"until": until}))
		s.comments(enough)
		create(t, until)
		says(t, s.message(), "It is there.")
	})
}

func TestConnectionsToTheServerAreKept(t *testing.T) {
	const requests = 10
	keep := slices.DeleteFunc(slices.Clone(harness.Proxies), func(p harness.Proxy) bool { return !p.Keeps })
	behind(t, keep, func(t *testing.T, server *harness.HTTPServer, c *client) {
		for range requests {
			says(t, whole(t, c.callModern(t.Context(), "greet", map[string]string{"name": "Ada"}), http.StatusOK), "Hello, Ada!")
		}
		server.Said(regexp.MustCompile(fmt.Sprintf(`(?s)(tool=greet.*){%d}`, requests)))
		connections := map[string]bool{}
		for _, remote := range regexp.MustCompile(`remote=(\S+)`).FindAllString(server.Stderr(), -1) {
			connections[remote] = true
		}
		if len(connections) > requests/2 {
			t.Errorf("%d requests came over %d connections", requests, len(connections))
		}
	})
}

func TestACallEndsWhenItsClientLeavesTheProxy(t *testing.T) {
	behindEach(t, func(t *testing.T, _ *harness.HTTPServer, c *client) {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		until := filepath.Join(t.TempDir(), "until")
		newStream(t, c.callModern(ctx, "hold", map[string]string{"until": until})).comments(1)
		tool := pidIn(t, until+".pid")
		leave()
		harness.Eventually(t, harness.Deadline, "the tool is gone", func() bool { return !harness.Alive(tool) })
	})
}

func TestASessionThroughAProxy(t *testing.T) {
	behindEach(t, func(t *testing.T, _ *harness.HTTPServer, c *client) {
		c.begin()
		unasked := newStream(t, c.do(t.Context(), http.MethodGet, ""))
		says(t, whole(t, c.call(t.Context(), "greet", map[string]string{"name": "Ada"}), http.StatusOK), "Hello, Ada!")
		comeBack(t, c)
		unasked.comments(enough)
		whole(t, c.do(t.Context(), http.MethodDelete, ""), http.StatusNoContent)
		whole(t, c.call(t.Context(), "greet", map[string]string{"name": "Ada"}), http.StatusNotFound)
	})
}

// comeBack leaves in the middle of an answer, and comes back for the rest.
func comeBack(t *testing.T, c *client) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	until := filepath.Join(t.TempDir(), "until")
	broken := newStream(t, c.call(ctx, "hold", map[string]string{"until": until}))
	broken.comments(1)
	leave()
	rest := newStream(t, c.do(t.Context(), http.MethodGet, "", "Last-Event-ID", broken.id))
	rest.comments(1)
	create(t, until)
	says(t, rest.message(), "It is there.")
}

func create(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// pidIn waits for a file with a process id.
func pidIn(t *testing.T, file string) (pid int) {
	t.Helper()
	harness.Eventually(t, harness.Deadline, "the tool has started", func() bool {
		text, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	})
	return pid
}
