package bashsdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/internal/catalog"
)

// A ToolsFile is a list of tools: {"tools":[…]}.
type ToolsFile struct{ file[*catalog.Tools] }

// NewToolsFile names the list; it is not read yet. Where it is optional and there
// is no such file, nothing is declared. Programs that the list names are looked
// for in its folder.
func NewToolsFile(path string, optional bool) *ToolsFile {
	parse := func(text []byte) (*catalog.Tools, error) { return parseTools(text, filepath.Dir(path)) }
	f := &ToolsFile{file[*catalog.Tools]{what: whatTools, path: path, shown: path, parse: parse}}
	if optional {
		f.absent = catalog.NewTools(nil, nil, nil)
	}
	return f
}

const whatTools = "tools list"

// Read returns the tools the file declares now. An error is a [*catalog.FileError].
func (f *ToolsFile) Read() (*catalog.Tools, error) { return f.read() }

func parseTools(text []byte, folder string) (*catalog.Tools, error) {
	// Maps throughout: the fields of a Go struct match keys in any case.
	var list map[string]json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	tools := list["tools"]
	if tools == nil || string(tools) == "null" {
		return catalog.NewTools(nil, nil, nil), nil
	}
	var entries []json.RawMessage
	if tools[0] != '[' || json.Unmarshal(tools, &entries) != nil {
		return nil, errors.New(`the value of "tools" is not an array`)
	}
	parse := func(entry json.RawMessage) (*catalog.Tool, string) { return ParseTool(entry, folder) }
	return collect(entries, parse, "it is not served"), nil
}

// collect turns entries into tools. What is of no use becomes a problem to
// tell, and hides nothing else. consequence is that of declaring a tool twice.
func collect(entries []json.RawMessage, parse func(json.RawMessage) (*catalog.Tool, string), consequence string) *catalog.Tools {
	var tools []*catalog.Tool
	var problems []string
	count := map[string]int{}
	for i, entry := range entries {
		tool, problem := parse(entry)
		if problem != "" {
			problems = append(problems, fmt.Sprintf("entry %d of the tools list %s", i+1, problem))
		}
		if tool != nil {
			count[tool.Name]++
			tools = append(tools, tool)
		}
	}
	once, twice, more := unique(tools, count, consequence)
	return catalog.NewTools(once, twice, append(problems, more...))
}

// unique parts the tools that are declared once from the names that are not,
// and tells of those, with the consequence.
func unique(tools []*catalog.Tool, count map[string]int, consequence string) (once []*catalog.Tool, twice, problems []string) {
	told := map[string]bool{}
	for _, tool := range tools {
		switch n := count[tool.Name]; {
		case n == 1:
			once = append(once, tool)
		case !told[tool.Name]:
			told[tool.Name] = true
			problems = append(problems, fmt.Sprintf("the tools list declares %s %d times; %s", tool.Name, n, consequence))
			twice = append(twice, tool.Name)
		}
	}
	return once, twice, problems
}

// ParseTool reads an entry of the list. problem tells what in it is of no use, ""
// for nothing; tool is nil where that is all of it. folder is that of the list.
func ParseTool(entry json.RawMessage, folder string) (tool *catalog.Tool, problem string) {
	var fields map[string]json.RawMessage
	if entry[0] != '{' || json.Unmarshal(entry, &fields) != nil {
		return nil, "is not a JSON object; it is not served"
	}
	var name string
	if json.Unmarshal(fields["name"], &name) != nil || name == "" {
		return nil, "has no name; it is not served"
	}
	if strings.ContainsAny(name, "\n\x00") {
		return nil, "has a name with a line break or NUL in it; it is not served"
	}
	tool = &catalog.Tool{Name: name}
	_ = json.Unmarshal(fields["description"], &tool.Description)
	var ok bool
	if tool.Scopes, ok = parseScopes(fields["scopes"]); !ok {
		// To serve it to whoever asks would be worse.
		return nil, fmt.Sprintf("(%s) has scopes that are no array of scope names; it is not served", name)
	}
	if schema := fields["inputSchema"]; schema != nil && string(schema) != "null" {
		tool.InputSchema = schema
	}
	if entry, problem = readProgram(tool, entry, fields, folder); problem != "" {
		return nil, fmt.Sprintf("(%s) %s; it is not served", name, problem)
	}
	tool.Entry, problem = listing(entry, tool.InputSchema)
	problem = together(problem, readOutputSchema(tool, fields["outputSchema"]), readRequires(tool, fields), readLimits(tool, fields))
	tool.Bare = setSchema(tool.Unstructured, anyObject)
	if problem != "" {
		problem = fmt.Sprintf("(%s) %s", name, problem)
	}
	return tool, problem
}

