package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// costPerFinding weighs what naming a defect costs against the steps of judging.
const costPerFinding = 200

// report notes a defect at the current path. It always returns false, the verdict
// that goes with it.
func (e *evaluation) report(c class, rank int, text func(path []segment) string) bool {
	return e.note(c, rank, nil, text)
}

func (e *evaluation) note(c class, rank int, allowed *allowedNames, text func(path []segment) string) bool {
	// After a halt every verdict is a plain no, and no defect of the value.
	if e.found == nil || e.halted != "" {
		return false
	}
	if e.found.full(c) {
		e.found.omitted[c]++
		return false
	}
	e.spend(costPerFinding)
	path := e.here()
	e.found.add(&finding{class: c, path: path, rank: rank, allowed: allowed, text: func() string { return text(path) }})
	return false
}

func (e *evaluation) isElement() bool {
	return len(e.path) > 0 && e.path[len(e.path)-1].kind == elementSegment
}

func (e *evaluation) reportType(n *node, value any) bool {
	c := classType
	if e.isElement() {
		c = classItem
	}
	return e.report(c, rankType, func(path []segment) string {
		expected := strings.Join(n.types, " or ")
		if len(path) == 0 {
			return fmt.Sprintf("%s expected %s, got %s", rootSubject, expected, typeName(value))
		}
		return fmt.Sprintf("%s expected %s, got %s (%s)", renderPath(path), expected, actualType(value, n.types), renderJSON(value))
	})
}

// actualType explains the one case in which a value has the name of its type
// right and still fails.
func actualType(value any, expected []string) string {
	name := typeName(value)
	if name == "number" && slices.Contains(expected, "integer") {
		return "number (non-integer)"
	}
	return name
}

func (e *evaluation) reportEnum(n *node, value any) bool {
	c := classEnum
	if e.isElement() {
		c = classItem
	}
	return e.report(c, rankEnum, func(path []segment) string {
		allowed := renderList(n.enum.values, maxListBytes)
		if len(path) == 0 {
			return fmt.Sprintf("%s is none of the allowed values (allowed: %s)", rootSubject, allowed)
		}
		return fmt.Sprintf("%s=%s (allowed: %s)", renderPath(path), renderEnumValue(value), allowed)
	})
}

func renderEnumValue(value any) string {
	if text, ok := value.(string); ok {
		return `"` + shorten(text, maxValueRunes) + `"`
	}
	return renderJSON(value)
}

func renderList(values []any, limit int) string {
	j := joiner{separator: ", ", limit: limit}
	for i, value := range values {
		if !j.add(renderPlain(value)) {
			return j.finish(len(values) - i)
		}
	}
	return j.finish(0)
}

func (e *evaluation) reportConst(n *node, value any) bool {
	return e.report(classOther, rankOther, func(path []segment) string {
		return subjectWithValue(path, value) + " is not " + renderJSON(n.constant.value)
	})
}

func (e *evaluation) reportForbidden(value any) bool {
	return e.report(classOther, rankOther, func(path []segment) string {
		return subjectWithValue(path, value) + " is not allowed here"
	})
}

func (e *evaluation) reportNot(value any) bool { return e.reportForbidden(value) }

func (e *evaluation) reportRange(b bound, rank int, literal json.Number) bool {
	return e.report(classRange, rank, func(path []segment) string {
		return fmt.Sprintf("%s %s %s", subjectWithValue(path, literal), b.relation, shorten(b.limit.literal, maxValueRunes))
	})
}

func (e *evaluation) reportMultipleOf(d *divisor, literal json.Number) bool {
	return e.report(classOther, rankOther, func(path []segment) string {
		return fmt.Sprintf("%s is not a multiple of %s", subjectWithValue(path, literal), shorten(d.value.literal, maxValueRunes))
	})
}

func (e *evaluation) reportLength(text, relation string, limit int) bool {
	return e.report(classOther, rankOther, func(path []segment) string {
		return fmt.Sprintf("%s is %s %d", subjectWithValue(path, text), relation, limit)
	})
}

func (e *evaluation) reportFormat(format, text string) bool {
	return e.report(classOther, rankOther, func(path []segment) string {
		return fmt.Sprintf("%s is not a valid %s", subjectWithValue(path, text), format)
	})
}

func (e *evaluation) reportPattern(p *pattern, text string, outcome outcome) bool {
	if outcome != notMatched {
		return e.noteUnmatched(p, outcome, func(path []segment) string { return subjectWithValue(path, text) })
	}
	return e.report(classPattern, rankOther, func(path []segment) string {
		return subjectWithValue(path, text) + " does not match pattern " + renderPattern(p.source)
	})
}

