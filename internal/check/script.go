package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/conch-mcp/conch/internal/casefile"
	"github.com/conch-mcp/conch/internal/check/smell"
)

// script checks one script, and all that belongs to it.
func (c *checker) script(s *script) {
	if s.tagged && (s.isBash || s.mayBeProgram()) {
		s.described = c.tags(s)
	}
	described := s.described
	var tools []smell.Tool
	if s.isBash {
		c.bash(s)
		c.nearTags(s)
		if s.unknown && !s.listed {
			c.tell(Finding{
				Rule: ruleProgram, Severity: Warning, File: s.name, Line: 1,
				Message: "neither the name nor a #! line says what this is; conch serve passes it over in a folder", Safer: "#!/usr/bin/env bash",
			})
		}
	} else {
		c.directives(s.file)
		if s.tagged {
			c.program(s)
		}
	}
	if s.listed {
		tools = c.lists(s, described)
	}
	if s.alone && !s.listed {
		tools = c.others(s, true)
	}
	if s.shares {
		c.sharedList(s, described)
	}
	if folder := filepath.Dir(s.name); s.isPart() && !c.checked[folder] {
		c.checked[folder] = true
		if s.code == nil {
			s.code = &code{} // nothing of it tells where lists are
		}
		tools = append(tools, c.others(s, true)...)
	}
	tools = append(tools, taggedTools(described, s.listed)...)
	if s.isBash && s.code.broken == nil {
		c.uncertain(s)
		c.smells(s, tools)
		c.statuses(s)
		c.unknown(s, tools)
	}
	// It comes last, so as not to repeat what is told already.
	if s.isBash && !s.unreadable {
		c.shellcheck(s)
	}
	c.cases(s)
}

// bash has Bash read a script and what it sources.
func (c *checker) bash(s *script) {
	if s.code == nil {
		s.code = c.readCode(s.file)
	}
	for _, f := range s.code.sources {
		s.unreadable = !c.readable(f, s.code.broken) && f == s.file || s.unreadable
	}
	c.executable(s)
}

// readable checks one file of a script's code. broken is what keeps the code from
// being looked at, in this file or another.
func (c *checker) readable(f *file, broken *syntax.ParseError) (good bool) {
	if broken != nil && broken.Filename != f.name {
		broken = nil
	}
	c.directives(f)
	good = c.syntax(f, broken)
	if good && broken != nil {
		found := c.broken(ruleUnread, broken)
		found.Message = "Bash reads this and conch check does not, so that functions are not known and arguments not followed: " + found.Message
		c.tell(found)
	}
	return good
}

// uncertain tells what cannot be known of a script.
func (c *checker) uncertain(s *script) {
	for _, u := range s.code.unsure {
		f := c.placed(Finding{Rule: ruleDynamic, File: u.file, Message: u.why}, u.pos, u.end)
		c.tell(f)
	}
}

// placed is a finding at a place in code.
func (c *checker) placed(f Finding, pos, end syntax.Pos) Finding {
	f.Line, f.Column = int(pos.Line()), int(pos.Col())
	// What goes over several lines is told of by its beginning.
	if end.Line() == pos.Line() {
		f.EndLine, f.EndColumn = int(end.Line()), int(end.Col())
	}
	if source := c.files[f.File]; source != nil {
		f.Column = source.column(f.Line, f.Column)
		if f.EndLine > 0 {
			f.EndColumn = source.column(f.EndLine, f.EndColumn)
		}
	}
	return f
}

// smells tells of arguments that become more than data.
func (c *checker) smells(s *script, tools []smell.Tool) {
	for _, found := range smell.Find(s.code.files, tools) {
		c.tell(c.placed(Finding{
			Rule: found.Rule, Severity: [...]Severity{smell.Minor: Note, smell.Likely: Warning, smell.Grave: Error}[found.Gravity],
			File: found.File, Message: found.Message, Safer: found.Safer,
		}, found.Pos, found.End))
	}
}

// unknown tells of variables that are named like arguments and are none. Where a call
// may have others than those declared, only what is nearly one of them is told.
func (c *checker) unknown(s *script, tools []smell.Tool) {
	for _, m := range smell.Unknown(s.code.files, tools, s.code.assigned) {
		near := nearArgument(m)
		if near == "" && m.Open {
			continue
		}
		f := c.placed(Finding{Rule: ruleUnknown, File: m.File, Message: "no tool has an argument for $" + m.Name + ", which is never set"}, m.Pos, m.End)
		if near != "" {
			f.Safer = "write $" + near
		}
		c.tell(f)
	}
}

// nearArgument is the variable of an argument that is probably meant: also one that
// differs in underscores alone, or in argc_ and arg_.
func nearArgument(m smell.Missing) string {
	bare := func(name string) string {
		_, rest, _ := strings.Cut(name, "_")
		return strings.ToLower(strings.ReplaceAll(rest, "_", ""))
	}
	slices.Sort(m.Known)
	for _, known := range m.Known {
		if bare(known) == bare(m.Name) {
			return known
		}
	}
	prefix, rest, _ := strings.Cut(m.Name, "_")
	var names []string
	for _, known := range m.Known {
		if name, ok := strings.CutPrefix(known, prefix+"_"); ok {
			names = append(names, name)
		}
	}
	if near := similar(rest, names); near != "" {
		return prefix + "_" + near
	}
	return ""
}

// casesSuffix is how the name of a file of test cases ends.
const casesSuffix = ".test.yaml"

// cases reads the files of test cases beside a script.
func (c *checker) cases(s *script) {
	entries, err := os.ReadDir(filepath.Dir(s.name))
	if err != nil {
		return
	}
	for _, entry := range entries {
		path := filepath.Join(filepath.Dir(s.name), entry.Name())
		if !strings.HasSuffix(path, casesSuffix) || c.checked[path] {
			continue
		}
		c.checked[path] = true
		f, err := c.read(path)
		if err != nil {
			c.tell(Finding{Rule: ruleCases, File: path, Message: "the test cases cannot be read: " + err.Error()})
			continue
		}
		if _, err := casefile.Parse(path, f.text, "/tmp"); err != nil {
			c.caseFaults(path, err)
		}
	}
}

func (c *checker) caseFaults(path string, err error) {
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, one := range all {
		f := Finding{Rule: ruleCases, File: path, Message: strings.TrimSuffix(one.Error(), ".")}
		if wrong, ok := one.(*casefile.Error); ok {
			f.Line, f.Message = wrong.Line, strings.TrimSuffix(wrong.Text, ".")
		}
		c.tell(f)
	}
}

// sortedNames are the names of a map, in order.
func sortedNames[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// isPart reports whether a script is one of a folder that is served as a whole.
func (s *script) isPart() bool { return s.inFolder && !s.listed && (s.tagged || s.shares) }
