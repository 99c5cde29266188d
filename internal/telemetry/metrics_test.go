package telemetry

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// scrape returns what the handler tells: values by name and labels, as in
// conch_calls_total{outcome=ok,tool=a}. Of a histogram it is the count, and the
// buckets that are not empty under their bounds.
func scrape(t *testing.T, m *Metrics) map[string]float64 {
	t.Helper()
	r := httptest.NewRecorder()
	m.Handler().ServeHTTP(r, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if r.Code != http.StatusOK {
		t.Fatalf("the scrape was answered with %d: %s", r.Code, r.Body)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(r.Body)
	if err != nil {
		t.Fatalf("what was scraped is not in the text format: %v", err)
	}
	all := map[string]float64{}
	for name, family := range families {
		for _, metric := range family.GetMetric() {
			read(all, name, metric)
		}
	}
	return all
}

func read(into map[string]float64, name string, metric *dto.Metric) {
	var labels []string
	for _, pair := range metric.GetLabel() {
		labels = append(labels, pair.GetName()+"="+pair.GetValue())
	}
	slices.Sort(labels)
	key := name + "{" + strings.Join(labels, ",") + "}"
	h := metric.GetHistogram()
	if h == nil {
		into[key] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue() + metric.GetUntyped().GetValue()
		return
	}
	into[key] = float64(h.GetSampleCount())
	for _, bucket := range h.GetBucket() {
		into[fmt.Sprintf("%s<=%g", key, bucket.GetUpperBound())] = float64(bucket.GetCumulativeCount())
	}
}

func want(t *testing.T, got map[string]float64, key string, value float64) {
	t.Helper()
	if v, ok := got[key]; !ok {
		t.Errorf("there is no %s", key)
	} else if v != value {
		t.Errorf("%s is %g, want %g", key, v, value)
	}
}

// under are the names of the series of a metric.
func under(all map[string]float64, metric string) []string {
	var found []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if strings.HasPrefix(key, metric+"{") && !strings.Contains(key, "<=") {
			found = append(found, key)
		}
	}
	return found
}

func TestCallsAreCountedByToolAndOutcome(t *testing.T) {
	m := NewMetrics(Sources{})
	for _, outcome := range []string{OutcomeOK, OutcomeError, OutcomeTimeout, OutcomeOverflow, OutcomeCancelled, OutcomeRefused, OutcomeLost, OutcomeInvalid} {
		m.Call("a", outcome, time.Millisecond)
		m.Call("b", outcome, 4*time.Minute)
	}
	m.Call("a", OutcomeOK, time.Hour)
	m.Call("a", "no such outcome", 0)
	got := scrape(t, m)
	want(t, got, "conch_calls_total{outcome=ok,tool=a}", 2)
	want(t, got, "conch_calls_total{outcome=error,tool=a}", 2)
	for _, outcome := range []string{"ok", "error", "timeout", "overflow", "cancelled", "refused", "lost", "invalid"} {
		want(t, got, "conch_calls_total{outcome="+outcome+",tool=b}", 1)
	}
	want(t, got, "conch_call_duration_seconds{tool=a}", 10)
	want(t, got, "conch_call_duration_seconds{tool=a}<=0.001", 9)
	want(t, got, "conch_call_duration_seconds{tool=a}<=300", 9)
	want(t, got, "conch_call_duration_seconds{tool=b}<=120", 0)
	want(t, got, "conch_call_duration_seconds{tool=b}<=300", 8)
}

func TestToolsAreBounded(t *testing.T) {
	m := NewMetrics(Sources{})
	for range 2 {
		for i := range 1500 {
			m.Call(fmt.Sprint("tool", i), OutcomeOK, 0)
		}
	}
	m.Call("", OutcomeInvalid, 0)
	got := scrape(t, m)
	if n := len(under(got, "conch_calls_total")); n != 1002 {
		t.Errorf("there are %d series of calls, want 1000 tools and other, which has two outcomes", n)
	}
	if n := len(under(got, "conch_call_duration_seconds")); n != 1001 {
		t.Errorf("there are %d series of durations, want 1000 tools and other", n)
	}
	want(t, got, "conch_calls_total{outcome=ok,tool=tool0}", 2)
	want(t, got, "conch_calls_total{outcome=ok,tool=tool999}", 2)
	want(t, got, "conch_calls_total{outcome=ok,tool=other}", 1000)
	want(t, got, "conch_calls_total{outcome=invalid,tool=other}", 1)
}

func TestTheBoundHoldsForManyAtOnce(t *testing.T) {
	m := NewMetrics(Sources{Methods: []string{"ping"}})
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 400 {
				m.Call(fmt.Sprint(worker, " ", i), OutcomeOK, 0)
				m.Request("ping", 200, 0, 1, 1)
			}
		})
	}
	scrape(t, m)
	all.Wait()
	got := scrape(t, m)
	if n := len(under(got, "conch_call_duration_seconds")); n != 1001 {
		t.Errorf("there are %d series, want 1001", n)
	}
	want(t, got, "conch_calls_total{outcome=ok,tool=other}", 8*400-1000)
	want(t, got, "conch_http_requests_total{method=ping,status=200}", 8*400)
}

