package inplace

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

// Set implements [Document].
func (d *tomlDocument) Set(value any, path ...string) error {
	if len(path) == 0 {
		return errors.New("there is no name to set")
	}
	if err := checkWritable(value); err != nil {
		return err
	}
	there, err := d.Get(path...)
	if err != nil || Equal(there, value) {
		return err
	}
	return d.change(func(d *tomlDocument) error {
		if s := d.holder(path); s != nil && s.kind == unstable.KeyValue {
			return d.replace(s.valueStart, s.end, writeValue(value))
		}
		if err := d.removeAll(path); err != nil {
			return err
		}
		return d.insert(value, path)
	})
}

// Remove implements [Document].
func (d *tomlDocument) Remove(path ...string) error {
	there, err := d.Get(path...)
	if err != nil || there == nil || len(path) == 0 {
		return err
	}
	return d.change(func(d *tomlDocument) error { return d.removeAll(path) })
}

// change makes a change whole or not at all: nothing is to come of one that
// would break the text.
func (d *tomlDocument) change(f func(*tomlDocument) error) error {
	changed := *d
	if err := f(&changed); err != nil {
		return fmt.Errorf("the text cannot be changed without breaking it: %w", err)
	}
	*d = changed
	return nil
}

func (d *tomlDocument) replace(start, end int, with string) error {
	d.text = splice(d.text, start, end, with)
	return d.parse()
}

// insert puts a value at a path where nothing is, in the manner in which what is
// to hold it has been written.
func (d *tomlDocument) insert(value any, path []string) error {
	held := len(path) - 1
	for held > 0 && gather(d.statements, path[:held]) == nil {
		held--
	}
	value, path = nested(value, path[held+1:]), path[:held+1]
	parent := path[:held]
	table, isTable := value.(Table)
	section, isSection := d.header(parent)
	switch {
	case innermost(d.statements, parent) != nil:
		return d.insertInline(innermost(d.statements, parent), value, path)
	case isSection && !isTable:
		return d.insertLine(section, value, path)
	case isSection:
		return d.insertSection(parent, path, table)
	}
	if dotted := d.lastDotted(parent); dotted != nil {
		return d.insertBehind(dotted, value, path)
	}
	if !isTable {
		return d.insertSection(parent, parent, Table{{path[held], value}})
	}
	return d.insertSection(parent, path, table)
}

// header is the statement that begins a section, -1 for what is before them all.
func (d *tomlDocument) header(path []string) (section int, ok bool) {
	if len(path) == 0 {
		return -1, true
	}
	section = slices.IndexFunc(d.statements, func(s statement) bool {
		return s.kind == unstable.Table && slices.Equal(s.path, path)
	})
	return section, section >= 0
}

// innermost is the inline table that a path is in, nil for none.
func innermost(statements []statement, path []string) *statement {
	for i := range statements {
		s := &statements[i]
		if !s.isInline || !startsWith(path, s.path) {
			continue
		}
		if deeper := innermost(s.inline, path); deeper != nil {
			return deeper
		}
		return s
	}
	return nil
}

// lastDotted is the last statement that makes a table by naming a member of it,
// as a.b = 1 makes a.
func (d *tomlDocument) lastDotted(table []string) *statement {
	for i := range slices.Backward(d.statements) {
		s := &d.statements[i]
		if s.kind == unstable.KeyValue && startsWith(s.path, table) && len(d.pathOf(s.section)) < len(table) {
			return s
		}
	}
	return nil
}

func (d *tomlDocument) insertInline(table *statement, value any, path []string) error {
	member := writeKey(path[len(table.path):]) + " = " + writeValue(value)
	if closing := table.end - len("}"); len(table.inline) == 0 {
		if closing == table.valueStart+len("{") {
			member = " " + member
		}
		return d.replace(closing, closing, member+" ")
	}
	last := table.inline[len(table.inline)-1]
	return d.replace(last.end, last.end, ", "+member)
}

// insertLine puts a value behind the others of a section.
func (d *tomlDocument) insertLine(section int, value any, path []string) error {
	at, indent := 0, ""
	for _, s := range d.statements {
		if s.section == section {
			at, indent = d.nextLine(s.end), indentation(d.text, s.start)
		}
	}
	line := indent + writeKey(path[len(path)-1:]) + " = " + writeValue(value)
	return d.insertLines(at, line)
}

// insertBehind puts a value behind another, under a name that is as long.
func (d *tomlDocument) insertBehind(s *statement, value any, path []string) error {
	key := writeKey(path[len(d.pathOf(s.section)):])
	return d.insertLines(d.nextLine(s.end), indentation(d.text, s.start)+key+" = "+writeValue(value))
}

