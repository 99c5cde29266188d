package tags

import (
	"fmt"
	"slices"
)

// A command is what is said of one so far: in the tags of a @cmd, or above the
// first of them.
type command struct {
	parent   *command
	children []*command
	names    map[string]int // the children's names and aliases, with their lines
	segment  string         // the last part of its name
	function string         // as it is defined; "" until then
	private  bool
	faulty   bool
	line     int // 0 until there is a tag

	describe  string
	aliases   []string
	aliasLine int
	params    []Param
	env       []Env
	meta      Meta
	metaLines map[string]int
	schemas   []givenSchema
}

// begun notes the line of the first tag.
func (c *command) begun(line int) {
	if c.line == 0 {
		c.line = line
	}
}

func (c *command) addDescription(t tag) *flaw {
	text, f := t.tail("a blank behind @describe")
	c.describe = description(text, t.more)
	return f
}

var kinds = map[string]Kind{"arg": Argument, "option": Option, "flag": Flag}

func (c *command) addParam(t tag) *flaw {
	if f := t.apart(); f != nil {
		return f
	}
	p, f := t.param(kinds[t.keyword])
	if f != nil {
		return f
	}
	p.Line, p.Describe = t.line, description(p.Describe, t.more)
	if f := c.distinct(p); f != nil {
		return f
	}
	c.params = append(c.params, p)
	return nil
}

// distinct finds the parameter that another one would hide.
func (c *command) distinct(p Param) *flaw {
	for _, other := range c.params {
		if p.Property == other.Property {
			return whole(fmt.Sprintf("%s is the same argument of a call as that of the @%s in line %d", p.Property, other.Kind, other.Line), "another name")
		}
		for _, name := range []string{p.Short, p.Long} {
			if name != "" && (name == other.Short || name == other.Long) {
				return whole(fmt.Sprintf("%s is the name of the @%s in line %d already", name, other.Kind, other.Line), "another name")
			}
		}
	}
	return nil
}

func (c *command) addEnv(t tag) *flaw {
	if f := t.apart(); f != nil {
		return f
	}
	e, f := t.env()
	if f != nil {
		return f
	}
	e.Line, e.Describe = t.line, description(e.Describe, t.more)
	if i := slices.IndexFunc(c.env, func(other Env) bool { return other.Name == e.Name }); i >= 0 {
		return whole(fmt.Sprintf("%s is named in line %d already", e.Name, c.env[i].Line), "another name")
	}
	c.env = append(c.env, e)
	return nil
}

func (c *command) addMeta(t tag) *flaw {
	if f := t.apart(); f != nil {
		return f
	}
	name, f := t.meta(&c.meta, t.line)
	if f != nil {
		return f
	}
	if c.metaLines == nil {
		c.metaLines = map[string]int{}
	}
	c.metaLines[name] = t.line
	return nil
}

// addOldMeta reads @version and @author, which were there before @meta was.
func (c *command) addOldMeta(t tag) *flaw {
	value, f := t.tail("a blank behind @" + t.keyword)
	if f != nil {
		return f
	}
	if expected := c.meta.setter(t.keyword)(value); expected != "" {
		return t.unexpected(expected)
	}
	return nil
}

// addAliases reads names with commas between them. What follows the last is a
// remark.
func (c *command) addAliases(t tag) *flaw {
	if f := t.apart(); f != nil {
		return f
	}
	c.aliases, c.aliasLine = nil, t.line
	for {
		name := t.while(isName)
		if name == "" {
			return t.unexpected("a name, as in @alias l,ls")
		}
		c.aliases = append(c.aliases, name)
		t.blanks()
		if !t.take(",") {
			return nil
		}
		t.blanks()
	}
}
