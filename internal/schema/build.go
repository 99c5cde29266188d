package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// builder turns what the library compiled into nodes. The library's values serve
// for structure; keyword values that must be exact come from the document.
type builder struct {
	document  *document
	compiler  *jsonschema.Compiler
	nodes     map[*jsonschema.Schema]*node
	resources map[string]*resource
	dynamic   bool
	// firstError is kept instead of returned, as building walks a graph.
	firstError error
}

func build(document *document) (*Schema, error) {
	compiler, err := newCompiler(document)
	if err != nil {
		return nil, err
	}
	compiled, err := compiler.Compile(baseURL)
	if err != nil {
		return nil, explainCompile(err, document)
	}
	b := &builder{
		document:  document,
		compiler:  compiler,
		nodes:     map[*jsonschema.Schema]*node{},
		resources: map[string]*resource{},
	}
	root := b.node(compiled)
	if b.dynamic {
		b.declareScopes()
	}
	if b.firstError != nil {
		return nil, b.firstError
	}
	if err := refuseEndlessReferences(b.all()); err != nil {
		return nil, err
	}
	return &Schema{root: root, nodes: len(b.nodes), dynamic: b.dynamic, limits: standardLimits()}, nil
}

func (b *builder) fail(err error) {
	if b.firstError == nil {
		b.firstError = err
	}
}

// all returns the nodes in an order that does not change between runs.
func (b *builder) all() []*node {
	nodes := make([]*node, 0, len(b.nodes))
	for _, n := range b.nodes {
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(x, y *node) int { return strings.Compare(x.where, y.where) })
	return nodes
}

func (b *builder) node(s *jsonschema.Schema) *node {
	if s == nil {
		return nil
	}
	if known, ok := b.nodes[s]; ok {
		return known
	}
	n := &node{fixed: s.Bool}
	b.nodes[s] = n
	pointer, inside := pointerFromLocation(s.Location)
	if !inside {
		b.fail(fmt.Errorf("a reference leads to %q, which is outside the schema; references are never fetched", s.Location))
		return n
	}
	n.where = pointer
	if mark, marked := b.document.marks[pointer]; marked {
		// To the library an empty schema is the schema true.
		n.fixed, n.types, n.broken = nil, mark.types, mark.broken
	}
	if s.Bool == nil {
		b.fill(n, s, b.document.at(pointer))
	}
	return n
}

func (b *builder) fill(n *node, s *jsonschema.Schema, keywords map[string]any) {
	b.fillReferences(n, s, keywords)
	b.fillGeneric(n, s, keywords)
	n.numeric = b.numericRules(n.where, s, keywords)
	n.text = textRules{
		minLength: count(s.MinLength, keywords, "minLength"),
		maxLength: count(s.MaxLength, keywords, "maxLength"),
		pattern:   asPattern(s.Pattern),
	}
	n.object = b.objectRules(s, keywords)
	n.array = b.arrayRules(s, keywords)
}

func (b *builder) fillReferences(n *node, s *jsonschema.Schema, keywords map[string]any) {
	n.ref = b.reference(n.where, "$ref", s.Ref, keywords)
	n.recursive = b.reference(n.where, "$recursiveRef", s.RecursiveRef, keywords)
	if s.DynamicRef != nil {
		n.dynamic = &dynamicRef{
			initial: b.reference(n.where, "$dynamicRef", s.DynamicRef.Ref, keywords),
			anchor:  s.DynamicRef.Anchor,
		}
	}
	b.dynamic = b.dynamic || n.recursive != nil || n.dynamic != nil
}

func (b *builder) reference(from, keyword string, target *jsonschema.Schema, keywords map[string]any) *node {
	if target == nil {
		return nil
	}
	if _, inside := pointerFromLocation(target.Location); !inside {
		b.fail(outsideReference(keyword, keywords[keyword], from))
	}
	return b.node(target)
}

func (b *builder) fillGeneric(n *node, s *jsonschema.Schema, keywords map[string]any) {
	if s.Types != nil {
		n.types = typeNames(keywords["type"])
	}
	if s.Enum != nil {
		values, _ := keywords["enum"].([]any)
		n.enum = newEnumeration(values)
	}
	if s.Const != nil {
		n.constant = &constant{value: keywords["const"], key: string(appendKey(nil, keywords["const"]))}
	}
	n.format = s.Format
	n.not = b.node(s.Not)
	n.allOf, n.anyOf, n.oneOf = b.list(s.AllOf), b.list(s.AnyOf), b.list(s.OneOf)
	n.condition, n.consequent, n.otherwise = b.node(s.If), b.node(s.Then), b.node(s.Else)
}

func (b *builder) list(schemas []*jsonschema.Schema) []*node {
	var nodes []*node
	for _, s := range schemas {
		nodes = append(nodes, b.node(s))
	}
	return nodes
}

func (b *builder) named(schemas map[string]*jsonschema.Schema) map[string]*node {
	nodes := make(map[string]*node, len(schemas))
	for _, name := range sortedKeys(schemas) {
		nodes[name] = b.node(schemas[name])
	}
	return nodes
}

func typeNames(declared any) []string {
	if name, ok := declared.(string); ok {
		return []string{name}
	}
	list, _ := declared.([]any)
	return stringsOf(list)
}

