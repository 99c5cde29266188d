package schema

import (
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/conch-mcp/conch/internal/nowait"
)

const (
	// maxDepth keeps the stack within bounds whatever the nesting of the arguments.
	maxDepth = 20_000
	// keyBytesPerStep sets what comparing whole values costs.
	keyBytesPerStep = 64
)

// evaluation is one pass over one set of arguments. With found it names all that
// is wrong, without it stops at the first defect.
type evaluation struct {
	schema *Schema
	found  *findings
	// verdictOnly is set on a pass that may end as soon as it cannot accept.
	verdictOnly bool
	path        []segment
	scopes      []*resource

	steps   int
	depth   int
	inPlace int
	// halted is why the evaluation was given up. It can only end in rejection.
	halted string
	// broken is set when that was a defect of the schema.
	broken error

	matchTime time.Duration
	timedOut  map[matchKey]struct{}
	unmatched []*finding
}

func (e *evaluation) accepts(value any) bool {
	return e.eval(e.schema.root, value, nil) && !e.unjudged()
}

// unjudged tells that some part of the verdict is missing, so that an accepting
// result means nothing: a "not" would have turned the missing part around.
func (e *evaluation) unjudged() bool { return e.halted != "" || len(e.unmatched) > 0 }

func (e *evaluation) reportUnjudged(found *findings) {
	found.merge(e.unmatched)
	if e.halted == "" && (len(e.unmatched) > 0 || !found.empty()) {
		return
	}
	reason := e.halted
	if reason == "" {
		reason = "the schema rejects it without a reason that can be named"
	}
	found.add(&finding{class: classOther, text: func() string {
		return subject(e.schema.base) + " could not be accepted: " + reason
	}})
}

// many steps take longer than most arguments do, and others have to be let run
// meanwhile.
const many = 2000

// spend accounts for work and tells whether to go on.
func (e *evaluation) spend(steps int) bool {
	if e.steps < many && e.steps+steps >= many {
		nowait.Long()
	}
	e.steps += steps
	if e.steps > e.schema.limits.steps {
		e.halt("judging it against the schema takes too much work")
	}
	return e.halted == "" && (!e.verdictOnly || len(e.unmatched) == 0)
}

func (e *evaluation) halt(reason string) bool {
	if e.halted == "" {
		e.halted = reason
	}
	return false
}

// eval judges value by n. What n evaluates of an object or array is noted in seen,
// which is nil when nobody asks.
func (e *evaluation) eval(n *node, value any, seen *coverage) bool {
	if !e.spend(1) {
		return false
	}
	if n.fixed != nil {
		return *n.fixed || e.reportForbidden(value)
	}
	if e.depth >= maxDepth {
		return e.halt("it is nested too deeply to be judged")
	}
	e.depth++
	defer e.leave(len(e.scopes))
	e.enterScope(n)
	return e.evalNode(n, value, seen)
}

func (e *evaluation) leave(scopes int) {
	e.depth--
	e.scopes = e.scopes[:scopes]
}

func (e *evaluation) enterScope(n *node) {
	if e.schema.dynamic && n.scope != nil && (len(e.scopes) == 0 || e.scopes[len(e.scopes)-1] != n.scope) {
		e.scopes = append(e.scopes, n.scope)
	}
}

// evalNode lets a value of the wrong type fail by its type alone: what else a
// schema asks is about values of the right one.
func (e *evaluation) evalNode(n *node, value any, seen *coverage) bool {
	if n.types != nil && !hasType(value, n.types) {
		return e.reportType(n, value)
	}
	if n.broken != nil {
		e.broken = n.broken
		return e.halt(n.broken.Error())
	}
	covered := seen
	if n.tracksEvaluation() {
		covered = &coverage{}
	}
	v := verdict{e: e, ok: true}
	v.and(func() bool { return e.evalEquality(n, value) })
	v.and(func() bool { return e.evalByType(n, value, covered) })
	v.and(func() bool { return e.evalReferences(n, value, covered) })
	v.and(func() bool { return e.evalCombinators(n, value, covered) })
	v.and(func() bool { return e.evalUnevaluated(n, value, covered) })
	if covered != seen {
		seen.merge(covered)
	}
	return v.ok
}

