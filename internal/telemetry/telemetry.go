// Package telemetry is what a running server tells about itself: numbers for
// Prometheus to scrape, and traces for an OpenTelemetry collector.
//
// It must not know what a tool or a method means, how a call runs, or where
// the numbers are served: callers hand names and readings in, and put the
// handler wherever they listen. It changes nothing that a process has only one
// of (registry, tracer provider, error handler), so that servers in one
// process keep their numbers apart.
package telemetry

// How a call ended. What is none of these is counted as an error.
const (
	OutcomeOK        = "ok"
	OutcomeError     = "error"     // the tool says so, or its exit status
	OutcomeTimeout   = "timeout"   // it ran for longer than it may
	OutcomeOverflow  = "overflow"  // it printed more than it may
	OutcomeCancelled = "cancelled" // the client wants no answer any more
	OutcomeRefused   = "refused"   // it never ran: no room, or no right to
	OutcomeLost      = "lost"      // what ran it died
	OutcomeInvalid   = "invalid"   // no such tool, or arguments it does not take
)

func knownOutcome(outcome string) string {
	switch outcome {
	case OutcomeOK, OutcomeTimeout, OutcomeOverflow, OutcomeCancelled, OutcomeRefused, OutcomeLost, OutcomeInvalid:
		return outcome
	}
	return OutcomeError
}
