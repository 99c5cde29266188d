package check

import (
	"fmt"
	"slices"

	"github.com/conch-mcp/conch/internal/schema"
)

// mostDeep is how far one schema is followed into others.
const mostDeep = 24

// impossible tells why no value can be as a schema demands, "" where there may be
// one. Only what is certain counts.
func (l linter) impossible(n node, depth int) (why string) {
	if depth > mostDeep {
		return ""
	}
	if n.kind() == 'f' {
		return "it is false"
	}
	if !n.isObject() {
		return ""
	}
	for _, look := range []func(node, int) string{l.noValue, l.emptyRange, l.impossibleParts, l.impossibleProperties} {
		if why = look(n, depth); why != "" {
			return why
		}
	}
	return ""
}

// noValue looks at the values that are listed.
func (l linter) noValue(n node, _ int) string {
	if t, ok := n.member("type"); ok && t.kind() == '[' && len(t.elements()) == 0 {
		return "its type is none"
	}
	var values []node
	switch enum, ok := n.member("enum"); {
	case ok && enum.kind() == '[':
		values = enum.elements()
		if len(values) == 0 {
			return "its enum is empty"
		}
	default:
		constant, ok := n.member("const")
		if !ok {
			return ""
		}
		values = []node{constant}
	}
	s, err := schema.CompileValue(n.raw(), "value")
	if err != nil || slices.ContainsFunc(values, func(v node) bool { return s.Check(v.raw()) == "" }) {
		return ""
	}
	return "none of the values that it lists is of its type and within its bounds"
}

// bounds are keywords for the least and the most of something, and the types whose
// values they are about.
var bounds = []struct{ least, most, of string }{
	{"minimum", "maximum", "number"}, {"exclusiveMinimum", "exclusiveMaximum", "number"},
	{"minLength", "maxLength", "string"}, {"minItems", "maxItems", "array"}, {"minProperties", "maxProperties", "object"},
}

func (l linter) emptyRange(n node, _ int) string {
	t, ok := n.member("type")
	if !ok {
		return "" // a value of another type is good
	}
	for _, b := range bounds {
		if t.text() != b.of && (t.text() != "integer" || b.of != "number") {
			continue
		}
		least, hasLeast := n.member(b.least)
		most, hasMost := n.member(b.most)
		if !hasLeast || !hasMost {
			continue
		}
		low, ok1 := least.number()
		high, ok2 := most.number()
		if ok1 && ok2 && (low > high || low == high && b.least == "exclusiveMinimum") {
			return fmt.Sprintf("%s is %s, and %s is %s", b.least, least.raw(), b.most, most.raw())
		}
	}
	return ""
}

// impossibleParts looks at the schemas that hold as well.
func (l linter) impossibleParts(n node, depth int) string {
	if ref, ok := n.member("$ref"); ok {
		if why := l.referred(ref.text(), depth); why != "" {
			return ref.text() + ": " + why
		}
	}
	if all, ok := n.member("allOf"); ok {
		for i, part := range all.elements() {
			if why := l.impossible(part, depth+1); why != "" {
				return fmt.Sprintf("allOf, %d: %s", i+1, why)
			}
		}
		if disjoint(append(all.elements(), n)) {
			return "no value has all the types in allOf"
		}
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		alternatives, ok := n.member(name)
		if !ok || len(alternatives.elements()) == 0 {
			continue
		}
		possible := func(a node) bool { return l.impossible(a, depth+1) == "" && !disjoint([]node{a, n}) }
		if !slices.ContainsFunc(alternatives.elements(), possible) {
			return "none of " + name + " is possible"
		}
	}
	return ""
}

// referred is impossible for what a reference leads to, looked at once: schemas may
// refer to each other, and to themselves.
func (l linter) referred(ref string, depth int) string {
	why, known := l.known[ref]
	if known {
		return why
	}
	l.known[ref] = ""
	if at, ok := l.at(ref); ok {
		l.known[ref] = l.impossible(at, depth+1)
	}
	return l.known[ref]
}

// disjoint reports whether no type is among those of all schemas.
func disjoint(schemas []node) bool {
	var common []string
	first := true
	for _, s := range schemas {
		types := typesOf(s)
		if types == nil {
			continue
		}
		if first {
			common, first = types, false
			continue
		}
		common = slices.DeleteFunc(common, func(t string) bool {
			return !slices.Contains(types, t) && !(t == "integer" && slices.Contains(types, "number")) && !(t == "number" && slices.Contains(types, "integer"))
		})
	}
	return !first && len(common) == 0
}

// typesOf are the types that a schema names, nil for none.
func typesOf(s node) (types []string) {
	if !s.isObject() {
		return nil
	}
	t, ok := s.member("type")
	if !ok {
		return nil
	}
	if t.kind() == '"' {
		return []string{t.text()}
	}
	for _, e := range t.elements() {
		types = append(types, e.text())
	}
	return types
}

// impossibleProperties looks at those that are required.
func (l linter) impossibleProperties(n node, depth int) string {
	if t, ok := n.member("type"); !ok || t.text() != "object" {
		return ""
	}
	required, ok := n.member("required")
	if !ok {
		return ""
	}
	properties, _ := n.member("properties")
	for _, r := range required.elements() {
		var p node
		found := false
		if properties.value != nil {
			p, found = properties.member(r.text())
		}
		if !found {
			continue // that is told of as such
		}
		if why := l.impossible(p, depth+1); why != "" {
			return r.text() + ": " + why
		}
	}
	return ""
}
