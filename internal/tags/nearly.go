package tags

import (
	"slices"
	"strings"
)

// A NearTag is a comment that looks like a tag and is none.
type NearTag struct {
	Line, Column int    // counted from 1
	What         string // why it is none
	Meant        string // how it would be one
	// Unknown says that its keyword is none of those there are, which in a script
	// without tags may well be another tool's.
	Unknown bool
}

// NearTags finds the comments of a script that look like tags and are none: those that
// are indented among tags, that have a blank behind the @, or another keyword for
// something that there is. Faults that [Parse] finds are not among them.
func NearTags(text []byte) (found []NearTag) {
	l := splitLines(string(text))
	for i, line := range l.text {
		if l.quoted[i] {
			continue
		}
		if near, ok := l.near(i, line); ok {
			near.Line, near.Column = i+1, strings.IndexByte(line, '#')+1
			found = append(found, near)
		}
	}
	return found
}

func (l lines) near(i int, line string) (near NearTag, ok bool) {
	trimmed := strings.TrimLeft(line, " \t")
	keyword, c, isTag := tagIn(trimmed)
	switch {
	case isTag && trimmed != line:
		return NearTag{What: "an indented comment is no tag", Meant: trimmed}, isKnown(keyword) && l.amongTags(i)
	case isTag:
		meant := meantBy(keyword)
		return NearTag{What: "there is no tag @" + keyword, Meant: "# @" + meant + c.text[c.at:], Unknown: true}, meant != ""
	}
	// As in #@ cmd, or # @ cmd.
	rest := strings.TrimLeft(strings.TrimLeft(trimmed, "#"), " \t")
	behind, hasSign := strings.CutPrefix(rest, "@")
	if !strings.HasPrefix(line, "#") || !hasSign || behind == "" || !isBlank(behind[0]) {
		return near, false
	}
	meant := "# @" + strings.TrimLeft(behind, " \t")
	keyword, _, isTag = tagIn(meant)
	return NearTag{What: "a tag has no blank behind the @", Meant: meant}, isTag && isKnown(keyword)
}

// amongTags reports whether the comments around a line have a tag among them.
func (l lines) amongTags(i int) bool {
	isComment := func(n int) bool {
		return n >= 0 && n < len(l.text) && !l.quoted[n] && strings.HasPrefix(strings.TrimLeft(l.text[n], " \t"), "#")
	}
	first, last := i, i
	for isComment(first - 1) {
		first--
	}
	for isComment(last + 1) {
		last++
	}
	return slices.ContainsFunc(l.text[first:last+1], func(line string) bool {
		keyword, _, ok := tagIn(line)
		return ok && isKnown(keyword)
	})
}

// synonyms are what people write for keywords.
var synonyms = map[string]string{
	"command": "cmd", "tool": "cmd", "opt": "option", "opts": "option", "options": "option", "param": "arg", "params": "arg", "parameter": "arg", "argument": "arg", "arguments": "arg", "args": "arg",
	"flags": "flag", "switch": "flag", "desc": "describe", "description": "describe", "environment": "env", "aliases": "alias",
}

// meantBy is the keyword that another one stands for, "" where nobody knows.
func meantBy(keyword string) string {
	lower := strings.ToLower(keyword)
	if isKnown(keyword) {
		return ""
	}
	if isKnown(lower) {
		return lower
	}
	return synonyms[lower]
}

// A PrivateCommand is a @cmd above a function whose name says that it is no tool.
type PrivateCommand struct {
	Line     int // of the @cmd
	Function string
}

// PrivateCommands are those of a script.
func PrivateCommands(text []byte) (found []PrivateCommand) {
	l := splitLines(string(text))
	begun := 0
	for i, line := range l.text {
		if l.quoted[i] {
			continue
		}
		if keyword, _, ok := tagIn(line); ok && keyword == "cmd" {
			begun = i + 1
		}
		name, ok := functionIn(line)
		if !ok {
			continue
		}
		private := slices.ContainsFunc(strings.Split(name, "::"), func(segment string) bool { return strings.HasPrefix(segment, "_") })
		if begun > 0 && private {
			found = append(found, PrivateCommand{begun, name})
		}
		begun = 0
	}
	return found
}
