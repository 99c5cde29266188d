package schema

import (
	"encoding/json"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// node is one compiled subschema in the form the evaluation wants: references
// resolved to nodes, numbers exact, and what a message needs in schema order.
type node struct {
	// where is the subschema's JSON pointer, for messages about the schema itself.
	where string
	// fixed is set for the schemas true and false.
	fixed *bool
	// scope is set only where dynamic references need it.
	scope *resource

	// broken is set where no verdict is possible, and says why.
	broken error

	types    []string
	enum     *enumeration
	constant *constant
	format   *jsonschema.Format

	numeric numericRules
	text    textRules
	object  objectRules
	array   arrayRules

	ref        *node
	recursive  *node
	dynamic    *dynamicRef
	not        *node
	allOf      []*node
	anyOf      []*node
	oneOf      []*node
	condition  *node
	consequent *node
	otherwise  *node
}

type numericRules struct {
	bounds     []bound
	multipleOf *divisor
}

type textRules struct {
	minLength *int
	maxLength *int
	pattern   *pattern
}

type objectRules struct {
	min, max          *int
	required          []string
	properties        map[string]*node
	patterns          []patternProperty
	additional        *node
	closed            bool
	names             *node
	dependentRequired []dependentNames
	dependentSchemas  []dependentSchema
	unevaluated       *node
}

type arrayRules struct {
	min, max    *int
	unique      bool
	prefix      []*node
	rest        *node
	contains    *node
	minContains int
	maxContains *int
	// containsEvaluates tells whether an item that contains matched counts as
	// evaluated, which differs between drafts.
	containsEvaluates bool
	unevaluated       *node
}

type patternProperty struct {
	pattern *pattern
	schema  *node
}

type dependentNames struct {
	trigger string
	names   []string
}

type dependentSchema struct {
	trigger string
	schema  *node
}

// dynamicRef is a reference whose target is replaced by the outermost resource in
// the dynamic scope that declares the same anchor, if the target declares it too.
type dynamicRef struct {
	initial *node
	anchor  string
}

// resource is a schema with an identity of its own, the unit of dynamic scope.
type resource struct {
	anchors map[string]*node
	// recursiveRoot is set when the resource has "$recursiveAnchor": true.
	recursiveRoot *node
}

// tracksEvaluation tells whether the node must know what its subschemas covered.
func (n *node) tracksEvaluation() bool {
	return n.object.unevaluated != nil || n.array.unevaluated != nil
}

func (n *node) isFalse() bool { return n.fixed != nil && !*n.fixed }

// inPlace lists the nodes that apply to the same value as n and are known before
// there is a value; where dynamic references lead is not.
func (n *node) inPlace() []*node {
	var all []*node
	for _, single := range []*node{n.ref, n.not, n.condition, n.consequent, n.otherwise} {
		if single != nil {
			all = append(all, single)
		}
	}
	for _, list := range [][]*node{n.allOf, n.anyOf, n.oneOf} {
		all = append(all, list...)
	}
	for _, dependent := range n.object.dependentSchemas {
		all = append(all, dependent.schema)
	}
	return all
}

// bound is one of the four limits on a number.
type bound struct {
	limit    number
	relation string
	admits   func(order int) bool
}

// enumeration keeps strings apart, as they are what nearly every enum holds and
// need no canonical form.
type enumeration struct {
	values  []any
	strings map[string]struct{}
	keys    map[string]struct{}
}

func newEnumeration(values []any) *enumeration {
	e := &enumeration{values: values, strings: map[string]struct{}{}, keys: map[string]struct{}{}}
	for _, value := range values {
		if text, ok := value.(string); ok {
			e.strings[text] = struct{}{}
			continue
		}
		e.keys[string(appendKey(nil, value))] = struct{}{}
	}
	return e
}

type constant struct {
	value any
	key   string
}

// appendKey writes a text that two JSON values share exactly when they are equal.
func appendKey(key []byte, value any) []byte {
	switch value := value.(type) {
	case nil:
		return append(key, 'n')
	case bool:
		if value {
			return append(key, 't')
		}
		return append(key, 'f')
	case json.Number:
		key = append(key, '#')
		return append(parseNumber(string(value)).appendKey(key), ';')
	case string:
		return appendTextKey(key, value)
	case []any:
		key = append(key, '[')
		for _, item := range value {
			key = appendKey(key, item)
		}
		return append(key, ']')
	case map[string]any:
		key = append(key, '{')
		for _, name := range sortedKeys(value) {
			key = appendKey(appendTextKey(key, name), value[name])
		}
		return append(key, '}')
	default:
		return key
	}
}

// appendTextKey marks the length first, so that no text can imitate what follows it.
func appendTextKey(key []byte, text string) []byte {
	key = append(key, '"')
	key = strconv.AppendInt(key, int64(len(text)), 10)
	key = append(key, ':')
	return append(key, text...)
}