// noteUnmatched keeps a match that ran out of time apart from the findings of the
// branch it happened in: it decides the whole evaluation.
func (e *evaluation) noteUnmatched(p *pattern, outcome outcome, subject func(path []segment) string) bool {
	if len(e.unmatched) >= maxFindings {
		return false
	}
	limit := matchTimeout.String()
	if outcome == outOfBudget {
		limit = e.schema.limits.matching.String() + " for all values together"
	}
	path := e.here()
	e.unmatched = append(e.unmatched, &finding{class: classPattern, path: path, rank: rankOther, text: func() string {
		return fmt.Sprintf("%s could not be matched against pattern %s within %s", subject(path), renderPattern(p.source), limit)
	}})
	return false
}

func (e *evaluation) reportSize(size, relation string, limit int) bool {
	return e.report(classOther, rankOther, func(path []segment) string {
		return fmt.Sprintf("%s has %s, %s %d", subject(path), size, relation, limit)
	})
}

func (e *evaluation) reportRepeated(earlier, later int) bool {
	return e.report(classOther, rankOther, func(path []segment) string {
		return fmt.Sprintf("%s has equal items at [%d] and [%d] but uniqueItems is set", subject(path), earlier, later)
	})
}

func (e *evaluation) reportContains(count int, relation string, limit int) bool {
	return e.report(classOther, rankOther, func(path []segment) string {
		return fmt.Sprintf("%s has %s that match contains, %s %d", subject(path), plural(count, "item", "items"), relation, limit)
	})
}

func (e *evaluation) reportMissing(name string, rank int) bool {
	return e.report(classMissing, rank, func(path []segment) string {
		return renderPath(append(path, segment{name: name}))
	})
}

func (e *evaluation) reportDependency(name, trigger string) bool {
	return e.report(classOther, rankOther, func(path []segment) string {
		absent, present := append(path, segment{name: name}), append(slices.Clone(path), segment{name: trigger})
		return fmt.Sprintf("%s is required when %s is present", renderPath(absent), renderPath(present))
	})
}

func (e *evaluation) reportUnknown(name string, rules *objectRules) bool {
	return e.unknown(name, allowedNames{rules: rules})
}

func (e *evaluation) reportUnevaluated(name string, n *node) bool {
	return e.unknown(name, allowedNames{node: n})
}

func (e *evaluation) unknown(name string, allowed allowedNames) bool {
	if e.found == nil || e.found.full(classUnknown) {
		return e.note(classUnknown, rankOther, nil, nil)
	}
	allowed.object = e.here()
	e.path = append(e.path, segment{name: name})
	e.note(classUnknown, rankOther, &allowed, renderPath)
	e.path = e.path[:len(e.path)-1]
	return false
}

func (e *evaluation) reportName(n *node, name string) bool {
	if e.found == nil {
		return false
	}
	reasons := newFindings(maxCauses)
	e.nameConforms(n, name, reasons)
	text := joinTexts(reasons.causes(), "; ", maxListBytes)
	return e.report(classOther, rankOther, func(path []segment) string {
		return fmt.Sprintf("the parameter name %s is not allowed in %s: %s", quote(name, maxNameRunes), subject(path), text)
	})
}

// reportNoAlternative evaluates the alternatives once more, this time for their
// reasons, and puts those into words at once: kept as findings, nested alternatives
// would pile up without bound.
func (e *evaluation) reportNoAlternative(alternatives []*node, value any, covered *coverage) bool {
	if e.found == nil || e.found.full(classOther) {
		return e.report(classOther, rankOther, nil)
	}
	found := e.found
	var reasons []string
	for _, alternative := range alternatives {
		e.found = newFindings(maxCauses)
		// What a failed alternative looked at is not unknown, it is what failed.
		e.alongside(alternative, value, covered)
		for _, reason := range e.found.causes() {
			if !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
		}
	}
	e.found = found
	text := joinTexts(reasons, "; ", maxListBytes)
	return e.report(classOther, rankOther, func(path []segment) string {
		return subject(path) + " matches none of the allowed alternatives: " + text
	})
}

func (e *evaluation) reportAmbiguous(value any) bool {
	return e.report(classOther, rankOther, func(path []segment) string {
		return subjectWithValue(path, value) + " matches more than one of the alternatives of which exactly one is allowed"
	})
}

func plural(count int, one, many string) string {
	if count == 1 {
		return "1 " + one
	}
	return decimal(count) + " " + many
}

func decimal(count int) string { return strconv.Itoa(count) }
