package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/internal/schema"
)

// keywords are those of JSON Schema, of all drafts, and what clients read besides.
var keywords = strings.Fields(`$schema $id $ref $anchor $dynamicRef $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary $comment $defs definitions id
allOf anyOf oneOf not if then else dependentSchemas dependentRequired dependencies prefixItems items additionalItems unevaluatedItems contains minContains maxContains
properties patternProperties additionalProperties unevaluatedProperties propertyNames type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum
maxLength minLength pattern maxItems minItems uniqueItems maxProperties minProperties required title description default deprecated readOnly writeOnly examples example
format contentEncoding contentMediaType contentSchema discriminator xml externalDocs nullable enumNames markdownDescription enumDescriptions x-mcp-header`)

// Where schemas are in a schema.
var (
	holders = strings.Fields(`not if then else items additionalItems unevaluatedItems contains additionalProperties unevaluatedProperties propertyNames contentSchema`)
	lists   = strings.Fields(`allOf anyOf oneOf prefixItems items`)
	maps    = strings.Fields(`properties patternProperties $defs definitions dependentSchemas`)
)

// entryMembers are those of a tool's entry.
var entryMembers = strings.Fields(`name title description inputSchema outputSchema annotations icons execution _meta timeout maxTimeout requires scopes exec environment`)

// misnamed are members that others have for one of those, or for a keyword.
var misnamed = map[string]string{
	"min": "minimum", "max": "maximum", "regex": "pattern", "regexp": "pattern", "desc": "description",
	"input_schema": "inputSchema", "output_schema": "outputSchema", "parameters": "inputSchema", "args": "inputSchema", "arguments": "inputSchema", "annotation": "annotations"}

// toolName is what all clients take for a name.
var toolName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// entry checks what is the same for every tool, whatever function it has.
func (c *checker) entry(n node, name string) {
	if !toolName.MatchString(name) {
		at, _ := n.member("name")
		f := at.at(ruleName)
		f.Message = "the name " + quoted(name) + " is not one that all clients take"
		f.Safer = "take 1 to 128 of the characters A-Z a-z 0-9 _ . -"
		c.tell(f)
	}
	c.description(n, "tool "+name)
	c.misspelled(n, entryMembers, "a tool's entry")
	c.annotations(n)
	if s, ok := n.member("inputSchema"); ok {
		c.inputSchema(s)
	}
	if s, ok := n.member("outputSchema"); ok {
		c.outputSchema(s)
	}
}

// description tells of something without one.
func (c *checker) description(n node, what string) {
	d, ok := n.member("description")
	if ok && strings.TrimSpace(d.text()) != "" {
		return
	}
	f := n.at(ruleDescription)
	if n.name == nil {
		if name, ok := n.member("name"); ok {
			f = name.at(ruleDescription)
		}
	}
	f.Message = what + " has no description, and a model knows nothing of it but its name"
	f.Safer = `"description": "…", with what it is good for, and an example of a value`
	c.tell(f)
}

// misspelled tells of members that mean nothing and are nearly others.
func (c *checker) misspelled(n node, known []string, where string) {
	for _, m := range n.members() {
		name := m.key()
		if slices.Contains(known, name) || strings.HasPrefix(name, "x-") {
			continue
		}
		meant := misnamed[name]
		if !slices.Contains(known, meant) {
			meant = similar(name, known)
		}
		if meant == "" {
			continue
		}
		if _, there := n.member(meant); there {
			continue
		}
		f := m.at(ruleKeyword)
		f.Message, f.Safer = quoted(name)+" means nothing in "+where, "write "+quoted(meant)
		c.tell(f)
	}
}

// hints are what annotations may tell, all of them true or false.
var hints = []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}

func (c *checker) annotations(n node) {
	for _, name := range []string{"title", "description"} {
		if m, ok := n.member(name); ok && m.kind() != '"' {
			f := m.at(ruleAnnotations)
			f.Message = "the " + name + " is no string; some clients drop the whole list over it"
			c.tell(f)
		}
	}
	a, ok := n.member("annotations")
	if !ok {
		return
	}
	if !a.isObject() {
		f := a.at(ruleAnnotations)
		f.Message, f.Safer = "the annotations are no object; some clients drop the whole list over it", `"annotations": { "readOnlyHint": true }`
		c.tell(f)
		return
	}
	c.misspelled(a, append([]string{"title"}, hints...), "annotations")
	for _, m := range a.members() {
		want := ""
		switch {
		case slices.Contains(hints, m.key()) && m.kind() != 't' && m.kind() != 'f':
			want = "true or false"
		case m.key() == "title" && m.kind() != '"':
			want = "a string"
		}
		if want != "" {
			f := m.at(ruleAnnotations)
			f.Message = fmt.Sprintf("%s is %s, and has to be %s; some clients drop the whole list over it", m.key(), short(string(m.raw())), want)
			c.tell(f)
		}
	}
}

