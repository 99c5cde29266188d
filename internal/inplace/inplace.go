// Package inplace changes single members of a text in JSON or TOML, and leaves
// every other byte as it is: comments, order, white space and line ends.
//
// It must not know where a text comes from, nor what its members mean.
package inplace

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// A Table is the members of a JSON object or of a TOML table, in their order.
type Table []Member

// A Member is a name with its value: a string, a []string, a Table, or an
// [Other], which is never written.
type Member struct {
	Name  string
	Value any
}

// Other is a value of any other kind, as the text has it.
type Other string

// A Document is a text that has been understood.
type Document interface {
	// Get returns what is at a path, nil where there is nothing. An error says
	// that the path cannot be, since something on the way holds no members.
	Get(path ...string) (any, error)
	// Set puts a value at a path, in the place of what is there, if anything.
	// What is missing on the way is made. A value that is there already is not
	// written anew.
	Set(value any, path ...string) error
	// Remove takes out what is at a path. Comments before and behind it stay,
	// and so does what held it.
	Remove(path ...string) error
	// Text returns the text as it is now.
	Text() []byte
}

// An Error is what is wrong with a text, and where.
type Error struct {
	Line, Column int
	Reason       string
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

// errorAt is an Error about the byte at an offset.
func errorAt(text []byte, offset int, format string, args ...any) *Error {
	before := text[:min(offset, len(text))]
	return &Error{
		Line:   1 + bytes.Count(before, []byte("\n")),
		Column: len(before) - bytes.LastIndexByte(before, '\n'),
		Reason: fmt.Sprintf(format, args...),
	}
}

// Equal reports whether two values are the same. The order of a table's members
// counts.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case []string:
		b, ok := b.([]string)
		return ok && slices.Equal(a, b)
	case Table:
		b, ok := b.(Table)
		return ok && slices.EqualFunc(a, b, func(x, y Member) bool { return x.Name == y.Name && Equal(x.Value, y.Value) })
	}
	return a == b
}

// checkWritable refuses what only a text can hold.
func checkWritable(value any) error {
	switch v := value.(type) {
	case string, []string:
		return nil
	case Table:
		for _, m := range v {
			if err := checkWritable(m.Value); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("%T cannot be written", value)
}

// nested is the value inside of a table for each name.
func nested(value any, names []string) any {
	for _, name := range slices.Backward(names) {
		value = Table{{name, value}}
	}
	return value
}

// said is a path as messages have it.
func said(path []string) string {
	if len(path) == 0 {
		return "the whole"
	}
	return clip(strings.Join(path, "."))
}

// clip makes a text of a file fit for a message on one line of a terminal.
func clip(text string) string {
	const most = 120
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, text)
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

const bom = "\ufeff"

// cutBOM splits a text behind the byte order mark it may begin with, which no
// parser takes and no editor drops.
func cutBOM(text []byte) (mark string, rest []byte) {
	rest, ok := bytes.CutPrefix(text, []byte(bom))
	if ok {
		return bom, rest
	}
	return "", rest
}

// lineEnd is how lines of a text end.
func lineEnd(text []byte) string {
	if first := bytes.IndexByte(text, '\n'); first > 0 && text[first-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineStart is the offset at which the line of an offset begins.
func lineStart(text []byte, offset int) int {
	return 1 + bytes.LastIndexByte(text[:offset], '\n')
}

// indentation is the white space with which the line of an offset begins.
func indentation(text []byte, offset int) string {
	line := text[lineStart(text, offset):offset]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// splice returns a text with the bytes from start to end replaced.
func splice(text []byte, start, end int, with string) []byte {
	return slices.Concat(text[:start], []byte(with), text[end:])
}
