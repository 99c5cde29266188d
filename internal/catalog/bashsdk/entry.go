package bashsdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/internal/catalog"
)

// entries are those of a list in a file, which need not be there.
func entries(list map[string]json.RawMessage, name string) (entries []json.RawMessage, err error) {
	raw := list[name]
	if raw == nil || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] != '[' || json.Unmarshal(raw, &entries) != nil {
		return nil, fmt.Errorf("the value of %q is not an array", name)
	}
	return entries, nil
}

// A declaration is an entry of a list besides that of the tools.
type declaration struct {
	members map[string]json.RawMessage
	name    string
	entry   json.RawMessage // without what is for Conch alone
	source  catalog.Source
}

// own are the members of an entry that clients do not get to see.
var own = []string{"file", "function", "complete"}

// declare reads what all declarations have. prefix begins the name of the
// function that is meant where the entry names none.
func declare(entry json.RawMessage, prefix string, texts ...string) (d declaration, problem error) {
	if entry[0] != '{' || json.Unmarshal(entry, &d.members) != nil {
		return d, errors.New("is not a JSON object")
	}
	if json.Unmarshal(d.members["name"], &d.name) != nil || d.name == "" {
		return d, errors.New("has no name")
	}
	for _, member := range append([]string{"title", "description", "file", "function"}, texts...) {
		// Clients drop a whole list over one of the wrong type.
		if raw := d.members[member]; raw != nil && raw[0] != '"' {
			return d, fmt.Errorf("(%s) has a %s that is no string", d.name, member)
		}
	}
	d.source = catalog.Source{File: d.text("file"), Function: d.text("function")}
	switch {
	case d.source.File != "" && d.source.Function != "":
		return d, fmt.Errorf("(%s) has both a file and a function", d.name)
	case d.source.File == "" && d.source.Function == "":
		d.source.Function = prefix + catalog.Identifier(d.name)
	}
	d.entry = hiding(entry, own)
	return d, nil
}

// text is a member that is a string, "" when there is none.
func (d declaration) text(member string) (text string) {
	_ = json.Unmarshal(d.members[member], &text)
	return text
}

// hiding returns a JSON object without its white space and some of its members,
// and everything else as it was written.
func hiding(object json.RawMessage, names []string) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	dec := json.NewDecoder(bytes.NewReader(object))
	_, _ = dec.Token()
	for dec.More() {
		from := dec.InputOffset()
		key, err := dec.Token()
		if err != nil {
			break
		}
		written := bytes.TrimLeft(object[from:dec.InputOffset()], ", \t\r\n")
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			break
		}
		if name, _ := key.(string); slices.Contains(names, name) {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(written)
		b.WriteByte(':')
		_ = json.Compact(&b, value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// completions are the values that a list gives for something; ok is false for
// what is no array of strings.
func completions(raw json.RawMessage) (values []string, ok bool) {
	if raw == nil || string(raw) == "null" {
		return nil, true
	}
	if raw[0] != '[' || json.Unmarshal(raw, &values) != nil {
		return nil, false
	}
	return values, true
}

// collected gathers the entries of one list, of which each has a key.
type collected[T any] struct {
	list     string // what the list is called
	key      func(T) string
	parse    func(json.RawMessage) (T, error)
	problems []string
}

// take returns the entries whose key is declared once, in their order. What is
// of no use becomes a problem, and hides nothing else.
func (c *collected[T]) take(entries []json.RawMessage) []T {
	var all, once []T
	count := map[string]int{}
	for i, raw := range entries {
		entry, err := c.parse(raw)
		if err != nil {
			c.problem("entry %d of the %s list %w; it is not served", i+1, c.list, err)
			continue
		}
		count[c.key(entry)]++
		all = append(all, entry)
	}
	for _, entry := range all {
		key := c.key(entry)
		switch n := count[key]; {
		case n == 1:
			once = append(once, entry)
		case n > 1:
			c.problem("the %s list declares %s %d times; it is not served", c.list, key, n)
			count[key] = 0
		}
	}
	return once
}

func (c *collected[T]) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf(format, args...).Error())
}

// isLine reports whether a text has neither line breaks nor NULs.
func isLine(text string) bool { return !strings.ContainsAny(text, "\n\r\x00") }
