package tags

import (
	"encoding/json"
	"fmt"
)

// Entry is the command's entry in a list of tools, without white space: name,
// title, description, inputSchema, outputSchema, annotations, and for the server
// itself timeout, in seconds, and requires. A member that nothing is said about
// is not there. outputSchema is the JSON of the file that @meta output-schema
// names, nil for none. An error is one of [Command.InputSchema].
func (c Command) Entry(outputSchema json.RawMessage) (json.RawMessage, error) {
	schema, err := c.InputSchema()
	if err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", c.Name, err)
	}
	entry := object{{"name", c.Name}}
	entry.addText("title", c.Meta.Title)
	entry.addText("description", c.Describe)
	entry = append(entry, member{"inputSchema", schema})
	if outputSchema != nil {
		entry = append(entry, member{"outputSchema", outputSchema})
	}
	if hints := c.Meta.hints(); len(hints) > 0 {
		entry = append(entry, member{"annotations", hints})
	}
	if c.Meta.Timeout > 0 {
		entry = append(entry, member{"timeout", c.Meta.Timeout.Seconds()})
	}
	if len(c.Meta.Requires) > 0 {
		entry = append(entry, member{"requires", c.Meta.Requires})
	}
	return encode(entry), nil
}

func (o *object) addText(name, text string) {
	if text != "" {
		*o = append(*o, member{name, text})
	}
}

// hints are the annotations, by the protocol's names.
func (m Meta) hints() (hints object) {
	for _, hint := range []struct {
		name  string
		value *bool
	}{
		{"readOnlyHint", m.ReadOnly},
		{"destructiveHint", m.Destructive},
		{"idempotentHint", m.Idempotent},
		{"openWorldHint", m.OpenWorld},
	} {
		if hint.value != nil {
			hints = append(hints, member{hint.name, *hint.value})
		}
	}
	return hints
}
