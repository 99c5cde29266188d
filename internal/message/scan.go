package message

import "encoding/json"

// shallow returns text with a 0 in place of every array and object that begins
// deeper than MaxDepth, or text itself where there is none. Brackets that do
// not match are left for the validation of what is returned to find.
func shallow(text []byte) []byte {
	var out []byte
	depth, from := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = skipString(text, i) - 1
		case '{', '[':
			if depth++; depth == MaxDepth+1 {
				out = append(append(out, text[from:i]...), '0')
			}
		case '}', ']':
			if depth == MaxDepth+1 {
				from = i + 1
			}
			depth--
		}
	}
	switch {
	case out == nil:
		return text
	case depth > MaxDepth:
		return out
	}
	return append(out, text[from:]...)
}

// skipString returns the index behind the string that begins at i.
func skipString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// skipValue returns the index behind the value that begins at i.
func skipValue(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = skipString(text, i)
		case '{', '[':
			depth++
			i++
		case '}', ']', ',':
			if depth == 0 {
				return i
			}
			if text[i] != ',' {
				depth--
			}
			i++
		default:
			i++
			continue
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' || text[i] == '\n') {
		i++
	}
	return i
}

// eachMember calls f for each member of a JSON object, in order, with the index
// of its value. A key is bytes, so that to look at it takes no memory. It leaves the
// validity of the values to [Check]; false means that text is no object.
func eachMember(text []byte, f func(key []byte, at int, value json.RawMessage)) bool {
	i := skipSpace(text, 0)
	if i >= len(text) || text[i] != '{' {
		return false
	}
	i = skipSpace(text, i+1)
	if i < len(text) && text[i] == '}' {
		return skipSpace(text, i+1) == len(text)
	}
	for i < len(text) && text[i] == '"' {
		end := skipString(text, i)
		key, ok := unquoteKey(text[i:end])
		if !ok {
			return false
		}
		if i = skipSpace(text, end); i >= len(text) || text[i] != ':' {
			return false
		}
		i = skipSpace(text, i+1)
		end = skipValue(text, i)
		value := trimRight(text[i:end])
		if len(value) == 0 {
			return false
		}
		f(key, i, value)
		if i = skipSpace(text, end); i >= len(text) {
			return false
		}
		if text[i] == '}' {
			return skipSpace(text, i+1) == len(text)
		}
		if text[i] != ',' {
			return false
		}
		i = skipSpace(text, i+1)
	}
	return false
}

// unquote returns what a JSON string says.
func unquote(raw []byte) (s string, ok bool) {
	if isPlain(raw) {
		return string(raw[1 : len(raw)-1]), true
	}
	ok = json.Unmarshal(raw, &s) == nil
	return s, ok
}

// unquoteKey is unquote for who only looks at it: it may be part of raw.
func unquoteKey(raw []byte) (key []byte, ok bool) {
	if isPlain(raw) {
		return raw[1 : len(raw)-1], true
	}
	s, ok := unquote(raw)
	return []byte(s), ok
}

// isPlain reports whether a text is a JSON string that stands for itself: ASCII
// without escapes, as most names are. To decode it would take much longer.
func isPlain(raw []byte) bool {
	last := len(raw) - 1
	return last >= 1 && raw[0] == '"' && raw[last] == '"' && needsNoEscape(raw[1:last])
}

func needsNoEscape[T string | []byte](text T) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

func trimRight(b []byte) []byte {
	for len(b) > 0 {
		switch b[len(b)-1] {
		case ' ', '\t', '\r', '\n':
			b = b[:len(b)-1]
		default:
			return b
		}
	}
	return b
}

// Elements cuts a JSON array that [Check] has let pass into its elements; ok is
// false for anything else.
func Elements(text []byte) (elements []json.RawMessage, ok bool) {
	text = trimRight(text[skipSpace(text, 0):])
	if len(text) < 2 || text[0] != '[' {
		return nil, false
	}
	i := skipSpace(text, 1)
	for i < len(text) && text[i] != ']' {
		end := skipValue(text, i)
		if end == i {
			return nil, false
		}
		elements = append(elements, trimRight(text[i:end]))
		i = skipSpace(text, end)
		if i < len(text) && text[i] == ',' {
			i = skipSpace(text, i+1)
		}
	}
	return elements, true
}
