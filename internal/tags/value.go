package tags

// Values of parameters and of variables of the environment: what stands directly
// behind a name.

// A modifier is the sign behind a name.
type modifier struct {
	required, many, rest bool
	separator            string
}

// modifier takes the sign, if there is one.
func (c *cursor) modifier() (m modifier, ok bool) {
	switch {
	case c.take("!"):
		return modifier{required: true}, true
	case c.take("~"):
		return modifier{rest: true}, true
	case c.take("*"):
		return modifier{many: true, separator: c.separator()}, true
	case c.take("+"):
		return modifier{required: true, many: true, separator: c.separator()}, true
	}
	return modifier{}, false
}

func (c *cursor) separator() string {
	if c.atEnd() || !isOneOf(c.text[c.at], ",:;@|/") {
		return ""
	}
	c.at++
	return c.text[c.at-1 : c.at]
}

// value takes a modifier with what follows it: =default, or choices.
func (c *cursor) value() (v Value, m modifier, f *flaw) {
	m, modified := c.modifier()
	switch {
	case c.has("["):
		f = c.choices(&v)
	case c.has("=") && modified:
		f = &flaw{at: c.at, what: "a default stands behind a modifier", expected: "one of the two: what has a default needs no value"}
	case c.take("="):
		f = c.byDefault(&v)
	}
	v.Required = m.required && v.Default == nil && v.DefaultFunction == ""
	return v, m, f
}

func (c *cursor) byDefault(v *Value) (f *flaw) {
	if c.has("`") {
		v.DefaultFunction, f = c.function()
		return f
	}
	text, ok := c.quoted()
	if !ok {
		text = c.until(isSpace)
	}
	v.Default = &text
	return nil
}

// function takes the name of a function in backticks.
func (c *cursor) function() (name string, f *flaw) {
	start := c.at
	c.at++
	name = c.while(isFunction)
	if name == "" || !c.take("`") {
		return "", &flaw{at: start, what: "the backtick is followed by no function", expected: "a function's name and another backtick"}
	}
	return name, nil
}

// choices takes [a|b], [=a|b], [`function`] or [?`function`].
func (c *cursor) choices(v *Value) (f *flaw) {
	start := c.at
	c.at++
	if v.Validated = !c.has("?`"); !v.Validated {
		c.at++
	}
	if c.has("`") {
		v.ChoicesFunction, f = c.function()
		if f == nil && !c.take("]") {
			f = c.unexpected("a ] behind the function")
		}
		return f
	}
	first := c.take("=")
	if v.Choices, f = c.alternatives(start); f != nil {
		return f
	}
	if first && len(v.Choices) < 2 {
		return &flaw{at: start, what: "the first of one choice is to be the default", expected: "at least two choices, as in [=a|b]"}
	}
	if first {
		v.Default = &v.Choices[0]
	}
	return nil
}

// alternatives takes a|b with the ] behind them.
func (c *cursor) alternatives(start int) (list []string, f *flaw) {
	for {
		if c.has("=") || c.has("`") {
			return nil, &flaw{at: c.at, what: "a choice begins with " + c.text[c.at:c.at+1], expected: "a choice in quotes, if that is meant"}
		}
		text, ok := c.quoted()
		if !ok {
			text = c.until(func(b byte) bool { return b == '|' || b == ']' })
		}
		list = append(list, text)
		switch {
		case c.take("|"):
		case c.atEnd():
			return nil, &flaw{at: start, what: "the choices have no end", expected: "a ] behind the last one"}
		case c.take("]"):
			if len(list) == 1 && text == "" {
				return nil, &flaw{at: start, what: "there are no choices", expected: "[a|b], or a function in backticks"}
			}
			return list, nil
		default:
			return nil, c.unexpected("a | or a ] behind a choice")
		}
	}
}

// notation takes <NAME>, one blank before it included. The name may have pairs
// of brackets in it. Without an end it is none: descriptions have such signs too.
func (c *cursor) notation() (name string, ok bool) {
	if !c.has(" <") {
		return "", false
	}
	depth := 0
	for i := c.at + 1; i < len(c.text); i++ {
		switch c.text[i] {
		case '<':
			depth++
		case '>':
			depth--
		}
		if depth == 0 {
			name = c.text[c.at+2 : i]
			c.at = i + 1
			return name, true
		}
	}
	return "", false
}
