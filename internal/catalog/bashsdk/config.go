package bashsdk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/conch-mcp/conch/internal/catalog"
)

// A ConfigFile is how a server describes itself, one JSON object all of whose
// members are optional.
type ConfigFile struct{ file[*catalog.Config] }

// NewConfigFile names the configuration; it is not read yet. known lists the
// protocol revisions that supportedVersions may name.
func NewConfigFile(path string, known []string) *ConfigFile {
	parse := func(text []byte) (*catalog.Config, error) { return parseConfig(text, known) }
	return &ConfigFile{file[*catalog.Config]{what: "server configuration", path: path, parse: parse}}
}

// Read returns what the file says now. An error is a [*FileError].
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
	var info map[string]json.RawMessage
	checks := []struct {
		name, want string
		into       any
		good       func() bool
	}{
		{"serverInfo", "an object; its name and version, when given, are strings", &info, func() bool { return isString(info, "name") && isString(info, "version") }},
		{"instructions", "a string", &c.Instructions, nil},
		{"capabilities", "an object", &map[string]json.RawMessage{}, nil},
		{"supportedVersions", fmt.Sprintf("an array with some of %q", known), &c.SupportedVersions, func() bool { return anyOf(c.SupportedVersions, known) }},
		{"ttlMs", "an integer of at least 0", &c.TTLMs, func() bool { return *c.TTLMs >= 0 }},
		{"cacheScope", `"public" or "private"`, &c.CacheScope, func() bool { return c.CacheScope == "public" || c.CacheScope == "private" }},
	}
	for _, check := range checks {
		raw := members[check.name]
		if raw == nil || string(raw) == "null" {
			continue
		}
		if json.Unmarshal(raw, check.into) != nil || check.good != nil && !check.good() {
			return nil, fmt.Errorf("%s must be %s", check.name, check.want)
		}
	}
	c.ServerInfo, c.Capabilities = compact(members["serverInfo"]), compact(members["capabilities"])
	return &c, nil
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
