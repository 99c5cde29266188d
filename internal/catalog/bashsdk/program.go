package bashsdk

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/catalog/program"
	"github.com/conch-mcp/conch/internal/invocation"
)

// forPrograms are the members of an entry that say how a program runs. Clients do
// not get to see them.
var forPrograms = []string{"exec", "environment"}

// readProgram reads which program runs the tool, where it is one, and returns the
// entry without that.
func readProgram(tool *catalog.Tool, entry json.RawMessage, fields map[string]json.RawMessage, folder string) (rest json.RawMessage, problem string) {
	raw, ok := fields["exec"]
	if !ok {
		return entry, ""
	}
	var words []string
	if raw[0] != '[' || json.Unmarshal(raw, &words) != nil || len(words) == 0 || words[0] == "" {
		return nil, "has an exec that is no array of strings, a program and its arguments"
	}
	environment, ok := readEnvironment(fields["environment"])
	if !ok {
		return nil, `has an environment that is neither "inherit" nor "minimal" nor an array of names`
	}
	tool.Engine = &program.Program{Words: program.Below(folder, words), Environment: environment, Declared: declared(tool.InputSchema)}
	return hiding(entry, forPrograms), ""
}

// readEnvironment reads what programs get of the server's environment; without
// raw that is not said.
func readEnvironment(raw json.RawMessage) (e invocation.Environment, ok bool) {
	if raw == nil || string(raw) == "null" {
		return e, true
	}
	var words []string
	switch raw[0] {
	case '"':
		words = []string{""}
		_ = json.Unmarshal(raw, &words[0])
		if words[0] != "inherit" && words[0] != "minimal" {
			return e, false
		}
	case '[':
		if json.Unmarshal(raw, &words) != nil {
			return e, false
		}
		// A name is a name here, also one of a mode.
		e, ok = invocation.ParseEnvironment(append([]string{"PATH"}, words...))
		return e, ok
	default:
		return e, false
	}
	return invocation.ParseEnvironment(words)
}

// declared are the arguments that a schema has.
func declared(schema json.RawMessage) (names []string) {
	var object struct{ Properties map[string]json.RawMessage }
	_ = json.Unmarshal(schema, &object)
	return slices.Sorted(maps.Keys(object.Properties))
}
