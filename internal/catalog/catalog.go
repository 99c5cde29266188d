// Package catalog is what a server offers: its tools and how it describes
// itself, whatever the format its author wrote that in.
//
// It holds and checks declarations. It knows nothing of how tools run, nor of
// the protocol that shows them.
package catalog

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/conch-mcp/conch/internal/invocation"
)

// A Tool is one declared tool.
type Tool struct {
	Name string
	// Aliases are names under which it can be called, too. Lists do not show them,
	// and a tool of such a name goes before.
	Aliases []string
	// Entry is the declaration as clients see it: the author's JSON without
	// its white space. Where inputSchema is missing or not the object the
	// protocol demands, the least one that clients accept stands in its place.
	Entry json.RawMessage
	// Bare is Entry with the least inputSchema, for when the author's is of no
	// use: clients drop a whole list over one that is no schema. Unstructured is
	// Entry without its outputSchema, for the same reason. Bare has none either.
	Bare, Unstructured json.RawMessage
	// InputSchema is what arguments must conform to, the author's JSON; nil
	// when there is none.
	InputSchema json.RawMessage
	// OutputSchema is what structured results conform to, the author's JSON; nil
	// when there is none.
	OutputSchema json.RawMessage
	// Description is for people.
	Description string
	// Requires is what clients must be able to do for the tool to be of use:
	// elicitation, sampling, roots.
	Requires []string
	// Scopes is what a token must be good for to call the tool, where callers
	// have tokens with scopes.
	Scopes []string
	// Timeout is how long a call may take, in place of the server's limit; 0 is
	// that. Each progress gives it as long again, up to MaxTimeout in all; 0 gives
	// it nothing.
	Timeout, MaxTimeout time.Duration
	// Engine runs the tool; nil for the function tool_<name>.
	Engine Engine
	// Suggest returns what prints the values that a parameter may have, a line
	// each, or nil; itself nil where nothing does.
	Suggest func(parameter string) *invocation.Invocation
}

// An Engine says what a call of a tool runs that is no function tool_<name>.
type Engine interface {
	// Invocation is what a call with these arguments runs, a JSON object that has
	// been checked. The text of an error is for the model.
	Invocation(arguments json.RawMessage) (*invocation.Invocation, error)
	// Missing tells what the tool cannot do without and is not there, a phrase
	// each. has reports whether there is a program of a name, or at a path.
	Missing(has func(program string) bool) []string
}

// Tools is one reading of a list of tools.
type Tools struct {
	// List holds the tools declared exactly once, in the author's order.
	List []*Tool
	// Problems tells what in the list is of no use, a sentence each.
	Problems []string

	// What follows is there in a reading of which clients get to see the list
	// itself, and not only what of it is of use.

	Listing  json.RawMessage // the author's list, whatever JSON he wrote, without its white space
	File     string          // the file's path, as its author gave it
	Unusable bool            // an entry is nothing that could have a name

	TTLMs      *int64 // how long clients may keep the list, if it says so itself
	CacheScope string // "public" or "private", if it says so itself

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
	for _, tool := range list {
		for _, alias := range tool.Aliases {
			if !t.Declares(alias) {
				t.byName[alias] = tool
			}
		}
	}
	return t
}

// Lookup returns the tool of that name, nil when there is none or more than
// one.
func (t *Tools) Lookup(name string) *Tool { return t.byName[name] }

// Twice are the names that are declared more than once.
func (t *Tools) Twice() (names []string) {
	for name, tool := range t.byName {
		if tool == nil {
			names = append(names, name)
		}
	}
	return names
}

// Declares reports whether the list has an entry of that name.
func (t *Tools) Declares(name string) bool {
	_, ok := t.byName[name]
	return ok
}

// FileError says why a file cannot be used. Its text is meant for clients and
// authors alike.
type FileError struct {
	What     string // "tools list" or "server configuration"
	Path     string // as the author gave it
	Reason   string
	NotFound bool // there is no regular file of that name
}

func (e *FileError) Error() string {
	return fmt.Sprintf("Cannot read %s: %s: %s", e.What, e.Path, e.Reason)
}

// Brief tells apart only whether there is such a file.
func (e *FileError) Brief() string {
	if e.NotFound {
		return "File not found: " + e.Path
	}
	return "Not exactly one parseable JSON object: " + e.Path
}

// A Config is how a server describes itself. Nil and empty members were not
// given.
type Config struct {
	ServerInfo        json.RawMessage // an object with name and version, or, read verbatim, any value
	Instructions      string
	ProtocolVersion   string   // the revision every initialize is answered with; read verbatim, any text
	SupportedVersions []string // the protocol revisions to serve
	Capabilities      json.RawMessage
	TTLMs             *int64 // how long clients may keep lists
	CacheScope        string // "public" or "private"
	// Environment is what programs get of the server's that say nothing of it.
	Environment invocation.Environment
	// Problems tells what in the configuration is of no use, a sentence each.
	Problems []string
}
