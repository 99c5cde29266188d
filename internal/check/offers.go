package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/catalog/bashsdk"
	"github.com/conch-mcp/conch/internal/check/smell"
)

// optional finds a list that need not be there.
func (c *checker) optional(s *script, flag, variable, name, what string) (root node, ok bool) {
	path, named := flag, flag != ""
	if !named {
		path, named = c.listPath(s, variable)
	}
	if !named {
		path = beside(s.name, name)
		if _, err := os.Lstat(path); err != nil {
			return root, false
		}
	}
	return c.list(s, path, what)
}

// resources checks the list of resources and of templates.
func (c *checker) resources(s *script) (tools []smell.Tool) {
	root, ok := c.optional(s, c.options.Resources, "MCP_RESOURCES_LIST_FILE", "resources.json", "the resources list")
	if !ok {
		return nil
	}
	list, err := bashsdk.NewResourcesFile(root.file.name, false).Read()
	if err != nil {
		c.unusable(root, err)
		return nil
	}
	entries := map[string][]node{"resources": elementsOf(root, "resources"), "resource templates": elementsOf(root, "resourceTemplates")}
	c.entryProblems(list.Problems, entries)
	c.twice(entries["resources"], "uri")
	c.twice(entries["resource templates"], "uriTemplate")
	folder := filepath.Dir(beside(s.name, "resources.json"))
	for _, r := range list.List {
		c.source(s, r.Source, find(entries["resources"], "uri", r.URI), folder)
		tools = append(tools, chosen(r.Function))
	}
	for _, t := range list.Templates {
		c.source(s, t.Source, find(entries["resource templates"], "uriTemplate", t.URITemplate()), folder)
		tools = append(tools, chosen(t.Function))
		for _, v := range t.Variables() {
			tools = append(tools, chosen("complete_resource_"+catalog.Identifier(t.Name)+"_"+catalog.Identifier(v)))
		}
	}
	return tools
}

// prompts checks the list of prompts.
func (c *checker) prompts(s *script) (tools []smell.Tool) {
	root, ok := c.optional(s, c.options.Prompts, "MCP_PROMPTS_LIST_FILE", "prompts.json", "the prompts list")
	if !ok {
		return nil
	}
	list, err := bashsdk.NewPromptsFile(root.file.name, false).Read()
	if err != nil {
		c.unusable(root, err)
		return nil
	}
	entries := elementsOf(root, "prompts")
	c.entryProblems(list.Problems, map[string][]node{"prompts": entries})
	c.twice(entries, "name")
	folder := filepath.Dir(beside(s.name, "prompts.json"))
	for _, p := range list.List {
		entry := find(entries, "name", p.Name)
		c.source(s, p.Source, entry, folder)
		if p.Description == "" {
			c.description(entry, "prompt "+p.Name)
		}
		tools = append(tools, chosen(p.Function))
		for _, a := range p.Arguments {
			tools = append(tools, chosen("complete_prompt_"+catalog.Identifier(p.Name)+"_"+catalog.Identifier(a.Name)))
		}
	}
	return tools
}

// chosen is a function whose arguments nothing has checked.
func chosen(function string) smell.Tool {
	if function == "" {
		function = "\x00" // none: its content is a file
	}
	return smell.Tool{Function: function, Prefix: "arg_", Open: true}
}

// find is the entry whose member has a value.
func find(entries []node, member, value string) node {
	for _, e := range entries {
		if m, ok := e.member(member); ok && m.text() == value {
			return m
		}
	}
	return node{}
}

// twice tells of entries that are declared again.
func (c *checker) twice(entries []node, member string) {
	seen := map[string]node{}
	for _, e := range entries {
		m, ok := e.member(member)
		if !ok || m.text() == "" {
			continue
		}
		first, again := seen[m.text()]
		if !again {
			seen[m.text()] = m
			continue
		}
		line, _ := m.file.position(first.value.StartOffset)
		f := m.at(ruleDuplicate)
		f.Message = fmt.Sprintf("%s is declared in line %d already; neither is served", m.text(), line)
		c.tell(f)
	}
}

// source looks for the function or the file of an entry.
func (c *checker) source(s *script, from catalog.Source, at node, folder string) {
	if at.value == nil {
		return
	}
	if from.Function != "" {
		if _, ok := s.code.functions[from.Function]; ok || s.code.broken != nil {
			return
		}
		f := at.at(ruleNoFunction)
		f.Message = fmt.Sprintf("there is no function %s in %s; this is not served", from.Function, s.name)
		f.Safer = from.Function + "() { … }"
		if len(s.code.unsure) > 0 {
			f.Severity = Warning
		}
		c.tell(f)
		return
	}
	if strings.Contains(from.File, "{") {
		return // one for each value
	}
	if _, err := os.Stat(filepath.Join(folder, from.File)); err != nil {
		f := at.at(ruleNoFile)
		f.Message = fmt.Sprintf("there is no file %s below %s", from.File, folder)
		c.tell(f)
	}
}
