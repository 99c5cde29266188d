package bashsdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/conch-mcp/conch/internal/catalog"
)

// A ConfigFile is how a server describes itself, one JSON object all of whose
// members are optional.
type ConfigFile struct{ file[*catalog.Config] }

// NewConfigFile names the configuration; it is not read yet. known lists the
// protocol revisions that supportedVersions and protocolVersion may name. Where the
// file is optional and not there, it says nothing.
func NewConfigFile(path string, known []string, optional bool) *ConfigFile {
	parse := func(text []byte) (*catalog.Config, error) { return parseConfig(text, known) }
	f := &ConfigFile{file[*catalog.Config]{what: whatConfig, path: path, shown: path, parse: parse}}
	if optional {
		f.absent = &catalog.Config{}
	}
	return f
}

const whatConfig = "server configuration"

// Read returns what the file says now. An error is a [*catalog.FileError].
func (f *ConfigFile) Read() (*catalog.Config, error) { return f.read() }

// parseConfig takes the members Conch knows. One of the wrong type is an error:
// a server that quietly ignores half its configuration is worse than one that
// says so.
func parseConfig(text []byte, known []string) (*catalog.Config, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	var c catalog.Config
	problems := readMembers(members, append([]member{
		{"serverInfo", "an object; its name and version, when given, are strings", into(new(map[string]json.RawMessage), func(info map[string]json.RawMessage) bool {
			return isString(info, "name") && isString(info, "version")
		})},
		{"capabilities", "an object", into(new(map[string]json.RawMessage), nil)},
		{"environment", `"inherit", "minimal" or an array of names of variables`, func(raw json.RawMessage) (ok bool) {
			c.Environment, ok = readEnvironment(raw)
			return ok
		}},
		{"protocolVersion", fmt.Sprintf("one of %q", known), into(&c.ProtocolVersion, func(v string) bool { return slices.Contains(known, v) })},
	}, ownMembers(&c, known)...))
	if len(problems) > 0 {
		return nil, errors.New(problems[0])
	}
	if c.ProtocolVersion != "" && len(c.SupportedVersions) > 0 && !slices.Contains(c.SupportedVersions, c.ProtocolVersion) {
		return nil, fmt.Errorf("protocolVersion is %q, and supportedVersions leaves it out; name it there too, or remove one of the two", c.ProtocolVersion)
	}
	c.ServerInfo, c.Capabilities = compact(members["serverInfo"]), compact(members["capabilities"])
	return &c, nil
}

// member is how one member of a configuration is read.
type member struct {
	name, want string
	read       func(json.RawMessage) bool
}

// ownMembers are the members that only Conch gives a meaning to.
func ownMembers(c *catalog.Config, known []string) []member {
	return append([]member{
		{"instructions", "a string", into(&c.Instructions, nil)},
		{"supportedVersions", fmt.Sprintf("an array with some of %q", known), into(&c.SupportedVersions, func(v []string) bool { return anyOf(v, known) })},
	}, cachingMembers(c)...)
}

// cachingMembers are those of them that say how long and by whom something may be
// kept.
func cachingMembers(c *catalog.Config) []member {
	return []member{
		{"ttlMs", "an integer of at least 0", into(&c.TTLMs, func(ttl *int64) bool { return *ttl >= 0 })},
		{"cacheScope", `"public" or "private"`, into(&c.CacheScope, func(scope string) bool { return scope == "public" || scope == "private" })},
	}
}

// readMembers reads what is there and tells what is of the wrong type.
func readMembers(members map[string]json.RawMessage, list []member) (problems []string) {
	for _, m := range list {
		if raw := members[m.name]; raw != nil && string(raw) != "null" && !m.read(raw) {
			problems = append(problems, fmt.Sprintf("%s must be %s", m.name, m.want))
		}
	}
	return problems
}

// into reads a value into a variable, which keeps the one it has when the
// value is of another type or not a good one. Nil takes any for good.
func into[T any](variable *T, good func(T) bool) func(json.RawMessage) bool {
	return func(raw json.RawMessage) bool {
		var value T
		if json.Unmarshal(raw, &value) != nil || good != nil && !good(value) {
			return false
		}
		*variable = value
		return true
	}
}

// isString reports whether a member is a string or not there.
func isString(object map[string]json.RawMessage, member string) bool {
	value := object[member]
	return value == nil || value[0] == '"'
}

func anyOf(versions, known []string) bool {
	return slices.ContainsFunc(versions, func(v string) bool { return slices.Contains(known, v) })
}

func compact(raw json.RawMessage) json.RawMessage {
	if raw == nil || string(raw) == "null" {
		return nil
	}
	var b bytes.Buffer
	_ = json.Compact(&b, raw)
	return b.Bytes()
}
