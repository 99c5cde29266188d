package tags

import (
	"regexp"
	"slices"
	"strings"
)

// What can be open in a script, by how it begins.
const (
	inSingle     = '\''
	inDouble     = '"'
	inANSI       = '$' // $'…'
	inBraces     = '{' // ${…}
	inParens     = '('
	inBackticks  = '`'
	inArithmetic = '+' // ((…))
)

// An opening is something that has begun and not ended.
type opening struct {
	what byte
	line int
	// depth counts the parentheses of arithmetic, cases the case statements
	// whose patterns end in a parenthesis that closes nothing.
	depth, cases int
	// plain says that a single quote is a character like any other: in the
	// default of a variable that stands in double quotes.
	plain bool
}

// quoting goes through a script to see which of its lines begin in a string or
// a here-document: what looks like a comment there is none. It is no parser. It
// knows what it has to know to find the end of a string.
type quoting struct {
	text    string
	at      int
	line    int // counted from 0
	open    []opening
	waiting []hereDocument        // they begin behind this line
	endless map[hereDocument]bool // nothing more in the script would end it
	quoted  []bool                // by line
}

type hereDocument struct {
	end      string
	indented bool // <<-: tabs may stand before the end
}

// quotedLines tells which lines begin in a string or a here-document. A string
// that does not end, and a here-document that does not, are none: there the
// script has been misread, and the lines are taken for what they look like.
func quotedLines(text string) []bool {
	q := &quoting{text: text, endless: map[hereDocument]bool{}, quoted: make([]bool, strings.Count(text, "\n")+1)}
	for q.at < len(text) {
		q.step()
	}
	first := slices.IndexFunc(q.open, func(o opening) bool { return o.quotes() })
	if first >= 0 {
		clear(q.quoted[q.open[first].line+1:])
	}
	return q.quoted
}

func (o opening) quotes() bool {
	return o.what == inSingle || o.what == inDouble || o.what == inANSI || o.what == inBraces
}

// top is what was opened last; the script itself has no what.
func (q *quoting) top() opening {
	if len(q.open) == 0 {
		return opening{}
	}
	return q.open[len(q.open)-1]
}

func (q *quoting) push(o opening, width int) {
	o.line = q.line
	q.open = append(q.open, o)
	q.at += width
}

func (q *quoting) pop() {
	q.open = q.open[:len(q.open)-1]
	q.at++
}

func (q *quoting) has(prefix string) bool { return strings.HasPrefix(q.text[q.at:], prefix) }

// ahead is the rest of the line, or as much of it as is worth a look: to look at
// all of a long line for each of its characters takes minutes.
func (q *quoting) ahead() string {
	const most = 300
	line, _, _ := strings.Cut(q.text[q.at:min(q.at+most, len(q.text))], "\n")
	return line
}

func (q *quoting) step() {
	c, top := q.text[q.at], q.top()
	switch {
	case c == '\n':
		q.endLine(!top.quotes())
	case top.what == inSingle:
		q.closes(c == '\'')
	case c == '\\':
		q.escape()
	case top.what == inANSI:
		q.closes(c == '\'')
	case top.what == inDouble && c == '"', top.what == inBraces && c == '}', top.what == inBackticks && c == '`':
		q.pop()
	case q.opens(c, top):
	case top.what == inArithmetic:
		q.arithmetic(c)
	case !top.quotes():
		q.code(c)
	default:
		q.at++
	}
}

func (q *quoting) closes(yes bool) {
	if yes {
		q.pop()
		return
	}
	q.at++
}

func (q *quoting) escape() {
	q.at++
	switch {
	case q.at == len(q.text):
	case q.text[q.at] == '\n':
		// The line goes on, and with it whatever waits for its end.
		q.endLine(false)
	default:
		q.at++
	}
}

// endLine goes on to the next line, or behind the here-documents that begin
// there.
func (q *quoting) endLine(ends bool) {
	q.at++
	q.line++
	q.quoted[q.line] = q.top().quotes()
	if !ends {
		return
	}
	waiting := q.waiting
	q.waiting = nil
	for _, document := range waiting {
		q.skip(document)
	}
}

