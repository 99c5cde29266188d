package clients

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/conch-mcp/conch/internal/inplace"
)

// An Entry is how a server is started.
type Entry struct {
	Command string
	Args    []string
	Env     []Variable
}

// A Variable is one of a server's environment.
type Variable struct {
	Name, Value string
	// Typed is a value that somebody has written for the client, which may
	// replace something in it.
	Typed bool
}

// Check says what the client would not take, or not as it stands.
func (c Client) Check(name string, e Entry) error {
	if err := c.checkName(name); err != nil {
		return err
	}
	texts := append([]string{e.Command}, e.Args...)
	for _, v := range e.Env {
		if !v.Typed {
			texts = append(texts, v.Value)
		} else if !utf8.ValidString(v.Value) {
			return fmt.Errorf("the value of %s is not UTF-8, as the configuration has to be", v.Name)
		}
	}
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%.200q is not UTF-8, as the configuration has to be", text)
		}
		if c.variables == nil {
			continue
		}
		if found := c.variables.FindString(text); found != "" {
			return fmt.Errorf("%s would put something else for %s in %.200q, and there is no way to tell it not to; use a path or a value without it", c.Title, found, text)
		}
	}
	return nil
}

func (c Client) checkName(name string) error {
	switch {
	case name == "":
		return errors.New("the name of the server is empty; give it one with --name")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("%.200q is no name for a server: it is no UTF-8, or has control characters in it", name)
	case c.strict && strings.ContainsFunc(name, func(r rune) bool { return !isPlain(r) }):
		return fmt.Errorf("%s takes names of letters, digits, - and _ alone, and not %.200q; give the server another with --name", c.Title, name)
	}
	return nil
}

// table is what the client reads of an entry.
func (c Client) table(e Entry) inplace.Table {
	var t inplace.Table
	if c.kind != "" {
		t = append(t, inplace.Member{Name: "type", Value: c.kind})
	}
	t = append(t, inplace.Member{Name: "command", Value: e.Command})
	if len(e.Args) > 0 {
		t = append(t, inplace.Member{Name: "args", Value: e.Args})
	}
	var env inplace.Table
	for _, v := range e.Env {
		env = append(env, inplace.Member{Name: v.Name, Value: v.Value})
	}
	if len(env) > 0 {
		t = append(t, inplace.Member{Name: "env", Value: env})
	}
	return t
}

// Snippet is a configuration that has the entry alone.
func (c Client) Snippet(name string, e Entry) ([]byte, error) {
	added, err := c.Add(nil, name, e)
	return added.Text, err
}

// A Change is a configuration once it is changed.
type Change struct {
	Text []byte
	// Was is what the entry started before, or where it led; "" for one that was
	// not there.
	Was string
	// Emptied is a configuration that was made for the entry and holds nothing
	// else.
	Emptied bool
}

// Add puts an entry into a configuration. Of one that is there by the name, what
// says how the server is started is replaced, and variables are added. Whatever
// else the user has put there is kept.
func (c Client) Add(text []byte, name string, e Entry) (Change, error) {
	d, err := c.parse(text)
	if err != nil {
		return Change{}, err
	}
	there, err := d.Get(c.servers, name)
	if err != nil {
		return Change{}, err
	}
	if there == nil {
		err = d.Set(c.table(e), c.servers, name)
	} else {
		err = c.update(d, name, c.table(e))
	}
	if err != nil {
		return Change{}, err
	}
	return Change{Text: d.Text(), Was: started(there)}, nil
}

// update says anew how a server is started. What says otherwise goes last: an
// entry that is empty in between would lose its layout.
func (c Client) update(d inplace.Document, name string, table inplace.Table) error {
	for _, m := range table {
		if err := c.set(d, m, c.servers, name); err != nil {
			return err
		}
	}
	for _, member := range append([]string{"args"}, c.foreign...) {
		if slices.ContainsFunc(table, func(m inplace.Member) bool { return m.Name == member }) {
			continue
		}
		if err := d.Remove(c.servers, name, member); err != nil {
			return err
		}
	}
	return nil
}

// set puts a member in its place, and one that is a table member by member into
// the one that is there.
func (c Client) set(d inplace.Document, m inplace.Member, path ...string) error {
	path = append(path, m.Name)
	table, ok := m.Value.(inplace.Table)
	there, err := d.Get(path...)
	if err != nil {
		return err
	}
	if !ok || there == nil {
		return d.Set(m.Value, path...)
	}
	for _, inner := range table {
		if err := d.Set(inner.Value, append(path, inner.Name)...); err != nil {
			return err
		}
	}
	return nil
}

// Remove takes an entry out of a configuration. If all that has happened since a
// backup is that the entry has come, the backup is what is left, to the byte. A
// backup of nil is none, and says that nothing was there before.
func (c Client) Remove(text, backup []byte, name string) (Change, error) {
	d, err := c.parse(text)
	if err != nil {
		return Change{}, err
	}
	there, err := d.Get(c.servers, name)
	if err != nil || there == nil {
		return Change{Text: text}, err
	}
	change := Change{Was: started(there)}
	switch {
	case backup != nil && c.makes(backup, there, name, text):
		change.Text = backup
		return change, nil
	case backup == nil && c.makes(nil, there, name, text):
		change.Emptied = true
		return change, nil
	}
	err = d.Remove(c.servers, name)
	change.Text = d.Text()
	return change, err
}

// makes reports whether a configuration without an entry becomes another one by
// the entry alone.
func (c Client) makes(before []byte, entry any, name string, after []byte) bool {
	d, err := c.parse(before)
	if err != nil {
		return false
	}
	if there, err := d.Get(c.servers, name); err != nil || there != nil {
		return false
	}
	return d.Set(entry, c.servers, name) == nil && bytes.Equal(d.Text(), after)
}

// started is what an entry starts or where it leads, for people. It is empty for
// no entry alone.
func started(entry any) string {
	if entry == nil {
		return ""
	}
	table, _ := entry.(inplace.Table)
	var words []string
	for _, m := range table {
		switch v := m.Value.(type) {
		case string:
			if m.Name == "command" || strings.HasSuffix(strings.ToLower(m.Name), "url") {
				words = append([]string{v}, words...)
			}
		case []string:
			if m.Name == "args" {
				words = append(words, v...)
			}
		}
	}
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, " ")
}

// String is what the entry starts, as [Change.Was] has it.
func (e Entry) String() string {
	return strings.Join(append([]string{e.Command}, e.Args...), " ")
}