func TestNamesOfAnyBytesDoNoHarm(t *testing.T) {
	const version, tool = "1\xff\"", "a\xff\n\"\\{}é"
	m := NewMetrics(Sources{Version: version})
	m.Call(tool, OutcomeOK, 0)
	m.Call(tool, OutcomeOK, 0)
	got := scrape(t, m)
	want(t, got, "conch_calls_total{outcome=ok,tool=a?\n\"\\{}é}", 2)
	want(t, got, "conch_build_info{goversion="+runtime.Version()+",version=1?\"}", 1)
}

func TestRequestsAreCounted(t *testing.T) {
	m := NewMetrics(Sources{Methods: []string{"tools/call", "ping"}})
	m.Request("tools/call", 200, 2*time.Millisecond, 10, 20)
	m.Request("tools/call", 401, 0, 5, 0)
	m.Request("ping", 200, 0, 1, 1)
	m.Request("made/up", 404, 0, 0, 0)
	m.Request("made/up/too", 404, 0, 0, 0)
	m.Request("", 405, 0, -1, -1)
	for _, status := range []int{-1, 0, 99, 600, 1 << 30} {
		m.Request("ping", status, 0, 0, 0)
	}
	got := scrape(t, m)
	want(t, got, "conch_http_requests_total{method=tools/call,status=200}", 1)
	want(t, got, "conch_http_requests_total{method=tools/call,status=401}", 1)
	want(t, got, "conch_http_requests_total{method=other,status=404}", 2)
	want(t, got, "conch_http_requests_total{method=other,status=405}", 1)
	want(t, got, "conch_http_requests_total{method=ping,status=other}", 5)
	want(t, got, "conch_http_request_duration_seconds{method=tools/call}", 2)
	want(t, got, "conch_http_request_duration_seconds{method=tools/call}<=0.001", 1)
	want(t, got, "conch_http_request_duration_seconds{method=tools/call}<=0.0025", 2)
	want(t, got, "conch_http_request_bytes_total{}", 16)
	want(t, got, "conch_http_response_bytes_total{}", 21)
}