func short(text string) string {
	if runes := []rune(text); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return text
}

// inputSchema checks the schema of a tool's arguments.
func (c *checker) inputSchema(n node) {
	if !n.isObject() {
		return // the list's entry is told of
	}
	if t, ok := n.member("type"); ok && t.text() != "object" {
		return // likewise
	}
	if _, err := schema.Compile(n.raw()); err != nil {
		f := n.at(ruleSchema)
		f.Message = "the inputSchema cannot be used: " + err.Error() + "; calls are refused"
		c.tell(f)
		return
	}
	_, problems := schema.Headers(n.raw())
	for _, p := range problems {
		f := n.at(ruleHeader)
		f.Message = strings.TrimSuffix(p, ".")
		c.tell(f)
	}
	l := linter{checker: c, root: n, known: map[string]string{}}
	l.lint(n)
	properties, _ := n.member("properties")
	if properties.value != nil {
		for _, p := range properties.members() {
			l.argument(p)
		}
	}
	if why := l.impossible(n, 0); why != "" {
		f := n.at(ruleNeverMet)
		f.Message = "no arguments can be as the inputSchema demands: " + why
		c.tell(f)
	}
}

// outputSchema checks the schema of a tool's results.
func (c *checker) outputSchema(n node) {
	if !n.isObject() {
		if n.kind() == 'f' {
			f := n.at(ruleNeverMet)
			f.Message = "no result can be as the outputSchema demands: it is false"
			c.tell(f)
		}
		return
	}
	if _, err := schema.CompileValue(n.raw(), "result"); err != nil {
		f := n.at(ruleOutputSchema)
		f.Message = "the outputSchema cannot be used: " + err.Error() + "; it is not shown, and no result is held to it"
		c.tell(f)
		return
	}
	l := linter{checker: c, root: n, known: map[string]string{}}
	l.lint(n)
	if why := l.impossible(n, 0); why != "" {
		f := n.at(ruleNeverMet)
		f.Message = "no result can be as the outputSchema demands: " + why + "; every call fails"
		c.tell(f)
		return
	}
	if t, ok := n.member("type"); !ok || t.text() != "object" {
		f := n.at(ruleOutputType)
		f.Message = `the outputSchema's type is not "object"; only clients of 2026-07-28 get to see it`
		f.Safer = `"type": "object", with the value as a member`
		c.tell(f)
	}
}

// linter looks into one schema.
type linter struct {
	*checker
	root  node
	known map[string]string // why what references lead to is impossible
}

// identifier is what may stand behind arg_ in the name of a variable.
var identifier = regexp.MustCompile(`^[A-Za-z0-9_]+$`)

// argument checks one of the arguments, a member of properties.
func (l linter) argument(p node) {
	if !identifier.MatchString(p.key()) {
		f := p.at(ruleNoVariable)
		f.Message = fmt.Sprintf("the argument %s has no variable, since no name of one may have %s in it; it is in $1 alone", quoted(p.key()), quoted(p.key()))
		f.Safer = "take letters, digits and underscores, or mcp_args_get"
		l.tell(f)
	}
	if p.isObject() && !l.describedElsewhere(p) {
		l.description(p, "argument "+p.key())
	}
	if why := l.impossible(p, 0); why != "" && p.kind() != 'f' {
		f := p.at(ruleNeverMet)
		f.Severity = Warning
		f.Message = fmt.Sprintf("no value of %s can be as its schema demands: %s", p.key(), why)
		l.tell(f)
	}
}

// describedElsewhere reports whether a schema refers to one with a description.
func (l linter) describedElsewhere(p node) bool {
	ref, ok := p.member("$ref")
	if !ok {
		return false
	}
	at, ok := l.at(ref.text())
	if !ok {
		return true
	}
	_, ok = at.member("description")
	return ok
}

// at is what a reference within the schema leads to.
func (l linter) at(ref string) (n node, ok bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return n, false
	}
	n = l.root
	for _, step := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		if step == "" {
			continue
		}
		if n, ok = n.member(strings.NewReplacer("~1", "/", "~0", "~").Replace(step)); !ok {
			return n, false
		}
	}
	return n, true
}

