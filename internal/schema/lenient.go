package schema

import (
	"encoding/json"
	"errors"
	"slices"
)

// maxStrayReferences bounds how often a schema is compiled again without one of
// its references.
const maxStrayReferences = 50

// CompileLenient compiles a schema as scripts written for bash-mcp-sdk know it.
// That framework reads a few keywords of the arguments object, of its parameters
// and of their items, and passes over whatever it can make nothing of, so schemas
// that work with it may break the rules of JSON Schema.
//
// Every keyword of JSON Schema is enforced here too, as in 2020-12 whatever
// $schema says; one with a value that JSON Schema does not allow is not. Where the
// framework itself cannot go on, there is no verdict either: an error here when
// that concerns every call, one of Judge when it concerns a single parameter. The
// arguments must be an object whatever the schema's type says, a type that does not
// exist is one that no value has, patterns may use Oniguruma's syntax, and
// diagnostics spell numbers in scientific notation.
func CompileLenient(raw json.RawMessage) (*Schema, error) {
	root, err := readObject(raw)
	if err != nil {
		return nil, err
	}
	root, _ = inScientificNotation(root).(map[string]any)
	m := newMender(root)
	m.schema(root, position{level: rootLevel})
	if defect := m.marks[""].broken; defect != nil {
		return nil, defect
	}
	compiled, err := buildWithoutStrayReferences(&document{original: root, patterns: m.patterns, marks: m.marks})
	if err != nil {
		return nil, err
	}
	compiled.scientific = true
	return compiled, nil
}

// buildWithoutStrayReferences leaves out references that cannot be followed. Only
// compiling the schema shows which those are.
func buildWithoutStrayReferences(d *document) (*Schema, error) {
	for range maxStrayReferences {
		if err := d.survey(); err != nil {
			return nil, err
		}
		compiled, err := build(d)
		var stray *referenceError
		if !errors.As(err, &stray) || !d.dropReference(stray) {
			return compiled, err
		}
	}
	return nil, errors.New("the schema holds too many references that cannot be followed")
}

// dropReference takes a reference out wherever it is written, and tells whether it
// found it.
func (d *document) dropReference(stray *referenceError) bool {
	dropped := false
	for _, pointer := range findSchemas(d.original, "", stray.keyword) {
		keywords := d.at(pointer)
		if keywords[stray.keyword] == stray.reference {
			delete(keywords, stray.keyword)
			dropped = true
		}
	}
	return dropped
}

// mark is what there is to know of a schema that its mended form does not say.
type mark struct {
	// types are set where one of them is the name of no type.
	types []string
	// broken is set where a keyword makes a verdict impossible.
	broken error
}

// level tells which keywords of a schema bash-mcp-sdk itself reads.
type level uint8

const (
	otherLevel level = iota
	rootLevel
	parameterLevel
	itemLevel
)

type position struct {
	level level
	// pointer is set where the framework reads anything.
	pointer string
}

func (at position) member(name string) position {
	if at.level != rootLevel {
		return position{}
	}
	return position{parameterLevel, appendToken(appendToken("", "properties"), name)}
}

func (at position) items() position {
	if at.level != parameterLevel {
		return position{}
	}
	return position{itemLevel, appendToken(at.pointer, "items")}
}

func (at position) isAmong(levels ...level) bool { return slices.Contains(levels, at.level) }