func TestSourcesAreReadAtEachScrape(t *testing.T) {
	var n, queued atomic.Int64
	queued.Store(40)
	m := NewMetrics(Sources{
		Queue:       func() int { return int(queued.Load()) },
		Workers:     func() (idle, busy int) { i := int(n.Add(1)); return i, 10 * i },
		Forks:       func() uint64 { return 7 },
		Sessions:    func() int { return 3 },
		Connections: func() (open, busy int) { return 5, 2 },
		Dropped:     func() int64 { return 4 },
	})
	want(t, scrape(t, m), "conch_calls_queued{}", 40)
	queued.Store(2)
	got := scrape(t, m)
	if n.Load() != 2 {
		t.Errorf("the workers were counted %d times in two scrapes", n.Load())
	}
	for key, value := range map[string]float64{
		"conch_calls_queued{}": 2, "conch_workers{state=idle}": 2, "conch_workers{state=busy}": 20, "conch_forks_total{}": 7,
		"conch_sessions{}": 3, "conch_connections_open{}": 5, "conch_connections_busy{}": 2, "conch_messages_dropped_total{}": 4,
	} {
		want(t, got, key, value)
	}
}

func TestWhatHasNoSourceIsAbsent(t *testing.T) {
	got := scrape(t, NewMetrics(Sources{Version: "1.2.3"}))
	for key := range got {
		for _, absent := range []string{"queued", "workers", "forks", "sessions", "connections", "dropped"} {
			if strings.HasPrefix(key, "conch_") && strings.Contains(key, absent) {
				t.Errorf("there is %s", key)
			}
		}
	}
	want(t, got, "conch_build_info{goversion="+runtime.Version()+",version=1.2.3}", 1)
	if got["go_goroutines{}"] < 1 {
		t.Error("nothing is told about the Go runtime")
	}
	if runtime.GOOS == "linux" && got["process_open_fds{}"] < 1 {
		t.Error("nothing is told about the process")
	}
}

func TestServersKeepTheirNumbersApart(t *testing.T) {
	a, b := NewMetrics(Sources{}), NewMetrics(Sources{})
	a.Call("tool", OutcomeOK, 0)
	want(t, scrape(t, a), "conch_calls_total{outcome=ok,tool=tool}", 1)
	if found := under(scrape(t, b), "conch_calls_total"); found != nil {
		t.Errorf("the other server has %q", found)
	}
}

func TestTheHandlerIsForGETAlone(t *testing.T) {
	h := NewMetrics(Sources{}).Handler()
	for _, method := range []string{"HEAD", "POST", "PUT", "DELETE", "OPTIONS", "get", "X"} {
		r := httptest.NewRecorder()
		h.ServeHTTP(r, httptest.NewRequest(method, "/metrics", strings.NewReader("x")))
		if r.Code != http.StatusMethodNotAllowed || r.Header().Get("Allow") != "GET" {
			t.Errorf("%s was answered with %d, Allow: %s", method, r.Code, r.Header().Get("Allow"))
		}
	}
}

func TestTheClientChoosesTheFormat(t *testing.T) {
	h := NewMetrics(Sources{}).Handler()
	for accept, format := range map[string]string{
		"application/openmetrics-text;version=1.0.0": "application/openmetrics-text",
		"text/plain;version=0.0.4":                   "text/plain",
		"":                                           "text/plain",
	} {
		r, request := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/metrics", nil)
		request.Header.Set("Accept", accept)
		h.ServeHTTP(r, request)
		if got := r.Header().Get("Content-Type"); r.Code != http.StatusOK || !strings.HasPrefix(got, format) {
			t.Errorf("Accept: %s was answered with %d and %s", accept, r.Code, got)
		}
		if ends := strings.HasSuffix(r.Body.String(), "# EOF\n"); ends != strings.Contains(format, "openmetrics") {
			t.Errorf("Accept: %s: the end of OpenMetrics is there: %t", accept, ends)
		}
	}
}

func TestNoMetricsCountNothing(t *testing.T) {
	var m *Metrics
	m.Call("a", OutcomeOK, time.Second)
	m.Request("ping", 200, time.Second, 1, 1)
	r := httptest.NewRecorder()
	m.Handler().ServeHTTP(r, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if r.Code != http.StatusNotFound {
		t.Errorf("the answer is %d, want 404", r.Code)
	}
}
