package telemetry

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
)

func TestTheCollectorReceivesTheSpan(t *testing.T) {
	r, on := collect(t)
	_, span := on.Start(t.Context(), Carrier{}, "tools/call greet", attribute.String("tool", "greet"), attribute.Int("bytes", 7))
	span.End(OutcomeOK, false)
	_, span = on.Start(t.Context(), Carrier{}, "tools/call fail")
	span.End(OutcomeTimeout, true)
	closeTracing(t, on)

	got := r.span(t, "tools/call greet")
	if a := values(got.Attributes); a["tool"] != "greet" || a["conch.outcome"] != "ok" || a["error.type"] != "" {
		t.Errorf("the attributes are %q", a)
	}
	if got.Kind != otlp.Span_SPAN_KIND_SERVER || got.Status.GetCode() != otlp.Status_STATUS_CODE_UNSET {
		t.Errorf("the kind is %v, the status %v", got.Kind, got.Status)
	}
	if got.EndTimeUnixNano < got.StartTimeUnixNano || len(got.TraceId) != 16 || len(got.ParentSpanId) != 0 {
		t.Errorf("the span is %v", got)
	}
	failed := r.span(t, "tools/call fail")
	if a := values(failed.Attributes); a["conch.outcome"] != "timeout" || a["error.type"] != "timeout" || failed.Status.GetCode() != otlp.Status_STATUS_CODE_ERROR {
		t.Errorf("what failed is %v", failed)
	}
	if path := r.requests[0].URL.Path; path != "/v1/traces" {
		t.Errorf("it was sent to %s", path)
	}
	if r.resource["service.name"] != "conch" || r.resource["service.version"] != "1.2.3" {
		t.Errorf("the service is %q", r.resource)
	}
}

func TestSpansKnowTheirParents(t *testing.T) {
	r, on := collect(t)
	ctx, outer := on.Start(t.Context(), Carrier{traceparent, "a=1,b=2", "user=alice"}, "outer")
	_, inner := on.Start(ctx, Carrier{}, "inner")
	_, root := on.Start(t.Context(), Carrier{Traceparent: "00-invalid", Tracestate: "a=1", Baggage: "c=d"}, "root")
	for _, span := range []*Span{inner, outer, root} {
		span.End(OutcomeOK, false)
	}
	closeTracing(t, on)

	o, i, top := r.span(t, "outer"), r.span(t, "inner"), r.span(t, "root")
	if hex.EncodeToString(o.TraceId) != traceID || hex.EncodeToString(o.ParentSpanId) != parentID || o.TraceState != "a=1,b=2" {
		t.Errorf("the parent of outer is not the one of the request: %v", o)
	}
	if string(i.TraceId) != string(o.TraceId) || string(i.ParentSpanId) != string(o.SpanId) {
		t.Errorf("the parent of inner is not outer: %v", i)
	}
	if len(top.ParentSpanId) != 0 || hex.EncodeToString(top.TraceId) == traceID {
		t.Errorf("root has a parent: %v", top)
	}
	for _, c := range []struct {
		span           *Span
		sent           *otlp.Span
		state, baggage string
	}{{outer, o, "a=1,b=2", "user=alice"}, {inner, i, "a=1,b=2", "user=alice"}, {root, top, "", "c=d"}} {
		parent := fmt.Sprintf("00-%x-%x-%02x", c.sent.TraceId, c.sent.SpanId, c.sent.Flags&0xff)
		if got, want := c.span.Carrier(), (Carrier{parent, c.state, c.baggage}); got != want {
			t.Errorf("%s: a process would get %q, want %q", c.sent.Name, got, want)
		}
		if c.sent.Flags&1 == 0 {
			t.Errorf("%s goes on as not sampled", c.sent.Name)
		}
	}
}

func TestAStateThatIsNoneIsNotHandedOn(t *testing.T) {
	r, on := collect(t)
	_, span := on.Start(t.Context(), Carrier{traceparent, "no state at all", ""}, "span")
	span.End(OutcomeOK, false)
	closeTracing(t, on)
	if got := r.span(t, "span"); hex.EncodeToString(got.ParentSpanId) != parentID || got.TraceState != "" {
		t.Errorf("the span is %v", got)
	}
	if got := span.Carrier(); got.Tracestate != "" {
		t.Errorf("a process would get %q", got)
	}
}

