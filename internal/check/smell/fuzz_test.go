package smell_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/conch-mcp/conch/internal/check/smell"
)

// FuzzFind looks through any script that can be read: it ends, and finds the same
// twice, at places that are in the text.
func FuzzFind(f *testing.F) {
	for _, example := range examples {
		for _, code := range slices.Concat(example.smells, example.fine) {
			text, _ := script(code)
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		tree, err := syntax.NewParser().Parse(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		files := []smell.File{{Name: "f", Text: []byte(text), Tree: tree}}
		tools := []smell.Tool{tool("tool_t"), {Function: "", Prefix: "argc_", Open: true, Positional: &smell.Anything}}
		first := smell.Find(files, tools)
		for _, found := range first {
			if int(found.Pos.Offset()) > len(text) || found.Message == "" || found.Safer == "" {
				t.Errorf("%+v", found)
			}
		}
		for _, m := range smell.Unknown(files, tools, nil) {
			if int(m.Pos.Offset()) > len(text) || m.Name == "" {
				t.Errorf("%+v", m)
			}
		}
		if second := smell.Find(files, tools); !slices.Equal(first, second) {
			t.Errorf("%+v, and then %+v", first, second)
		}
	})
}

// FuzzShape asks for the shape of anything: it ends.
func FuzzShape(f *testing.F) {
	for _, schema := range arguments {
		f.Add(schema)
	}
	f.Fuzz(func(_ *testing.T, schema string) {
		smell.ShapeOf(json.RawMessage(schema), json.RawMessage(schema))
	})
}
