package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// declareScopes gives every node its resource and every resource its anchors.
func (b *builder) declareScopes() {
	homes := map[string]string{"": ""}
	b.declareAnchors(homes)
	for _, n := range b.nodes {
		n.scope = b.resourceOf(n.where, homes)
	}
}

func (b *builder) resourceOf(pointer string, homes map[string]string) *resource {
	home := b.home(pointer, homes)
	if known, ok := b.resources[home]; ok {
		return known
	}
	created := &resource{anchors: map[string]*node{}}
	b.resources[home] = created
	return created
}

// home is the place of the innermost resource around a place in the schema.
func (b *builder) home(pointer string, homes map[string]string) string {
	if known, ok := homes[pointer]; ok {
		return known
	}
	home := pointer
	id, _ := b.document.at(pointer)["$id"].(string)
	if id == "" || strings.HasPrefix(id, "#") {
		home = b.home(pointer[:strings.LastIndexByte(pointer, '/')], homes)
	}
	homes[pointer] = home
	return home
}

// declareAnchors compiles every schema that a dynamic reference may jump to. The
// library reaches them by scope alone, so they need not be referenced anywhere.
func (b *builder) declareAnchors(homes map[string]string) {
	for _, pointer := range findSchemas(b.document.original, "", "$dynamicAnchor") {
		anchor, ok := b.document.at(pointer)["$dynamicAnchor"].(string)
		if target := b.compileAt(pointer); ok && target != nil {
			b.resourceOf(pointer, homes).anchors[anchor] = target
		}
	}
	for _, pointer := range findSchemas(b.document.original, "", "$recursiveAnchor") {
		if b.document.at(pointer)["$recursiveAnchor"] == true {
			b.resourceOf(pointer, homes).recursiveRoot = b.compileAt(b.home(pointer, homes))
		}
	}
}

func (b *builder) compileAt(pointer string) *node {
	compiled, err := b.compiler.Compile(locationOf(pointer))
	if err != nil {
		b.fail(explainCompile(err, b.document))
		return nil
	}
	return b.node(compiled)
}

// findSchemas returns the places that hold keyword, in order. Values that are data
// and not schemas are left out.
func findSchemas(value any, pointer, keyword string) []string {
	var found []string
	switch value := value.(type) {
	case map[string]any:
		switch value[keyword].(type) {
		case string, bool:
			found = append(found, pointer)
		}
		for _, name := range sortedKeys(value) {
			if !slices.Contains([]string{"const", "default", "enum", "examples"}, name) || strings.HasSuffix(pointer, "/properties") {
				found = append(found, findSchemas(value[name], appendToken(pointer, name), keyword)...)
			}
		}
	case []any:
		for i, item := range value {
			found = append(found, findSchemas(item, appendToken(pointer, strconv.Itoa(i)), keyword)...)
		}
	}
	return found
}

// refuseEndlessReferences finds schemas that apply themselves to the same value
// again, which no value can satisfy in finite time.
func refuseEndlessReferences(nodes []*node) error {
	const inProgress, done = 1, 2
	state := make(map[*node]int, len(nodes))
	var visit func(n *node) error
	visit = func(n *node) error {
		switch state[n] {
		case inProgress:
			return fmt.Errorf("the schema at %s refers to itself without end", describePointer(n.where))
		case done:
			return nil
		}
		state[n] = inProgress
		for _, next := range n.inPlace() {
			if err := visit(next); err != nil {
				return err
			}
		}
		state[n] = done
		return nil
	}
	for _, n := range nodes {
		if err := visit(n); err != nil {
			return err
		}
	}
	return nil
}
