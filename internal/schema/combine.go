package schema

func (e *evaluation) evalReferences(n *node, value any, covered *coverage) bool {
	ok := true
	if n.ref != nil {
		ok = e.alongside(n.ref, value, covered)
	}
	if n.recursive != nil {
		ok = e.alongside(e.recursiveTarget(n.recursive), value, covered) && ok
	}
	if n.dynamic != nil {
		ok = e.alongside(e.dynamicTarget(n.dynamic), value, covered) && ok
	}
	return ok
}

func (e *evaluation) recursiveTarget(initial *node) *node {
	if initial.scope == nil || initial.scope.recursiveRoot != initial {
		return initial
	}
	for _, scope := range e.scopes {
		if scope.recursiveRoot != nil {
			return scope.recursiveRoot
		}
	}
	return initial
}

func (e *evaluation) dynamicTarget(reference *dynamicRef) *node {
	initial := reference.initial
	if initial.scope == nil || initial.scope.anchors[reference.anchor] != initial {
		return initial
	}
	for _, scope := range e.scopes {
		if target, declared := scope.anchors[reference.anchor]; declared {
			return target
		}
	}
	return initial
}

func (e *evaluation) evalCombinators(n *node, value any, covered *coverage) bool {
	v := verdict{e: e, ok: true}
	for _, part := range n.allOf {
		v.and(func() bool { return e.alongside(part, value, covered) })
	}
	v.and(func() bool { return e.evalDependentSchemas(n, value, covered) })
	v.and(func() bool { return e.evalCondition(n, value, covered) })
	v.and(func() bool { return e.evalAnyOf(n, value, covered) })
	v.and(func() bool { return e.evalOneOf(n, value, covered) })
	v.and(func() bool { return n.not == nil || !e.silently(n.not, value, nil) || e.reportNot(value) })
	return v.ok
}

func (e *evaluation) evalDependentSchemas(n *node, value any, covered *coverage) bool {
	object, ok := value.(map[string]any)
	if !ok {
		return true
	}
	v := verdict{e: e, ok: true}
	for _, dependent := range n.object.dependentSchemas {
		if _, triggered := object[dependent.trigger]; triggered {
			v.and(func() bool { return e.alongside(dependent.schema, value, covered) })
		}
	}
	return v.ok
}

func (e *evaluation) evalCondition(n *node, value any, covered *coverage) bool {
	if n.condition == nil {
		return true
	}
	next := n.otherwise
	tried := covered.fresh()
	if e.silently(n.condition, value, tried) {
		covered.merge(tried)
		next = n.consequent
	}
	return next == nil || e.alongside(next, value, covered)
}

func (e *evaluation) evalAnyOf(n *node, value any, covered *coverage) bool {
	if n.anyOf == nil {
		return true
	}
	ok := false
	for _, alternative := range n.anyOf {
		tried := covered.fresh()
		if !e.silently(alternative, value, tried) {
			continue
		}
		ok = true
		if covered == nil {
			break
		}
		// Every alternative that holds adds to what is evaluated.
		e.spend(len(tried.names) + len(tried.items))
		covered.merge(tried)
	}
	return ok || e.reportNoAlternative(n.anyOf, value, covered)
}

func (e *evaluation) evalOneOf(n *node, value any, covered *coverage) bool {
	if n.oneOf == nil {
		return true
	}
	holding := 0
	for _, alternative := range n.oneOf {
		tried := covered.fresh()
		if !e.silently(alternative, value, tried) {
			continue
		}
		holding++
		if holding > 1 {
			return e.reportAmbiguous(value)
		}
		covered.merge(tried)
	}
	return holding == 1 || e.reportNoAlternative(n.oneOf, value, covered)
}
