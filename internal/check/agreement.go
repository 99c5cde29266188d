package check

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/catalog/bashsdk"
	"github.com/conch-mcp/conch/internal/catalog/program"
	"github.com/conch-mcp/conch/internal/check/smell"
	"github.com/conch-mcp/conch/internal/tags"
)

// lists checks the lists of a script against its functions, and returns the tools
// and the other functions that callers give something to.
func (c *checker) lists(s *script, described *tags.Script) []smell.Tool {
	if described != nil && !hasCommands(s) {
		// Without a @cmd the tags speak of the script: its variables and programs.
		described = nil
	}
	path, named := c.options.Tools, c.options.Tools != ""
	if !named {
		if path, named = c.listPath(s, "MCP_TOOLS_LIST_FILE"); !named {
			path = beside(s.name, "tools.json")
		}
	}
	// Of a script that has no tools at all it is enough to say so.
	_, err := os.Stat(path)
	tools := c.toolsList(s, path, described)
	return append(tools, c.others(s, described != nil || err != nil && !s.hasToolFunctions())...)
}

// others checks the files beside a script that are no list of tools.
func (c *checker) others(s *script, described bool) []smell.Tool {
	c.config(s, described)
	return append(c.resources(s), c.prompts(s)...)
}

// toolsList checks the list of tools.
func (c *checker) toolsList(s *script, path string, described *tags.Script) []smell.Tool {
	root, ok := c.list(s, path, "the tools list")
	if !ok {
		return anyTools(s)
	}
	list, err := bashsdk.NewToolsFile(path, false).Read()
	if err != nil {
		c.unusable(root, err)
		return anyTools(s)
	}
	entries := elementsOf(root, "tools")
	if _, ok := root.member("tools"); !ok {
		f := root.at(ruleList)
		f.EndLine, f.Message, f.Safer = 0, `there is no member "tools" in the list`, `{ "tools": [ … ] }`
		c.tell(f)
	}
	c.entryProblems(list.Problems, map[string][]node{"tools": entries})
	l := &toolList{checker: c, script: s, list: list, described: described, byName: map[string]node{}, count: map[string]int{}}
	for _, entry := range entries {
		if entry.isObject() {
			l.add(entry)
		}
	}
	l.functions()
	for name := range l.byName {
		if _, ok := l.command(name); !ok {
			c.tools++
		}
	}
	return l.smelling()
}

// sharedList checks the list of a folder, which is nobody's own: its entries are of
// programs, or of what any of the folder's scripts describes.
func (c *checker) sharedList(s *script, described *tags.Script) {
	path := beside(s.name, "tools.json")
	root, ok := c.list(s, path, "the tools list")
	if !ok {
		return
	}
	list, err := bashsdk.NewToolsFile(path, false).Read()
	if err != nil {
		c.unusable(root, err)
		return
	}
	entries := elementsOf(root, "tools")
	c.entryProblems(list.Problems, map[string][]node{"tools": entries})
	l := &toolList{checker: c, script: s, list: list, described: described, shared: true, byName: map[string]node{}, count: map[string]int{}}
	for _, entry := range entries {
		if entry.isObject() {
			l.add(entry)
		}
	}
}

// list reads a list, or tells why it cannot be.
func (c *checker) list(s *script, path, what string) (root node, ok bool) {
	f, err := c.read(path)
	if err != nil && what == "the tools list" && errors.Is(err, errNoFile) && !s.hasToolFunctions() {
		c.tell(Finding{Rule: ruleList, File: s.name, Message: "the script has no tools: no tag, and no list, which would be " + path, Safer: "write # @cmd What it is good for above a function"})
		return root, false
	}
	if err != nil {
		c.tell(Finding{Rule: ruleList, File: s.name, Message: fmt.Sprintf("%s cannot be read: %s: %v", what, path, err), Safer: missingList(what)})
		return root, false
	}
	root, wrong := parseJSON(f)
	if wrong != nil {
		found := f.at(ruleList, wrong.offset, 0)
		found.Message = what + " cannot be read: " + wrong.text
		c.tell(found)
		return root, false
	}
	return root, true
}

// hasToolFunctions reports whether functions are named as those of lists are.
func (s *script) hasToolFunctions() bool {
	for name := range s.code.functions {
		if strings.HasPrefix(name, "tool_") {
			return true
		}
	}
	return len(s.code.unsure) > 0
}

