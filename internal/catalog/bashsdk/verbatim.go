package bashsdk

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/conch-mcp/conch/internal/catalog"
)

// NewVerbatimToolsFile names a list that clients get to see as it is; it is
// not read yet. shown is what errors call it: the path its author gave, which
// may be relative to another directory than Conch's.
//
// Entries are judged for calls alone. The file is an error only when it holds
// no JSON object.
func NewVerbatimToolsFile(path, shown string) *ToolsFile {
	parse := func(text []byte) (*catalog.Tools, error) { return parseVerbatimTools(text, shown) }
	return &ToolsFile{file[*catalog.Tools]{what: whatTools, path: path, shown: shown, anyMark: true, parse: parse}}
}

// NewVerbatimConfigFile names a configuration that clients get to see as it
// is; it is not read yet. shown and known are those of [NewVerbatimToolsFile]
// and [NewConfigFile].
//
// The file is an error only when it holds no JSON object.
func NewVerbatimConfigFile(path, shown string, known []string) *ConfigFile {
	parse := func(text []byte) (*catalog.Config, error) { return parseVerbatimConfig(text, known) }
	return &ConfigFile{file[*catalog.Config]{what: whatConfig, path: path, shown: shown, anyMark: true, parse: parse}}
}

func parseVerbatimTools(text []byte, shown string) (*catalog.Tools, error) {
	var list map[string]json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	t := walk(entriesOf(list["tools"]))
	t.File, t.Listing = shown, given(list["tools"])
	if t.Listing == nil {
		t.Listing = json.RawMessage(`[]`)
	}
	var c catalog.Config
	// One that is not what it should be is none.
	readMembers(list, cachingMembers(&c))
	t.TTLMs, t.CacheScope = c.TTLMs, c.CacheScope
	return t, nil
}

// entriesOf are the elements of an array or the values of an object; nothing
// else holds entries.
func entriesOf(tools json.RawMessage) (entries []json.RawMessage) {
	if len(tools) == 0 {
		return nil
	}
	switch tools[0] {
	case '[':
		_ = json.Unmarshal(tools, &entries)
	case '{':
		var byKey map[string]json.RawMessage
		_ = json.Unmarshal(tools, &byKey)
		for _, key := range slices.Sorted(maps.Keys(byKey)) {
			entries = append(entries, byKey[key])
		}
	}
	return entries
}

// walk looks for tools in every entry. One that is neither an object nor null
// spoils the list: whoever looks for a name in it cannot get past.
func walk(entries []json.RawMessage) *catalog.Tools {
	t := collect(entries, parseCallable, "calls are refused")
	t.Unusable = slices.ContainsFunc(entries, func(entry json.RawMessage) bool {
		return entry[0] != '{' && string(entry) != "null"
	})
	return t
}

// parseCallable reads what a call needs of an entry.
func parseCallable(entry json.RawMessage) (tool *catalog.Tool, problem string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(entry, &members) != nil {
		return nil, "is not a JSON object; all calls are refused"
	}
	tool = &catalog.Tool{}
	if json.Unmarshal(members["name"], &tool.Name) != nil || tool.Name == "" {
		return nil, "has no name; it cannot be called"
	}
	_ = json.Unmarshal(members["description"], &tool.Description)
	if schema := members["inputSchema"]; schema != nil && string(schema) != "null" {
		tool.InputSchema = schema
		return tool, ""
	}
	return tool, fmt.Sprintf("(%s) declares no inputSchema; calls are refused", tool.Name)
}

// parseVerbatimConfig takes whatever serverInfo and capabilities are. Members
// that bash-mcp-sdk does not know may have another meaning to the script, so
// one of the wrong type is as good as none.
func parseVerbatimConfig(text []byte, known []string) (*catalog.Config, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	var c catalog.Config
	c.Problems = readMembers(members, append(ownMembers(&c, known),
		member{"protocolVersion", "a string", into(&c.ProtocolVersion, nil)}))
	c.ServerInfo, c.Capabilities = given(members["serverInfo"]), given(members["capabilities"])
	return &c, nil
}

// given is a value without its white space, nil for the values that stand for
// none.
func given(raw json.RawMessage) json.RawMessage {
	if string(raw) == "false" {
		return nil
	}
	return compact(raw)
}