// insertSection puts a section behind the last one in the same table, with an
// empty line before it.
func (d *tomlDocument) insertSection(parent, path []string, table Table) error {
	at := len(d.text)
	for _, s := range d.statements {
		if len(parent) > 0 && startsWith(d.pathOf(s.section), parent) {
			at = d.nextLine(s.end)
		}
	}
	end := lineEnd(d.text)
	text := writeSection(path, table, end)
	if len(d.text) > 0 {
		text = end + text
	}
	return d.insertLines(at, text)
}

// insertLines puts lines where one begins. A text whose last line has no end has
// none afterwards either.
func (d *tomlDocument) insertLines(at int, lines string) error {
	end := lineEnd(d.text)
	if at == len(d.text) && at > 0 && d.text[at-1] != '\n' {
		return d.replace(at, at, end+lines)
	}
	return d.replace(at, at, lines+end)
}

// nextLine is where the line behind that of an offset begins.
func (d *tomlDocument) nextLine(offset int) int {
	if i := bytes.IndexByte(d.text[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(d.text)
}

// removeAll takes out all statements about a path, the last first.
func (d *tomlDocument) removeAll(path []string) error {
	for gather(d.statements, path) != nil {
		if err := d.removeOne(path); err != nil {
			return err
		}
	}
	return nil
}

func (d *tomlDocument) removeOne(path []string) error {
	var line *statement
	for i := range slices.Backward(d.statements) {
		s := &d.statements[i]
		switch {
		case !startsWith(s.path, path):
			continue
		case s.kind != unstable.KeyValue:
			return d.removeSection(i)
		case line == nil:
			line = s
		}
	}
	if line != nil {
		return d.removeLines(lineStart(d.text, line.start), d.nextLine(line.end))
	}
	return d.removeInline(innermost(d.statements, path[:len(path)-1]), path)
}

// removeSection takes out a header with its values, and the empty line before.
// Comments behind the last value are those of the next section.
func (d *tomlDocument) removeSection(section int) error {
	start := lineStart(d.text, d.statements[section].start)
	end := start
	for _, s := range d.statements {
		if s.section == section {
			end = d.nextLine(s.end)
		}
	}
	if start > 0 {
		before := lineStart(d.text, start-1)
		if len(bytes.Trim(d.text[before:start], "\r\n")) == 0 {
			start = before
		}
	}
	return d.removeLines(start, end)
}

// removeLines takes out whole lines. A text whose last line has no end has none
// afterwards either.
func (d *tomlDocument) removeLines(start, end int) error {
	if end == len(d.text) && d.text[end-1] != '\n' {
		start = len(bytes.TrimSuffix(bytes.TrimSuffix(d.text[:start], []byte("\n")), []byte("\r")))
	}
	return d.replace(start, end, "")
}

// removeInline takes the last member about a path out of an inline table, with a
// comma. Where comments stand between members, no white space goes with it.
func (d *tomlDocument) removeInline(table *statement, path []string) error {
	k := len(table.inline) - 1
	for ; k >= 0 && !startsWith(table.inline[k].path, path); k-- {
	}
	if k < 0 {
		return errors.New("it is in no table")
	}
	m := table.inline[k]
	switch {
	case len(table.inline) == 1 && !d.hasComment(table.valueStart, m.start) && !d.hasComment(m.end, table.end):
		return d.replace(table.valueStart, table.end, "{}")
	case k > 0 && !d.hasComment(table.inline[k-1].end, m.start):
		return d.replace(table.inline[k-1].end, m.end, "")
	case k == 0 && len(table.inline) > 1 && !d.hasComment(m.end, table.inline[1].start):
		return d.replace(m.start, table.inline[1].start, "")
	}
	if comma := d.commaIn(m.end, table.end); comma >= 0 {
		d.text = splice(d.text, comma, comma+1, "")
	}
	return d.replace(m.start, m.end, "")
}

func (d *tomlDocument) hasComment(start, end int) bool {
	return bytes.IndexByte(d.text[start:end], '#') >= 0
}

// commaIn is the offset of the comma behind a member of an inline table, -1 for
// none. A comment may have one too.
func (d *tomlDocument) commaIn(start, end int) int {
	for i := start; i < end; i++ {
		switch d.text[i] {
		case '#':
			i = d.nextLine(i) - 1
		case ',':
			return i
		case ' ', '\t', '\r', '\n':
		default:
			return -1
		}
	}
	return -1
}
