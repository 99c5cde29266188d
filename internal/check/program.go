package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/conch-mcp/conch/internal/catalog/annotated"
	"github.com/conch-mcp/conch/internal/tags"
)

// mayBeProgram reports whether the tags of a program are worth a look: those of a
// module, or of functions, are not what they seem.
func (s *script) mayBeProgram() bool {
	return strings.HasPrefix(s.lines[0], "#!") && !tags.Mentions(s.form.Tags, "cmd")
}

// program tells why a program with tags could not be a tool.
func (c *checker) program(s *script) {
	info, err := os.Stat(s.name)
	if err != nil {
		return
	}
	isExecutable := info.Mode()&0o111 != 0
	if o, ok := s.form.Obstacle(s.text, isExecutable); ok {
		f := Finding{Rule: ruleProgram, File: s.name, Line: 1, Message: "this program " + o.Why + "; it is not served", Safer: o.Remedy}
		if o.Remedy == "chmod +x" {
			f.Safer += " " + s.name
		}
		if o.Refused {
			f.Line = s.lineWith("@cmd")
		}
		c.tell(f)
	}
	c.interpreter(s)
	if s.described == nil {
		return
	}
	for _, command := range s.described.Commands {
		if _, problem := annotated.EnvironmentOf(command); problem != "" {
			c.tell(Finding{Rule: ruleProgram, File: s.name, Line: s.lineWith("@meta environment"), Message: problem, Safer: "@meta environment inherit, minimal, or names of variables"})
		}
	}
}

// lineWith is the first line that has a text, 1 where none has.
func (f *file) lineWith(text string) int {
	for i, line := range f.lines {
		if strings.Contains(line, text) {
			return i + 1
		}
	}
	return 1
}

// interpreter tells of a #! line whose program is not there.
func (c *checker) interpreter(s *script) {
	m := interpreter.FindStringSubmatch(s.lines[0])
	if m == nil {
		return
	}
	name := m[1]
	switch {
	case filepath.IsAbs(name):
		if _, err := os.Stat(name); err == nil {
			return
		}
	case c.options.Find == nil || c.options.Find(name):
		return
	}
	c.tell(Finding{
		Rule: ruleMissingProgram, File: s.name, Line: 1,
		Message: "there is no " + name + " on this machine, which the #! line names; calls fail", Safer: "install it, or name another",
	})
}

// twiceInFolder tells of two files of one folder that have a tool of the same name.
// Below the folder that is to be checked each may be a server by itself.
func (c *checker) twiceInFolder(scripts []*script) {
	type place struct {
		file string
		line int
	}
	seen := map[string]map[string]place{}
	for _, s := range scripts {
		if !s.tagged || s.listed || s.described == nil || s.named {
			continue
		}
		folder := filepath.Dir(s.name)
		if seen[folder] == nil {
			seen[folder] = map[string]place{}
		}
		for _, command := range s.described.Commands {
			first, again := seen[folder][command.Name]
			if !again {
				seen[folder][command.Name] = place{s.name, command.Line}
				continue
			}
			if first.file == s.name {
				continue // which the reading of its tags tells
			}
			f := Finding{Rule: ruleDuplicate, File: s.name, Line: command.Line, Safer: "give one of them another name"}
			f.Message = fmt.Sprintf("%s has a tool %s already (line %d); conch serve %s is refused", first.file, command.Name, first.line, folder)
			if !s.inFolder {
				f.Severity = Warning
			}
			c.tell(f)
		}
	}
}