func missingList(what string) string {
	switch what {
	case "the tools list":
		return "write # @cmd What it is good for above each function, or tools.json beside the script; --tools names another"
	case "the server's description":
		return "write config.json beside the script; {} will do"
	}
	return ""
}

// unusable tells of a list that is JSON and no list.
func (c *checker) unusable(root node, err error) {
	f := root.at(ruleList)
	f.EndLine = 0
	f.Message = err.Error()
	c.tell(f)
}

func elementsOf(root node, name string) []node {
	m, ok := root.member(name)
	if !ok {
		return nil
	}
	return m.elements()
}

// problem is one that the reading of a list tells of an entry.
var problem = regexp.MustCompile(`^entry (\d+) of the (.*?) list (.*)$`)

// entryProblems tells of entries that are of no use, each in its place. What is
// declared twice is told of with its places elsewhere.
func (c *checker) entryProblems(problems []string, entries map[string][]node) {
	for _, text := range problems {
		m := problem.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		number, _ := strconv.Atoi(m[1])
		of := entries[m[2]]
		if number < 1 || number > len(of) {
			continue
		}
		f := of[number-1].at(ruleEntry)
		if name, ok := of[number-1].member("name"); ok {
			f = name.at(ruleEntry)
		}
		f.Message = "this entry " + m[3]
		c.tell(f)
	}
}

// toolList is the list of one script.
type toolList struct {
	*checker
	script    *script
	list      *catalog.Tools
	described *tags.Script
	shared    bool // with other scripts of a folder
	byName    map[string]node
	count     map[string]int
}

// add checks one entry.
func (l *toolList) add(entry node) {
	member, ok := entry.member("name")
	name := member.textOf()
	if !ok || name == "" {
		return
	}
	l.count[name]++
	if l.count[name] == 2 {
		line, _ := entry.file.position(l.byName[name].value.StartOffset)
		f := member.at(ruleDuplicate)
		f.Message = fmt.Sprintf("%s is declared in line %d already; neither is served", name, line)
		l.tell(f)
	}
	if l.count[name] > 1 {
		return
	}
	l.byName[name] = entry
	l.entry(entry, name)
	if program, ok := entry.member("exec"); ok {
		l.program(name, program)
	} else if !l.shared {
		l.function(name, member)
	}
	l.output(entry, name)
	if command, ok := l.command(name); ok {
		l.compare(entry, name, command)
	}
}

// textOf is the text of a node that may not be there.
func (n node) textOf() string {
	if n.value == nil {
		return ""
	}
	return n.text()
}

// function looks for the function of a tool.
func (l *toolList) function(name string, at node) {
	code := l.script.code
	if code.broken != nil {
		return
	}
	if _, ok := code.functions["tool_"+name]; ok {
		return
	}
	if _, ok := l.command(name); ok {
		return
	}
	f := at.at(ruleNoFunction)
	f.Message = fmt.Sprintf("there is no function tool_%s in %s; the tool is not served", name, l.script.name)
	f.Safer = l.nearFunction(name)
	if len(code.unsure) > 0 {
		f.Severity = Warning
		f.Message = fmt.Sprintf("no function tool_%s is to be seen in %s; unless it is defined while the script runs, the tool is not served", name, l.script.name)
	}
	l.tell(f)
}

// program tells of one that is not there.
func (l *toolList) program(name string, exec node) {
	words := exec.elements()
	if len(words) == 0 {
		return // which the list's reading tells
	}
	found := program.Below(filepath.Dir(exec.file.name), []string{words[0].textOf()})
	if _, err := osexec.LookPath(found[0]); err == nil {
		return
	}
	f := words[0].at(ruleMissingProgram)
	f.Message = fmt.Sprintf("%s needs %s, which is not there or not executable", name, found[0])
	f.Safer = "install it, or name it with its path from the list's folder"
	l.tell(f)
}

// nearFunction is a hint at a function that is probably meant.
func (l *toolList) nearFunction(name string) string {
	var others []string
	for function := range l.script.code.functions {
		if other, ok := strings.CutPrefix(function, "tool_"); ok && !l.list.Declares(other) {
			others = append(others, other)
		}
	}
	slices.Sort(others)
	if near := similar(name, others); near != "" {
		return fmt.Sprintf("there is a tool_%s, which the list does not declare", near)
	}
	if !toolName.MatchString(name) {
		return ""
	}
	return fmt.Sprintf("tool_%s() { … }", name)
}

