package check

import (
	"regexp"
	"slices"
	"strings"
)

// directive is a comment that has rules be silent. What is behind the names is the
// author's reason.
var directive = regexp.MustCompile(`(?:^|\s)#+\s*conch-check\s+disable=([A-Za-z0-9_.,-]+)`)

// disables reports whether a comment has a rule be silent in a line: one at its
// end, or among the comments right above it.
func (f *file) disables(rule string, line int) bool {
	if f.names(rule, line) {
		return true
	}
	for above := line - 1; above >= 1 && strings.HasPrefix(strings.TrimSpace(f.lines[above-1]), "#"); above-- {
		if f.names(rule, above) {
			return true
		}
	}
	return false
}

// names reports whether a line has a directive for a rule.
func (f *file) names(rule string, line int) bool {
	m := directive.FindStringSubmatch(f.lines[line-1])
	return m != nil && (slices.Contains(strings.Split(m[1], ","), rule) || m[1] == "all")
}

// directives tells of rules that there are not.
func (c *checker) directives(f *file) {
	for i, text := range f.lines {
		m := directive.FindStringSubmatchIndex(text)
		if m == nil {
			continue
		}
		for _, name := range strings.Split(text[m[2]:m[3]], ",") {
			if _, ok := rules[name]; ok || name == "all" || strings.HasPrefix(name, "SC") {
				continue
			}
			c.tell(Finding{
				Rule: ruleDirective, File: f.name, Line: i + 1, Column: f.column(i+1, m[2]+1),
				Message: "there is no rule " + quoted(name), Safer: nearest(name, ruleNames()),
			})
		}
	}
}

func ruleNames() (names []string) {
	for _, r := range Rules() {
		names = append(names, r.ID)
	}
	return names
}
