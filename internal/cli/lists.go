package cli

import (
	"path/filepath"

	"github.com/conch-mcp/conch/internal/catalog/bashsdk"
)

// lists are the files that say what a server offers.
type lists struct {
	tools     *bashsdk.ToolsFile
	resources *bashsdk.ResourcesFile
	prompts   *bashsdk.PromptsFile
	paths     map[string]string // of the files, by what clients call the lists
	folder    string            // of the files that resources and prompts name
}

// findLists finds the lists. Those of resources and prompts need not be there,
// unless somebody has named them.
func (s *server) findLists(flags serverFlags, script string) lists {
	l := lists{paths: map[string]string{}, folder: filepath.Dir(beside(script, "resources.json"))}
	l.paths["tools"] = s.file(flags.tools, "MCP_TOOLS_LIST_FILE", script, "tools.json")
	l.tools = bashsdk.NewToolsFile(l.paths["tools"])
	resources, named := s.named(flags.resources, "MCP_RESOURCES_LIST_FILE")
	if !named {
		resources = beside(script, "resources.json")
	}
	l.paths["resources"], l.resources = resources, bashsdk.NewResourcesFile(resources, !named)
	prompts, named := s.named(flags.prompts, "MCP_PROMPTS_LIST_FILE")
	if !named {
		prompts = beside(script, "prompts.json")
	}
	l.paths["prompts"], l.prompts = prompts, bashsdk.NewPromptsFile(prompts, !named)
	return l
}
