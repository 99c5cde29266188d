package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

const scope = "github.com/conch-mcp/conch"

// endpoints are the variables that turn tracing on, the one that goes before
// the other first.
var endpoints = []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"}

// Tracing sends spans to a collector. A nil *Tracing makes none, and hands
// trace context on as it came. It is safe for concurrent use.
type Tracing struct {
	tracer   trace.Tracer
	batches  sdktrace.SpanProcessor
	exporter *exporter
}

// NewTracing sets tracing up as the standard OTEL_ variables of the
// environment say. It returns nil where they do not ask for traces.
func NewTracing(ctx context.Context, version string, log *slog.Logger) (*Tracing, error) {
	if !wanted() {
		return nil, nil
	}
	if err := checkEnvironment(); err != nil {
		return nil, err
	}
	about, err := describe(ctx, version)
	if err != nil {
		// What could be read of the variables is in it.
		log.Warn("traces lack some of OTEL_RESOURCE_ATTRIBUTES", "err", err)
	}
	otlp, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("setting up the export of traces: %w", err)
	}
	exporter := newExporter(otlp, log)
	batches := sdktrace.NewBatchSpanProcessor(exporter)
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithSpanProcessor(batches))
	return &Tracing{
		tracer:   provider.Tracer(scope, trace.WithInstrumentationVersion(version)),
		batches:  batches,
		exporter: exporter,
	}, nil
}

// wanted reports whether the environment asks for traces.
func wanted() bool {
	if strings.EqualFold(variable("OTEL_SDK_DISABLED"), "true") || variable("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	for _, name := range endpoints {
		if variable(name) != "" {
			return true
		}
	}
	return false
}

// checkEnvironment finds what the library would pass over in silence: it sends
// to localhost where it cannot read an endpoint, and speaks HTTP to one of
// gRPC.
func checkEnvironment() error {
	for _, name := range endpoints {
		if value := variable(name); value != "" && !isURL(value) {
			// The value is not shown, since it may hold a password.
			return fmt.Errorf("%s is not a URL of HTTP: set it to one such as http://localhost:4318", name)
		}
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		switch value := variable(name); value {
		case "http/protobuf", "http/json":
			return nil
		case "":
		default:
			return fmt.Errorf("%s is %q, which conch does not speak: set it to http/protobuf, and the endpoint to the collector's port for HTTP (4318 as a rule)", name, value)
		}
	}
	return nil
}

// variable is the value as the library reads it.
func variable(name string) string { return strings.TrimSpace(os.Getenv(name)) }

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// describe is who the spans come from; the environment has the last word.
func describe(ctx context.Context, version string) (*resource.Resource, error) {
	return resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "conch"), attribute.String("service.version", version)),
		resource.WithFromEnv(),
	)
}

// Start begins a span. Its parent is the one the carrier names, or else that
// of ctx; where both are there, the span links to the latter. The context it
// returns is for what is done within the span.
func (t *Tracing) Start(ctx context.Context, in Carrier, name string, attrs ...attribute.KeyValue) (context.Context, *Span) {
	in = in.checked()
	s := &Span{carrier: in.or(carried(ctx))}
	if t != nil {
		ctx, s.span = t.start(ctx, in.remote(), name, attrs)
		s.carrier = s.carrier.of(ctx)
	}
	return context.WithValue(ctx, carrierKey{}, s.carrier), s
}

func (t *Tracing) start(ctx context.Context, remote trace.SpanContext, name string, attrs []attribute.KeyValue) (context.Context, trace.Span) {
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(encodable(attrs)...)}
	if remote.IsValid() {
		if local := trace.SpanContextFromContext(ctx); local.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: local}))
		}
		ctx = trace.ContextWithRemoteSpanContext(ctx, remote)
	}
	return t.tracer.Start(ctx, strings.ToValidUTF8(name, "?"), options...)
}

// Close sends the spans that have ended. When ctx ends, what has not been sent
// by then is given up.
func (t *Tracing) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	err := t.batches.Shutdown(ctx)
	t.exporter.wait()
	if err != nil {
		return fmt.Errorf("sending the last traces: %w", err)
	}
	return nil
}

// encodable is the attributes without bytes that would cost the whole batch:
// OTLP takes strings of UTF-8 only.
func encodable(attrs []attribute.KeyValue) []attribute.KeyValue {
	clean := make([]attribute.KeyValue, len(attrs))
	for i, a := range attrs {
		if a.Value.Type() == attribute.STRING {
			a.Value = attribute.StringValue(strings.ToValidUTF8(a.Value.AsString(), "?"))
		}
		clean[i] = a
	}
	return clean
}

// Span is one thing that takes time, from Start to End.
type Span struct {
	carrier Carrier
	span    trace.Span // nil where tracing is off
}

// Carrier is what a process that works for this span should get as
// TRACEPARENT, TRACESTATE and BAGGAGE.
func (s *Span) Carrier() Carrier { return s.carrier }

// End ends the span with how it came out, and whether that is an error.
func (s *Span) End(outcome string, err bool) {
	if s.span == nil {
		return
	}
	outcome = strings.ToValidUTF8(outcome, "?")
	s.span.SetAttributes(attribute.String("conch.outcome", outcome))
	if err {
		s.span.SetAttributes(attribute.String("error.type", outcome))
		s.span.SetStatus(codes.Error, "")
	}
	s.span.End()
}
