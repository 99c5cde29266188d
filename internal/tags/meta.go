package tags

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// meta takes what follows @meta, and adds it to what is said already.
func (c *cursor) meta(m *Meta, line int) (name string, f *flaw) {
	start := c.at
	if name = c.while(isName); name == "" {
		return "", c.unexpected("a name, as in @meta readonly")
	}
	value, f := c.tail("a blank between the name and the value")
	if f != nil {
		return "", f
	}
	set := m.setter(name)
	if set == nil {
		m.Other = append(m.Other, Pair{name, value, line})
		return name, nil
	}
	if expected := set(value); expected != "" {
		return "", &flaw{at: start, what: fmt.Sprintf("@meta %s has the value %.40q", name, value), expected: expected}
	}
	return name, nil
}

// setter returns what takes the value of such a name and tells what else it
// expects, nil for a name that means nothing here.
func (m *Meta) setter(name string) func(value string) (expected string) {
	switch name {
	case "version":
		return text(&m.Version)
	case "author":
		return text(&m.Author)
	case "title":
		return text(&m.Title)
	case "output-schema":
		return text(&m.OutputSchema)
	case "readonly":
		return hint(&m.ReadOnly)
	case "destructive":
		return hint(&m.Destructive)
	case "idempotent":
		return hint(&m.Idempotent)
	case "open-world":
		return hint(&m.OpenWorld)
	case "timeout":
		return seconds(&m.Timeout)
	case "dotenv":
		return m.setDotenv
	case "requires":
		return m.addRequires
	case "require-tools":
		return m.addTools
	}
	return nil
}

func text(to *string) func(string) string {
	return func(value string) string {
		if value == "" {
			return "a text"
		}
		*to = value
		return ""
	}
}

func hint(to **bool) func(string) string {
	return func(value string) string {
		if value != "" && value != "true" && value != "false" {
			return "nothing, true or false"
		}
		yes := value != "false"
		*to = &yes
		return ""
	}
}

// longest is more seconds than any call takes.
const longest = 365 * 24 * 60 * 60

func seconds(to *time.Duration) func(string) string {
	return func(value string) string {
		n, err := strconv.ParseFloat(value, 64)
		if err != nil || !(n > 0) || n > longest {
			return "a number of seconds above 0"
		}
		*to = max(time.Duration(n*float64(time.Second)), 1)
		return ""
	}
}

func (m *Meta) setDotenv(value string) string {
	m.Dotenv = value
	if value == "" {
		m.Dotenv = ".env"
	}
	return ""
}

func (m *Meta) addRequires(value string) string {
	able := words(value)
	known := func(word string) bool { return slices.Contains([]string{"elicitation", "sampling", "roots"}, word) }
	if len(able) == 0 || slices.ContainsFunc(able, func(word string) bool { return !known(word) }) {
		return "elicitation, sampling or roots"
	}
	m.Requires = union(m.Requires, able)
	return ""
}

func (m *Meta) addTools(value string) string {
	tools := words(value)
	if len(tools) == 0 {
		return "the names of programs"
	}
	m.RequireTools = union(m.RequireTools, tools)
	return ""
}

// words have blanks or commas between them.
func words(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })
}

// union has the words of both, each once.
func union(a, b []string) []string {
	all := slices.Clone(a)
	for _, word := range b {
		if !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}

// below is what holds for a command when m is said above it: what it leaves open.
// The rest names or describes one thing.
func (m Meta) below(own Meta) Meta {
	for _, h := range []struct {
		own  **bool
		from *bool
	}{
		{&own.ReadOnly, m.ReadOnly},
		{&own.Destructive, m.Destructive},
		{&own.Idempotent, m.Idempotent},
		{&own.OpenWorld, m.OpenWorld},
	} {
		if *h.own == nil {
			*h.own = h.from
		}
	}
	if own.Timeout == 0 {
		own.Timeout = m.Timeout
	}
	own.Requires = union(m.Requires, own.Requires)
	own.RequireTools = union(m.RequireTools, own.RequireTools)
	return own
}
