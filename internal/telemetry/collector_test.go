package telemetry

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// received is what a collector was sent.
type received struct {
	mu       sync.Mutex
	requests []*http.Request
	spans    []*otlp.Span
	resource map[string]string
}

func (r *received) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	var export collector.ExportTraceServiceRequest
	if err != nil || proto.Unmarshal(body, &export) != nil {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests = append(r.requests, request)
	for _, from := range export.ResourceSpans {
		r.resource = values(from.Resource.Attributes)
		for _, scope := range from.ScopeSpans {
			r.spans = append(r.spans, scope.Spans...)
		}
	}
}

// span is the one of that name.
func (r *received) span(t *testing.T, name string) *otlp.Span {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, span := range r.spans {
		if span.Name == name {
			return span
		}
	}
	t.Fatalf("the collector got no span %q but %v", name, r.spans)
	return nil
}

func values(attributes []*common.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range attributes {
		all[a.Key] = a.Value.GetStringValue()
	}
	return all
}

// collect starts a collector and tracing that sends to it, with more variables
// as pairs of name and value.
func collect(t *testing.T, variables ...string) (*received, *Tracing) {
	t.Helper()
	r := &received{}
	environment(t, append(variables, "OTEL_EXPORTER_OTLP_ENDPOINT", serve(t, r))...)
	return r, tracing(t, slog.New(slog.NewTextHandler(t.Output(), nil)))
}

func serve(t *testing.T, h http.Handler) (url string) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// environment leaves no variable of OpenTelemetry's but these.
func environment(t *testing.T, variables ...string) {
	t.Helper()
	for _, line := range os.Environ() {
		if name, _, _ := strings.Cut(line, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
			os.Unsetenv(name)
		}
	}
	for i := 0; i < len(variables); i += 2 {
		t.Setenv(variables[i], variables[i+1])
	}
}

func tracing(t *testing.T, log *slog.Logger) *Tracing {
	t.Helper()
	tracing, err := NewTracing(t.Context(), "1.2.3", log)
	if err != nil {
		t.Fatal(err)
	}
	if tracing == nil {
		t.Fatal("tracing is off")
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = tracing.Close(ctx)
	})
	return tracing
}

func closeTracing(t *testing.T, tracing *Tracing) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := tracing.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

// lines is a log to read afterwards.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
