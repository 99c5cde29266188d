// Package smell finds where a script hands what a caller has chosen to something
// that would run it, split it, or take it for an option: the ways in which an
// argument becomes more than data.
//
// It reads code and runs none. What it goes by is where texts come from: the
// arguments of tools, what is assigned from them, and what functions are given. It
// follows assignments in the order in which they are written, and calls from one
// function to another. It knows what a schema allows of an argument, and takes a
// test of a text in the script for what it says.
//
// It knows Bash and the commands that people call from it. It knows nothing of
// lists, files and how findings are told.
package smell

import (
	"cmp"
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// A File is one file of a script.
type File struct {
	Name string
	Text []byte
	Tree *syntax.File
}

// A Tool is a function that is called with what a caller has chosen.
type Tool struct {
	// Function is its name; "" where the code outside of functions is the tool.
	Function string
	// Prefix is what the names of its variables begin with: arg_ or argc_.
	Prefix string
	// Arguments are what its variables may hold, by their names without the prefix.
	Arguments map[string]Shape
	// Open says that there may be arguments of other names.
	Open bool
	// Document is which of its positional parameters holds the arguments as JSON,
	// 0 for none.
	Document int
	// Tagged says that tags say what the arguments are, and no list.
	Tagged bool
	// Positional says what any other positional parameter may hold; nil for nothing
	// of the caller's.
	Positional *Shape
}

// A Gravity says how much a finding matters.
type Gravity int

const (
	Minor  Gravity = iota // worth a thought
	Likely                // wrong for some values
	Grave                 // the caller can have commands run
)

// A Finding is one smell.
type Finding struct {
	Rule    string
	Gravity Gravity
	File    string
	Pos     syntax.Pos
	End     syntax.Pos
	Message string // a sentence without its full stop
	Safer   string // what to write instead
}

// The rules.
const (
	Eval         = "eval"
	ShellCode    = "shell-code"
	RemoteCode   = "remote-code"
	SourcedFile  = "sourced-file"
	CommandName  = "command-name"
	ProgramText  = "program-text"
	Arithmetic   = "arithmetic"
	VariableName = "variable-name"
	Unquoted     = "unquoted"
	Option       = "option"
	Format       = "format"
	Path         = "path"
)

// Find returns what there is to find in the files of one script, in their order.
// Of two functions of one name the later counts, as in Bash.
func Find(files []File, tools []Tool) []Finding {
	f := newFinder(files, tools)
	// What a function is called with shows in other functions, so that one pass
	// is not enough; each adds to what is known, and never takes away.
	for range mostPasses {
		f.changed = false
		f.pass()
		if !f.changed {
			break
		}
	}
	f.telling = true
	f.pass()
	slices.SortStableFunc(f.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(f.order[a.File], f.order[b.File]), cmp.Compare(a.Pos.Offset(), b.Pos.Offset()))
	})
	return f.findings
}

// mostPasses bounds how far a text is followed through functions.
const mostPasses = 12

// finder is one search.
type finder struct {
	files     []File
	tools     []Tool
	order     map[string]int // of files
	functions map[string]*function
	tops      []*function // the code outside of functions, of each file
	globals   map[string]value
	// attributes of variables, of the whole script: names are seldom used twice.
	associative, integer map[string]bool

	changed, telling bool
	findings         []Finding
	told             map[place]bool
	paths            map[string]bool // the functions and arguments that paths have been told of
}

// place is where a rule is broken.
type place struct {
	rule, file string
	offset     uint
}

// function is one function of the script, and what is known of it.
type function struct {
	name    string
	decl    *syntax.FuncDecl // nil for code outside of functions
	file    File
	body    []*syntax.Stmt
	asTool  []*Tool
	params  []value // what it is called with
	rest    value   // what is behind those
	locals  map[string]value
	prints  value
	callers []*function    // in the order in which they were found
	reached map[*Tool]bool // the tools that call it
	limits  map[int]Shape  // what it has tested its parameters for; 0 is all of them
}

func newFinder(files []File, tools []Tool) *finder {
	f := &finder{
		files: files, tools: tools, order: map[string]int{}, functions: map[string]*function{},
		globals: map[string]value{}, associative: map[string]bool{}, integer: map[string]bool{}, told: map[place]bool{}, paths: map[string]bool{},
	}
	for i, file := range files {
		f.order[file.Name] = i
		f.tops = append(f.tops, newFunction("", file, file.Tree.Stmts))
		syntax.Walk(file.Tree, func(node syntax.Node) bool {
			if decl, ok := node.(*syntax.FuncDecl); ok && decl.Name != nil {
				fn := newFunction(decl.Name.Value, file, []*syntax.Stmt{decl.Body})
				fn.decl = decl
				f.functions[decl.Name.Value] = fn
			}
			return true
		})
	}
	for i := range tools {
		f.assign(&f.tools[i])
	}
	return f
}

func newFunction(name string, file File, body []*syntax.Stmt) *function {
	return &function{
		name: name, file: file, body: body, locals: map[string]value{},
		reached: map[*Tool]bool{}, limits: map[int]Shape{},
	}
}

// assign tells a function that it is a tool.
func (f *finder) assign(tool *Tool) {
	targets := f.tops
	if tool.Function != "" {
		targets = nil
		if fn := f.functions[tool.Function]; fn != nil {
			targets = []*function{fn}
		}
	}
	for _, fn := range targets {
		fn.asTool = append(fn.asTool, tool)
		fn.reached[tool] = true
	}
}

// pass walks all code once.
func (f *finder) pass() {
	for _, top := range f.tops {
		newScope(f, top).statements(top.body, value{})
	}
	names := make([]string, 0, len(f.functions))
	for name := range f.functions {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fn := f.functions[name]
		newScope(f, fn).statements(fn.body, value{})
	}
}

// tell notes a finding, once for each rule and place.
func (s *scope) tell(rule string, gravity Gravity, at syntax.Node, message, safer string) {
	file := s.function.file.Name
	key := place{rule, file, at.Pos().Offset()}
	if !s.finder.telling || s.finder.told[key] {
		return
	}
	s.finder.told[key] = true
	s.finder.findings = append(s.finder.findings, Finding{
		Rule: rule, Gravity: gravity, File: file, Pos: at.Pos(), End: at.End(), Message: message, Safer: safer,
	})
}
