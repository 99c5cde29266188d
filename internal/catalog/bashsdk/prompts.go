package bashsdk

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/conch-mcp/conch/internal/catalog"
)

// A PromptsFile is a list of prompts: {"prompts":[…]}.
type PromptsFile struct{ file[*catalog.Prompts] }

// NewPromptsFile names the list; it is not read yet. Where it is optional and
// there is no such file, nothing is declared.
func NewPromptsFile(path string, optional bool) *PromptsFile {
	f := &PromptsFile{file[*catalog.Prompts]{what: "prompts list", path: path, shown: path, parse: parsePrompts}}
	if optional {
		f.absent = &catalog.Prompts{Absent: true}
	}
	return f
}

// Read returns what the file declares now. An error is a [*catalog.FileError].
func (f *PromptsFile) Read() (*catalog.Prompts, error) { return f.read() }

func parsePrompts(text []byte) (*catalog.Prompts, error) {
	var list map[string]json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	declared, err := entries(list, "prompts")
	if err != nil {
		return nil, err
	}
	p := collected[*catalog.Prompt]{list: "prompts", key: func(p *catalog.Prompt) string { return p.Name }, parse: parsePrompt}
	found := &catalog.Prompts{List: p.take(declared)}
	found.Problems = p.problems
	return found, nil
}

func parsePrompt(entry json.RawMessage) (*catalog.Prompt, error) {
	d, err := declare(entry, "prompt_")
	if err != nil {
		return nil, err
	}
	if !isLine(d.name) {
		return nil, errors.New("has a name with a line break or NUL in it")
	}
	p := &catalog.Prompt{Name: d.name, Description: d.text("description"), Entry: d.entry, Source: d.source}
	raw := d.members["arguments"]
	if raw == nil || string(raw) == "null" {
		return p, nil
	}
	var list []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return nil, fmt.Errorf("(%s) has arguments that are no array", d.name)
	}
	shown := make([]json.RawMessage, len(list))
	for i, element := range list {
		argument, err := parseArgument(element)
		if err != nil {
			return nil, fmt.Errorf("(%s) has an argument %d that %w", d.name, i+1, err)
		}
		p.Arguments = append(p.Arguments, argument)
		shown[i] = hiding(element, own)
	}
	p.Entry = setMember(p.Entry, "arguments", joined(shown))
	return p, nil
}

func parseArgument(raw json.RawMessage) (a catalog.Argument, err error) {
	var members map[string]json.RawMessage
	if raw[0] != '{' || json.Unmarshal(raw, &members) != nil {
		return a, errors.New("is no object")
	}
	if json.Unmarshal(members["name"], &a.Name) != nil || a.Name == "" {
		return a, errors.New("has no name")
	}
	if required := members["required"]; required != nil && json.Unmarshal(required, &a.Required) != nil {
		return a, errors.New("has a required that is neither true nor false")
	}
	for _, member := range []string{"title", "description"} {
		if text := members[member]; text != nil && text[0] != '"' {
			return a, fmt.Errorf("has a %s that is no string", member)
		}
	}
	var ok bool
	if a.Complete, ok = completions(members["complete"]); !ok {
		return a, errors.New("has a complete that is no array of strings")
	}
	return a, nil
}

func joined(elements []json.RawMessage) string {
	text := "["
	for i, e := range elements {
		if i > 0 {
			text += ","
		}
		text += string(e)
	}
	return text + "]"
}
