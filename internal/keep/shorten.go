package keep

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Shorten returns a text of at most limit bytes: the text itself, or its head and
// its tail with a note between them, which tells how much was left out and, if
// there is a uri, where all of it is. No character is cut in two, and lines only
// where they are long. Where a note does not fit it is the head alone.
func Shorten(text string, limit int, uri string) (short string, cut bool) {
	if limit = max(limit, 0); len(text) <= limit {
		return text, false
	}
	// No note is longer than that of all the text.
	longest := len(note(len(text), uri))
	room := limit - longest
	if room < longest {
		return text[:headEnd(text, limit)], true
	}
	from := headEnd(text, room/2)
	to := tailStart(text, len(text)-(room-from))
	return text[:from] + note(to-from, uri) + text[to:], true
}

func note(left int, uri string) string {
	if uri == "" {
		return fmt.Sprintf("\n[%d bytes left out]\n", left)
	}
	return fmt.Sprintf("\n[%d bytes left out; all of it is at %s]\n", left, uri)
}

// near is the part of the head or the tail that is given up to end it at the end
// of a line.
const near = 8

// headEnd is where a head of at most limit bytes ends.
func headEnd(text string, limit int) int {
	if i := strings.LastIndexByte(text[:limit], '\n'); i >= 0 && i >= limit-limit/near {
		return i + 1
	}
	for i := limit; i >= 0 && i > limit-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	// That is no UTF-8.
	return limit
}

// tailStart is where a tail begins that does not begin before start.
func tailStart(text string, start int) int {
	tail := text[start:]
	if text[start-1] == '\n' {
		return start
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/near {
		return start + i + 1
	}
	for i := 0; i < len(tail) && i < utf8.UTFMax; i++ {
		if utf8.RuneStart(tail[i]) {
			return start + i
		}
	}
	return start
}
