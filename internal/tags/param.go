package tags

import (
	"fmt"
	"strings"

	"github.com/conch-mcp/conch/internal/catalog"
)

// behindName is what may follow the name of a parameter that takes a value.
const behindName = "a modifier (! * + ~), =default, [choices], a blank, or the end of the line"

// param takes what follows @arg, @option or @flag, the first line of the
// description included.
func (c *cursor) param(kind Kind) (p Param, f *flaw) {
	p.Kind = kind
	steps := []func(*Param) *flaw{c.names, c.valueOf, c.bound, c.notations, c.describe, complete, consistent}
	for _, step := range steps {
		if f := step(&p); f != nil {
			return p, f
		}
	}
	return p, nil
}

func (c *cursor) names(p *Param) *flaw {
	start := c.at
	if p.Kind == Argument {
		if p.Name = c.while(isName); p.Name == "" {
			return c.unexpected("the name of an argument")
		}
		return nil
	}
	p.Short = c.short()
	sign := c.sign()
	if sign == "" {
		return c.unexpected("a name with its dashes, as in --name, -n --name or -n")
	}
	if p.Name = c.while(isName); p.Name == "" && len(sign) == 1 && p.Kind == Flag {
		p.Name = c.letter()
	}
	p.suffix()
	if p.Name == "" {
		return &flaw{at: start, what: "dashes without a name", expected: "a name, as in --name"}
	}
	p.Long = sign + p.Name
	return nil
}

// short takes -n where a longer name follows.
func (c *cursor) short() string {
	start := c.at
	if !c.take("-") && !c.take("+") || c.letter() == "" || !c.blanks() || c.sign() == "" || c.while(isName) == "" {
		c.at = start
		return ""
	}
	c.at = start + 2
	c.blanks()
	return c.text[start : start+2]
}

// sign takes what stands before a name.
func (c *cursor) sign() string {
	for _, sign := range []string{"--", "-", "+"} {
		if c.take(sign) {
			return sign
		}
	}
	return ""
}

// letter takes a name of one character, which may be a sign.
func (c *cursor) letter() string {
	if c.atEnd() || !isShort(c.text[c.at]) {
		return ""
	}
	c.at++
	return c.text[c.at-1 : c.at]
}

// suffix reads what the end of a name says about the value: --name: and -D-.
// Twice, it is part of the name.
func (p *Param) suffix() {
	p.Name, p.Assigned = cutSuffix(p.Name, ":")
	p.Name, p.Prefixed = cutSuffix(p.Name, "-")
}

func cutSuffix(name, sign string) (string, bool) {
	switch {
	case name == sign:
		return name, false
	case strings.HasSuffix(name, sign+sign):
		return strings.TrimSuffix(name, sign), false
	}
	return strings.CutSuffix(name, sign)
}

func (c *cursor) valueOf(p *Param) (f *flaw) {
	if p.Kind == Flag {
		p.Many = c.take("*")
		return nil
	}
	var m modifier
	p.Value, m, f = c.value()
	p.Many, p.Rest, p.Separator = m.many, m.rest, m.separator
	return f
}

// bound takes $$ or $NAME, one blank before it included. A dollar that is not
// followed by a name in capitals belongs to the description.
func (c *cursor) bound(p *Param) *flaw {
	start := c.at
	if c.take(" $$") {
		p.Bound = strings.ToUpper(catalog.Identifier(p.id()))
		if isDigit(p.Bound[0]) {
			return &flaw{at: start + 1, what: fmt.Sprintf("no variable of the environment can be called %.40s", p.Bound), expected: "a name for it, as in $NAME"}
		}
		return nil
	}
	if !c.take(" $") {
		return nil
	}
	p.Bound = c.while(func(b byte) bool { return b >= 'A' && b <= 'Z' || b == '_' || isDigit(b) })
	if p.Bound == "" || isDigit(p.Bound[0]) {
		p.Bound, c.at = "", start
	}
	return nil
}

func (c *cursor) notations(p *Param) *flaw {
	most := map[Kind]int{Argument: 1, Option: len(c.text)}[p.Kind]
	for len(p.Notations) < most {
		name, ok := c.notation()
		if !ok {
			break
		}
		p.Notations = append(p.Notations, Notation{Name: name})
	}
	if n := len(p.Notations); n > 0 {
		p.Notations[n-1].cut(p.Kind == Option)
	}
	return nil
}

// cut parts the modifier from the name of the last notation. The one of an
// argument says nothing.
func (n *Notation) cut(says bool) {
	for _, sign := range []string{"*", "+", "?"} {
		name, ok := strings.CutSuffix(n.Name, sign)
		if !ok {
			continue
		}
		n.Name = name
		if says {
			n.Repeat = sign
		}
		return
	}
}

func (c *cursor) describe(p *Param) (f *flaw) {
	expected := behindName
	switch {
	case len(p.Notations) > 0:
		expected = "a blank behind the >, or the end of the line"
	case p.Bound != "":
		expected = "a blank behind the variable, or the end of the line"
	case p.Kind == Flag:
		expected = "a *, a blank, or the end of the line: a flag takes no value"
	case p.Default != nil || p.DefaultFunction != "" || p.Choices != nil || p.ChoicesFunction != "":
		expected = "a blank behind the value, or the end of the line"
	}
	p.Describe, f = c.tail(expected)
	return f
}

// id is the name apart from others: one with a plus is another than one with
// dashes.
func (p *Param) id() string {
	if strings.HasPrefix(p.Long, "+") {
		return "plus_" + p.Name
	}
	return p.Name
}

func complete(p *Param) *flaw {
	p.Property = catalog.Identifier(p.id())
	p.Variable = "argc_" + p.Property
	return nil
}

// consistent finds what cannot go together.
func consistent(p *Param) *flaw {
	several := len(p.Notations) > 1
	switch {
	case several && p.Separator != "":
		return whole("a separator and several notations cannot go together", "one notation: the separator already makes a list")
	case several && p.Assigned:
		return whole("a name that ends in : takes one value", "one notation")
	case several && p.Prefixed:
		return whole("a name that ends in - takes one value", "one notation")
	case p.Prefixed && p.Bound != "":
		return whole("a variable of the environment cannot be bound to a name that ends in -", "no variable: its text would have no name")
	case p.Prefixed && p.Kind == Flag:
		return whole("a flag has a name that ends in -", "an @option: only those take values behind the name")
	}
	if _, err := p.schema(); err != nil {
		return whole(err.Error(), "")
	}
	return nil
}

// env takes what follows @env, the first line of the description included.
func (c *cursor) env() (e Env, f *flaw) {
	start := c.at
	e.Name = c.while(func(b byte) bool { return isLetter(b) || isDigit(b) || b == '_' })
	if e.Name == "" || isDigit(e.Name[0]) {
		c.at = start
		return e, c.unexpected("the name of a variable of the environment")
	}
	var m modifier
	if e.Value, m, f = c.value(); f != nil {
		return e, f
	}
	if m.many || m.rest {
		return e, whole("a variable of the environment has one value", "! or no modifier")
	}
	e.Notation, _ = c.notation()
	e.Describe, f = c.tail("!, =default, [choices], a blank, or the end of the line")
	return e, f
}
