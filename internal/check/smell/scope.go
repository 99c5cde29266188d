package smell

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// value is what is known of a text: whose it is, and what it may be.
type value struct {
	tainted bool
	shape   Shape
	origin  string // the argument that it is from, as the script writes it
	// document is set for the arguments as JSON: the tools whose they are.
	document []*Tool
	// exact is the variable whose text it is, without anything before or behind.
	exact string
	// quoted says that a shell takes it for one word, whatever it holds.
	quoted bool
	// within says that quotes inside of an expansion hold it together.
	within bool
	// mixed says that there are other words around it.
	mixed bool
	// below says that it stands behind a / of the script's own, and that nothing
	// limits it: .. in it leads elsewhere.
	below bool
}

// or is what is known of a text that is one or the other, or has both in it.
func (v value) or(w value) value {
	switch {
	case !w.tainted:
		v.mixed = v.mixed || w.mixed
		return v
	case !v.tainted:
		w.mixed = w.mixed || v.mixed
		return w
	}
	if joined := v.shape.Or(w.shape); joined != v.shape {
		// The one that makes it worse is the one to name.
		v.origin, v.shape = w.origin, joined
	}
	v.quoted = v.quoted && w.quoted
	v.below = v.below || w.below
	v.mixed = v.mixed || w.mixed
	if v.exact != w.exact {
		v.exact = ""
	}
	if len(v.document) == 0 || len(w.document) == 0 {
		v.document = nil
	} else if len(w.document) > len(v.document) {
		v.document = w.document
	}
	return v
}

// limited is a text that has been found to have a shape.
func (v value) limited(to Shape) value {
	v.shape = v.shape.and(to)
	v.below = v.below && to.Free
	return v
}

// of is a text of a shape that comes from the same argument.
func (v value) of(shape Shape) value {
	return value{tainted: v.tainted, shape: shape, origin: v.origin}
}

// tainted is a text of somebody else's.
func tainted(shape Shape, origin string) value {
	return value{tainted: true, shape: shape, origin: origin}
}

// scope is one walk through one function.
type scope struct {
	finder   *finder
	function *function
	env      map[string]value
	own      map[string]bool // its local variables
	alias    map[string]int  // variables that hold a parameter: its number, 0 for each in turn
	// conditional counts the branches around: what is assigned in one may not be.
	conditional int
	shifted     int
	sub         bool // a subshell: nobody else sees what it sets
}

func newScope(f *finder, fn *function) *scope {
	return &scope{finder: f, function: fn, env: map[string]value{}, own: map[string]bool{}, alias: map[string]int{}}
}

// inner is the scope of a subshell, whose assignments nobody sees.
func (s *scope) inner() *scope {
	in := *s
	in.sub = true
	in.env, in.own, in.alias = maps.Clone(s.env), maps.Clone(s.own), maps.Clone(s.alias)
	return &in
}

// branch walks what may not be run.
func (s *scope) branch(walk func() value) value {
	s.conditional++
	defer func() { s.conditional-- }()
	return walk()
}

// assign gives a variable a value.
func (s *scope) assign(name string, v value) {
	v.exact = ""
	if old, ok := s.env[name]; ok && s.conditional > 0 {
		v = v.or(old)
	} else if s.conditional > 0 {
		v = v.or(s.variable(name))
		v.exact = ""
	}
	s.env[name] = v
	switch {
	case s.own[name]:
		s.finder.widen(s.function.locals, name, v)
	case !s.sub:
		s.finder.widen(s.finder.globals, name, v)
	}
}

// declare makes a variable local, if it is in a function.
func (s *scope) declare(name string) {
	if s.function.name != "" {
		s.own[name] = true
		delete(s.alias, name)
		s.env[name] = value{}
	}
}

// widen adds to what is known of something, and notes whether that is news.
func (f *finder) widen(known map[string]value, name string, v value) {
	old := known[name]
	joined := old.or(v)
	if joined.tainted != old.tainted || joined.shape != old.shape || joined.quoted != old.quoted || joined.below != old.below || len(joined.document) != len(old.document) {
		known[name] = joined
		f.changed = true
	}
}

// variable is what a variable holds.
func (s *scope) variable(name string) value {
	if v, ok := s.env[name]; ok {
		v.exact = name
		return v
	}
	v, isArgument := s.argument(name)
	if !isArgument {
		v = s.finder.seen(s.function, name, map[*function]bool{})
	}
	v.exact = name
	return v
}