// verdict collects the outcomes of keywords, and leaves the remaining ones out
// once the answer is no and nobody asks for reasons.
type verdict struct {
	e  *evaluation
	ok bool
}

func (v *verdict) and(keyword func() bool) {
	if v.ok || v.e.found != nil {
		v.ok = keyword() && v.ok
	}
}

func hasType(value any, types []string) bool {
	actual := typeName(value)
	for _, name := range types {
		if name == actual {
			return true
		}
		if literal, ok := value.(json.Number); ok && name == "integer" && parseNumber(string(literal)).isInteger() {
			return true
		}
	}
	return false
}

func (e *evaluation) evalEquality(n *node, value any) bool {
	ok := true
	if n.enum != nil && !e.isListed(n.enum, value) {
		ok = e.reportEnum(n, value)
	}
	if n.constant != nil && string(e.key(value)) != n.constant.key {
		ok = e.reportConst(n, value)
	}
	return ok
}

func (e *evaluation) isListed(list *enumeration, value any) bool {
	if text, ok := value.(string); ok {
		_, listed := list.strings[text]
		return listed
	}
	_, listed := list.keys[string(e.key(value))]
	return listed
}

func (e *evaluation) key(value any) []byte {
	key := appendKey(nil, value)
	e.spend(len(key) / keyBytesPerStep)
	return key
}

func (e *evaluation) evalByType(n *node, value any, covered *coverage) bool {
	switch value := value.(type) {
	case map[string]any:
		return e.evalObject(n, value, covered)
	case []any:
		return e.evalArray(n, value, covered)
	case string:
		return e.evalText(n, value)
	case json.Number:
		return e.evalNumber(n, value)
	default:
		return true
	}
}

func (e *evaluation) evalNumber(n *node, literal json.Number) bool {
	rules := &n.numeric
	if rules.bounds == nil && rules.multipleOf == nil {
		return true
	}
	ok := true
	value := parseNumber(string(literal))
	for rank, b := range rules.bounds {
		if !b.admits(value.compare(b.limit)) {
			ok = e.reportRange(b, rank, literal)
		}
	}
	if rules.multipleOf != nil && !rules.multipleOf.divides(value) {
		ok = e.reportMultipleOf(rules.multipleOf, literal)
	}
	return ok
}

func (e *evaluation) evalText(n *node, text string) bool {
	rules := &n.text
	ok := true
	if rules.minLength != nil || rules.maxLength != nil {
		length := utf8.RuneCountInString(text)
		if rules.minLength != nil && length < *rules.minLength {
			ok = e.reportLength(text, "shorter than minLength", *rules.minLength)
		}
		if rules.maxLength != nil && length > *rules.maxLength {
			ok = e.reportLength(text, "longer than maxLength", *rules.maxLength)
		}
	}
	if rules.pattern != nil {
		if outcome := e.match(rules.pattern, text); outcome != matched {
			ok = e.reportPattern(rules.pattern, text, outcome)
		}
	}
	if n.format != nil && n.format.Validate(text) != nil {
		ok = e.reportFormat(n.format.Name, text)
	}
	return ok
}

// within evaluates a part of the current value, which starts a new count of the
// schemas that apply to one value.
func (e *evaluation) within(step segment, n *node, value any) bool {
	inPlace := e.inPlace
	e.inPlace = 0
	e.path = append(e.path, step)
	ok := e.eval(n, value, nil)
	e.path = e.path[:len(e.path)-1]
	e.inPlace = inPlace
	return ok
}

// alongside evaluates the current value by another node.
func (e *evaluation) alongside(n *node, value any, covered *coverage) bool {
	if e.inPlace > e.schema.nodes {
		return e.halt("the schema refers to itself without end")
	}
	e.inPlace++
	ok := e.eval(n, value, covered)
	e.inPlace--
	return ok
}

// silently evaluates for the verdict alone.
func (e *evaluation) silently(n *node, value any, covered *coverage) bool {
	found := e.found
	e.found = nil
	ok := e.alongside(n, value, covered)
	e.found = found
	return ok
}

func (e *evaluation) here() []segment {
	return slices.Clone(e.path[:min(len(e.path), maxSegments)])
}