// command is the command among the tags that is the tool.
func (l *toolList) command(name string) (command tags.Command, ok bool) {
	if l.described == nil {
		return command, false
	}
	for _, c := range l.described.Commands {
		if c.Name == name {
			return c, true
		}
	}
	return command, false
}

// functions tells of functions without an entry.
func (l *toolList) functions() {
	for _, function := range sortedNames(l.script.code.functions) {
		name, ok := strings.CutPrefix(function, "tool_")
		if !ok || name == "" || l.list.Declares(name) || l.isHook(name) {
			continue
		}
		if _, ok := l.command(name); ok {
			continue // its tags declare it
		}
		at := l.script.code.functions[function]
		f := l.placed(Finding{Rule: ruleNotDeclared, File: at.file}, at.pos, at.pos)
		f.EndLine = 0
		f.Message = fmt.Sprintf("the tools list does not declare %s; it is not served", name)
		f.Safer = `{ "name": ` + quoted(name) + `, "description": "…", "inputSchema": { "type": "object" } }`
		if l.described != nil {
			f.Safer = "# @cmd What it is good for, above " + function
		}
		l.tell(f)
	}
}

// isHook reports whether a function is the one that runs when a call of another
// tool is cancelled.
func (l *toolList) isHook(name string) bool {
	of, ok := strings.CutSuffix(name, "_cancel")
	_, defined := l.script.code.functions["tool_"+of]
	return ok && (defined || l.list.Declares(of))
}

// compare tells where an entry and the tags of its function differ.
func (l *toolList) compare(entry node, name string, command tags.Command) {
	made, err := command.Entry(nil)
	if err != nil {
		return
	}
	var tagged map[string]json.RawMessage
	if json.Unmarshal(made, &tagged) != nil {
		return
	}
	for _, member := range []string{"description", "inputSchema", "title", "annotations"} {
		m, ok := entry.member(member)
		if !ok || tagged[member] == nil || sameJSON(m.raw(), tagged[member]) {
			continue
		}
		f := m.at(ruleListAndTags)
		f.Message = fmt.Sprintf("the %s of %s is another than its tags have (%s:%d); the list counts", member, name, l.script.name, command.Line)
		f.Safer = "keep one of the two"
		l.tell(f)
	}
}

// sameJSON compares values, whatever the order of their members.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	first, _ := json.Marshal(x)
	second, _ := json.Marshal(y)
	return bytes.Equal(first, second)
}

// smelling are the functions of tools, with what their arguments may be.
func (l *toolList) smelling() (tools []smell.Tool) {
	for _, name := range sortedNames(l.byName) {
		t := smell.Tool{Function: "tool_" + name, Prefix: "arg_", Document: 1}
		s, ok := l.byName[name].member("inputSchema")
		if ok && s.isObject() {
			t.Arguments, t.Open = shapes(s.raw())
		} else {
			t.Open = true
		}
		cancel := t
		cancel.Function += "_cancel"
		before := t
		before.Function, before.Document = "mcp_before_tool_call", 2
		tools = append(tools, t, cancel, before)
	}
	return append(tools, l.undeclared()...)
}

// undeclared are functions that no list has yet: of what they will be called with
// nothing is known.
func (l *toolList) undeclared() (tools []smell.Tool) {
	for _, function := range sortedNames(l.script.code.functions) {
		name, ok := strings.CutPrefix(function, "tool_")
		if ok && !l.list.Declares(name) && !l.isHook(name) {
			tools = append(tools, smell.Tool{Function: function, Prefix: "arg_", Open: true, Document: 1})
		}
	}
	return tools
}

// anyTools are the tools of a script whose list cannot be read.
func anyTools(s *script) []smell.Tool {
	l := &toolList{script: s, list: catalog.NewTools(nil, nil, nil)}
	before := smell.Tool{Function: "mcp_before_tool_call", Prefix: "arg_", Open: true, Document: 2}
	return append(l.undeclared(), before)
}

// shapes are what the arguments of a schema may be, and whether there may be others.
func shapes(inputSchema json.RawMessage) (arguments map[string]smell.Shape, open bool) {
	var object map[string]json.RawMessage
	_ = json.Unmarshal(inputSchema, &object)
	var properties map[string]json.RawMessage
	_ = json.Unmarshal(object["properties"], &properties)
	arguments = map[string]smell.Shape{}
	for name, property := range properties {
		arguments[name] = smell.ShapeOf(property, inputSchema)
	}
	return arguments, string(object["additionalProperties"]) != "false"
}