func TestASpanWithTwoParentsLinksToTheNearOne(t *testing.T) {
	r, on := collect(t)
	ctx, near := on.Start(t.Context(), Carrier{}, "near")
	_, span := on.Start(ctx, Carrier{Traceparent: traceparent}, "span")
	span.End(OutcomeOK, false)
	near.End(OutcomeOK, false)
	closeTracing(t, on)
	got := r.span(t, "span")
	if hex.EncodeToString(got.ParentSpanId) != parentID {
		t.Errorf("the parent is not the one of the request: %v", got)
	}
	if len(got.Links) != 1 || string(got.Links[0].SpanId) != string(r.span(t, "near").SpanId) {
		t.Errorf("the links are %v", got.Links)
	}
}

func TestTheEnvironmentHasTheLastWord(t *testing.T) {
	r, on := collect(t,
		"OTEL_SERVICE_NAME", "mine", "OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,service.version=9,service.name=no",
		"OTEL_TRACES_SAMPLER", "parentbased_always_off", "OTEL_EXPORTER_OTLP_HEADERS", "x-key=secret")
	_, asked := on.Start(t.Context(), Carrier{Traceparent: traceparent}, "asked for")
	_, alone := on.Start(t.Context(), Carrier{}, "alone")
	asked.End(OutcomeOK, false)
	alone.End(OutcomeOK, false)
	closeTracing(t, on)

	r.span(t, "asked for")
	if len(r.spans) != 1 {
		t.Errorf("the sampler let %d spans through", len(r.spans))
	}
	if got := alone.Carrier().Traceparent; !ParseTraceparent(got) || !(strings.HasSuffix(got, "-00") || strings.HasSuffix(got, "-02")) {
		t.Errorf("what is not sampled goes on as %q", got)
	}
	if r.resource["service.name"] != "mine" || r.resource["deployment.environment.name"] != "test" || r.resource["service.version"] != "9" {
		t.Errorf("the service is %q", r.resource)
	}
	if got := r.requests[0].Header.Get("X-Key"); got != "secret" {
		t.Errorf("the header is %q", got)
	}
}

func TestBytesThatAreNoTextCostNoSpan(t *testing.T) {
	r, on := collect(t)
	_, span := on.Start(t.Context(), Carrier{}, "a\xff", attribute.String("tool", "b\xff"))
	span.End("c\xff", true)
	closeTracing(t, on)
	if a := values(r.span(t, "a?").Attributes); a["tool"] != "b?" || a["conch.outcome"] != "c?" {
		t.Errorf("the attributes are %q", a)
	}
}

