package check

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/conch-mcp/conch/internal/check/smell"
)

// code is what a script says as Bash, with the files that it sources.
type code struct {
	files     []smell.File
	sources   []*file // the same, with those that could not be read
	functions map[string]place
	variables map[string]string // what top-level code assigns, where that can be known
	dir       string            // where top-level code goes; "" where it was started
	assigned  map[string]bool   // the variables that are assigned anywhere
	dropIn    string            // the folder of the drop-in file that it sources; "" for none
	unsure    []unsure          // why not all functions and variables are known
	broken    *syntax.ParseError
}

// place is where something is defined.
type place struct {
	file string
	pos  syntax.Pos
}

// unsure is something whose effect shows only when the script runs.
type unsure struct {
	place
	end syntax.Pos
	why string
}

// readCode reads a script and what it sources.
func (c *checker) readCode(f *file) *code {
	made := &code{functions: map[string]place{}, variables: map[string]string{}, assigned: map[string]bool{}}
	r := &codeReader{checker: c, code: made, visited: map[string]bool{}}
	r.read(f, 0)
	return made
}

// codeReader follows a script through its files.
type codeReader struct {
	*checker
	code    *code
	visited map[string]bool
}

// mostSourced is how deep files may source each other.
const mostSourced = 16

// Bounds of what is read as code. The parser, and whoever walks what it makes, needs
// stack for each level, and nobody writes code that comes near.
const (
	mostCode   = 1 << 20
	mostNested = 2000
)

// nesting is how deep brackets are in each other at most, wherever they stand.
func nesting(text []byte) (most int) {
	depth := 0
	for _, b := range text {
		switch b {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth = max(depth-1, 0)
		}
		most = max(most, depth)
	}
	return most
}

// isDeep reports whether a tree is deeper than anybody's code.
func isDeep(tree *syntax.File) bool {
	depth, deep := 0, false
	syntax.Walk(tree, func(node syntax.Node) bool {
		if node == nil {
			depth--
			return true
		}
		if depth++; depth > 4*mostNested {
			deep = true
		}
		// Where it does not go on it does not come back either.
		if deep {
			depth--
		}
		return !deep
	})
	return deep
}

func (r *codeReader) read(f *file, depth int) {
	if r.visited[f.name] || depth > mostSourced {
		return
	}
	r.visited[f.name] = true
	r.code.sources = append(r.code.sources, f)
	if len(f.text) > mostCode || nesting(f.text) > mostNested {
		r.code.broken = &syntax.ParseError{Filename: f.name, Pos: syntax.NewPos(0, 1, 1), Text: "the code is too long, or nested too deep"}
		return
	}
	tree, err := syntax.NewParser(syntax.KeepComments(true), syntax.Variant(syntax.LangBash)).Parse(bytes.NewReader(f.text), f.name)
	var parse syntax.ParseError
	switch {
	case errors.As(err, &parse):
		if r.code.broken == nil {
			r.code.broken = &parse
		}
		return
	case err != nil:
		var lang syntax.LangError
		if errors.As(err, &lang) {
			r.code.broken = &syntax.ParseError{Filename: f.name, Pos: lang.Pos, Text: lang.Error()}
		}
		return
	}
	if isDeep(tree) {
		r.code.broken = &syntax.ParseError{Filename: f.name, Pos: syntax.NewPos(0, 1, 1), Text: "the code is nested too deep"}
		return
	}
	r.code.files = append(r.code.files, smell.File{Name: f.name, Text: f.text, Tree: tree})
	s := &sourcing{codeReader: r, file: f, depth: depth}
	for _, st := range tree.Stmts {
		s.topLevel(st)
	}
	syntax.Walk(tree, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.FuncDecl:
			if n.Name != nil {
				r.code.functions[n.Name.Value] = place{f.name, n.Pos()}
			}
		case *syntax.Assign:
			if n.Name != nil {
				r.code.assigned[n.Name.Value] = true
			}
		case *syntax.CallExpr:
			s.inner(n)
		}
		return true
	})
}

// sourcing reads one file's code.
type sourcing struct {
	*codeReader
	*file
	depth int
}

