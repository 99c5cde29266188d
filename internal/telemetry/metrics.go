package telemetry

import (
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	// other stands for every name that has no series of its own.
	other = "other"
	// mostTools bounds what a list of tools that keeps changing can cost here
	// and in the database of whoever scrapes.
	mostTools = 1000
)

// seconds are the buckets of durations: from a tool that only echoes to one
// that takes as long as most clients wait.
var seconds = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 300}

// Metrics counts what happens in one server. A nil *Metrics counts nothing. It
// is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	tools    names
	methods  map[string]bool

	calls    *prometheus.CounterVec
	callTook *prometheus.HistogramVec

	requests    *prometheus.CounterVec
	requestTook *prometheus.HistogramVec
	in, out     prometheus.Counter
}

// NewMetrics makes the metrics of a server whose readings come from s.
func NewMetrics(s Sources) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		tools:    names{most: mostTools, known: map[string]bool{}},
		methods:  map[string]bool{},

		calls:    counters("conch_calls_total", "Tool calls that have ended, by how they ended.", "tool", "outcome"),
		callTook: durations("conch_call_duration_seconds", "How long tool calls took, the wait for a worker included.", "tool"),

		requests:    counters("conch_http_requests_total", "HTTP requests that have been answered.", "method", "status"),
		requestTook: durations("conch_http_request_duration_seconds", "How long HTTP requests took, to the end of the answer.", "method"),
		in:          counter("conch_http_request_bytes_total", "Bytes in the bodies of HTTP requests."),
		out:         counter("conch_http_response_bytes_total", "Bytes in the bodies of HTTP responses."),
	}
	for _, method := range s.Methods {
		m.methods[method] = true
	}
	m.registry.MustRegister(m.calls, m.callTook, m.requests, m.requestTook, m.in, m.out, buildInfo(s.Version),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(s.collectors()...)
	return m
}

// Call counts a tool call that has ended with one of the outcomes. The tool is
// one that the server declares, or "" where a client asked for one that it does
// not: what clients make up must not become a series.
func (m *Metrics) Call(tool, outcome string, took time.Duration) {
	if m == nil {
		return
	}
	tool = m.tools.label(tool)
	m.calls.WithLabelValues(tool, knownOutcome(outcome)).Inc()
	m.callTook.WithLabelValues(tool).Observe(took.Seconds())
}

// Request counts an HTTP request that has been answered: the method is that of
// the message in it, in and out are the bytes of the two bodies.
func (m *Metrics) Request(method string, status int, took time.Duration, in, out int64) {
	if m == nil {
		return
	}
	if !m.methods[method] {
		method = other
	}
	m.requests.WithLabelValues(method, statusLabel(status)).Inc()
	m.requestTook.WithLabelValues(method).Observe(took.Seconds())
	// A length that is not known is -1 in net/http, and a counter that is
	// taken down panics.
	m.in.Add(float64(max(in, 0)))
	m.out.Add(float64(max(out, 0)))
}

// Handler answers GET with all there is, in the text format or as OpenMetrics,
// whichever the client prefers. That of a nil *Metrics has nothing to show.
func (m *Metrics) Handler() http.Handler {
	if m == nil {
		return http.NotFoundHandler()
	}
	scrape := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			w.Header().Set("Allow", http.MethodGet)
			http.Error(w, "metrics are read with GET", http.StatusMethodNotAllowed)
			return
		}
		scrape.ServeHTTP(w, r)
	})
}

func statusLabel(status int) string {
	if status < 100 || status > 599 {
		return other
	}
	return strconv.Itoa(status)
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func durations(name, help string, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: seconds}, labels)
}

func buildInfo(version string) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "conch_build_info",
		Help:        "Always 1; the labels tell which conch this is.",
		ConstLabels: prometheus.Labels{"version": strings.ToValidUTF8(version, "?"), "goversion": runtime.Version()},
	})
	info.Set(1)
	return info
}

// names are the first few names it has been asked about.
type names struct {
	most int

	mu    sync.RWMutex
	known map[string]bool
}

// label is the name, or other for no name and for one too many.
func (n *names) label(name string) string {
	// The registry panics over what is not UTF-8.
	name = strings.ToValidUTF8(name, "?")
	if name == "" || !(n.has(name) || n.add(name)) {
		return other
	}
	return name
}

func (n *names) has(name string) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.known[name]
}

// add reports whether the name is among those known by now.
func (n *names) add(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known) < n.most {
		n.known[name] = true
	}
	return n.known[name]
}
