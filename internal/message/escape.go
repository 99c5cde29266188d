package message

import "bytes"

// The protocol engine encodes with encoding/json, which puts \u003c and four
// more escapes into JSON for the sake of web pages. Shield and Unshield carry
// a text past it byte for byte: Shield marks the escapes that the text already
// has, and Unshield takes out marks and all escapes that have none.

// mark is an escape of a character that has no meaning to anybody.
const mark = `\ue000`

const escapeLen = len(`\u0000`)

// Shield returns JSON text that [Unshield] gives back, once the engine has
// encoded it.
func Shield(text []byte) []byte {
	return eachEscape(text, func(out, escape []byte) ([]byte, int) {
		if len(escape) >= escapeLen && (isMark(escape) || webCharacter(bytes.ToLower(escape[:escapeLen])) != "") {
			return append(append(out, mark...), escape[:escapeLen]...), escapeLen
		}
		return append(out, escape[:2]...), 2
	})
}

// Unshield returns text as it was before it was shielded and encoded.
func Unshield(text []byte) []byte {
	return eachEscape(text, func(out, escape []byte) ([]byte, int) {
		switch {
		case len(escape) >= 2*escapeLen && isMark(escape):
			return append(out, escape[escapeLen:2*escapeLen]...), 2 * escapeLen
		case len(escape) >= escapeLen && webCharacter(escape[:escapeLen]) != "":
			return append(out, webCharacter(escape[:escapeLen])...), escapeLen
		}
		return append(out, escape[:2]...), 2
	})
}

// eachEscape copies text and has f append what takes the place of each escape;
// f tells how much of it was used.
func eachEscape(text []byte, f func(out, escape []byte) ([]byte, int)) []byte {
	if !bytes.Contains(text, []byte(`\u`)) {
		return text
	}
	out := make([]byte, 0, len(text)+2*escapeLen)
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+1 >= len(text) {
			return append(out, text...)
		}
		out = append(out, text[:i]...)
		var n int
		out, n = f(out, text[i:])
		text = text[i+n:]
	}
}

func isMark(escape []byte) bool { return bytes.EqualFold(escape[:escapeLen], []byte(mark)) }

// webCharacter is the character behind an escape as encoding/json writes it,
// "" for other escapes.
func webCharacter(escape []byte) string {
	switch string(escape) {
	case `\u003c`:
		return "<"
	case `\u003e`:
		return ">"
	case `\u0026`:
		return "&"
	case `\u2028`:
		return "\u2028"
	case `\u2029`:
		return "\u2029"
	}
	return ""
}
