package check

import (
	"bytes"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// statuses tells of scripts and tools that end with a status which their authors
// seldom mean.
func (c *checker) statuses(s *script) {
	tools := s.toolFunctions()
	for _, file := range s.code.files {
		if file.Name == s.name {
			c.lastOfScript(s, file.Tree.Stmts)
		}
		syntax.Walk(file.Tree, func(n syntax.Node) bool {
			decl, ok := n.(*syntax.FuncDecl)
			if ok && decl.Name != nil && slices.Contains(tools, decl.Name.Value) {
				c.lastOfTool(file.Name, decl)
				c.pipeline(s, file.Name, decl)
			}
			return true
		})
	}
}

// toolFunctions are the functions that calls run.
func (s *script) toolFunctions() (names []string) {
	if s.described != nil {
		for _, command := range s.described.Commands {
			names = append(names, command.Function)
		}
	}
	if s.listed {
		for name := range s.code.functions {
			if strings.HasPrefix(name, "tool_") {
				names = append(names, name)
			}
		}
	}
	return names
}

// isWhole reports whether a call runs the script itself.
func (s *script) isWhole() bool {
	return s.described != nil && len(s.described.Commands) == 1 && s.described.Commands[0].Function == ""
}

func (c *checker) lastOfScript(s *script, list []*syntax.Stmt) {
	if !s.listed && (s.described == nil || len(s.described.Commands) == 0) {
		return // it may be no server
	}
	last := failing(list)
	if last == nil {
		return
	}
	f := c.placed(Finding{Rule: ruleLastCommand, File: s.name, Safer: "if … then … fi, which ends with status 0 where the test is false"}, last.Pos(), last.End())
	f.Message = "this ends with a status other than 0 where the test is false, and so does the script, which is not served then"
	if s.isWhole() {
		f.Message = "this ends with a status other than 0 where the test is false, and so does the script: the call fails"
	}
	c.tell(f)
}

func (c *checker) lastOfTool(file string, decl *syntax.FuncDecl) {
	last := failing([]*syntax.Stmt{decl.Body})
	if binary, ok := commandOf(last).(*syntax.BinaryCmd); !ok || binary.Op != syntax.AndStmt {
		return // a test alone is there for its status
	}
	f := c.placed(Finding{Rule: ruleLastCommand, Severity: noted, File: file, Safer: "if … then … fi, or || return 0 in front of what is to be done"}, last.Pos(), last.End())
	f.Message = "where the test is false, " + decl.Name.Value + " ends with a status other than 0, and the call fails"
	c.tell(f)
}

func commandOf(st *syntax.Stmt) syntax.Command {
	if st == nil {
		return nil
	}
	return st.Cmd
}

// failing is the last of some statements, or of those in it, where that is a test, or
// something behind a test and &&; nil if it is not.
func failing(list []*syntax.Stmt) *syntax.Stmt {
	if len(list) == 0 {
		return nil
	}
	last := list[len(list)-1]
	if last.Background || last.Negated {
		return nil
	}
	switch cmd := last.Cmd.(type) {
	case *syntax.TestClause, *syntax.ArithmCmd:
		if isAboutStatus(cmd) {
			return nil
		}
		return last
	case *syntax.CallExpr:
		if isTest(cmd) {
			return last
		}
	case *syntax.BinaryCmd:
		if cmd.Op == syntax.AndStmt && (failing([]*syntax.Stmt{cmd.X}) != nil || failing([]*syntax.Stmt{cmd.Y}) != nil) {
			return last
		}
		if cmd.Op == syntax.OrStmt {
			return failing([]*syntax.Stmt{cmd.Y})
		}
	case *syntax.Block:
		return failing(cmd.Stmts)
	case *syntax.Subshell:
		return failing(cmd.Stmts)
	case *syntax.ForClause:
		return failing(cmd.Do)
	case *syntax.WhileClause:
		return failing(cmd.Do)
	case *syntax.IfClause:
		for branch := cmd; branch != nil; branch = branch.Else {
			if found := failing(branch.Then); found != nil {
				return found
			}
		}
	case *syntax.CaseClause:
		for _, item := range cmd.Items {
			if found := failing(item.Stmts); found != nil {
				return found
			}
		}
	}
	return nil
}

// isAboutStatus reports whether a test is of $?: then its own status is meant.
func isAboutStatus(cmd syntax.Node) (is bool) {
	syntax.Walk(cmd, func(n syntax.Node) bool {
		p, ok := n.(*syntax.ParamExp)
		is = is || ok && p.Param != nil && p.Param.Value == "?"
		return !is
	})
	return is
}

func isTest(c *syntax.CallExpr) bool {
	return len(c.Args) > 0 && (c.Args[0].Lit() == "test" || c.Args[0].Lit() == "[")
}

// pipeline tells of a tool that ends with a pipeline whose first command fails
// unnoticed. Where only the beginning of its output is wanted that is as it should be.
func (c *checker) pipeline(s *script, name string, decl *syntax.FuncDecl) {
	body, ok := decl.Body.Cmd.(*syntax.Block)
	if !ok || len(body.Stmts) == 0 || slices.ContainsFunc(s.code.sources, func(f *file) bool { return bytes.Contains(f.text, []byte("pipefail")) }) {
		return
	}
	last := body.Stmts[len(body.Stmts)-1]
	first := last
	for {
		binary, ok := first.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		if binary.Op != syntax.Pipe && binary.Op != syntax.PipeAll || nameOf(binary.Y) == "head" {
			return
		}
		first = binary.X
	}
	command := nameOf(first)
	if _, isFunction := s.code.functions[command]; first == last || command == "" || isFunction || slices.Contains(harmless, command) {
		return
	}
	f := c.placed(Finding{Rule: rulePipelineStatus, File: name, Safer: "set -o pipefail"}, first.Pos(), first.End())
	f.Message = "where " + command + " fails, the call succeeds all the same: the status of a pipeline is that of its last command"
	c.tell(f)
}

// harmless are commands that hardly fail.
var harmless = []string{"echo", "printf", "cat", "ls", "find", "date", "sort", "ps", "df", "du", "env", "declare", "compgen", "type", "set", "seq", "yes", "history", "jobs", "mcp_args_raw", "mcp_args_get"}

func nameOf(st *syntax.Stmt) string {
	if call, ok := st.Cmd.(*syntax.CallExpr); ok && len(call.Args) > 0 {
		return call.Args[0].Lit()
	}
	return ""
}
