package annotated

import (
	"sync"

	"github.com/conch-mcp/conch/internal/catalog"
)

// merged is a list of tools together with those of tags, made once for each reading
// of either.
type merged struct {
	mu    sync.Mutex
	list  *catalog.Tools // the reading of the list
	own   any            // the reading of the tags
	tools *catalog.Tools
}

// with returns the tools of a list and those of tags. What the list says of a tool
// counts; how the tool runs is what the tags say.
func (m *merged) with(list *catalog.Tools, reading any, own func() ([]*catalog.Tool, []string)) *catalog.Tools {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tools != nil && m.list == list && m.own == reading {
		return m.tools
	}
	m.list, m.own = list, reading
	m.tools = merge(list, own)
	return m.tools
}

func merge(list *catalog.Tools, own func() ([]*catalog.Tool, []string)) *catalog.Tools {
	described, problems := own()
	byName := map[string]*catalog.Tool{}
	for _, tool := range described {
		byName[tool.Name] = tool
	}
	var all []*catalog.Tool
	for _, tool := range list.List {
		if tags := byName[tool.Name]; tags != nil && tool.Engine == nil {
			both := *tool
			both.Engine, both.Suggest, both.Aliases = tags.Engine, tags.Suggest, tags.Aliases
			tool = &both
		}
		all = append(all, tool)
	}
	for _, tool := range described {
		if !list.Declares(tool.Name) {
			all = append(all, tool)
		}
	}
	return catalog.NewTools(all, list.Twice(), append(problems, list.Problems...))
}

// Tools are those of the script and of the list beside it.
func (s *Script) Tools(list *catalog.Tools) *catalog.Tools { return s.merged.with(list, s, s.own) }
