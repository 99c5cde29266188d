package annotated

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/internal/invocation"
	"github.com/conch-mcp/conch/internal/tags"
)

// A command runs a tool that a script describes in tags. It implements
// [catalog.Engine].
type command struct {
	tags.Command
	base     invocation.Invocation // what is the same for all calls
	standard map[string]standard
	lacking  func(has func(program string) bool) []string
}

// Missing implements [catalog.Engine].
func (c *command) Missing(has func(program string) bool) []string { return c.lacking(has) }

// Invocation implements [catalog.Engine].
func (c *command) Invocation(arguments json.RawMessage) (*invocation.Invocation, error) {
	var given map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &given); err != nil {
		return nil, fmt.Errorf("read the arguments: %w", err)
	}
	v := c.base
	v.Computed = slices.Clone(v.Computed)
	w := words{v: &v}
	for _, p := range c.Params {
		values, label := valuesOf(p, given[p.Property]), p.Property
		if len(given[p.Property]) == 0 {
			s := c.standard[p.Property]
			if s.err != nil {
				return nil, s.err
			}
			values, label = s.values, cmp.Or(s.label, label)
		}
		set(&v, p, values, label)
		if p.Kind == tags.Argument {
			w.add(p, values)
		}
	}
	return &v, nil
}

// suggest returns what prints the values of a parameter whose choices are computed,
// refused or not where they are others.
func (c *command) suggest(parameter string) *invocation.Invocation {
	for _, p := range c.Params {
		if p.Property == parameter && p.ChoicesFunction != "" {
			return &invocation.Invocation{File: c.base.File, Function: p.ChoicesFunction}
		}
	}
	return nil
}

// words has the function be called with the values of its arguments in their
// places. One that is not given has an empty text before one that is.
type words struct {
	v       *invocation.Invocation
	skipped int
}

func (w *words) add(p tags.Param, values []string) {
	if len(values) == 0 && p.DefaultFunction == "" {
		w.skipped++
		return
	}
	w.v.Words = append(w.v.Words, make([]string, w.skipped)...)
	w.skipped = 0
	if len(values) == 0 {
		w.v.Late = append(w.v.Late, invocation.Late{Word: len(w.v.Words), Variable: p.Variable})
		values = []string{""}
	}
	w.v.Words = append(w.v.Words, values...)
}

// set has a parameter be there for the call, or not. label is what messages call it.
func set(v *invocation.Invocation, p tags.Param, values []string, label string) {
	kind := kinds[p.Form()]
	if len(values) == 0 {
		v.Unset = append(slices.Clip(v.Unset), p.Variable)
		if p.DefaultFunction != "" {
			what := invocation.Value
			if kind == invocation.List {
				what = invocation.FirstOfList
			}
			v.Computed = append(v.Computed, invocation.Computed{Variable: p.Variable, Label: label, Function: p.DefaultFunction, What: what})
		}
	} else {
		v.Variables = append(slices.Clip(v.Variables), invocation.Variable{Name: p.Variable, Kind: kind, Values: values})
	}
	if p.ChoicesFunction != "" && p.Validated {
		v.Computed = append(v.Computed, invocation.Computed{Variable: p.Variable, Label: label, Function: p.ChoicesFunction, What: invocation.Choices})
	}
}

var kinds = map[tags.Form]invocation.Kind{tags.List: invocation.List, tags.Pairs: invocation.Pairs}

// valuesOf are the values that a parameter has in Bash, none where it is not set.
func valuesOf(p tags.Param, value json.RawMessage) []string {
	if len(value) == 0 || value[0] == 'n' && !isJSON(p) {
		return nil
	}
	switch p.Form() {
	case tags.Set:
		if string(value) != "true" {
			return nil
		}
		return []string{"1"}
	case tags.Count:
		if n := textOf(p, value); n != "0" {
			return []string{n}
		}
		return nil
	case tags.Pairs:
		return pairsOf(p, value)
	case tags.List:
		return flat(p, value)
	}
	return []string{textOf(p, value)}
}

// pairsOf are keys and values in turn, the keys in order.
func pairsOf(p tags.Param, value json.RawMessage) (texts []string) {
	var pairs map[string]json.RawMessage
	if json.Unmarshal(value, &pairs) != nil {
		return nil
	}
	for _, key := range sorted(pairs) {
		texts = append(texts, key, textOf(p, pairs[key]))
	}
	return texts
}

func sorted(pairs map[string]json.RawMessage) []string {
	var keys []string
	for key := range pairs {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// flat are the elements of an array, and of arrays in it: in Bash an option that is
// given twice with two values each is one array of four.
func flat(p tags.Param, value json.RawMessage) (texts []string) {
	var items []json.RawMessage
	if value[0] != '[' || json.Unmarshal(value, &items) != nil {
		return []string{textOf(p, value)}
	}
	for _, item := range items {
		if item[0] == '[' && !isJSON(p) {
			texts = append(texts, flat(p, item)...)
			continue
		}
		texts = append(texts, textOf(p, item))
	}
	return texts
}

// isJSON reports whether the values of a parameter may be arrays themselves.
func isJSON(p tags.Param) bool {
	return slices.ContainsFunc(p.Notations, func(n tags.Notation) bool { return n.Type() == tags.JSON })
}

// textOf is what Bash has of one value. An integer is one for Bash's arithmetic,
// too: 2.0 and 2e3 are integers in JSON.
func textOf(p tags.Param, value json.RawMessage) string {
	if value[0] == 'n' && isJSON(p) {
		return string(value)
	}
	text := invocation.TextOf(value)
	if value[0] == '"' || !strings.ContainsAny(text, ".eE") || !wantsInteger(p) {
		return text
	}
	return wholeNumber(text)
}

func wantsInteger(p tags.Param) bool {
	return p.Form() == tags.Count || slices.ContainsFunc(p.Notations, func(n tags.Notation) bool { return n.Type() == tags.Integer })
}

// longestInteger bounds how many digits an exponent may stand for.
const longestInteger = 1000

func wholeNumber(text string) string {
	_, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	if len(strings.TrimLeft(exponent, "+-0")) > 3 {
		return text
	}
	if len(text) > longestInteger {
		return text
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || !r.IsInt() {
		return text
	}
	return r.Num().String()
}
