// Package schema decides whether the arguments of a call conform to a JSON Schema
// and, when they do not, says so in one sentence its sender can act on.
//
// The schema library compiles: it knows the drafts, checks a schema against its
// metaschema and resolves references. The verdict is reached here, over the
// compiled schema, because it has to be exact for every number, bounded in time
// and memory for every input, and complete in the defects it names.
//
// It also tells which arguments a schema has clients repeat in headers, and whether
// they did.
//
// The package knows nothing of protocols, of tools and how they are run, or of
// files and networks: a reference that leaves the schema is refused, not fetched.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// Schema is a compiled schema for an object of arguments, or another value. It never
// changes after Compile, so any number of goroutines may share it.
type Schema struct {
	root *node
	// base is what diagnostics call a value that need not be an object; nil for
	// arguments.
	base []segment
	// nodes bounds how many subschemas can apply to one value in turn before the
	// schema must have come round to itself.
	nodes int
	// dynamic tells that the schema's references depend on the path taken to them.
	dynamic bool
	// scientific tells that diagnostics spell numbers as decimal arithmetic does.
	scientific bool
	limits     limits
}

// limits bound one pass over the arguments. What exceeds them is rejected.
type limits struct {
	steps    int
	matching time.Duration
}

// standardLimits admit ten megabytes of small values and the patterns for them,
// and end an evaluation that a schema with overlapping alternatives would draw out
// exponentially after a few seconds.
func standardLimits() limits {
	return limits{steps: 30_000_000, matching: 3 * time.Second}
}

// Compile checks and compiles the exact text of a schema. Its errors are sentences
// for the author of the schema.
func Compile(raw json.RawMessage) (*Schema, error) {
	document, err := readDocument(raw)
	if err != nil {
		return nil, err
	}
	return build(document)
}

// CompileValue is Compile for a schema of values of any type. Diagnostics call the
// value by a name.
func CompileValue(raw json.RawMessage, name string) (*Schema, error) {
	document, err := readDocumentOfAny(raw)
	if err != nil {
		return nil, err
	}
	s, err := build(document)
	if err != nil {
		return nil, err
	}
	s.base = []segment{{name: name}}
	return s, nil
}

// Check returns "" when arguments, the exact text of a valid JSON value, conform to
// the schema, and otherwise one diagnostic that ends in one full stop. Of a name
// that occurs twice in an object the last value counts.
func (s *Schema) Check(arguments json.RawMessage) string {
	diagnostic, err := s.Judge(arguments)
	switch {
	case errors.Is(err, errNotJSON):
		return "Invalid arguments: expected a JSON object, got text that could not be read as JSON."
	case err != nil:
		return fmt.Sprintf("Invalid arguments: they could not be judged: %s.", err)
	default:
		return diagnostic
	}
}

var errNotJSON = errors.New("the arguments are not one JSON value")

// Judge is Check for callers that have words of their own for arguments no verdict
// is possible on. It fails on text that is not one JSON value, and where CompileLenient
// let a defect of the schema pass until a call gives the parameter that has it.
func (s *Schema) Judge(arguments json.RawMessage) (diagnostic string, err error) {
	value, err := decode(arguments)
	if err != nil {
		return "", errNotJSON
	}
	if _, ok := value.(map[string]any); !ok && s.base == nil {
		return fmt.Sprintf("Invalid arguments: expected a JSON object, got %s.", typeName(value)), nil
	}
	first := evaluation{schema: s, verdictOnly: true, path: slices.Clone(s.base)}
	if first.accepts(value) {
		return "", nil
	}
	if first.broken != nil {
		return "", first.broken
	}
	found := newFindings(maxFindings)
	if first.halted != "" {
		// A second pass would not get farther than the first.
		first.reportUnjudged(found)
		return found.diagnostic(), nil
	}
	return s.diagnose(value, found, first.timedOut)
}

// diagnose makes a second, slower pass over arguments already known to be rejected.
// Most arguments conform, so the first pass looks for nothing but the verdict.
func (s *Schema) diagnose(value any, found *findings, timedOut map[matchKey]struct{}) (string, error) {
	if s.scientific {
		value = inScientificNotation(value)
	}
	second := evaluation{schema: s, found: found, timedOut: timedOut, path: slices.Clone(s.base)}
	second.eval(s.root, value, nil)
	if second.broken != nil {
		return "", second.broken
	}
	second.reportUnjudged(found)
	return found.diagnostic(), nil
}

// decode keeps the text of every number. A text without a digit has none, and needs no
// decoder of its own, which takes much memory.
func decode(raw []byte) (any, error) {
	if !bytes.ContainsAny(raw, "0123456789") {
		var value any
		err := json.Unmarshal(raw, &value)
		return value, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errNotJSON
	}
	return value, nil
}