func stringsOf(list []any) []string {
	var texts []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

func asPattern(compiled jsonschema.Regexp) *pattern {
	p, _ := compiled.(*pattern)
	return p
}

// count reads a length or size, which the library would take modulo 2^64.
func count(compiled *int, keywords map[string]any, keyword string) *int {
	literal, ok := keywords[keyword].(json.Number)
	if compiled == nil || !ok {
		return nil
	}
	size := parseNumber(string(literal)).clampInt()
	return &size
}

func (b *builder) numericRules(where string, s *jsonschema.Schema, keywords map[string]any) numericRules {
	var rules numericRules
	add := func(compiled bool, relation string, admits func(int) bool, names ...string) {
		if !compiled {
			return
		}
		for _, name := range names {
			if literal, ok := keywords[name].(json.Number); ok {
				rules.bounds = append(rules.bounds, bound{parseNumber(string(literal)), relation, admits})
				return
			}
		}
	}
	// Draft 4 has no number under the exclusive keywords, they are flags on the others.
	add(s.Minimum != nil, "below minimum", func(order int) bool { return order >= 0 }, "minimum")
	add(s.Maximum != nil, "above maximum", func(order int) bool { return order <= 0 }, "maximum")
	add(s.ExclusiveMinimum != nil, "not above exclusiveMinimum", func(order int) bool { return order > 0 }, "exclusiveMinimum", "minimum")
	add(s.ExclusiveMaximum != nil, "not below exclusiveMaximum", func(order int) bool { return order < 0 }, "exclusiveMaximum", "maximum")
	if literal, ok := keywords["multipleOf"].(json.Number); ok && s.MultipleOf != nil {
		rules.multipleOf = b.divisor(where, parseNumber(string(literal)))
	}
	return rules
}

func (b *builder) divisor(where string, value number) *divisor {
	if len(value.digits) > maxDivisorDigits || value.isZero() {
		b.fail(fmt.Errorf("multipleOf at %s must be a positive number of at most %d digits", describePointer(where), maxDivisorDigits))
		return nil
	}
	return newDivisor(value)
}

func (b *builder) objectRules(s *jsonschema.Schema, keywords map[string]any) objectRules {
	rules := objectRules{
		min:         count(s.MinProperties, keywords, "minProperties"),
		max:         count(s.MaxProperties, keywords, "maxProperties"),
		required:    s.Required,
		properties:  b.named(s.Properties),
		names:       b.node(s.PropertyNames),
		unevaluated: b.node(s.UnevaluatedProperties),
	}
	for compiled, schema := range s.PatternProperties {
		rules.patterns = append(rules.patterns, patternProperty{asPattern(compiled), b.node(schema)})
	}
	slices.SortFunc(rules.patterns, func(x, y patternProperty) int {
		return strings.Compare(x.pattern.source, y.pattern.source)
	})
	switch additional := s.AdditionalProperties.(type) {
	case bool:
		rules.closed = !additional
		rules.additional = &node{fixed: &additional}
	case *jsonschema.Schema:
		rules.additional = b.node(additional)
	}
	b.addDependents(&rules, s)
	return rules
}

func (b *builder) addDependents(rules *objectRules, s *jsonschema.Schema) {
	for _, trigger := range sortedKeys(s.DependentRequired) {
		rules.dependentRequired = append(rules.dependentRequired, dependentNames{trigger, s.DependentRequired[trigger]})
	}
	for _, trigger := range sortedKeys(s.DependentSchemas) {
		rules.dependentSchemas = append(rules.dependentSchemas, dependentSchema{trigger, b.node(s.DependentSchemas[trigger])})
	}
	for _, trigger := range sortedKeys(s.Dependencies) {
		switch dependency := s.Dependencies[trigger].(type) {
		case []string:
			rules.dependentRequired = append(rules.dependentRequired, dependentNames{trigger, dependency})
		case *jsonschema.Schema:
			rules.dependentSchemas = append(rules.dependentSchemas, dependentSchema{trigger, b.node(dependency)})
		}
	}
}

func (b *builder) arrayRules(s *jsonschema.Schema, keywords map[string]any) arrayRules {
	const draft2020 = 2020
	rules := arrayRules{
		min:               count(s.MinItems, keywords, "minItems"),
		max:               count(s.MaxItems, keywords, "maxItems"),
		unique:            s.UniqueItems,
		prefix:            b.list(s.PrefixItems),
		rest:              b.node(s.Items2020),
		contains:          b.node(s.Contains),
		minContains:       1,
		maxContains:       count(s.MaxContains, keywords, "maxContains"),
		containsEvaluates: s.DraftVersion >= draft2020,
		unevaluated:       b.node(s.UnevaluatedItems),
	}
	if least := count(s.MinContains, keywords, "minContains"); least != nil {
		rules.minContains = *least
	}
	switch items := s.Items.(type) {
	case *jsonschema.Schema:
		rules.rest = b.node(items)
	case []*jsonschema.Schema:
		rules.prefix = b.list(items)
	}
	switch additional := s.AdditionalItems.(type) {
	case bool:
		rules.rest = &node{fixed: &additional}
	case *jsonschema.Schema:
		rules.rest = b.node(additional)
	}
	return rules
}
