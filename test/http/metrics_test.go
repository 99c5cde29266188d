package http_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

var listeningForMetrics = regexp.MustCompile(`msg="listening for metrics" address=(\S+)`)

func TestWhatIsDoneIsCounted(t *testing.T) {
	e := serve(t, "--metrics", "127.0.0.1:0", "--timeout", "2s")
	metrics := &endpoint{HTTPServer: e.HTTPServer, t: t}
	harness.Eventually(t, harness.Deadline, "metrics are served", func() bool {
		found := listeningForMetrics.FindStringSubmatch(e.Stderr())
		if found != nil {
			metrics.top = "http://" + found[1]
		}
		return found != nil
	})
	e.post("1", "tools/call", `"name":"echo"`, nil)
	e.post("1", "tools/call", `"name":"fail"`, nil)
	e.post("1", "tools/call", `"name":"wait"`, nil) // its argument is missing
	e.post("1", "tools/call", `"name":"made up"`, nil)
	e.post("1", "made/up", "", nil)
	e.initialize(newestLegacy)
	scrape := metrics.send(sent{method: http.MethodGet, path: "/metrics"})
	if scrape.status != 200 {
		t.Fatalf("got %+v", scrape)
	}
	for _, want := range []string{
		`conch_calls_total{outcome="ok",tool="echo"} 1`,
		`conch_calls_total{outcome="error",tool="fail"} 1`,
		`conch_calls_total{outcome="invalid",tool="wait"} 1`,
		`conch_call_duration_seconds_count{tool="echo"} 1`,
		`conch_http_requests_total{method="tools/call",status="200"} 3`,
		`conch_http_requests_total{method="tools/call",status="400"} 1`,
		`conch_http_requests_total{method="other",status="404"} 1`,
		`conch_sessions 1`,
		`conch_calls_queued 0`,
		`conch_workers{state="busy"} 0`,
		`conch_connections_open `,
		`conch_forks_total `,
		`conch_build_info{`,
	} {
		if !strings.Contains(scrape.body, want) {
			t.Errorf("%s is not among the metrics", want)
		}
	}
	if strings.Contains(scrape.body, "made") {
		t.Error("a name that a client made up is among the metrics")
	}
	if ready := metrics.send(sent{method: http.MethodGet, path: "/readyz"}); ready.status != 200 {
		t.Errorf("/readyz: %+v", ready)
	}
	if t.Failed() {
		t.Log(scrape.body)
	}
	e.Terminate()
}

func TestACallTakesPartInTheTraceOfItsRequest(t *testing.T) {
	const traces = `tool_trace() { bash -c 'echo "$TRACEPARENT $TRACESTATE"'; }`
	e := serveScript(t, traces, `{"tools":[{"name":"trace","inputSchema":{"type":"object"}}]}`, "{}")
	const parent, other = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	meta := modernRequest("1", "tools/call", `"name":"trace"`, header{"Traceparent": parent, "Tracestate": "a=b"})
	if answer := e.send(meta); !strings.Contains(answer.body, fmt.Sprintf(`"text":"%s a=b"`, parent)) {
		t.Errorf("from a header: %+v", answer)
	}
	meta.body = strings.Replace(meta.body, `"_meta":{`, `"_meta":{"traceparent":"`+other+`",`, 1)
	if answer := e.send(meta); !strings.Contains(answer.body, fmt.Sprintf(`"text":"%s "`, other)) {
		t.Errorf("from metadata: %+v", answer)
	}
	c := e.initialize(newestLegacy)
	legacy := sent{header: c.header(), body: harness.Call(1, "trace", `{}`)}
	legacy.header["Traceparent"] = parent
	if answer := e.send(legacy); !strings.Contains(answer.body, parent) {
		t.Errorf("in a session: %+v", answer)
	}
}

func TestArgumentsThatHeadersRepeatMustAgree(t *testing.T) {
	list := `{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{
	 "region":{"type":"string","x-mcp-header":"Region"},"count":{"type":"integer","x-mcp-header":"Count"}}}}]}`
	e := serveScript(t, script, list, "{}")
	tests := []struct {
		name, arguments string
		header          header
		status          int
	}{
		{"neither", `{}`, nil, 200},
		{"the same", `{"region":"eu","count":3}`, header{"Mcp-Param-Region": "eu", "Mcp-Param-Count": "3"}, 200},
		{"the same number", `{"count":30}`, header{"Mcp-Param-Count": "3e1"}, 200},
		{"in base64", `{"region":"äu"}`, header{"Mcp-Param-Region": "=?base64?w6R1?="}, 200},
		{"another", `{"region":"eu"}`, header{"Mcp-Param-Region": "us"}, 400},
		{"missing", `{"region":"eu"}`, nil, 400},
		{"for no argument", `{}`, header{"Mcp-Param-Region": "eu"}, 400},
		{"twice", `{"region":"eu"}`, header{"Mcp-Param-Region": "eu\neu"}, 400},
		{"one that means nothing", `{}`, header{"Mcp-Param-Other": "x"}, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer := e.post("1", "tools/call", `"name":"echo","arguments":`+tt.arguments, tt.header)
			if answer.status != tt.status || tt.status == 400 && !strings.Contains(answer.body, `"code":-32020`) {
				t.Errorf("got %+v", answer)
			}
		})
	}
}
