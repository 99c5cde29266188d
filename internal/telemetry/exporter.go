package telemetry

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

const (
	// quiet is how long nothing is said after a failure has been logged.
	quiet = time.Minute
	// mostSaid is how much of a failure is logged; it holds what the
	// collector answered, however long that is.
	mostSaid = 1 << 10
)

// exporter logs failures of another exporter in its place: handed on, they
// would reach the error handler of the whole process, which writes each to
// standard error.
type exporter struct {
	to       sdktrace.SpanExporter
	failures failures
	gone     chan struct{} // closed when the last export has ended
}

func newExporter(to sdktrace.SpanExporter, log *slog.Logger) *exporter {
	return &exporter{to: to, failures: failures{log: log}, gone: make(chan struct{})}
}

func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	if err := e.to.ExportSpans(ctx, spans); err != nil {
		e.failures.add(err, len(spans))
	}
	return nil
}

// Shutdown is called once, when there is nothing left to export.
func (e *exporter) Shutdown(ctx context.Context) error {
	defer close(e.gone)
	return e.to.Shutdown(ctx)
}

// wait breaks off the export that is under way, if any, and returns when all
// is over. It is for after the shutdown of the batches, which returns at the
// end of its context and leaves its goroutine behind.
func (e *exporter) wait() {
	_ = e.to.Shutdown(context.Background())
	<-e.gone
}

// failures logs that spans are lost, once in a while.
type failures struct {
	log *slog.Logger

	mu     sync.Mutex
	logged time.Time
	spans  int // lost since then
}

func (f *failures) add(err error, spans int) {
	if lost, due := f.count(spans); due {
		f.log.Warn("traces could not be sent", "spans", lost, "err", shorten(err.Error()))
	}
}

// count adds to the spans that are lost. When it is time to say so, it returns
// how many there are and begins anew.
func (f *failures) count(spans int) (lost int, due bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spans += spans
	if !f.logged.IsZero() && time.Since(f.logged) < quiet {
		return 0, false
	}
	lost, f.spans, f.logged = f.spans, 0, time.Now()
	return lost, true
}

func shorten(text string) string {
	if len(text) > mostSaid {
		return strings.ToValidUTF8(text[:mostSaid], "") + "…"
	}
	return text
}
