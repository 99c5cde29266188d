package schema

import "time"

// outcome of a match. A match that ended for lack of time has neither matched nor
// failed to.
type outcome uint8

const (
	matched outcome = iota
	notMatched
	outOfTime
	outOfBudget
)

type matchKey struct {
	pattern *pattern
	text    string
}

// match remembers what timed out, so that an evaluation does not wait twice for
// the same answer.
func (e *evaluation) match(p *pattern, text string) outcome {
	key := matchKey{p, text}
	if _, known := e.timedOut[key]; known {
		return outOfTime
	}
	if e.matchTime > e.schema.limits.matching {
		return outOfBudget
	}
	began := time.Now()
	found, err := p.match(text)
	e.matchTime += time.Since(began)
	if err != nil {
		e.rememberTimeout(key)
		return outOfTime
	}
	if !found {
		return notMatched
	}
	return matched
}

func (e *evaluation) rememberTimeout(key matchKey) {
	if e.timedOut == nil {
		e.timedOut = map[matchKey]struct{}{}
	}
	e.timedOut[key] = struct{}{}
}
