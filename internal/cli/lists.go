package cli

import (
	"path/filepath"

	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/catalog/bashsdk"
	"github.com/conch-mcp/conch/internal/message"
)

// lists are the files that say what a server offers.
type lists struct {
	readList   func() (*catalog.Tools, error) // the list alone
	readTools  func() (*catalog.Tools, error)
	readConfig func() (*catalog.Config, error)
	resources  func() (*catalog.Resources, error)
	prompts    func() (*catalog.Prompts, error)
	paths      map[string]string // of the files, by what clients call the lists
	folder     string            // of the files that resources and prompts name
}

// findLists finds the lists. Those of resources and prompts need not be there,
// unless somebody has named them; nor need that of tools and the configuration
// where tags say what they would.
func (s *server) findLists(flags serverFlags) lists {
	l := lists{paths: map[string]string{}, folder: filepath.Dir(s.source.beside("resources.json"))}
	tools, named := s.file(flags.tools, "MCP_TOOLS_LIST_FILE", "tools.json")
	list := bashsdk.NewToolsFile(tools, s.source.isTagged() && !named)
	l.paths["tools"], l.readList, l.readTools = tools, list.Read, s.source.tools(list.Read)
	config, named := s.file(flags.config, "MCP_CONFIG_FILE", "config.json")
	l.readConfig = s.source.config(bashsdk.NewConfigFile(config, message.Revisions(), s.source.isTagged() && !named).Read)
	resources, named := s.file(flags.resources, "MCP_RESOURCES_LIST_FILE", "resources.json")
	l.paths["resources"], l.resources = resources, bashsdk.NewResourcesFile(resources, !named).Read
	prompts, named := s.file(flags.prompts, "MCP_PROMPTS_LIST_FILE", "prompts.json")
	l.paths["prompts"], l.prompts = prompts, bashsdk.NewPromptsFile(prompts, !named).Read
	return l
}
