package smell

import "strings"

// What a tool can demand of an argument: as a list says it, and as tags do, where NAME
// stands for the argument.
var (
	anInteger = demand{`give the argument "type": "integer" in its schema`, `write <INT> behind NAME in its tag`}
	aChoice   = demand{`give the argument an "enum" in its schema`, `write the choices behind NAME in its tag: NAME[a|b]`}
	aPattern  = demand{`give the argument a "pattern" in its schema`, `limit it in the tags: # @schema NAME {"pattern": "^[a-z0-9-]+$"}`}
)

type demand struct{ list, tags string }

// demand is what to write, in the words of what describes the tools here.
func (s *scope) demand(d demand, v value) string {
	for _, tool := range s.tools() {
		if !tool.Tagged {
			continue
		}
		name, ok := strings.CutPrefix(v.origin, "$"+tool.Prefix)
		if !ok {
			name = "NAME"
		}
		return strings.ReplaceAll(d.tags, "NAME", name)
	}
	return d.list
}
