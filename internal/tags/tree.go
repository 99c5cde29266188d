package tags

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/conch-mcp/conch/internal/catalog"
)

// A place is where in the script the reading is.
type place int

const (
	aboveCommands  place = iota // above the first @cmd and the first function
	inCommand                   // below a @cmd, above its function
	behindFunction              // where only a @cmd may be
)

// A tree is the commands found so far. The root is what stands above the first
// @cmd: the script's own description, and the command where there is no other.
type tree struct {
	file     string
	root     *command
	current  *command // the one that tags belong to
	commands []*command
	place    place
	defined  map[string]int // functions, with the lines of their first definitions
	owners   map[string]*command
	faults   Faults
}

func newTree(file string) *tree {
	root := &command{names: map[string]int{}}
	return &tree{file: file, root: root, current: root, defined: map[string]int{}, owners: map[string]*command{}}
}

// fault notes what is wrong in a line with such a text, and that a command is of
// no use because of it; nil for none.
func (t *tree) fault(c *command, line int, f *flaw, text string) {
	fault := &Fault{File: t.file, Line: line + f.below, What: printable(f.what), Expected: printable(f.expected)}
	if f.at >= 0 {
		fault.Column = utf8.RuneCountInString(text[:f.at]) + 1
	}
	t.faults = append(t.faults, fault)
	if c != nil {
		c.faulty = true
	}
}

// printable is a text for a log or a terminal: scripts may hold any byte.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return utf8.RuneError
		}
		return c
	}, text)
}

// concerned is the command that a tag here belongs to, nil for none.
func (t *tree) concerned() *command {
	if t.place == behindFunction {
		return nil
	}
	return t.current
}

// begin begins a command.
func (t *tree) begin(tag tag) *flaw {
	t.missFunction()
	text, f := tag.tail("a blank behind @cmd")
	c := &command{line: tag.line, describe: description(text, tag.more), names: map[string]int{}}
	t.commands = append(t.commands, c)
	t.current, t.place = c, inCommand
	return f
}

// missFunction finds a @cmd that no function follows.
func (t *tree) missFunction() {
	if t.place == inCommand {
		t.fault(t.current, t.current.line, whole("no function follows @cmd", "a function below its tags, as in name() {, at the beginning of a line"), "")
	}
}

// define notes a function, which is that of the command whose tags stand above.
func (t *tree) define(function string, line int) {
	c := t.owners[function]
	switch {
	case c != nil && t.place == inCommand:
		// Both would run the one defined last, and the other one says so.
		c.faulty = true
	case c != nil:
		t.fault(c, line, whole(fmt.Sprintf("%s is defined in line %d already, as a command", function, t.defined[function]), "another name"), "")
	}
	if t.defined[function] == 0 {
		t.defined[function] = line
	}
	if t.place == inCommand {
		t.owners[function] = t.current
		if f := t.hang(t.current, function, line); f != nil {
			t.fault(t.current, line, f, "")
		}
	}
	t.place = behindFunction
}

// hang gives a command its place in the tree: below the one that its name begins
// with, as in parent::child.
func (t *tree) hang(c *command, function string, line int) *flaw {
	c.function = function
	segments := strings.Split(function, "::")
	parent := t.root
	for i, segment := range segments {
		c.private = c.private || strings.HasPrefix(segment, "_")
		segments[i] = strings.TrimRight(segment, "_")
		if segments[i] == "" && !c.private {
			return whole(fmt.Sprintf("the name %s has a part without a letter in it", function), "a name such as parent::child")
		}
	}
	last := len(segments) - 1
	for _, segment := range segments[:last] {
		above := slices.IndexFunc(parent.children, func(c *command) bool { return c.segment == segment })
		if above < 0 {
			return whole(fmt.Sprintf("%s has no command above it", function), fmt.Sprintf("a @cmd with the function %s before this one", strings.Join(segments[:last], "::")))
		}
		parent = parent.children[above]
	}
	c.parent, c.segment = parent, segments[last]
	return t.name(c, line)
}

// name gives a command its names, which must be its own among those beside it.
func (t *tree) name(c *command, line int) *flaw {
	names := c.parent.names
	if other := names[c.segment]; other > 0 {
		return whole(fmt.Sprintf("%s is the name of a command in line %d already", c.segment, other), "another name")
	}
	names[c.segment] = line
	c.parent.children = append(c.parent.children, c)
	for _, alias := range c.aliases {
		if other := names[alias]; other > 0 && alias != c.segment {
			t.fault(c, c.aliasLine, whole(fmt.Sprintf("the alias %s is the name of a command in line %d already", alias, other), "another alias"), "")
			continue
		}
		names[alias] = c.aliasLine
	}
	return nil
}

// script is what has been read.
func (t *tree) script() *Script {
	t.missFunction()
	t.checkFunctions()
	t.checkMeta()
	t.placeSchemas()
	s := &Script{
		File: t.file, Describe: t.root.describe, Meta: t.root.meta, Env: t.root.env,
		Functions: slices.Sorted(maps.Keys(t.defined)),
		Before:    t.ifDefined("_argc_before"), After: t.ifDefined("_argc_after"),
	}
	for _, c := range t.listed() {
		if made, ok := t.finish(c); ok {
			s.Commands = append(s.Commands, made)
		}
	}
	return s
}