// lint walks a schema and those in it.
func (l linter) lint(n node) {
	if !n.isObject() {
		return
	}
	l.misspelled(n, keywords, "a schema")
	l.values(n)
	l.requires(n)
	for _, child := range subschemas(n) {
		l.lint(child)
	}
}

// subschemas are those right below a schema.
func subschemas(n node) (list []node) {
	for _, m := range n.members() {
		switch name := m.key(); {
		case slices.Contains(maps, name):
			list = append(list, m.members()...)
		case slices.Contains(lists, name) && m.kind() == '[':
			list = append(list, m.elements()...)
		case slices.Contains(holders, name):
			list = append(list, m)
		}
	}
	return list
}

// values checks what a schema gives as values of its own: default, examples, enum.
func (l linter) values(n node) {
	own, err := schema.CompileValue(l.whole(n, "default", "examples", "description", "title"), l.name(n))
	if err != nil {
		return // it refers to something outside of itself
	}
	if d, ok := n.member("default"); ok {
		l.value(own, d, ruleDefault, "the default")
	}
	if examples, ok := n.member("examples"); ok {
		for _, e := range examples.elements() {
			l.value(own, e, ruleExample, "the example")
		}
	}
	enum, ok := n.member("enum")
	if !ok {
		return
	}
	rest, err := schema.CompileValue(l.whole(n, "enum", "default", "examples"), l.name(n))
	if err != nil {
		return
	}
	for _, e := range enum.elements() {
		l.value(rest, e, ruleEnumValue, "the value")
	}
}

func (l linter) name(n node) string {
	if name := n.key(); name != "" {
		return name
	}
	return "value"
}

func (l linter) value(s *schema.Schema, value node, rule, what string) {
	diagnostic := s.Check(value.raw())
	if diagnostic == "" {
		return
	}
	f := value.at(rule)
	f.Message = fmt.Sprintf("%s %s is not what its schema allows: %s", what, short(string(value.raw())), strings.TrimSuffix(diagnostic, "."))
	l.tell(f)
}

// whole is a schema without some members, and with the definitions that it may
// refer to.
func (l linter) whole(n node, names ...string) []byte {
	text := without(n, names...)
	for _, name := range []string{"$defs", "definitions"} {
		if _, has := n.member(name); has {
			continue
		}
		if defs, ok := l.root.member(name); ok {
			separator := ","
			if len(text) == 2 {
				separator = ""
			}
			text = append(text[:len(text)-1], separator+quoted(name)+":"+string(defs.raw())+"}"...)
		}
	}
	return text
}

// without is an object without some of its members.
func without(n node, names ...string) []byte {
	text := []byte{'{'}
	for _, m := range n.members() {
		if slices.Contains(names, m.key()) {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(text, node{file: n.file, value: m.name}.raw()...)
		text = append(text, ':')
		text = append(text, m.raw()...)
	}
	return append(text, '}')
}

// requires tells of names that are required and not described.
func (l linter) requires(n node) {
	required, ok := n.member("required")
	properties, described := n.member("properties")
	if !ok || !described {
		if ok && len(required.elements()) > 0 && closed(n) && !hasPatterns(n) {
			l.unknownRequired(n, required.elements()[0], nil)
		}
		return
	}
	var names []string
	for _, p := range properties.members() {
		names = append(names, p.key())
	}
	for _, r := range required.elements() {
		if !slices.Contains(names, r.text()) {
			l.unknownRequired(n, r, names)
		}
	}
}

func (l linter) unknownRequired(n, r node, names []string) {
	f := r.at(ruleRequired)
	f.Message = quoted(r.text()) + " is required, and is not among the properties"
	switch {
	case closed(n) && !hasPatterns(n):
		f.Message += ", which are all that there may be"
	case hasPatterns(n) || composed(n):
		return
	default:
		f.Severity = Warning
	}
	f.Safer = nearest(r.text(), names)
	l.tell(f)
}

// closed reports whether an object may have no other properties.
func closed(n node) bool {
	a, ok := n.member("additionalProperties")
	return ok && a.kind() == 'f'
}

func hasPatterns(n node) bool {
	_, ok := n.member("patternProperties")
	return ok
}

// composed reports whether other schemas may describe the same object.
func composed(n node) bool {
	for _, name := range []string{"allOf", "anyOf", "oneOf", "$ref", "if", "dependentSchemas"} {
		if _, ok := n.member(name); ok {
			return true
		}
	}
	return false
}
