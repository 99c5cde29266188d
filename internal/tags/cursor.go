package tags

import (
	"fmt"
	"strings"
)

// A cursor reads one line from left to right.
type cursor struct {
	text string
	at   int
}

func (c *cursor) rest() string { return c.text[c.at:] }

func (c *cursor) atEnd() bool { return c.at == len(c.text) }

func (c *cursor) has(prefix string) bool { return strings.HasPrefix(c.rest(), prefix) }

// take goes on behind the prefix, if it is there.
func (c *cursor) take(prefix string) bool {
	if !c.has(prefix) {
		return false
	}
	c.at += len(prefix)
	return true
}

// while takes all that are such characters.
func (c *cursor) while(such func(byte) bool) string {
	start := c.at
	for !c.atEnd() && such(c.text[c.at]) {
		c.at++
	}
	return c.text[start:c.at]
}

// until takes what stands before the first such character, or all the rest.
func (c *cursor) until(such func(byte) bool) string {
	return c.while(func(b byte) bool { return !such(b) })
}

func (c *cursor) blanks() bool { return c.while(isBlank) != "" }

// tail takes the text that ends a tag. It must be apart from what stands before.
func (c *cursor) tail(expected string) (string, *flaw) {
	if c.atEnd() || c.blanks() {
		return strings.TrimSpace(c.rest()), nil
	}
	return "", c.unexpected(expected)
}

// unexpected says that what follows is not what was expected.
func (c *cursor) unexpected(expected string) *flaw {
	next := strings.TrimSpace(c.rest())
	if next == "" {
		return &flaw{at: c.at, what: "the tag ends too early", expected: expected}
	}
	return &flaw{at: c.at, what: fmt.Sprintf("%s stands here", excerpt(next)), expected: expected}
}

// excerpt is the beginning of a text, fit for a message.
func excerpt(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return fmt.Sprintf("%.40q", word)
}

// quoted takes a text in quotes. A backslash stands before a quote that does not
// end it. Without an end there are no quotes, and nothing is taken.
func (c *cursor) quoted() (text string, ok bool) {
	if !c.has(`"`) && !c.has(`'`) {
		return "", false
	}
	quote := c.text[c.at]
	var b strings.Builder
	for i := c.at + 1; i < len(c.text); i++ {
		switch {
		case c.text[i] == quote:
			c.at = i + 1
			return b.String(), true
		case c.text[i] == '\\' && i+1 < len(c.text) && c.text[i+1] == quote:
			i++
		}
		b.WriteByte(c.text[i])
	}
	return "", false
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// isSpace is what ends a default.
func isSpace(b byte) bool { return isBlank(b) || b == '\r' || b == '\v' || b == '\f' }

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// isName is what names of parameters, tags and metadata are made of.
func isName(b byte) bool { return isLetter(b) || isDigit(b) || isOneOf(b, "_-.:@") }

// isShort is what a name of one character may be.
func isShort(b byte) bool { return isLetter(b) || isDigit(b) || isOneOf(b, "!#$%*+,./:=?@[]^_{}~") }

// isFunction is what names of functions are made of.
func isFunction(b byte) bool { return !isOneOf(b, " \t\"'`()[]{}<>$&\\;|") }

func isOneOf(b byte, set string) bool { return strings.IndexByte(set, b) >= 0 }
