// Package catalog is what a server offers: its tools and how it describes
// itself, whatever the format its author wrote that in.
//
// It holds and checks declarations. It knows nothing of how tools run, nor of
// the protocol that shows them.
package catalog

import "encoding/json"

// A Tool is one declared tool.
type Tool struct {
	Name string
	// Entry is the declaration as clients see it: the author's JSON without
	// its white space. Where inputSchema is missing or not the object the
	// protocol demands, the least one that clients accept stands in its place.
	Entry json.RawMessage
	// Bare is Entry with the least inputSchema, for when the author's is of no
	// use: clients drop a whole list over one that is no schema.
	Bare json.RawMessage
	// InputSchema is what arguments must conform to, the author's JSON; nil
	// when there is none.
	InputSchema json.RawMessage
	// Description is for people.
	Description string
}

// Tools is one reading of a list of tools.
type Tools struct {
	// List holds the tools declared exactly once, in the author's order.
	List []*Tool
	// Problems tells what in the list is of no use, a sentence each.
	Problems []string

	byName map[string]*Tool // nil for a name declared more than once
}

// NewTools makes a list and its index. Twice names what is declared more than
// once.
func NewTools(list []*Tool, twice, problems []string) *Tools {
	t := &Tools{List: list, Problems: problems, byName: make(map[string]*Tool, len(list))}
	for _, tool := range list {
		t.byName[tool.Name] = tool
	}
	for _, name := range twice {
		t.byName[name] = nil
	}
	return t
}

// Lookup returns the tool of that name, nil when there is none or more than
// one.
func (t *Tools) Lookup(name string) *Tool { return t.byName[name] }

// Declares reports whether the list has an entry of that name.
func (t *Tools) Declares(name string) bool {
	_, ok := t.byName[name]
	return ok
}

// A Config is how a server describes itself. Nil and empty members were not
// given.
type Config struct {
	ServerInfo        json.RawMessage // an object with name and version
	Instructions      string
	SupportedVersions []string // the protocol revisions to serve
	Capabilities      json.RawMessage
	TTLMs             *int64 // how long clients may keep lists
	CacheScope        string // "public" or "private"
}