// readOutputSchema reads what structured content is to be like. What is no schema
// is not shown: clients drop a whole list over it.
func readOutputSchema(tool *catalog.Tool, schema json.RawMessage) (problem string) {
	tool.Unstructured = tool.Entry
	if schema == nil {
		return ""
	}
	tool.Unstructured = hiding(tool.Entry, []string{"outputSchema"})
	if schema[0] == '{' {
		tool.OutputSchema = schema
		return ""
	}
	tool.Entry = tool.Unstructured
	return "has an outputSchema that is no JSON object; it is not shown, and no result is held to it"
}

// parseScopes reads scope names (RFC 6749, 3.3). Without any there are none.
func parseScopes(raw json.RawMessage) (scopes []string, ok bool) {
	if raw == nil {
		return nil, true
	}
	if raw[0] != '[' || json.Unmarshal(raw, &scopes) != nil {
		return nil, false
	}
	return scopes, !slices.ContainsFunc(scopes, func(scope string) bool {
		return scope == "" || strings.ContainsFunc(scope, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '"' || c == '\\' })
	})
}

// anyObject is the least inputSchema the protocol allows.
const anyObject = `{"type":"object"}`

// listing is the entry as clients get to see it. Clients drop a whole list
// over one inputSchema that is no object of type "object".
func listing(entry, schema json.RawMessage) (listing json.RawMessage, problem string) {
	var b bytes.Buffer
	if err := json.Compact(&b, entry); err != nil {
		return nil, err.Error()
	}
	compact := b.Bytes()
	var fields map[string]json.RawMessage
	switch {
	case schema == nil:
		return setSchema(compact, anyObject), "declares no inputSchema; calls are refused"
	case schema[0] != '{' || json.Unmarshal(schema, &fields) != nil:
		return setSchema(compact, anyObject), "has an inputSchema that is no JSON object; calls are refused"
	case fields["type"] == nil:
		return setSchema(compact, withType(schema)), ""
	case string(fields["type"]) != `"object"`:
		return setSchema(compact, anyObject), `has an inputSchema whose type is not "object"; calls are refused`
	}
	return compact, ""
}

// withType puts type "object" in front of a schema that leaves the type open:
// arguments are always an object.
func withType(schema json.RawMessage) string {
	var b bytes.Buffer
	_ = json.Compact(&b, schema)
	rest := b.String()[1:]
	if rest == "}" {
		return anyObject
	}
	return `{"type":"object",` + rest
}

// setSchema returns the compact JSON object entry with another inputSchema,
// everything else as it was.
func setSchema(entry []byte, schema string) json.RawMessage {
	return setMember(entry, "inputSchema", schema)
}

// setMember returns a compact JSON object with another value of a member.
func setMember(entry []byte, name, text string) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(entry))
	_, _ = dec.Token()
	var start, end int64
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			break
		}
		// The decoder stands before the colon.
		from := dec.InputOffset() + 1
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			break
		}
		if key == name {
			// Of several the last counts.
			start, end = from, dec.InputOffset()
		}
	}
	if end > 0 {
		return json.RawMessage(string(entry[:start]) + text + string(entry[end:]))
	}
	member := fmt.Sprintf("%q:%s}", name, text)
	if string(entry) == "{}" {
		return json.RawMessage("{" + member)
	}
	return json.RawMessage(string(entry[:len(entry)-1]) + "," + member)
}
