package schema

func (e *evaluation) evalObject(n *node, object map[string]any, covered *coverage) bool {
	rules := &n.object
	v := verdict{e: e, ok: true}
	v.and(func() bool { return e.evalSize(rules, object) })
	v.and(func() bool { return e.evalRequired(rules, object) })
	v.and(func() bool { return e.evalDependentRequired(rules, object) })
	v.and(func() bool { return e.evalMembers(rules, object, covered) })
	v.and(func() bool { return e.evalNames(rules, object) })
	return v.ok
}

func (e *evaluation) evalSize(rules *objectRules, object map[string]any) bool {
	ok := true
	if rules.min != nil && len(object) < *rules.min {
		ok = e.reportSize(plural(len(object), "parameter", "parameters"), "fewer than minProperties", *rules.min)
	}
	if rules.max != nil && len(object) > *rules.max {
		ok = e.reportSize(plural(len(object), "parameter", "parameters"), "more than maxProperties", *rules.max)
	}
	return ok
}

func (e *evaluation) evalRequired(rules *objectRules, object map[string]any) bool {
	ok := true
	for rank, name := range rules.required {
		if _, present := object[name]; !present {
			ok = e.reportMissing(name, rank)
		}
	}
	return ok
}

func (e *evaluation) evalDependentRequired(rules *objectRules, object map[string]any) bool {
	ok := true
	for _, dependent := range rules.dependentRequired {
		if _, triggered := object[dependent.trigger]; !triggered {
			continue
		}
		for _, name := range dependent.names {
			if _, present := object[name]; !present {
				ok = e.reportDependency(name, dependent.trigger)
			}
		}
	}
	return ok
}

func (e *evaluation) evalMembers(rules *objectRules, object map[string]any, covered *coverage) bool {
	if len(rules.properties) == 0 && len(rules.patterns) == 0 && rules.additional == nil {
		return true
	}
	return e.each(object, func(name string, value any) bool {
		return e.evalMember(rules, name, value, covered)
	})
}

// each visits the members in order where reasons are named after one another, and
// in any order, without sorting, where only the verdict counts.
func (e *evaluation) each(object map[string]any, visit func(name string, value any) bool) bool {
	if e.found == nil {
		for name, value := range object {
			if !visit(name, value) {
				return false
			}
		}
		return true
	}
	ok := true
	for _, name := range sortedKeys(object) {
		ok = visit(name, object[name]) && ok
	}
	return ok
}

func (e *evaluation) evalMember(rules *objectRules, name string, value any, covered *coverage) bool {
	ok, known := true, false
	if n, declared := rules.properties[name]; declared {
		known = true
		ok = e.within(segment{name: name}, n, value)
	}
	for _, property := range rules.patterns {
		if e.nameMatches(property.pattern, name) {
			known = true
			ok = e.within(segment{name: name}, property.schema, value) && ok
		}
	}
	if !known && rules.additional != nil {
		known = true
		ok = e.evalAdditional(rules, name, value)
	}
	if known {
		covered.addName(name)
	}
	return ok
}

func (e *evaluation) evalAdditional(rules *objectRules, name string, value any) bool {
	if rules.closed {
		return e.reportUnknown(name, rules)
	}
	return e.within(segment{name: name}, rules.additional, value)
}

func (e *evaluation) nameMatches(p *pattern, name string) bool {
	e.spend(1)
	outcome := e.match(p, name)
	if outcome == outOfTime || outcome == outOfBudget {
		e.path = append(e.path, segment{name: name})
		e.noteUnmatched(p, outcome, func(path []segment) string { return "the name of " + renderPath(path) })
		e.path = e.path[:len(e.path)-1]
	}
	return outcome == matched
}

func (e *evaluation) evalNames(rules *objectRules, object map[string]any) bool {
	if rules.names == nil {
		return true
	}
	return e.each(object, func(name string, _ any) bool {
		if e.nameConforms(rules.names, name, nil) {
			return true
		}
		return e.reportName(rules.names, name)
	})
}

// nameConforms judges a name as a value of its own, which has no path among the
// arguments.
func (e *evaluation) nameConforms(n *node, name string, found *findings) bool {
	outer := *e
	e.found, e.inPlace = found, 0
	e.path = []segment{{name: "the name", kind: textSegment}}
	ok := e.eval(n, name, nil)
	e.found, e.inPlace, e.path = outer.found, outer.inPlace, outer.path
	return ok
}

func (e *evaluation) evalUnevaluated(n *node, value any, covered *coverage) bool {
	switch value := value.(type) {
	case map[string]any:
		return n.object.unevaluated == nil || e.evalUnevaluatedNames(n, value, covered)
	case []any:
		return n.array.unevaluated == nil || e.evalUnevaluatedItems(n, value, covered)
	default:
		return true
	}
}

func (e *evaluation) evalUnevaluatedNames(n *node, object map[string]any, covered *coverage) bool {
	rest := n.object.unevaluated
	ok := e.each(object, func(name string, value any) bool {
		switch {
		case covered.hasName(name):
			return true
		case rest.isFalse():
			return e.reportUnevaluated(name, n)
		default:
			return e.within(segment{name: name}, rest, value)
		}
	})
	covered.addAllNames()
	return ok
}
