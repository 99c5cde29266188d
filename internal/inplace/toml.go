package inplace

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

type tomlDocument struct {
	mark       string // a byte order mark, or nothing
	text       []byte // without it
	statements []statement
}

// A statement is a header, or a name with its value, in a text or in an inline
// table.
type statement struct {
	kind       unstable.Kind // Table, ArrayTable or KeyValue
	path       []string      // from the root
	section    int           // the statement that is its header, -1 for none; of a header, itself
	start      int           // of the name, or of the header's bracket
	valueStart int
	end        int // of the value, or of the header's bracket
	value      any
	inline     []statement // of a value that is an inline table
	isInline   bool
}

// ParseTOML reads a TOML document. An error is an [Error].
func ParseTOML(text []byte) (Document, error) {
	d := &tomlDocument{}
	d.mark, d.text = cutBOM(text)
	if err := d.parse(); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *tomlDocument) parse() error {
	if err := toml.Unmarshal(d.text, &map[string]any{}); err != nil {
		return tomlError(d.text, err)
	}
	d.statements = nil
	var parser unstable.Parser
	parser.Reset(d.text)
	section := -1
	for parser.NextExpression() {
		node := parser.Expression()
		s := d.statement(node, d.pathOf(section))
		if s.kind != unstable.KeyValue {
			section = len(d.statements)
		}
		s.section = section
		d.statements = append(d.statements, s)
	}
	if err := parser.Error(); err != nil {
		return tomlError(d.text, err)
	}
	return nil
}

func tomlError(text []byte, err error) error {
	reason := clip(strings.TrimPrefix(err.Error(), "toml: "))
	var decoding *toml.DecodeError
	if errors.As(err, &decoding) {
		line, column := decoding.Position()
		return &Error{line, column, reason}
	}
	return errorAt(text, len(text), "%s", reason)
}

// pathOf is the path of a section.
func (d *tomlDocument) pathOf(section int) []string {
	if section < 0 {
		return nil
	}
	return d.statements[section].path
}

func (d *tomlDocument) statement(node *unstable.Node, within []string) statement {
	s := statement{kind: node.Kind}
	var names []string
	var first, last unstable.Range
	for it := node.Key(); it.Next(); {
		key := it.Node()
		if names == nil {
			first = key.Raw
		}
		last = key.Raw
		names = append(names, string(key.Data))
	}
	if s.kind != unstable.KeyValue {
		s.path = names
		s.start = bytes.LastIndexByte(d.text[:first.Offset], '[')
		if s.kind == unstable.ArrayTable {
			s.start--
		}
		behind := int(last.Offset + last.Length)
		s.end = behind + bytes.IndexByte(d.text[behind:], ']') + int(s.kind-unstable.Table) + 1
		return s
	}
	s.path = slices.Concat(within, names)
	s.start, s.end = int(first.Offset), int(node.Raw.Offset+node.Raw.Length)
	s.valueStart = d.behindEquals(int(last.Offset + last.Length))
	s.take(d, node.Value())
	return s
}

// behindEquals is where the value begins whose name ends at an offset.
func (d *tomlDocument) behindEquals(offset int) int {
	offset += bytes.IndexByte(d.text[offset:], '=') + 1
	return offset + len(d.text[offset:]) - len(bytes.TrimLeft(d.text[offset:], " \t"))
}

// take reads a statement's value. What is neither text, nor a list of texts, nor
// a table is kept as it stands.
func (s *statement) take(d *tomlDocument, value *unstable.Node) {
	s.value = Other(d.text[s.valueStart:s.end])
	switch value.Kind {
	case unstable.String:
		s.value = string(value.Data)
	case unstable.Array:
		if list, ok := stringsIn(value); ok {
			s.value = list
		}
	case unstable.InlineTable:
		s.isInline = true
		for it := value.Children(); it.Next(); {
			s.inline = append(s.inline, d.statement(it.Node(), s.path))
		}
	}
}

func stringsIn(array *unstable.Node) (list []string, ok bool) {
	for it := array.Children(); it.Next(); {
		if it.Node().Kind != unstable.String {
			return nil, false
		}
		list = append(list, string(it.Node().Data))
	}
	return list, true
}

// Text implements [Document].
func (d *tomlDocument) Text() []byte {
	return append([]byte(d.mark), d.text...)
}

// Get implements [Document].
func (d *tomlDocument) Get(path ...string) (any, error) {
	for i := range path {
		if err := d.checkTable(path[:i]); err != nil {
			return nil, err
		}
	}
	return gather(d.statements, path), nil
}

// checkTable refuses a path that is there and is no table.
func (d *tomlDocument) checkTable(path []string) error {
	s := d.holder(path)
	switch {
	case s == nil:
		return nil
	case s.kind == unstable.ArrayTable:
		return errorAt(d.text, s.start, "%s is an array of tables, and has to be a table", said(path))
	case s.kind == unstable.KeyValue && !s.isInline:
		return errorAt(d.text, s.start, "%s is no table, and has to be one", said(path))
	}
	return nil
}

// holder is the statement that says by itself all that is at a path: a value, or
// the header of one table of many.
func (d *tomlDocument) holder(path []string) *statement {
	return holderIn(d.statements, path)
}

func holderIn(statements []statement, path []string) *statement {
	for i := range statements {
		s := &statements[i]
		switch {
		case slices.Equal(s.path, path) && s.kind != unstable.Table:
			return s
		case s.isInline && startsWith(path, s.path):
			return holderIn(s.inline, path)
		}
	}
	return nil
}

// gather makes the value at a path of all statements about it, nil of none.
func gather(statements []statement, path []string) any {
	var table Table
	found := false
	for _, s := range statements {
		switch {
		case s.isInline && startsWith(path, s.path) && len(path) > len(s.path):
			return gather(s.inline, path)
		case !startsWith(s.path, path):
			continue
		case len(s.path) == len(path) && s.isInline:
			table, _ := gather(s.inline, path).(Table)
			return append(Table{}, table...)
		case len(s.path) == len(path) && s.kind == unstable.KeyValue:
			return s.value
		case len(s.path) == len(path) && s.kind == unstable.ArrayTable:
			return Other("[[" + writeKey(path) + "]]")
		}
		found = true
		if len(s.path) > len(path) {
			table = withName(table, s.path[len(path)])
		}
	}
	if !found {
		return nil
	}
	for i := range table {
		table[i].Value = gather(statements, append(slices.Clone(path), table[i].Name))
	}
	return append(Table{}, table...)
}

func withName(t Table, name string) Table {
	if slices.ContainsFunc(t, func(m Member) bool { return m.Name == name }) {
		return t
	}
	return append(t, Member{Name: name})
}

// startsWith reports whether a path leads to another one or into it.
func startsWith(path, other []string) bool {
	return len(path) >= len(other) && slices.Equal(path[:len(other)], other)
}
