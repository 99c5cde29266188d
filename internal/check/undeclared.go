package check

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/conch-mcp/conch/internal/tags"
)

// nearTags tells of comments that look like tags and are none. Beside a list they may
// be documentation of another kind.
func (c *checker) nearTags(s *script) {
	for _, near := range tags.NearTags(s.text) {
		// In a script with tags its reading tells of those.
		if near.Unknown && (s.tagged || c.hasList(s)) {
			continue
		}
		c.tell(Finding{Rule: ruleNearTag, File: s.name, Line: near.Line, Column: near.Column, Message: near.What + "; conch passes it over", Safer: near.Meant})
	}
	if s.tagged && !s.listed {
		c.untagged(s)
	}
}

// untagged tells of functions that look like tools, and that the tags make none of.
func (c *checker) untagged(s *script) {
	for _, private := range tags.PrivateCommands(s.text) {
		f := Finding{
			Rule: ruleNotDeclared, File: s.name, Line: private.Line,
			Message: private.Function + " is no tool, since its name begins with an underscore", Safer: "give it another name, or leave out the @cmd",
		}
		if s.calls(private.Function) {
			f.Severity = noted // it is there for the script itself
		}
		c.tell(f)
	}
	if s.described == nil || s.code.broken != nil {
		return
	}
	declared := map[string]bool{}
	for _, command := range s.described.Commands {
		declared[command.Function] = true
	}
	for _, function := range sortedNames(s.code.functions) {
		name, ok := strings.CutPrefix(function, "tool_")
		of, isHook := strings.CutSuffix(function, "_cancel")
		if !ok || name == "" || declared[function] || isHook && declared[of] {
			continue
		}
		at := s.code.functions[function]
		f := c.placed(Finding{Rule: ruleNotDeclared, File: at.file}, at.pos, at.pos)
		f.EndLine = 0
		f.Message, f.Safer = "no tag declares "+name+"; it is not served", "# @cmd What it is good for, above "+function
		c.tell(f)
	}
}

// calls reports whether the script itself runs a function.
func (s *script) calls(function string) (does bool) {
	for _, file := range s.code.files {
		syntax.Walk(file.Tree, func(n syntax.Node) bool {
			call, ok := n.(*syntax.CallExpr)
			does = does || ok && len(call.Args) > 0 && call.Args[0].Lit() == function
			return !does
		})
	}
	return does
}
