package telemetry

import (
	"cmp"
	"context"
	"strings"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// mostCarried is what W3C Baggage asks everybody to hand on, and more than is
// asked of tracestate. Carriers end in the environment of processes, where
// room is short.
const mostCarried = 8 << 10

// version00 is the length of a traceparent of the version there is.
const version00 = len("00-00000000000000000000000000000000-0000000000000000-00")

// Carrier is the trace context that comes with a request and goes on to child
// processes, as W3C Trace Context and W3C Baggage write it. What is empty is
// not there.
type Carrier struct {
	Traceparent, Tracestate, Baggage string
}

// ParseTraceparent reports whether the text is a traceparent that can be
// handed on: of version 00, or of a later one that begins alike, in lower case,
// with ids that are not all zero.
func ParseTraceparent(text string) (ok bool) {
	// The library passes a hyphen at the end, which only later versions may have.
	if strings.HasPrefix(text, "00-") && len(text) != version00 {
		return false
	}
	return Carrier{Traceparent: text}.remote().IsValid()
}

// checked is the carrier without what is not valid. A tracestate belongs to
// its traceparent, and baggage to the request whatever the trace.
func (c Carrier) checked() Carrier {
	if !ParseTraceparent(c.Traceparent) {
		c.Traceparent, c.Tracestate = "", ""
	}
	if !plain(c.Tracestate) {
		c.Tracestate = ""
	}
	if !plain(c.Baggage) {
		c.Baggage = ""
	}
	return c
}

// or is the carrier with what outer has where it has nothing itself.
func (c Carrier) or(outer Carrier) Carrier {
	if c.Traceparent == "" {
		c.Traceparent, c.Tracestate = outer.Traceparent, outer.Tracestate
	}
	c.Baggage = cmp.Or(c.Baggage, outer.Baggage)
	return c
}

// remote is the span on the client's side, which is not valid where the
// carrier names none.
func (c Carrier) remote() trace.SpanContext {
	if c.Traceparent == "" || !plain(c.Traceparent) {
		return trace.SpanContext{}
	}
	from := propagation.MapCarrier{"traceparent": c.Traceparent, "tracestate": c.Tracestate}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), from))
}

// of is the carrier with the span of ctx in it.
func (c Carrier) of(ctx context.Context) Carrier {
	to := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, to)
	c.Traceparent, c.Tracestate = to["traceparent"], to["tracestate"]
	return c
}

// plain reports whether the text is short, and printable ASCII: anything else
// has to be escaped in every member of a carrier.
func plain(text string) bool {
	if len(text) > mostCarried {
		return false
	}
	for _, b := range []byte(text) {
		if b < ' ' || b > '~' {
			return false
		}
	}
	return true
}

// carrierKey is that of the carrier in effect in a context.
type carrierKey struct{}

func carried(ctx context.Context) Carrier {
	c, _ := ctx.Value(carrierKey{}).(Carrier)
	return c
}
