package tags

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Parse reads the tags of a script. Name is the file's path: faults begin with
// it, and a command that is the whole file has its name from it.
//
// An error is a [Faults], with everything that is wrong. The script then is what
// remains without the commands that have a fault, or stand below one.
func Parse(name string, text []byte) (*Script, error) {
	r := &reader{lines: splitLines(string(text)), tree: newTree(name)}
	for i := 0; i < len(r.lines.text); {
		i = r.line(i)
	}
	script := r.tree.script()
	if len(r.tree.faults) > 0 {
		return script, r.tree.faults.inOrder()
	}
	return script, nil
}

// A reader goes through the lines and hands to the tree what it finds.
type reader struct {
	lines lines
	tree  *tree
}

// line reads what begins at a line and returns the one behind it.
func (r *reader) line(i int) int {
	if r.lines.quoted[i] {
		return i + 1
	}
	line := r.lines.text[i]
	if keyword, c, ok := tagIn(line); ok {
		return r.tag(keyword, c, i)
	}
	if name, ok := functionIn(line); ok {
		r.tree.define(name, i+1)
	}
	return i + 1
}

// A tag is one with the comments that may belong to it.
type tag struct {
	keyword string
	*cursor
	line int
	more []string
}

// described says which tags have a text that may go on in the comments below.
var described = map[string]bool{"describe": true, "cmd": true, "arg": true, "option": true, "flag": true, "env": true, "schema": true}

func (r *reader) tag(keyword string, c *cursor, i int) (next int) {
	t := tag{keyword: keyword, cursor: c, line: i + 1}
	next = i + 1
	if described[keyword] {
		t.more, next = r.lines.proseFrom(next)
	}
	if f := r.tree.read(t); f != nil {
		r.tree.fault(r.tree.concerned(), t.line, f, c.text)
	}
	for n, line := range r.lines.text[i:next] {
		if !utf8.ValidString(line) || strings.Contains(line, "\x00") {
			r.tree.fault(r.tree.concerned(), t.line+n, whole("the text is no UTF-8, or has a NUL in it", "text that JSON and Bash can have"), "")
		}
	}
	return next
}

const knownTags = "@describe, @cmd, @arg, @option, @flag, @env, @meta, @alias or @schema"

// read adds what a tag says to the command it belongs to.
func (t *tree) read(tag tag) *flaw {
	start := tag.at - len(tag.keyword) - 1
	if tag.keyword == "cmd" {
		return t.begin(tag)
	}
	add := adder(tag.keyword)
	switch {
	case add == nil:
		expected := knownTags
		if meant := meantBy(tag.keyword); meant != "" {
			expected = "@" + meant
		}
		return &flaw{at: start, what: fmt.Sprintf("there is no tag @%.40s", tag.keyword), expected: expected}
	case t.place == behindFunction:
		return &flaw{at: start, what: fmt.Sprintf("@%s stands behind a function and belongs to no command", tag.keyword), expected: "a @cmd above it"}
	}
	t.current.begun(tag.line)
	return add(t.current, tag)
}

// adder returns what adds a tag of that keyword to a command, nil for none.
func adder(keyword string) func(*command, tag) *flaw {
	switch keyword {
	case "describe":
		return (*command).addDescription
	case "arg", "option", "flag":
		return (*command).addParam
	case "env":
		return (*command).addEnv
	case "meta":
		return (*command).addMeta
	case "version", "author":
		return (*command).addOldMeta
	case "alias":
		return (*command).addAliases
	case "schema":
		return (*command).addSchema
	}
	return nil
}

func isKnown(keyword string) bool { return keyword == "cmd" || adder(keyword) != nil }

// apart goes behind the blanks that part a keyword from what follows it.
func (t tag) apart() *flaw {
	if !t.blanks() {
		return t.unexpected("a blank behind @" + t.keyword + ", and what it is about")
	}
	return nil
}
