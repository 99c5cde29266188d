package tags

import (
	"bytes"
	"slices"
	"strings"
)

// lines are those of a script, without their ends.
type lines struct {
	text   []string
	quoted []bool // a line that begins in a string or a here-document
}

func splitLines(text string) lines {
	text = strings.TrimPrefix(text, "\ufeff")
	l := lines{text: strings.Split(text, "\n"), quoted: quotedLines(text)}
	for i, line := range l.text {
		l.text[i] = strings.TrimSuffix(line, "\r")
	}
	return l
}

// tagIn finds the tag in a line: a comment that begins the line, and whose first
// word is @ and a name. The cursor is behind that word.
func tagIn(line string) (keyword string, c *cursor, ok bool) {
	c = &cursor{text: line}
	if c.while(func(b byte) bool { return b == '#' }) == "" {
		return "", nil, false
	}
	c.blanks()
	if !c.take("@") {
		return "", nil, false
	}
	// The @@ of a diff in a description is no tag.
	if c.atEnd() || !isLetter(c.text[c.at]) {
		return "", nil, false
	}
	return c.while(isName), c, true
}

// functionIn finds the function that a line begins to define, as in "name() {"
// or "function name".
func functionIn(line string) (name string, ok bool) {
	if strings.HasPrefix(line, "#") {
		return "", false
	}
	c := &cursor{text: line}
	if c.take("function") && c.blanks() {
		name = c.while(isFunction)
		return name, name != ""
	}
	c.at = 0
	name = c.while(isFunction)
	c.blanks()
	if !c.take("(") {
		return "", false
	}
	c.blanks()
	return name, c.take(")") && name != ""
}

// prose is the comment that a line holds, if it is no tag. Indentation stays, but
// for the one blank behind the #.
func prose(line string) (text string, ok bool) {
	text = strings.TrimLeft(line, "#")
	if _, _, isTag := tagIn(line); isTag || text == line {
		return "", false
	}
	if text != "" && isBlank(text[0]) {
		text = text[1:]
	}
	return strings.TrimRight(text, " \t"), true
}

// proseFrom gathers the comments from a line on, and tells at which line they end.
func (l lines) proseFrom(i int) (texts []string, next int) {
	for ; i < len(l.text) && !l.quoted[i]; i++ {
		text, ok := prose(l.text[i])
		if !ok {
			break
		}
		texts = append(texts, text)
	}
	return texts, i
}

// description is a tag's text with the comments that follow it. What is said to
// shellcheck is nothing for readers.
func description(first string, more []string) string {
	texts := []string{first}
	for _, text := range more {
		if !strings.HasPrefix(text, "shellcheck ") {
			texts = append(texts, text)
		}
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

// Mentions reports whether a script has a tag of one of these keywords, such as
// cmd.
func Mentions(text []byte, keywords ...string) bool {
	l := splitLines(string(text))
	for i, line := range l.text {
		if keyword, _, ok := tagIn(line); ok && !l.quoted[i] && slices.Contains(keywords, keyword) {
			return true
		}
	}
	return false
}

// Comments leaves of a program the comments that begin their lines with a sign, such
// as //, as comments of Bash, each in its line: tags are read there as in a script.
// Other tools have tags of their own in such comments, as @ts-check is; those that
// are none here are left out.
func Comments(text []byte, sign string) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		rest, isComment := strings.CutPrefix(line, sign)
		comment := "#" + rest
		if keyword, _, isTag := tagIn(comment); !isComment || isTag && !isKnown(keyword) {
			b.WriteByte('\n')
			continue
		}
		b.WriteString(comment)
	}
	return b.Bytes()
}