// topLevel follows what certainly runs: assignments, cd, and files that are sourced.
func (s *sourcing) topLevel(st *syntax.Stmt) {
	switch c := st.Cmd.(type) {
	case *syntax.BinaryCmd:
		s.topLevel(c.X)
		if c.Op == syntax.AndStmt {
			s.topLevel(c.Y)
		}
	case *syntax.Block:
		for _, st := range c.Stmts {
			s.topLevel(st)
		}
	case *syntax.DeclClause:
		for _, a := range c.Args {
			s.assign(a)
		}
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			for _, a := range c.Assigns {
				s.assign(a)
			}
			return
		}
		s.run(c)
	}
}

func (s *sourcing) assign(a *syntax.Assign) {
	if a.Name == nil || a.Naked || a.Append || a.Value == nil {
		return
	}
	if text, ok := s.text(a.Value); ok {
		s.code.variables[a.Name.Value] = text
	} else {
		delete(s.code.variables, a.Name.Value)
	}
}

func (s *sourcing) run(c *syntax.CallExpr) {
	switch c.Args[0].Lit() {
	case "cd":
		if to := c.Args[len(c.Args)-1]; len(c.Args) > 1 {
			if text, ok := s.text(to); ok {
				s.code.dir = s.from(text)
				return
			}
		}
		s.code.dir = unknownDir
	case "readonly", "export", "declare":
		return
	case "source", ".":
		s.source(c)
	}
}

// unknownDir is the directory of a script that goes nobody knows where.
const unknownDir = "\x00"

// from is a path as the script would find it now.
func (s *sourcing) from(path string) string {
	if filepath.IsAbs(path) || s.code.dir == "" || s.code.dir == unknownDir {
		return filepath.Clean(path)
	}
	return filepath.Join(s.code.dir, path)
}

// source follows a file that is sourced.
func (s *sourcing) source(c *syntax.CallExpr) {
	if len(c.Args) < 2 {
		return
	}
	path, ok := s.text(c.Args[1])
	if ok && strings.HasPrefix(filepath.Base(path), "mcpserver_") {
		s.code.dropIn = filepath.Dir(s.from(path))
		return
	}
	if !ok {
		if strings.Contains(s.sourceText(c.Args[1]), "mcpserver_core.sh") {
			return
		}
		s.doubt(c, "which file is sourced here shows only when the script runs, and what functions are in it")
		return
	}
	f, err := s.checker.read(s.from(path))
	if err != nil {
		// A relative path may start anywhere; beside the script is the likeliest.
		if f, err = s.checker.read(filepath.Join(filepath.Dir(s.name), path)); err != nil || filepath.IsAbs(path) {
			s.doubt(c, "the file "+path+" cannot be read, and what functions are in it is not known")
			return
		}
	}
	s.codeReader.read(f, s.depth+1)
}

// inner looks for what may define functions, wherever it stands.
func (s *sourcing) inner(c *syntax.CallExpr) {
	if len(c.Args) < 2 {
		return
	}
	switch c.Args[0].Lit() {
	case "source", ".":
		s.source(c)
	case "eval":
		if text := s.sourceText(c.Args[1]); strings.Contains(text, "()") || strings.Contains(text, "tool_") || strings.Contains(text, "declare -f") {
			s.doubt(c, "what eval defines shows only when the script runs")
		}
	}
}

func (s *sourcing) doubt(c *syntax.CallExpr, why string) {
	for _, u := range s.code.unsure {
		if u.file == s.name && u.pos == c.Pos() {
			return
		}
	}
	s.code.unsure = append(s.code.unsure, unsure{place{s.name, c.Pos()}, c.End(), why})
}

func (s *sourcing) sourceText(n syntax.Node) string {
	return string(s.file.text[n.Pos().Offset():n.End().Offset()])
}

// text is what a word expands to, where that can be known without running anything:
// literals, variables that are, and the idioms for a script's own directory.
// longestText is more than any path has. What puts texts together may double them
// with each line.
const longestText = 8 << 10

func (s *sourcing) text(w *syntax.Word) (text string, ok bool) {
	var b strings.Builder
	for _, part := range w.Parts {
		t, ok := s.part(part)
		if !ok {
			return "", false
		}
		if b.WriteString(t); b.Len() > longestText {
			return "", false
		}
	}
	return b.String(), true
}

