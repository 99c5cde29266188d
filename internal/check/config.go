package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/conch-mcp/conch/internal/catalog/bashsdk"
)

// config checks the server's description.
//
// Where tags say what it would, it need not be there.
func (c *checker) config(s *script, optional bool) {
	path, named := c.options.Config, c.options.Config != ""
	if !named {
		if path, named = c.listPath(s, "MCP_CONFIG_FILE"); !named {
			path = beside(s.name, "config.json")
		}
	}
	if c.checked[path] {
		return
	}
	c.checked[path] = true
	f, err := c.read(path)
	if _, missing := os.Stat(path); optional && !named && errors.Is(missing, fs.ErrNotExist) {
		return
	}
	if err != nil {
		c.tell(Finding{Rule: ruleConfig, File: s.name, Message: fmt.Sprintf("the server's description cannot be read: %s: %v; clients cannot begin", path, err), Safer: missingList("the server's description")})
		return
	}
	root, wrong := parseJSON(f)
	if wrong != nil {
		found := f.at(ruleConfig, wrong.offset, 0)
		found.Message = "the server's description cannot be read: " + wrong.text + "; clients cannot begin"
		c.tell(found)
		return
	}
	c.misspelled(root, []string{"serverInfo", "instructions", "supportedVersions", "protocolVersion", "capabilities", "ttlMs", "cacheScope", "environment"}, "a description")
	config, err := bashsdk.NewConfigFile(path, c.options.Revisions, false).Read()
	if err != nil {
		found := root.at(ruleConfig)
		found.EndLine = 0
		for _, m := range root.members() {
			if strings.Contains(err.Error(), ": "+m.key()+" ") {
				found = m.at(ruleConfig)
			}
		}
		found.Message = err.Error() + "; clients cannot begin"
		c.tell(found)
		return
	}
	for _, text := range config.Problems {
		found := root.at(ruleConfig)
		found.EndLine, found.Message, found.Severity = 0, text, Warning
		c.tell(found)
	}
}
