package schema

import "slices"

// allowedNames tells where to look up what an object accepts in which an unknown
// parameter was found: in its own rules, or in all that applies to it.
type allowedNames struct {
	object []segment
	rules  *objectRules
	node   *node
}

func (a *allowedNames) sameObject(other *allowedNames) bool {
	return a.rules == other.rules && a.node == other.node && comparePaths(a.object, other.object) == 0
}

func (a *allowedNames) collect() (names, patterns []string) {
	if a.rules != nil {
		return a.rules.accepted()
	}
	visited := map[*node]struct{}{}
	var visit func(n *node)
	visit = func(n *node) {
		if _, known := visited[n]; known || n.fixed != nil {
			return
		}
		visited[n] = struct{}{}
		moreNames, morePatterns := n.object.accepted()
		names, patterns = append(names, moreNames...), append(patterns, morePatterns...)
		for _, next := range n.inPlace() {
			if next != n.not {
				visit(next)
			}
		}
	}
	visit(a.node)
	return names, patterns
}

func (rules *objectRules) accepted() (names, patterns []string) {
	for name, n := range rules.properties {
		if !n.isFalse() {
			names = append(names, name)
		}
	}
	for _, property := range rules.patterns {
		patterns = append(patterns, property.pattern.source)
	}
	return names, patterns
}

// allowedParameters lists what the objects around the unknown parameters accept.
// The findings are in order, so those of one object follow one another.
func allowedParameters(list []*finding) string {
	var paths [][]segment
	var patterns []string
	for i, found := range list {
		if i > 0 && found.allowed.sameObject(list[i-1].allowed) {
			continue
		}
		names, more := found.allowed.collect()
		for _, name := range names {
			paths = append(paths, append(slices.Clone(found.allowed.object), segment{name: name}))
		}
		patterns = append(patterns, more...)
		if len(paths) > maxFindings {
			break
		}
	}
	return joinAllowed(paths, patterns)
}

func joinAllowed(paths [][]segment, patterns []string) string {
	slices.SortFunc(paths, comparePaths)
	paths = slices.CompactFunc(paths, func(a, b []segment) bool { return comparePaths(a, b) == 0 })
	slices.Sort(patterns)
	var texts []string
	for _, path := range paths {
		texts = append(texts, renderPath(path))
	}
	for _, source := range slices.Compact(patterns) {
		texts = append(texts, "names matching "+renderPattern(source))
	}
	return joinTexts(texts, ", ", maxDiagnosticBytes/2)
}

func joinTexts(texts []string, separator string, limit int) string {
	j := joiner{separator: separator, limit: limit}
	for i, text := range texts {
		if !j.add(text) {
			return j.finish(len(texts) - i)
		}
	}
	return j.finish(0)
}
