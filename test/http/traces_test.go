package http_test

import (
	"bytes"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

// With a collector in the environment a call is a span of its own: below that of
// its request, and above whatever the tool does.
func TestCallsAreTracedWhereACollectorIsNamed(t *testing.T) {
	received := make(chan []byte, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		received <- body
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	const traces = `tool_trace() { bash -c 'echo "$TRACEPARENT"'; }`
	e := serveScript(t, traces, `{"tools":[{"name":"trace","inputSchema":{"type":"object"}}]}`, "{}")
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	answer := e.post("1", "tools/call", `"name":"trace"`, header{"Traceparent": "00-" + trace + "-" + parent + "-01"})
	found := regexp.MustCompile(`"text":"00-` + trace + `-([0-9a-f]{16})-01"`).FindStringSubmatch(answer.body)
	if found == nil || found[1] == parent {
		t.Fatalf("the tool is part of %s", answer.body)
	}
	// What has not been sent is sent at the end.
	e.Terminate()
	var sent []byte
	for len(received) > 0 {
		sent = append(sent, <-received...)
	}
	for _, id := range []string{trace, parent, found[1]} {
		raw, err := hex.DecodeString(id)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(sent, raw) {
			t.Errorf("%s is not in what the collector got", id)
		}
	}
	if !bytes.Contains(sent, []byte("tools/call trace")) {
		t.Error("the span has another name")
	}
	harness.Eventually(t, harness.Deadline, "nothing is left", func() bool { return len(e.Files()) == 0 })
}
