package schema

func (e *evaluation) evalArray(n *node, array []any, covered *coverage) bool {
	rules := &n.array
	v := verdict{e: e, ok: true}
	v.and(func() bool { return e.evalCount(rules, array) })
	v.and(func() bool { return e.evalItems(rules, array, covered) })
	v.and(func() bool { return e.evalUnique(rules, array) })
	v.and(func() bool { return e.evalContains(rules, array, covered) })
	return v.ok
}

func (e *evaluation) evalCount(rules *arrayRules, array []any) bool {
	ok := true
	if rules.min != nil && len(array) < *rules.min {
		ok = e.reportSize(plural(len(array), "item", "items"), "fewer than minItems", *rules.min)
	}
	if rules.max != nil && len(array) > *rules.max {
		ok = e.reportSize(plural(len(array), "item", "items"), "more than maxItems", *rules.max)
	}
	return ok
}

func (e *evaluation) evalItems(rules *arrayRules, array []any, covered *coverage) bool {
	leading := min(len(rules.prefix), len(array))
	ok := e.eachItem(array[:leading], 0, func(index int, item any) bool {
		return e.within(element(index), rules.prefix[index], item)
	})
	covered.addLeading(leading)
	if rules.rest == nil {
		return ok
	}
	ok = e.eachItem(array[leading:], leading, func(index int, item any) bool {
		return e.within(element(index), rules.rest, item)
	}) && ok
	covered.addAllItems()
	return ok
}

func element(index int) segment { return segment{index: index, kind: elementSegment} }

func (e *evaluation) eachItem(items []any, first int, visit func(index int, item any) bool) bool {
	ok := true
	for i, item := range items {
		ok = visit(first+i, item) && ok
		if !ok && e.found == nil {
			return false
		}
	}
	return ok
}

// evalUnique compares canonical texts, so that its cost grows with the size of the
// items and not with the number of their pairs.
func (e *evaluation) evalUnique(rules *arrayRules, array []any) bool {
	if !rules.unique || len(array) < 2 {
		return true
	}
	first := make(map[string]int, len(array))
	for index, item := range array {
		key := string(e.key(item))
		if earlier, repeated := first[key]; repeated {
			return e.reportRepeated(earlier, index)
		}
		first[key] = index
	}
	return true
}

func (e *evaluation) evalContains(rules *arrayRules, array []any, covered *coverage) bool {
	if rules.contains == nil {
		return true
	}
	count := 0
	for index, item := range array {
		if e.itemMatches(rules.contains, index, item) {
			count++
			if rules.containsEvaluates {
				covered.addItem(index)
			}
		}
	}
	if count < rules.minContains {
		return e.reportContains(count, "fewer than minContains", rules.minContains)
	}
	if rules.maxContains != nil && count > *rules.maxContains {
		return e.reportContains(count, "more than maxContains", *rules.maxContains)
	}
	return true
}

func (e *evaluation) itemMatches(n *node, index int, item any) bool {
	found := e.found
	e.found = nil
	ok := e.within(element(index), n, item)
	e.found = found
	return ok
}

func (e *evaluation) evalUnevaluatedItems(n *node, array []any, covered *coverage) bool {
	ok := e.eachItem(array, 0, func(index int, item any) bool {
		return covered.hasItem(index) || e.within(element(index), n.array.unevaluated, item)
	})
	covered.addAllItems()
	return ok
}
