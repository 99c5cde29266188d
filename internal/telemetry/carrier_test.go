package telemetry

import (
	"regexp"
	"strings"
	"testing"
)

const (
	traceID     = "0af7651916cd43dd8448eb211c80319c"
	parentID    = "b7ad6b7169203331"
	traceparent = "00-" + traceID + "-" + parentID + "-01"
)

func TestTraceparents(t *testing.T) {
	for text, ok := range map[string]bool{
		traceparent:                                                           true,
		"00-" + traceID + "-" + parentID + "-00":                              true,
		"00-" + traceID + "-" + parentID + "-03":                              true,
		"01-" + traceID + "-" + parentID + "-01":                              true,
		"fe-" + traceID + "-" + parentID + "-ff-what=ever":                    true,
		"fe-" + traceID + "-" + parentID + "-01-" + strings.Repeat("a", 8100): true,

		"":                                       false,
		"00":                                     false,
		" " + traceparent:                        false,
		traceparent + " ":                        false,
		traceparent + "\n":                       false,
		traceparent + "-":                        false,
		traceparent + "-a":                       false,
		strings.ToUpper(traceparent):             false,
		"ff-" + traceID + "-" + parentID + "-01": false,
		"0-" + traceID + "-" + parentID + "-01":  false,
		"0g-" + traceID + "-" + parentID + "-01": false,
		"00-" + strings.Repeat("0", 32) + "-" + parentID + "-01":              false,
		"00-" + traceID + "-" + strings.Repeat("0", 16) + "-01":               false,
		"00-" + traceID[1:] + "-" + parentID + "-01":                          false,
		"00-" + traceID + "0-" + parentID + "-01":                             false,
		"00-" + traceID + "-" + parentID + "0-01":                             false,
		"00-" + traceID + "-" + parentID + "-1":                               false,
		"00-" + traceID + "-" + parentID:                                      false,
		"00_" + traceID + "_" + parentID + "_01":                              false,
		"00-" + traceID + "-" + parentID + "-\x001":                           false,
		"01-" + traceID + "-" + parentID + "-01.a":                            false,
		"01-" + traceID + "-" + parentID + "-01-a\nb":                         false,
		"01-" + traceID + "-" + parentID + "-01-a\x00":                        false,
		"01-" + traceID + "-" + parentID + "-01-é":                            false,
		"01-" + traceID + "-" + parentID + "-01-" + strings.Repeat("a", 8200): false,
	} {
		if got := ParseTraceparent(text); got != ok {
			t.Errorf("%q: got %t, want %t", text, got, ok)
		}
	}
}

// What the specification of Trace Context says, in a notation of its own.
var specified = regexp.MustCompile(`^(00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]|([1-9a-e][0-9a-f]|0[1-9a-f]|f[0-9a-e])-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(-[ -~]*)?)$`)

func FuzzParseTraceparent(f *testing.F) {
	for _, text := range []string{traceparent, "", "cc-" + traceID + "-" + parentID + "-01-more", "ff" + traceparent[2:], traceparent + "\n", strings.ToUpper(traceparent)} {
		f.Add(text)
	}
	zeros := regexp.MustCompile(`^..-(0{32}|.{32}-0{16}-)`)
	f.Fuzz(func(t *testing.T, text string) {
		want := specified.MatchString(text) && !zeros.MatchString(text) && len(text) <= 8<<10
		if got := ParseTraceparent(text); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
	})
}

func FuzzCarrier(f *testing.F) {
	f.Add(traceparent, "a=1,b=2", "k=v")
	f.Add("no", "a=\x01", "k=\n")
	harmless := regexp.MustCompile(`^[ -~]{0,1000}[ -~]{0,1000}[ -~]{0,1000}[ -~]{0,1000}[ -~]{0,1000}[ -~]{0,1000}[ -~]{0,1000}[ -~]{0,1000}[ -~]{0,192}$`)
	f.Fuzz(func(t *testing.T, parent, state, baggage string) {
		in := Carrier{parent, state, baggage}
		_, span := (*Tracing)(nil).Start(t.Context(), in, "name")
		out := span.Carrier()
		for _, pair := range [][2]string{{parent, out.Traceparent}, {state, out.Tracestate}, {baggage, out.Baggage}} {
			if pair[1] != "" && (pair[1] != pair[0] || !harmless.MatchString(pair[1])) {
				t.Errorf("%q was handed on as %q", pair[0], pair[1])
			}
		}
		if out.Traceparent == "" && out.Tracestate != "" {
			t.Errorf("a tracestate went on without its traceparent: %q", out.Tracestate)
		}
	})
}

func TestWithoutTracingTheCarrierGoesOnAsItCame(t *testing.T) {
	const state, baggage = "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7", "userId=alice,serverNode=DF%2028;a=b"
	long := strings.Repeat("a", 8<<10+1)
	for name, c := range map[string]struct{ in, want Carrier }{
		"all of it":              {Carrier{traceparent, state, baggage}, Carrier{traceparent, state, baggage}},
		"nothing":                {},
		"an invalid parent":      {Carrier{"00-x", state, baggage}, Carrier{"", "", baggage}},
		"no parent":              {Carrier{"", state, baggage}, Carrier{"", "", baggage}},
		"a later version":        {Carrier{"cc" + traceparent[2:] + "-more", state, ""}, Carrier{"cc" + traceparent[2:] + "-more", state, ""}},
		"lines in the state":     {Carrier{traceparent, "a=1\nb=2", baggage}, Carrier{traceparent, "", baggage}},
		"lines in the baggage":   {Carrier{traceparent, state, "a=1\r\nb=2"}, Carrier{traceparent, state, ""}},
		"letters in the baggage": {Carrier{traceparent, state, "a=é"}, Carrier{traceparent, state, ""}},
		"DEL in the baggage":     {Carrier{traceparent, state, "a=\x7f"}, Carrier{traceparent, state, ""}},
		"a long state":           {Carrier{traceparent, long, baggage}, Carrier{traceparent, "", baggage}},
		"a long baggage":         {Carrier{traceparent, state, long}, Carrier{traceparent, state, ""}},
		"baggage that just fits": {Carrier{traceparent, state, long[1:]}, Carrier{traceparent, state, long[1:]}},
	} {
		t.Run(name, func(t *testing.T) {
			var off *Tracing
			ctx, span := off.Start(t.Context(), c.in, "outer")
			if got := span.Carrier(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			_, inner := off.Start(ctx, Carrier{}, "inner")
			if got := inner.Carrier(); got != c.want {
				t.Errorf("within it: got %q, want %q", got, c.want)
			}
			inner.End(OutcomeOK, false)
			span.End(OutcomeError, true)
		})
	}
}

func TestTheInnerCarrierGoesBeforeTheOuter(t *testing.T) {
	var off *Tracing
	inner := Carrier{Traceparent: strings.Replace(traceparent, "0af7", "1af7", 1)}
	ctx, _ := off.Start(t.Context(), Carrier{traceparent, "a=1", "b=2"}, "outer")
	_, span := off.Start(ctx, inner, "inner")
	if want := (Carrier{inner.Traceparent, "", "b=2"}); span.Carrier() != want {
		t.Errorf("got %q, want %q", span.Carrier(), want)
	}
}
