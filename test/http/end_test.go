package http_test

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

func TestHealthIsTold(t *testing.T) {
	e := serve(t)
	for _, path := range []string{"/healthz", "/readyz"} {
		if answer := e.send(sent{method: http.MethodGet, path: path}); answer.status != 200 {
			t.Errorf("%s: %+v", path, answer)
		}
		if answer := e.send(sent{path: path}); answer.status != 405 || answer.header.Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: %+v", path, answer)
		}
	}
}

func TestTheEndWaitsForCallsAndTakesNoMore(t *testing.T) {
	e := serve(t)
	c := e.initialize(newestLegacy)
	unasked := e.open(sent{method: http.MethodGet, header: c.header()})
	file := filepath.Join(t.TempDir(), "f")
	r := c.open(sent{header: c.header(), body: waitCall(1, file)})
	awaitFile(t, file)
	if err := e.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	harness.Eventually(t, harness.Deadline, "nothing new is taken", func() bool {
		resp, err := http.DefaultClient.Do(sent{header: c.header(), body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`}.request(t.Context(), e))
		if err != nil {
			return true
		}
		defer resp.Body.Close()
		return resp.StatusCode == 503 && resp.Header.Get("Retry-After") != ""
	})
	remove(t, file)
	if f := r.message(); !strings.Contains(f.data, "waited") {
		t.Errorf("the call in flight: %+v", f)
	}
	for {
		if _, ok := unasked.next(); !ok {
			break
		}
	}
	if state := e.Wait(); state.ExitCode() != 0 {
		t.Errorf("ended with %v", state)
	}
	harness.Eventually(t, 5*time.Second, "nothing is left", func() bool { return len(e.Session()) == 0 && len(e.Files()) == 0 })
}

func TestCallsThatTakeTooLongAreStoppedAtTheEnd(t *testing.T) {
	e := serve(t, "--drain", "100ms")
	file := filepath.Join(t.TempDir(), "f")
	c := e.initialize(newestLegacy)
	c.open(sent{header: c.header(), body: waitCall(1, file)})
	awaitFile(t, file)
	e.Terminate()
	if !exists(file) || !strings.Contains(e.Stderr(), "--drain") {
		t.Errorf("the log is %s", e.Stderr())
	}
}

func TestCallsThatAreStoppedAreAnsweredWhereNothingHasBeenSaid(t *testing.T) {
	e := serve(t, "--drain", "100ms")
	file := filepath.Join(t.TempDir(), "f")
	r := modernRequest("1", "tools/call", fmt.Sprintf(`"name":"wait","arguments":{"file":%q}`, file), nil).request(t.Context(), e)
	type answer struct {
		*http.Response
		error
	}
	answers := make(chan answer, 1)
	go func() {
		resp, err := http.DefaultClient.Do(r)
		answers <- answer{resp, err}
	}()
	awaitFile(t, file)
	e.Terminate()
	got := <-answers
	if got.error != nil {
		t.Fatal(got.error)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil || got.StatusCode != 503 || got.Header.Get("Retry-After") == "" || !strings.Contains(string(body), "shutting down") {
		t.Errorf("%d, %s, %v", got.StatusCode, body, err)
	}
}