func TestWhenTracingIsOn(t *testing.T) {
	const general, own, url = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:4318"
	for _, c := range []struct {
		variables []string
		on        bool
		problem   string
	}{
		{nil, false, ""},
		{[]string{"OTEL_SERVICE_NAME", "a"}, false, ""},
		{[]string{general, ""}, false, ""},
		{[]string{general, url}, true, ""},
		{[]string{own, " " + url + "/v1/traces "}, true, ""},
		{[]string{general, url, "OTEL_SDK_DISABLED", "false"}, true, ""},
		{[]string{general, url, "OTEL_SDK_DISABLED", "true"}, false, ""},
		{[]string{own, url, "OTEL_SDK_DISABLED", "TRUE"}, false, ""},
		{[]string{general, "nonsense", "OTEL_SDK_DISABLED", "true"}, false, ""},
		{[]string{general, url, "OTEL_TRACES_EXPORTER", "none"}, false, ""},
		{[]string{general, "127.0.0.1:4318"}, false, general},
		{[]string{own, "localhost:4318"}, false, own},
		{[]string{own, "http://"}, false, own},
		{[]string{own, "ftp://u:secret@host"}, false, own},
		{[]string{general, url, "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}, false, "OTEL_EXPORTER_OTLP_PROTOCOL"},
		{[]string{general, url, "OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf"}, true, ""},
		{[]string{general, url, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc"}, false, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"},
	} {
		t.Run(strings.Join(c.variables, " "), func(t *testing.T) {
			environment(t, c.variables...)
			got, err := NewTracing(t.Context(), "1", slog.New(slog.DiscardHandler))
			if (got != nil) != c.on || (err != nil) != (c.problem != "") {
				t.Fatalf("got %v, %v", got, err)
			}
			if err != nil && (!strings.HasPrefix(err.Error(), c.problem+" ") || strings.Contains(err.Error(), "secret")) {
				t.Errorf("the error is: %v", err)
			}
			closeTracing(t, got)
		})
	}
}

func TestAttributesThatCannotBeReadAreLogged(t *testing.T) {
	r := &received{}
	environment(t, "OTEL_EXPORTER_OTLP_ENDPOINT", serve(t, r), "OTEL_RESOURCE_ATTRIBUTES", "good=1,bad")
	var log lines
	on := tracing(t, log.logger())
	_, span := on.Start(t.Context(), Carrier{}, "span")
	span.End(OutcomeOK, false)
	closeTracing(t, on)
	if r.span(t, "span"); r.resource["good"] != "1" {
		t.Errorf("the resource is %q", r.resource)
	}
	if !strings.Contains(log.String(), "OTEL_RESOURCE_ATTRIBUTES") {
		t.Errorf("the log is %q", &log)
	}
}

func TestACollectorThatHangsHoldsNobodyUp(t *testing.T) {
	asked, release := make(chan struct{}, 1), make(chan struct{})
	url := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}
		<-release
	}))
	t.Cleanup(func() { close(release) })
	environment(t, "OTEL_EXPORTER_OTLP_ENDPOINT", url, "OTEL_BSP_SCHEDULE_DELAY", "1", "OTEL_BSP_MAX_QUEUE_SIZE", "8", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4",
		"OTEL_EXPORTER_OTLP_TIMEOUT", "600000", "OTEL_BSP_EXPORT_TIMEOUT", "600000")
	var log lines
	on := tracing(t, log.logger())

	within(t, "the first span", func() { startAndEnd(t, on, 1) })
	within(t, "the export", func() { <-asked })
	within(t, "spans during the export", func() { startAndEnd(t, on, 1000) })

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	within(t, "Close", func() {
		if err := on.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close has returned %v", err)
		}
	})
	if !strings.Contains(log.String(), "traces could not be sent") {
		t.Errorf("the log is %q", &log)
	}
	within(t, "what comes after Close", func() {
		startAndEnd(t, on, 100)
		if err := on.Close(t.Context()); err != nil {
			t.Errorf("the second Close has returned %v", err)
		}
	})
}

func TestCloseInAContextThatHasEnded(t *testing.T) {
	_, on := collect(t)
	startAndEnd(t, on, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	within(t, "Close", func() { _ = on.Close(ctx) })
}

func TestACollectorThatRefusesIsLoggedOnce(t *testing.T) {
	var unhandled atomic.Int32
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(error) { unhandled.Add(1) }))
	t.Cleanup(func() { otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { slog.Error(err.Error()) })) })
	var refused atomic.Int32
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		refused.Add(1)
		http.Error(w, "go away "+strings.Repeat("é", 5000), http.StatusForbidden)
	}))
	environment(t, "OTEL_EXPORTER_OTLP_ENDPOINT", url, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")
	var log lines
	on := tracing(t, log.logger())
	startAndEnd(t, on, 10)
	closeTracing(t, on)

	if n := refused.Load(); n != 5 {
		t.Errorf("the collector was asked %d times, want 5", n)
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "level=WARN") || !strings.Contains(got, "spans=2") || !strings.Contains(got, "go away") || len(got) > 2000 {
		t.Errorf("the log is %q", got)
	}
	if n := unhandled.Load(); n != 0 {
		t.Errorf("%d errors went to the handler of the whole process", n)
	}
}

func TestTracingLeavesTheProcessAlone(t *testing.T) {
	before := otel.GetTracerProvider()
	_, on := collect(t)
	startAndEnd(t, on, 1)
	if otel.GetTracerProvider() != before {
		t.Error("the global provider is another one")
	}
}

func startAndEnd(t *testing.T, on *Tracing, n int) {
	for range n {
		_, span := on.Start(t.Context(), Carrier{Traceparent: traceparent}, "span")
		span.End(OutcomeOK, false)
	}
}

// within fails the test when f takes for ever.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatalf("%s is held up", what)
	}
}
