package smell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// What follows takes a test of a text for what it says. Whether the script then
// does the right thing is not looked into: somebody who tests has thought of it.

// matched narrows a text that is compared with a pattern.
func (s *scope) matched(t text, pattern *syntax.Word) {
	limit, ok := shapeOfGlob(s.source(pattern))
	switch {
	case !ok || !t.tainted:
	case t.exact != "":
		s.limit(t.exact, limit)
	case !limit.Free:
		s.located(t, pattern)
	}
}

// located notes that somebody has looked where paths lead, as in
// [[ $(realpath "$file") == "$PWD"/* ]].
func (s *scope) located(t text, pattern *syntax.Word) {
	if t.node == nil || !strings.Contains(s.source(pattern), "/") {
		return
	}
	limit := Anything
	limit.Free = false
	syntax.Walk(t.node, func(node syntax.Node) bool {
		if p, ok := node.(*syntax.ParamExp); ok && p.Param != nil && s.named(p.Param.Value).tainted {
			s.limit(p.Param.Value, limit)
		}
		return true
	})
}

// shapeOfGlob is what a text is that such a pattern is to tell apart.
func shapeOfGlob(glob string) (limit Shape, ok bool) {
	limit = Anything
	switch {
	case strings.HasPrefix(glob, "-"), strings.HasPrefix(glob, `\-`), strings.HasPrefix(glob, `"-"`), strings.HasPrefix(glob, "'-'"):
		limit.Dash = false
		return limit, true
	case strings.HasPrefix(glob, "*[!") || strings.HasPrefix(glob, "*[^"):
		set, rest, found := strings.Cut(glob[3:], "]")
		if !found || strings.Trim(rest, "*") != "" {
			return limit, false
		}
		limit = shapeOfSet(strings.ReplaceAll(set, `\`, ""))
		limit.Dash = limit.Dash && strings.Contains(set, "-")
		return limit, true
	case strings.HasPrefix(glob, "*["):
		// What has such characters in it is refused, presumably.
		limit.Free = false
		return limit, true
	case strings.HasPrefix(glob, "/"), strings.HasPrefix(glob, "./"), strings.HasPrefix(glob, "http"):
		limit.Dash, limit.Free = false, false
		return limit, true
	case strings.Contains(glob, "/"), strings.Contains(glob, ".."):
		// A path is looked at, for where it leads.
		limit.Free = false
		return limit, true
	}
	return limit, false
}

// matchedExpression narrows a text that is compared with a regular expression.
func (s *scope) matchedExpression(t text, expression *syntax.Word) {
	if t.exact == "" || !t.tainted {
		return
	}
	source := s.source(expression)
	if name, ok := strings.CutPrefix(source, "$"); ok {
		// A pattern in a variable is somebody's care; what it says is not known.
		if syntax.ValidName(strings.Trim(name, "{}")) {
			s.limit(t.exact, Shape{})
		}
		return
	}
	s.limit(t.exact, shapeOfPattern(source))
}

// matchedCase narrows the text that a case looks at.
func (s *scope) matchedCase(t text, c *syntax.CaseClause) {
	if t.exact == "" || !t.tainted {
		return
	}
	for _, item := range c.Items {
		for _, pattern := range item.Patterns {
			s.matched(t, pattern)
		}
	}
}

// inCase walks one branch of a case, in which the text is one of the patterns where
// these are written out.
func (s *scope) inCase(t text, item *syntax.CaseItem, walk func() value) value {
	if t.exact == "" || !t.tainted || !allLiteral(item.Patterns) {
		return walk()
	}
	var shape Shape
	for _, pattern := range item.Patterns {
		shape = shape.Or(shapeOfText(s.word(pattern).prefix))
	}
	old, ok := s.env[t.exact]
	s.env[t.exact] = t.value.of(shape)
	v := walk()
	if ok {
		s.env[t.exact] = old
	} else {
		delete(s.env, t.exact)
	}
	return v
}

// allLiteral reports whether patterns match nothing but themselves.
func allLiteral(patterns []*syntax.Word) bool {
	for _, p := range patterns {
		for _, part := range p.Parts {
			switch part := part.(type) {
			case *syntax.Lit:
				if strings.ContainsAny(part.Value, "*?[") {
					return false
				}
			case *syntax.SglQuoted:
			default:
				return false
			}
		}
	}
	return true
}

// searched narrows a text that grep looks at.
func (s *scope) searched(argv []text, stdin value) {
	if stdin.exact == "" || !stdin.tainted {
		return
	}
	whole := false
	for _, a := range argv[1:] {
		switch {
		case !a.static:
			return
		case strings.HasPrefix(a.prefix, "--line-regexp"):
			whole = true
		case strings.HasPrefix(a.prefix, "-") && !strings.HasPrefix(a.prefix, "--"):
			whole = whole || strings.Contains(a.prefix, "x")
		case !strings.HasPrefix(a.prefix, "-"):
			pattern := strings.NewReplacer(`\{`, "{", `\}`, "}", `\+`, "+", `\(`, "(", `\)`, ")").Replace(a.prefix)
			if whole {
				pattern = "^(?:" + pattern + ")$"
			}
			s.limit(stdin.exact, shapeOfPattern(pattern))
			return
		}
	}
}
