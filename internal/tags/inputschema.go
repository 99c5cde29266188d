package tags

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// InputSchema is the JSON Schema (2020-12) of a call's arguments: an object with
// a property for each parameter, and with no others. An error says which value
// in the tags is not what its notation says; there is none for what [Parse] returns.
func (c Command) InputSchema() (json.RawMessage, error) {
	if len(c.Schema) > 0 {
		return c.Schema, nil
	}
	properties, required := object{}, []string{}
	for _, p := range c.Params {
		property, err := p.schema()
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", p.Line, err)
		}
		properties = append(properties, member{p.Property, property})
		// What the environment may give need not be in the call.
		if p.Required && p.Bound == "" {
			required = append(required, p.Property)
		}
	}
	schema := object{{"type", "object"}, {"properties", properties}}
	if len(required) > 0 {
		schema = append(schema, member{"required", required})
	}
	return encode(append(schema, member{"additionalProperties", false})), nil
}

// Form is what the parameter is in Bash.
func (p Param) Form() Form {
	switch {
	case p.Kind == Flag && p.Many:
		return Count
	case p.Kind == Flag:
		return Set
	case p.Prefixed:
		return Pairs
	case p.Many || p.Rest || len(p.Notations) > 1 || p.repeat() == "*" || p.repeat() == "+":
		return List
	}
	return Text
}

// repeat is the modifier of the last notation.
func (p Param) repeat() string {
	if len(p.Notations) == 0 {
		return ""
	}
	return p.Notations[len(p.Notations)-1].Repeat
}

// schema is what a property may be: a json.RawMessage or an object.
func (p Param) schema() (any, error) {
	schema, err := p.shape()
	if err != nil {
		return nil, err
	}
	if p.Describe != "" {
		schema = append(schema, member{"description", p.Describe})
	}
	standard, err := p.standard()
	if err != nil {
		return nil, err
	}
	if standard != nil {
		schema = append(schema, member{"default", standard})
	}
	if len(p.Schema) > 0 {
		return p.extended(schema), nil
	}
	return schema, nil
}

// extended is the schema that the script gives, with the description and the
// default of the tag where it has none of its own.
func (p Param) extended(schema object) json.RawMessage {
	var own map[string]json.RawMessage
	if p.Schema[0] != '{' || json.Unmarshal(p.Schema, &own) != nil {
		return p.Schema
	}
	text := bytes.TrimSuffix(p.Schema, []byte("}"))
	for _, m := range schema {
		if _, has := own[m.name]; has || m.name != "description" && m.name != "default" {
			continue
		}
		if len(text) > 1 {
			text = append(slices.Clip(text), ',')
		}
		text = slices.Concat(text, encode(m.name), []byte(":"), encode(m.value))
	}
	return append(slices.Clip(text), '}')
}

// shape is the schema without description and default.
func (p Param) shape() (object, error) {
	if p.Kind == Flag {
		if p.Many {
			return object{{"type", "integer"}, {"minimum", 0}}, nil
		}
		return object{{"type", "boolean"}}, nil
	}
	items, err := p.items()
	if err != nil {
		return nil, err
	}
	switch {
	case p.Prefixed:
		return p.pairs(items[0]), nil
	case p.Many && p.listed() && len(items) == 1:
		return list(items[0], p.least(), 0), nil
	case p.Many:
		return list(p.once(items), p.least(), 0), nil
	}
	return p.once(items), nil
}

// items has a schema for each notation; without any, one for a text.
func (p Param) items() (items []object, err error) {
	for _, n := range p.orText() {
		item := n.Type().schema()
		if p.Choices != nil && p.Validated {
			choices, err := n.literals(p.Choices)
			if err != nil {
				return nil, err
			}
			item = append(item, member{"enum", choices})
		}
		items = append(items, item)
	}
	return items, nil
}

func (p Param) orText() []Notation {
	if len(p.Notations) == 0 {
		return []Notation{{}}
	}
	return p.Notations
}

func (n Notation) literals(texts []string) (literals []json.RawMessage, err error) {
	told := map[string]bool{}
	for _, text := range texts {
		literal, err := n.Type().literal(text)
		if err != nil {
			return nil, err
		}
		if !told[string(literal)] {
			told[string(literal)] = true
			literals = append(literals, literal)
		}
	}
	return literals, nil
}

// pairs is the schema of what a prefix takes. Given once, it makes one pair.
func (p Param) pairs(value object) object {
	schema := object{{"type", "object"}, {"additionalProperties", value}}
	if !p.Many {
		schema = append(schema, member{"maxProperties", 1})
	}
	if p.Required {
		schema = append(schema, member{"minProperties", 1})
	}
	return schema
}

// least is how many values there are if there is the parameter at all.
func (p Param) least() int {
	if p.Required {
		return 1
	}
	return 0
}

// listed says that a single time the parameter is given makes a list.
func (p Param) listed() bool { return p.Rest || p.repeat() == "*" || p.repeat() == "+" }

// once is the schema of what one time the parameter is given takes.
func (p Param) once(items []object) object {
	n := len(items)
	least, most := n, n
	switch {
	case p.Rest && p.Kind == Argument:
		least, most = 0, 0
	case p.repeat() == "*":
		least, most = n-1, 0
	case p.Rest || p.repeat() == "+":
		most = 0
	case n == 1:
		return items[0]
	case p.repeat() == "?":
		least = n - 1
	}
	if p.uniform() {
		return list(items[0], least, most)
	}
	return p.tuple(items, least, most)
}

// uniform says that each value is the same thing.
func (p Param) uniform() bool {
	return !slices.ContainsFunc(p.Notations, func(n Notation) bool { return n.Name != p.Notations[0].Name })
}

// list is an array of such items; 0 stands for no bound.
func list(items object, least, most int) object {
	return bounded(object{{"type", "array"}, {"items", items}}, least, most)
}

func bounded(array object, least, most int) object {
	if least > 0 {
		array = append(array, member{"minItems", least})
	}
	if most > 0 {
		array = append(array, member{"maxItems", most})
	}
	return array
}

// tuple is an array in which each place has a meaning of its own, told by the
// notations. What follows the last is of its kind.
func (p Param) tuple(items []object, least, most int) object {
	var titled []object
	for i, item := range items {
		titled = append(titled, append(object{{"title", p.Notations[i].Name}}, item...))
	}
	array := object{{"type", "array"}, {"prefixItems", titled}}
	if most == 0 {
		array = append(array, member{"items", items[len(items)-1]})
	}
	return bounded(array, least, most)
}

// standard is the default as JSON, nil for none. A default is one text, and one
// text is nothing that a tuple or pairs could have.
func (p Param) standard() (any, error) {
	if p.Default == nil || p.Prefixed || len(p.Notations) > 1 {
		return nil, nil
	}
	literal, err := p.orText()[0].Type().literal(*p.Default)
	if err != nil {
		return nil, err
	}
	if p.Form() == List {
		return []json.RawMessage{literal}, nil
	}
	return literal, nil
}
