package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// compactArguments writes a valid JSON value as bash-mcp-sdk hands arguments to
// tools, many of which take them apart with Bash alone: without white space or
// needless escapes, and of members with one name the last value in the first
// place, which is the one that was validated. Numbers keep their digits.
func compactArguments(arguments json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(arguments))
	d.UseNumber()
	return appendCompact(make([]byte, 0, len(arguments)), d)
}

func appendCompact(out []byte, d *json.Decoder) []byte {
	token, err := d.Token()
	if err != nil {
		return out
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '{' {
			out = appendObject(out, d)
		} else {
			out = appendArray(out, d)
		}
		// The bracket that closes it.
		_, _ = d.Token()
		return out
	case string:
		return appendString(out, t)
	case json.Number:
		return append(out, t...)
	case bool:
		return strconv.AppendBool(out, t)
	}
	return append(out, "null"...)
}

func appendArray(out []byte, d *json.Decoder) []byte {
	out = append(out, '[')
	for first := true; d.More(); first = false {
		if !first {
			out = append(out, ',')
		}
		out = appendCompact(out, d)
	}
	return append(out, ']')
}

func appendObject(out []byte, d *json.Decoder) []byte {
	start := len(out)
	out = append(out, '{')
	var members []span
	byName := map[string]int{}
	repeated := false
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return out
		}
		name, _ := token.(string)
		if len(members) > 0 {
			out = append(out, ',')
		}
		member := span{from: len(out)}
		out = append(appendString(out, name), ':')
		out = appendCompact(out, d)
		member.to = len(out)
		if place, again := byName[name]; again {
			members[place], repeated = member, true
			continue
		}
		byName[name] = len(members)
		members = append(members, member)
	}
	if repeated {
		out = append(out[:start+1], joined(out, members)...)
	}
	return append(out, '}')
}

// span is a part of a text.
type span struct{ from, to int }

func joined(text []byte, parts []span) []byte {
	var b bytes.Buffer
	for i, p := range parts {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(text[p.from:p.to])
	}
	return b.Bytes()
}

// appendString escapes nothing but what has to be, and DEL.
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for _, c := range s {
		switch {
		case c == '"', c == '\\':
			out = append(out, '\\', byte(c))
		case c < ' ', c == 0x7f:
			out = append(out, escaped(c)...)
		default:
			out = utf8.AppendRune(out, c)
		}
	}
	return append(out, '"')
}

func escaped(control rune) string {
	switch control {
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	return fmt.Sprintf(`\u%04x`, control)
}