func (t *tree) ifDefined(function string) string {
	if t.defined[function] == 0 {
		return ""
	}
	return function
}

func (t *tree) all() []*command { return append([]*command{t.root}, t.commands...) }

// checkFunctions finds those that are to compute a default or choices and are
// not there.
func (t *tree) checkFunctions() {
	for _, c := range t.all() {
		for _, p := range c.params {
			t.checkValue(c, p.Value, p.Line)
		}
		for _, e := range c.env {
			t.checkValue(c, e.Value, e.Line)
		}
	}
}

func (t *tree) checkValue(c *command, v Value, line int) {
	for _, function := range []string{v.DefaultFunction, v.ChoicesFunction} {
		if function != "" && t.defined[function] == 0 {
			t.fault(c, line, whole(fmt.Sprintf("there is no function %s", function), "one in this file, at the beginning of a line"), "")
		}
	}
}

// checkMeta finds what is said of a command and concerns the script, and the
// other way round.
func (t *tree) checkMeta() {
	for _, c := range t.commands {
		if line := c.metaLines["dotenv"]; line > 0 {
			t.fault(nil, line, whole("@meta dotenv concerns all commands", "it above the first @cmd"), "")
		}
	}
	if line := t.root.metaLines["output-schema"]; line > 0 && len(t.commands) > 0 {
		t.fault(nil, line, whole("@meta output-schema concerns one command", "it below a @cmd"), "")
	}
}

// listed are the commands that may be called. Above others a command is one only
// if it has a function main.
func (t *tree) listed() []*command {
	if len(t.commands) == 0 {
		if t.root.line == 0 {
			return nil
		}
		t.root.function = t.ifDefined("main")
		return []*command{t.root}
	}
	var listed []*command
	for _, c := range t.commands {
		if len(c.children) > 0 {
			c.function = t.ifDefined(c.path("::") + "::main")
		}
		if c.parent != nil && !c.private && c.function != "" {
			listed = append(listed, c)
		}
	}
	return listed
}

// path is the name with those of the commands above.
func (c *command) path(separator string) string {
	if c.parent == nil || c.parent.parent == nil {
		return c.segment
	}
	return c.parent.path(separator) + separator + c.segment
}

// toolName is the name of the command's tool. What begins the functions of tools
// that a list declares is no part of it, so that a script may have both.
func (c *command) toolName() string {
	path := c.path("_")
	if name := strings.TrimPrefix(path, "tool_"); name != "" {
		path = name
	}
	return catalog.Identifier(path)
}

// finish makes a tool of a command. One with a fault, or below one, is none.
func (t *tree) finish(c *command) (made Command, ok bool) {
	made = Command{
		Name: c.toolName(), Function: c.function,
		Describe: c.describe, Aliases: c.aliases, Meta: c.meta, Params: c.params, Env: c.env, Line: c.line,
	}
	if c == t.root {
		made.Name = catalog.Identifier(baseName(t.file))
	}
	faulty := c.faulty
	for above := c.parent; above != nil; above = above.parent {
		made.Meta = above.meta.below(made.Meta)
		made.Params = slices.Concat(inherited(above.params, made.Params), made.Params)
		made.Env = slices.Concat(inheritedEnv(above.env, made.Env), made.Env)
		faulty = faulty || above.faulty
	}
	if faulty {
		return made, false
	}
	return made, t.unique(c, made) && t.giveSchemas(c, &made)
}

// inherited are the options and flags of a command above that stand for those
// below as well, which is all but the ones they have themselves.
func inherited(above, own []Param) (params []Param) {
	for _, p := range above {
		if p.Kind != Argument && !slices.ContainsFunc(own, func(o Param) bool { return o.Property == p.Property }) {
			params = append(params, p)
		}
	}
	return params
}

func inheritedEnv(above, own []Env) (env []Env) {
	for _, e := range above {
		if !slices.ContainsFunc(own, func(o Env) bool { return o.Name == e.Name }) {
			env = append(env, e)
		}
	}
	return env
}

// unique finds a tool whose name another one has: a_b may be both a::b and a-b.
func (t *tree) unique(c *command, made Command) bool {
	if made.Name == "" {
		t.fault(c, c.line, whole("the tool has no name", "a file with a name"), "")
		return false
	}
	for _, other := range t.commands {
		if other.function != "" && other.line < c.line && other.parent != nil && !other.private && other.toolName() == made.Name {
			t.fault(c, c.line, whole(fmt.Sprintf("the tool %s is that of the @cmd of line %d already", made.Name, other.line), "a function with another name"), "")
			return false
		}
	}
	return true
}

// baseName is the last element of a path without its extension.
func baseName(path string) string {
	base := filepath.Base(path)
	if path == "" || base == "/" || base == "." {
		return ""
	}
	if name := strings.TrimSuffix(base, filepath.Ext(base)); name != "" {
		return name
	}
	return base
}
