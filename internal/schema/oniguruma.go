package schema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// fromOniguruma rewrites what Oniguruma's Perl syntax writes in another way than
// ECMAScript: POSIX brackets, \Q…\E, \R, \x{…}, possessive quantifiers, and a
// bracket that is the first character of a set. What both write alike means what
// ECMAScript says.
func fromOniguruma(source string) (string, error) {
	r := patternRewriter{rest: source}
	for r.rest != "" {
		if err := r.next(); err != nil {
			return "", err
		}
	}
	return string(r.out), nil
}

type patternRewriter struct {
	rest string
	out  []byte
	// atom is where in out begins what a quantifier would repeat.
	atom int
	// groups are the beginnings of the groups that are open.
	groups []int
}

func (r *patternRewriter) next() error {
	switch r.rest[0] {
	case '\\':
		return r.escape()
	case '[':
		r.atom = len(r.out)
		return r.set()
	case '(':
		r.open()
	case ')':
		r.close()
	case '*', '+', '?':
		r.quantifier()
	default:
		r.atom = len(r.out)
		r.copyCharacter()
	}
	return nil
}

func (r *patternRewriter) copy(width int) {
	r.out = append(r.out, r.rest[:width]...)
	r.rest = r.rest[width:]
}

func (r *patternRewriter) copyCharacter() {
	_, width := utf8.DecodeRuneInString(r.rest)
	r.copy(width)
}

func (r *patternRewriter) replace(width int, text string) {
	r.out = append(r.out, text...)
	r.rest = r.rest[width:]
}

func (r *patternRewriter) open() {
	if comment, isComment := strings.CutPrefix(r.rest, "(?#"); isComment {
		_, r.rest, _ = strings.Cut(comment, ")")
		return
	}
	r.groups = append(r.groups, len(r.out))
	r.copy(1)
	if strings.HasPrefix(r.rest, "?") {
		r.copy(1)
	}
	r.atom = len(r.out)
}

func (r *patternRewriter) close() {
	if last := len(r.groups) - 1; last >= 0 {
		r.atom, r.groups = r.groups[last], r.groups[:last]
	}
	r.copy(1)
}

// quantifier turns a possessive one into a group that gives nothing back.
func (r *patternRewriter) quantifier() {
	if len(r.rest) < 2 || r.rest[1] != '+' {
		r.copy(1)
		if strings.HasPrefix(r.rest, "?") {
			r.copy(1)
		}
		return
	}
	r.out = slices.Insert(r.out, r.atom, []byte("(?>")...)
	r.out = append(r.out, r.rest[0], ')')
	r.rest = r.rest[2:]
}

func (r *patternRewriter) escape() error {
	if len(r.rest) < 2 {
		r.copy(1)
		return nil
	}
	r.atom = len(r.out)
	switch r.rest[1] {
	case 'Q':
		r.quoted()
	case 'K':
		// What the match begins with does not change whether there is one.
		r.replace(2, "")
	case 'R':
		r.replace(2, `(?>\r\n|[\n-\r\u0085\u2028\u2029])`)
	case 'X', 'g':
		return fmt.Errorf(`\%c is not supported`, r.rest[1])
	default:
		return r.escapedCharacter()
	}
	return nil
}

// quoted copies the text between \Q and \E, which stands for itself.
func (r *patternRewriter) quoted() {
	text, rest, _ := strings.Cut(r.rest[2:], `\E`)
	for _, character := range text {
		r.atom = len(r.out)
		if strings.ContainsRune(`\^$.*+?()[]{}|/-`, character) {
			r.out = append(r.out, '\\')
		}
		r.out = utf8.AppendRune(r.out, character)
	}
	r.rest = rest
}

func (r *patternRewriter) escapedCharacter() error {
	width := escapeWidth(r.rest)
	if strings.HasPrefix(r.rest, `\x{`) {
		r.replace(len(`\x`), `\u`)
		width -= len(`\x`)
	}
	r.copy(width)
	return nil
}

// escapeWidth returns the length of the escape that text begins with, so that a
// quantifier behind it is known to repeat all of it.
func escapeWidth(text string) int {
	kind, rest := text[1], text[2:]
	if strings.IndexByte("pPuxk", kind) >= 0 && (strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "<")) {
		return 2 + strings.IndexAny(rest, "}>") + 1
	}
	switch kind {
	case 'u':
		return min(len(text), len(`\u0041`))
	case 'x':
		return min(len(text), len(`\x41`))
	default:
		_, width := utf8.DecodeRuneInString(text[1:])
		return 1 + width
	}
}

func (r *patternRewriter) set() error {
	r.copy(1)
	if strings.HasPrefix(r.rest, "^") {
		r.copy(1)
	}
	if strings.HasPrefix(r.rest, "]") {
		r.replace(1, `\]`)
	}
	for r.rest != "" {
		if r.rest[0] == ']' {
			r.copy(1)
			return nil
		}
		if err := r.setMember(); err != nil {
			return err
		}
	}
	return errors.New("unterminated [] set")
}

func (r *patternRewriter) setMember() error {
	if r.rest[0] == '\\' && len(r.rest) > 1 {
		return r.escapedCharacter()
	}
	name, _, closed := strings.Cut(strings.TrimPrefix(r.rest, "[:"), ":]")
	if !closed || !strings.HasPrefix(r.rest, "[:"+name+":]") || strings.ContainsAny(name, "[]") {
		if r.rest[0] == '[' {
			r.replace(1, `\[`)
			return nil
		}
		r.copyCharacter()
		return nil
	}
	members := posixBracket(name)
	if members == "" {
		return fmt.Errorf("[:%s:] is not supported", name)
	}
	r.replace(len("[::]")+len(name), members)
	return nil
}

// posixBracket returns what Oniguruma has in one of its brackets.
func posixBracket(name string) string {
	switch name {
	case "alpha":
		return `\p{L}\p{Nl}`
	case "alnum":
		return `\p{L}\p{Nl}\p{Nd}`
	case "digit":
		return `\p{Nd}`
	case "upper":
		return `\p{Lu}`
	case "lower":
		return `\p{Ll}`
	case "punct":
		return `\p{P}`
	case "space":
		return `\t-\r\u0085\p{Z}`
	case "blank":
		return `\t\p{Zs}`
	case "cntrl":
		return `\p{Cc}`
	case "xdigit":
		return `0-9A-Fa-f`
	case "word":
		return `\p{L}\p{M}\p{N}\p{Pc}`
	case "ascii":
		return `\x00-\x7F`
	case "graph":
		return `\p{L}\p{M}\p{N}\p{P}\p{S}`
	case "print":
		return `\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}`
	default:
		return ""
	}
}