// argument is what a variable holds that a call sets. The tools are those that
// reach the function; all of them where none is known to.
func (s *scope) argument(name string) (v value, ok bool) {
	if s.function.name == "" && len(s.function.asTool) == 0 {
		return value{}, false
	}
	for _, tool := range s.tools() {
		argument, found := strings.CutPrefix(name, tool.Prefix)
		if !found || argument == "" {
			continue
		}
		ok = true
		v = v.or(tool.argument(argument, "$"+name))
	}
	return v, ok
}

func (s *scope) tools() (tools []*Tool) {
	for i := range s.finder.tools {
		if tool := &s.finder.tools[i]; s.function.reached[tool] || len(s.function.reached) == 0 {
			tools = append(tools, tool)
		}
	}
	return tools
}

func (t *Tool) argument(name, origin string) value {
	shape, ok := t.Arguments[name]
	if !ok && !t.Open {
		return value{}
	}
	if !ok {
		shape = Anything
	}
	return tainted(shape, origin)
}

// mostCallers is how many functions are looked into for a variable.
const mostCallers = 100

// seen is what a function finds in a variable that it has not set itself: the
// script's, or that of a function which calls it.
func (f *finder) seen(fn *function, name string, visited map[*function]bool) value {
	v := f.globals[name]
	if visited[fn] || len(visited) > mostCallers {
		return v
	}
	visited[fn] = true
	for _, caller := range fn.callers {
		if local, ok := caller.locals[name]; ok {
			v = v.or(local)
		} else {
			v = v.or(f.seen(caller, name, visited))
		}
	}
	return v
}

// parameter is what a positional parameter holds, from 1.
func (s *scope) parameter(n int) (v value) {
	n += s.shifted
	if limit, ok := s.function.limits[n]; ok {
		defer func() { v = v.limited(limit) }()
	}
	if limit, ok := s.function.limits[0]; ok {
		defer func() { v = v.limited(limit) }()
	}
	if n <= len(s.function.params) {
		v = s.function.params[n-1]
	} else {
		v = s.function.rest
	}
	for _, tool := range s.function.asTool {
		v = v.or(tool.parameter(n))
	}
	v.exact = strconv.Itoa(n - s.shifted)
	return v
}

func (t *Tool) parameter(n int) value {
	switch {
	case n == t.Document:
		v := tainted(Document, "$"+strconv.Itoa(n))
		v.document = []*Tool{t}
		return v
	case t.Positional != nil:
		return tainted(*t.Positional, "$"+strconv.Itoa(n))
	}
	return value{}
}

// parameters are all of them together.
func (s *scope) parameters() (v value) {
	v = s.function.rest
	for n := 1; n <= max(len(s.function.params)-s.shifted, 2); n++ {
		v = v.or(s.parameter(n))
	}
	if limit, ok := s.function.limits[0]; ok {
		v = v.limited(limit)
	}
	v.exact = "@"
	return v
}

// called notes what a function is called with.
func (f *finder) called(fn *function, by *scope, args []text) {
	if !slices.Contains(fn.callers, by.function) {
		fn.callers = append(fn.callers, by.function)
		f.changed = true
	}
	if by.function.name != "" || len(by.function.asTool) > 0 {
		for tool := range by.function.reached {
			if !fn.reached[tool] {
				fn.reached[tool] = true
				f.changed = true
			}
		}
	}
	for i, arg := range args {
		if arg.many {
			// How many there are is not known, nor which is which.
			f.given(&fn.rest, arg.value)
			for n := i; n < len(fn.params); n++ {
				f.given(&fn.params[n], arg.value)
			}
			return
		}
		for len(fn.params) <= i {
			fn.params = append(fn.params, fn.rest)
		}
		f.given(&fn.params[i], arg.value)
	}
}

func (f *finder) given(known *value, v value) {
	v.exact = ""
	m := map[string]value{"": *known}
	f.widen(m, "", v)
	*known = m[""]
}

// limit notes that a variable has been tested for a shape.
func (s *scope) limit(name string, to Shape) {
	if n, err := strconv.Atoi(name); err == nil {
		s.limitParameter(n+s.shifted, to)
		return
	}
	if n, ok := s.alias[name]; ok {
		s.limitParameter(n, to)
	}
	v := s.variable(name)
	if v.tainted {
		s.env[name] = v.limited(to)
	}
}

func (s *scope) limitParameter(n int, to Shape) {
	old, ok := s.function.limits[n]
	if ok {
		to = old.and(to)
	}
	if !ok || to != old {
		s.function.limits[n] = to
		s.finder.changed = true
	}
}
