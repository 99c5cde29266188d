package check

import (
	"strings"

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
		c.tell(Finding{Rule: ruleNearTag, File: s.name, Line: near.Line, Column: near.Column, Message: near.What + ", and is nothing to conch", Safer: near.Meant})
	}
	if s.tagged && !s.listed {
		c.untagged(s)
	}
}

// untagged tells of functions that look like tools, and that the tags make none of.
func (c *checker) untagged(s *script) {
	for _, private := range tags.PrivateCommands(s.text) {
		c.tell(Finding{
			Rule: ruleNotDeclared, Severity: noted, File: s.name, Line: private.Line,
			Message: private.Function + " is no tool, since its name begins with an underscore", Safer: "give it another name, or leave out the @cmd",
		})
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