// skip goes behind the end of a here-document that begins here, if it has one.
func (q *quoting) skip(document hereDocument) {
	if q.endless[document] {
		return
	}
	at := q.at
	for n := 1; at < len(q.text); n++ {
		line, _, more := strings.Cut(q.text[at:], "\n")
		at += len(line)
		if more {
			at++
		}
		line = strings.TrimSuffix(line, "\r")
		if document.indented {
			line = strings.TrimLeft(line, "\t")
		}
		if line != document.end {
			continue
		}
		for i := range n {
			q.quoted[q.line+i] = true
		}
		q.at = at
		if more {
			q.line += n
			q.quoted[q.line] = false
		}
		return
	}
	q.endless[document] = true
}

// opens goes on behind the beginning of something, if there is one.
func (q *quoting) opens(c byte, top opening) bool {
	inText := top.what == inDouble
	switch {
	case c == '\'' && !inText && !top.plain:
		q.push(opening{what: inSingle}, 1)
	case c == '"':
		q.push(opening{what: inDouble}, 1)
	case c == '`':
		q.push(opening{what: inBackticks}, 1)
	case q.has("$'") && !inText && !top.plain:
		q.push(opening{what: inANSI}, 2)
	case q.has("$(("):
		q.push(opening{what: inArithmetic, depth: 2}, 3)
	case q.has("$("):
		q.push(opening{what: inParens}, 2)
	case q.has("${"):
		q.push(opening{what: inBraces, plain: (inText || top.plain) && !takesPattern.MatchString(q.ahead())}, 2)
	default:
		return false
	}
	return true
}

// takesPattern matches an expansion that compares a variable with a pattern, in
// which single quotes are quotes wherever it stands.
var takesPattern = regexp.MustCompile(`^\$\{!?\w+(\[[^]]*\])?[#%/^,]`)

func (q *quoting) arithmetic(c byte) {
	top := &q.open[len(q.open)-1]
	switch c {
	case '(':
		top.depth++
	case ')':
		top.depth--
	}
	q.closes(top.depth == 0)
}

func (q *quoting) code(c byte) {
	switch {
	case c == '#' && q.beginsWord():
		q.comment()
	case q.has("<<<"):
		q.at += 3
	case q.has("<<"):
		q.await()
	case q.has("(("):
		q.push(opening{what: inArithmetic, depth: 2}, 2)
	case c == '(':
		q.push(opening{what: inParens}, 1)
	case c == ')':
		q.closes(q.top().what == inParens && q.top().cases == 0)
	default:
		q.cases()
		q.at++
	}
}

func (q *quoting) beginsWord() bool {
	return q.at == 0 || strings.IndexByte(" \t\n;&|()", q.text[q.at-1]) >= 0
}

func (q *quoting) comment() {
	if end := strings.IndexByte(q.text[q.at:], '\n'); end >= 0 {
		q.at += end
		return
	}
	q.at = len(q.text)
}

var (
	beginsCase = regexp.MustCompile(`^case[ \t]+\S.*?[ \t]in([ \t\r]|$)`)
	endsCase   = regexp.MustCompile(`^esac\b`)
)

// cases counts the case statements in a parenthesis.
func (q *quoting) cases() {
	if q.top().what != inParens || !q.has("case") && !q.has("esac") || !q.beginsWord() {
		return
	}
	line := q.ahead()
	top := &q.open[len(q.open)-1]
	switch {
	case beginsCase.MatchString(line):
		top.cases++
	case endsCase.MatchString(line) && top.cases > 0:
		top.cases--
	}
}

// await reads which here-document begins behind this line.
func (q *quoting) await() {
	q.at += 2
	document := hereDocument{}
	if document.indented = q.has("-"); document.indented {
		q.at++
	}
	for q.has(" ") || q.has("\t") {
		q.at++
	}
	if document.end = q.word(); document.end != "" {
		q.waiting = append(q.waiting, document)
	}
}

// word reads one word without its quotes.
func (q *quoting) word() string {
	var word strings.Builder
	var quote byte
	for ; q.at < len(q.text) && q.text[q.at] != '\n'; q.at++ {
		c := q.text[q.at]
		switch {
		case c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote = c
		case strings.IndexByte(" \t\r;&|<>()`", c) >= 0:
			return word.String()
		case c != '\\':
			word.WriteByte(c)
		}
	}
	return word.String()
}
