package smell

import (
	"encoding/json"
	"strings"
)

// A Shape is what a text may be that somebody else chooses. The zero Shape is a
// text that can do no harm.
type Shape struct {
	Dash      bool // it may begin with a dash and a letter, as options do
	Splits    bool // it may hold blanks, or what is expanded to names of files
	Subscript bool // it may hold a [, with which arithmetic runs commands
	Code      bool // it may hold more than letters, digits and _./:@%+,=-
	Free      bool // nothing limits it
	Many      bool // it is one of the elements of an array
}

// Anything is the shape of a text that nothing is known of.
var Anything = Shape{Dash: true, Splits: true, Subscript: true, Code: true, Free: true}

// Document is the shape of an object or an array as JSON.
var Document = Shape{Splits: true, Subscript: true, Code: true}

// Or is the shape of a text that has one of two shapes.
func (s Shape) Or(t Shape) Shape {
	return Shape{s.Dash || t.Dash, s.Splits || t.Splits, s.Subscript || t.Subscript, s.Code || t.Code, s.Free || t.Free, s.Many || t.Many}
}

// and is the shape of a text that has both.
func (s Shape) and(t Shape) Shape {
	return Shape{s.Dash && t.Dash, s.Splits && t.Splits, s.Subscript && t.Subscript, s.Code && t.Code, s.Free && t.Free, s.Many || t.Many}
}

// shapeOfText is the shape of one text.
func shapeOfText(text string) Shape {
	return Shape{
		Dash:   strings.HasPrefix(text, "-"),
		Splits: strings.ContainsAny(text, splitting), Subscript: strings.Contains(text, "["),
		Code: strings.ContainsFunc(text, func(c rune) bool { return !isPlain(c) }),
	}
}

// splitting are the characters that an expansion without quotes is cut at, or that
// make it a pattern.
const splitting = " \t\n*?["

// isPlain reports whether no shell, and no language, takes the character for more
// than part of a word.
func isPlain(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_./:@%+,=-", c)
}

// How far schemas are followed into each other, and how many in all.
const (
	deepest   = 16
	mostSteps = 10_000
)

// ShapeOf is the shape of the text, or of each of the texts, that Bash has for a
// value which a JSON Schema allows. root is the schema that references are in.
func ShapeOf(schema, root json.RawMessage) Shape {
	var value, top any
	if json.Unmarshal(schema, &value) != nil {
		return Anything
	}
	_ = json.Unmarshal(root, &top)
	steps := mostSteps
	return shapes{top, &steps}.of(value, deepest, everyType)
}

// shapes finds the shapes of one schema's values.
type shapes struct {
	root  any
	steps *int // that are left: schemas may refer to each other without end
}

// everyType are the types whose values make texts of their own.
var everyType = []string{"string", "object", "array"}

// of is the shape of what a schema allows, within types that hold already.
func (r shapes) of(schema any, depth int, within []string) Shape {
	object, ok := schema.(map[string]any)
	switch {
	case schema == false:
		return Shape{}
	case !ok || depth == 0 || *r.steps == 0:
		return Anything
	}
	*r.steps--
	within = typesOf(object, within)
	shape := r.own(object, depth, within)
	if ref, ok := object["$ref"].(string); ok {
		shape = shape.and(r.of(r.at(ref), depth-1, within))
	}
	for _, all := range list(object["allOf"]) {
		shape = shape.and(r.of(all, depth-1, within))
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if alternatives := list(object[keyword]); len(alternatives) > 0 {
			var any Shape
			for _, a := range alternatives {
				any = any.Or(r.of(a, depth-1, within))
			}
			shape = shape.and(any)
		}
	}
	return shape
}

// own is the shape that the keywords of one schema allow.
func (r shapes) own(object map[string]any, depth int, types []string) Shape {
	if value, ok := object["const"]; ok {
		return shapeOfValue(value)
	}
	if values, ok := object["enum"].([]any); ok {
		var shape Shape
		for _, value := range values {
			shape = shape.Or(shapeOfValue(value))
		}
		return shape
	}
	var shape Shape
	for _, name := range types {
		switch name {
		case "string":
			shape = shape.Or(shapeOfString(object))
		case "object":
			shape = shape.Or(Document)
		case "array":
			shape = shape.Or(r.items(object, depth))
		}
	}
	shape.Many = len(types) == 1 && types[0] == "array"
	return shape
}

// items is the shape of an array's elements, which Bash has one by one where all
// are scalars.
func (r shapes) items(object map[string]any, depth int) (shape Shape) {
	tuple := list(object["prefixItems"])
	for _, item := range tuple {
		shape = shape.Or(r.of(item, depth-1, everyType))
	}
	items, ok := object["items"]
	if !ok && len(tuple) > 0 && object["items"] == nil {
		return Anything
	}
	return shape.Or(r.of(items, depth-1, everyType))
}

// typesOf are the types that a schema allows; those that hold already where it
// does not say.
func typesOf(object map[string]any, within []string) (names []string) {
	switch t := object["type"].(type) {
	case string:
		return []string{t}
	case []any:
		for _, name := range t {
			if text, ok := name.(string); ok {
				names = append(names, text)
			}
		}
		return names
	}
	return within
}

func shapeOfString(object map[string]any) Shape {
	pattern, ok := object["pattern"].(string)
	if !ok {
		return Anything
	}
	return shapeOfPattern(pattern)
}

func shapeOfValue(value any) Shape {
	switch v := value.(type) {
	case string:
		return shapeOfText(v)
	case map[string]any:
		return Document
	case []any:
		var shape Shape
		for _, element := range v {
			shape = shape.Or(shapeOfValue(element))
		}
		return shape
	}
	return Shape{}
}

// at is what a reference within the schema leads to, nil where that is not known.
func (r shapes) at(ref string) any {
	if ref == "#" {
		return r.root
	}
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	value := r.root
	for _, step := range strings.Split(path, "/") {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	return value
}

func list(value any) []any {
	elements, _ := value.([]any)
	return elements
}