func (s *sourcing) part(part syntax.WordPart) (text string, ok bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		return strings.ReplaceAll(p.Value, `\`, ""), !strings.ContainsAny(p.Value, "*?[")
	case *syntax.SglQuoted:
		return p.Value, !p.Dollar
	case *syntax.DblQuoted:
		return s.text(&syntax.Word{Parts: p.Parts})
	case *syntax.ParamExp:
		return s.param(p)
	case *syntax.CmdSubst:
		return s.substituted(p.Stmts)
	}
	return "", false
}

func (s *sourcing) param(p *syntax.ParamExp) (text string, ok bool) {
	if p.Param == nil || p.Excl || p.Length || p.Slice != nil || p.Repl != nil {
		return "", false
	}
	switch name := p.Param.Value; name {
	case "BASH_SOURCE", "0":
		text, ok = s.name, true
	default:
		if text, ok = s.code.variables[name]; !ok && s.options.Getenv != nil {
			text, ok = s.options.Getenv(name)
		}
	}
	if p.Exp == nil {
		return text, ok
	}
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if ok && text != "" {
			return text, true
		}
		if p.Exp.Word == nil {
			return "", true
		}
		return s.text(p.Exp.Word)
	case syntax.RemSmallSuffix:
		if ok && p.Exp.Word.Lit() == "/*" {
			if at := strings.LastIndexByte(text, '/'); at >= 0 {
				return text[:at], true
			}
			return text, true
		}
	}
	return "", false
}

// substituted is what the usual commands print that find a script's directory.
func (s *sourcing) substituted(list []*syntax.Stmt) (text string, ok bool) {
	if len(list) != 1 {
		return s.directory(list)
	}
	switch c := list[0].Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt {
			return s.directory([]*syntax.Stmt{c.X, c.Y})
		}
	case *syntax.CallExpr:
		return s.printed(c)
	}
	return "", false
}

// directory is for cd somewhere && pwd.
func (s *sourcing) directory(list []*syntax.Stmt) (text string, ok bool) {
	if len(list) != 2 {
		return "", false
	}
	cd, isCall := list[0].Cmd.(*syntax.CallExpr)
	pwd, isCall2 := list[1].Cmd.(*syntax.CallExpr)
	if !isCall || !isCall2 || len(cd.Args) < 2 || len(pwd.Args) == 0 || cd.Args[0].Lit() != "cd" || pwd.Args[0].Lit() != "pwd" {
		return "", false
	}
	return s.text(cd.Args[len(cd.Args)-1])
}

func (s *sourcing) printed(c *syntax.CallExpr) (text string, ok bool) {
	if len(c.Args) < 2 {
		return "", false
	}
	last, ok := s.text(c.Args[len(c.Args)-1])
	if !ok {
		return "", false
	}
	switch c.Args[0].Lit() {
	case "dirname":
		return filepath.Dir(last), true
	case "readlink", "realpath":
		real, err := filepath.EvalSymlinks(last)
		if err != nil {
			return last, true
		}
		return real, true
	case "echo":
		return last, len(c.Args) == 2
	}
	return "", false
}

// listPath is the path of a list that a script names, or its environment does.
func (c *checker) listPath(s *script, variable string) (path string, named bool) {
	path, named = s.code.variables[variable]
	if !named && !s.code.assigned[variable] && c.options.Getenv != nil {
		path, named = c.options.Getenv(variable)
	}
	if !named || path == "" {
		return c.ofDropIn(s, variable)
	}
	dir := s.code.dir
	if filepath.IsAbs(path) || dir == unknownDir {
		return path, true
	}
	there := path
	if dir != "" {
		there = filepath.Join(dir, path)
	}
	if _, err := os.Stat(there); err != nil {
		if near := filepath.Join(filepath.Dir(s.name), path); near != there {
			if _, err := os.Stat(near); err == nil {
				return near, true
			}
		}
	}
	return there, true
}

// inAssets are the lists that scripts of mcp-server-bash-sdk have where they name
// none, below the folder of the library.
var inAssets = map[string]string{"MCP_TOOLS_LIST_FILE": "assets/tools_list.json", "MCP_CONFIG_FILE": "assets/mcpserverconfig.json"}

// ofDropIn is the list that the file which a script sources has for it.
func (c *checker) ofDropIn(s *script, variable string) (path string, named bool) {
	name, ok := inAssets[variable]
	if !ok || s.code.dropIn == "" {
		return "", false
	}
	path = filepath.Join(s.code.dropIn, name)
	_, err := os.Stat(path)
	return path, err == nil
}
