package check

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// output tells of a tool with an outputSchema whose function prints sentences and
// nothing else. Only what is certain is told: a function that runs any other
// command may make its result there.
func (l *toolList) output(entry node, name string) {
	s, ok := entry.member("outputSchema")
	if !ok || !s.isObject() {
		return
	}
	for _, file := range l.script.code.files {
		syntax.Walk(file.Tree, func(n syntax.Node) bool {
			decl, ok := n.(*syntax.FuncDecl)
			if !ok || decl.Name == nil || decl.Name.Value != "tool_"+name || !printsSentences(decl.Body) {
				return true
			}
			f := s.at(ruleNeverMet)
			f.Severity = Warning
			f.Message = "tool_" + name + " prints text that is no JSON, and so no result is as the outputSchema demands; every call fails"
			f.Safer = "have it print one JSON document, or call mcp_emit_json or mcp_result_success"
			l.tell(f)
			return true
		})
	}
}

// quiet are commands that print nothing and run nothing else.
var quiet = []string{"return", "exit", ":", "true", "false", "test", "[", "sleep", "cd", "shift", "set", "unset", "trap"}

// printsSentences reports whether code prints words that begin no JSON, and
// nothing that could.
func printsSentences(body *syntax.Stmt) bool {
	printed, certain := false, true
	syntax.Walk(body, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.Subshell, *syntax.Redirect:
			certain = false
		case *syntax.BinaryCmd:
			certain = certain && n.Op != syntax.Pipe && n.Op != syntax.PipeAll
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				break
			}
			switch name := n.Args[0].Lit(); {
			case name == "echo" || name == "printf":
				printed = true
				certain = certain && isSentence(n.Args[1:])
			default:
				certain = certain && slices.Contains(quiet, name)
			}
		}
		return certain
	})
	return printed && certain
}

// isSentence reports whether words begin with letters that are written out, and
// are none of JSON's.
func isSentence(words []*syntax.Word) bool {
	if len(words) == 0 {
		return false
	}
	var text string
	switch p := words[0].Parts[0].(type) {
	case *syntax.Lit:
		text = p.Value
	case *syntax.SglQuoted:
		text = p.Value
	case *syntax.DblQuoted:
		if len(p.Parts) > 0 {
			if lit, ok := p.Parts[0].(*syntax.Lit); ok {
				text = lit.Value
			}
		}
	}
	if text == "" || !(text[0] >= 'A' && text[0] <= 'Z' || text[0] >= 'a' && text[0] <= 'z') {
		return false
	}
	return !slices.ContainsFunc([]string{"true", "false", "null"}, func(word string) bool { return strings.HasPrefix(text, word) })
}
