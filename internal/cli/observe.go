package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/httpd"
	"github.com/conch-mcp/conch/internal/listen"
	"github.com/conch-mcp/conch/internal/shell"
	"github.com/conch-mcp/conch/internal/telemetry"
)

// observer has what a server does counted and traced, as far as anybody asked.
type observer struct {
	metrics *telemetry.Metrics // nil without --metrics
	tracing *telemetry.Tracing // nil unless the environment wants traces
	log     *slog.Logger
}

// runCall is how a tool is run; see [call.Runner.Run].
type runCall func(context.Context, call.Call) (call.Outcome, error)

// run has a call counted, and be a span that the tool may have spans of its own
// below.
func (o *observer) run(next runCall) runCall {
	return func(ctx context.Context, c call.Call) (call.Outcome, error) {
		start := time.Now()
		tool, isTool := strings.CutPrefix(c.Function, "tool_")
		if !isTool {
			return next(ctx, c)
		}
		ctx, span := o.tracing.Start(ctx, telemetry.Carrier(c.Trace), "tools/call "+tool,
			attribute.String("mcp.method.name", "tools/call"), attribute.String("gen_ai.tool.name", tool))
		c.Trace = shell.Trace(span.Carrier())
		outcome, err := next(ctx, c)
		word := outcomeWord(ctx, outcome, err)
		if word == telemetry.OutcomeOK && c.Failed != nil && c.Failed(outcome) {
			word = telemetry.OutcomeError
		}
		span.End(word, word != telemetry.OutcomeOK)
		o.metrics.Call(tool, word, time.Since(start))
		return outcome, err
	}
}

// invalid counts a call whose arguments were refused.
func (o *observer) invalid(tool string) { o.metrics.Call(tool, telemetry.OutcomeInvalid, 0) }

func outcomeWord(ctx context.Context, o call.Outcome, err error) string {
	switch {
	case ctx.Err() != nil, o.End == call.Cancelled:
		return telemetry.OutcomeCancelled
	case err != nil, o.Hook != nil:
		return telemetry.OutcomeRefused
	case o.End == call.TimedOut:
		return telemetry.OutcomeTimeout
	case o.End == call.Overflowed:
		return telemetry.OutcomeOverflow
	case o.End == call.Lost:
		return telemetry.OutcomeLost
	case o.Status != 0:
		return telemetry.OutcomeError
	}
	return telemetry.OutcomeOK
}

// close sends what has not been sent yet.
func (o *observer) close() {
	ctx, cancel := context.WithTimeout(context.Background(), lastTraces)
	defer cancel()
	if err := o.tracing.Close(ctx); err != nil {
		o.log.Warn(err.Error())
	}
}

// lastTraces is how long the last traces may take to be sent.
const lastTraces = 3 * time.Second

// startTracing turns traces on if the environment wants them.
func (o *observer) startTracing(ctx context.Context) (err error) {
	if o.tracing, err = telemetry.NewTracing(ctx, buildVersion(), o.log); err != nil {
		return fmt.Errorf("set up traces: %w", err)
	}
	return nil
}

// countedMethods are those that requests are told apart by.
var countedMethods = []string{
	"server/discover", "initialize", "ping", "tools/list", "tools/call", "logging/setLevel",
	"resources/list", "resources/templates/list", "resources/read", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen",
	"prompts/list", "prompts/get", "completion/complete", "notifications/initialized", "notifications/cancelled",
}

// startMetrics makes metrics of a server on the network.
func (o *observer) startMetrics(s *shell.Server, endpoint *httpd.Handler, conns *listen.Conns) {
	o.metrics = telemetry.NewMetrics(telemetry.Sources{
		Version: buildVersion(), Methods: countedMethods,
		Queue:       func() int { return s.Stats().Waiting },
		Workers:     func() (idle, busy int) { stats := s.Stats(); return stats.Idle, stats.Busy },
		Forks:       func() uint64 { return s.Stats().Forks },
		Sessions:    endpoint.Sessions,
		Connections: func() (open, busy int) { stats := conns.Stats(); return stats.Open, stats.Busy },
		Dropped:     func() int64 { return conns.Stats().Dropped },
	})
}

// seen counts an HTTP request.
func (o *observer) seen(r httpd.Seen) { o.metrics.Request(r.Method, r.Status, r.Took, r.In, r.Out) }

// serveMetrics serves metrics and health on an address of their own until ctx
// ends.
func (o *observer) serveMetrics(ctx context.Context, on listen.Options, health *httpd.Server) (stop func(), err error) {
	on.Log = o.log
	l, err := listen.Open(ctx, on)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", o.metrics.Handler())
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !health.ServeHealth(w, r) {
			http.NotFound(w, r)
		}
	})
	server := &http.Server{
		Handler: mux, ReadHeaderTimeout: metricsTimeout, ReadTimeout: metricsTimeout, WriteTimeout: metricsTimeout,
		ErrorLog: slog.NewLogLogger(o.log.Handler(), slog.LevelDebug),
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	o.log.Info("listening for metrics", "address", l.Addr().String())
	return func() {
		_ = server.Close()
		<-done
	}, nil
}

// metricsTimeout is how long a scrape may take.
const metricsTimeout = 10 * time.Second
