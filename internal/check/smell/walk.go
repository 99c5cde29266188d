package smell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// statements walks statements, and returns what of a caller's they print.
func (s *scope) statements(list []*syntax.Stmt, stdin value) (printed value) {
	for _, st := range list {
		printed = printed.or(s.statement(st, stdin))
	}
	return printed
}

// statement walks one statement. stdin is what it reads, as far as that is known.
func (s *scope) statement(st *syntax.Stmt, stdin value) value {
	elsewhere := false
	for _, r := range st.Redirs {
		if in, ok := s.redirect(r); ok {
			stdin = in
		}
		elsewhere = elsewhere || isOutput(r)
	}
	printed := s.command(st, stdin)
	if elsewhere {
		return value{}
	}
	return printed
}

// redirect walks a redirection. in is what it gives a command to read.
func (s *scope) redirect(r *syntax.Redirect) (in value, ok bool) {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return s.word(r.Hdoc).value, true
	case syntax.WordHdoc:
		return s.word(r.Word).value, true
	}
	t := s.word(r.Word)
	if r.Op != syntax.DplIn && r.Op != syntax.DplOut {
		if t.prefix == "" && t.first.tainted && t.first.shape.Free && t.first.exact != "" {
			s.path(t, t.first.whose(s.source(r.Word))+" chooses any file that this server may open, and nothing limits it")
		}
		s.belowFolder(t)
	}
	if p, ok := onlyPart(r.Word).(*syntax.ProcSubst); ok && r.Op == syntax.RdrIn {
		return s.inner().statements(p.Stmts, value{}), true
	}
	return value{}, r.Op == syntax.RdrIn
}

// onlyPart is the part that a word consists of, nil for several.
func onlyPart(w *syntax.Word) syntax.WordPart {
	if w == nil || len(w.Parts) != 1 {
		return nil
	}
	return w.Parts[0]
}

// isOutput reports whether standard output goes elsewhere.
func isOutput(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		return r.N == nil || r.N.Value == "1"
	case syntax.DplOut:
		return (r.N == nil || r.N.Value == "1") && r.Word.Lit() == "2"
	}
	return false
}

func (s *scope) command(st *syntax.Stmt, stdin value) value {
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		return s.call(c, st, stdin)
	case *syntax.Block:
		return s.statements(c.Stmts, stdin)
	case *syntax.Subshell:
		return s.inner().statements(c.Stmts, stdin)
	case *syntax.BinaryCmd:
		return s.binary(c, stdin)
	case *syntax.IfClause:
		return s.ifClause(c, stdin)
	case *syntax.WhileClause:
		return s.branch(func() value {
			printed := s.statements(c.Cond, stdin)
			return printed.or(s.statements(c.Do, stdin))
		})
	case *syntax.ForClause:
		return s.loop(c, stdin)
	case *syntax.CaseClause:
		return s.caseClause(c, stdin)
	case *syntax.ArithmCmd:
		s.arithmetic(c.X)
	case *syntax.LetClause:
		for _, x := range c.Exprs {
			s.letter(x)
		}
	case *syntax.TestClause:
		s.test(c.X)
	case *syntax.DeclClause:
		s.declaration(c)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			return s.statement(c.Stmt, stdin)
		}
	case *syntax.CoprocClause:
		return s.inner().statement(c.Stmt, stdin)
	}
	return value{}
}

func (s *scope) binary(c *syntax.BinaryCmd, stdin value) value {
	switch c.Op {
	case syntax.Pipe, syntax.PipeAll:
		// Each side has a shell of its own. What the right one tests holds here too.
		left := s.inner().statement(c.X, stdin)
		right := s.inner()
		printed := right.statement(c.Y, left)
		if left.exact != "" {
			if v, ok := right.env[left.exact]; ok && v.tainted {
				s.limit(left.exact, v.shape)
			}
		}
		return printed
	}
	printed := s.statement(c.X, stdin)
	return printed.or(s.branch(func() value { return s.statement(c.Y, stdin) }))
}

func (s *scope) ifClause(c *syntax.IfClause, stdin value) value {
	printed := s.statements(c.Cond, stdin)
	printed = printed.or(s.branch(func() value { return s.statements(c.Then, stdin) }))
	if c.Else != nil {
		printed = printed.or(s.branch(func() value { return s.ifClause(c.Else, stdin) }))
	}
	return printed
}

func (s *scope) loop(c *syntax.ForClause, stdin value) value {
	switch loop := c.Loop.(type) {
	case *syntax.WordIter:
		var items value
		for _, w := range loop.Items {
			t := s.word(w)
			s.split(t)
			items = items.or(t.value)
			if t.exact == "@" {
				s.alias[loop.Name.Value] = 0
			}
		}
		if !loop.InPos.IsValid() {
			items = s.parameters()
			s.alias[loop.Name.Value] = 0
		}
		items.document = nil
		s.assign(loop.Name.Value, items)
	case *syntax.CStyleLoop:
		for _, x := range []syntax.ArithmExpr{loop.Init, loop.Cond, loop.Post} {
			if x != nil {
				s.arithmetic(x)
			}
		}
	}
	return s.branch(func() value { return s.statements(c.Do, stdin) })
}

func (s *scope) caseClause(c *syntax.CaseClause, stdin value) (printed value) {
	t := s.word(c.Word)
	s.matchedCase(t, c)
	for _, item := range c.Items {
		for _, pattern := range item.Patterns {
			s.word(pattern)
		}
		printed = printed.or(s.branch(func() value {
			return s.inCase(t, item, func() value { return s.statements(item.Stmts, stdin) })
		}))
	}
	return printed
}

// split tells of expansions without quotes.
func (s *scope) split(t text) {
	for _, b := range t.bare {
		if !b.shape.Splits || b.value.quoted {
			continue
		}
		source := s.source(b.node)
		safer := source
		if name, isName := strings.CutPrefix(source, "$"); isName && b.shape.Many && source == b.value.origin {
			safer = "${" + name + "[@]}"
		}
		s.tell(Unquoted, Likely, b.node, b.whose(source)+" is not quoted: Bash cuts it at blanks, and replaces * and ? by names of files", "quote it: \""+safer+"\"")
	}
}

// assignment walks one assignment.
func (s *scope) assignment(a *syntax.Assign) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	s.subscript(name, a.Index)
	var v value
	switch {
	case a.Array != nil:
		v = s.array(name, a.Array, a.Append)
	case a.Value != nil:
		t := s.word(a.Value)
		v = t.value
		if t.prefix != "" {
			v.shape.Dash = isDash(t.prefix) && v.tainted
			v.shape.Free = false
			v.below = v.below && t.prefix != "./"
		}
		if !t.static && len(a.Value.Parts) > 0 && !t.first.tainted && t.prefix == "" {
			// It begins with something of the script's own.
			v.shape.Dash, v.shape.Free = false, false
		}
		s.setAlias(name, t)
	}
	if s.finder.integer[name] {
		if a.Value != nil {
			s.evaluated(a.Value, v)
		}
		v = value{}
	}
	if a.Append || a.Index != nil {
		v = v.or(s.variable(name))
	}
	s.assign(name, v)
}

// setAlias remembers which parameter a variable is a copy of.
func (s *scope) setAlias(name string, t text) {
	delete(s.alias, name)
	if n := len(t.exact); n == 1 && t.exact >= "1" && t.exact <= "9" {
		s.alias[name] = int(t.exact[0]-'0') + s.shifted
	}
}

// array walks the elements of an array.
func (s *scope) array(name string, a *syntax.ArrayExpr, appended bool) (v value) {
	afterOption := false
	for i, element := range a.Elems {
		s.subscript(name, element.Index)
		if element.Value == nil {
			continue
		}
		for j, t := range s.words(element.Value) {
			s.split(t)
			if i+j == 0 && !appended {
				s.assign(name+"[0]", t.first)
			}
			// What stands behind an option is its value.
			if t.prefix != "" || !t.first.tainted || afterOption {
				t.shape.Dash = false
			}
			afterOption = t.static && strings.HasPrefix(t.prefix, "-")
			v = v.or(t.value)
		}
	}
	v.document = nil
	return v
}

// firstOf is what the first word of an expansion to several is, which is the
// command where it stands in a command's place.
func (s *scope) firstOf(t text) value {
	name, ok := strings.CutSuffix(strings.Trim(s.source(t.node), `"`), "[@]}")
	if name, found := strings.CutPrefix(name, "${"); ok && found {
		if v, ok := s.env[name+"[0]"]; ok {
			return v
		}
		if v, ok := s.finder.globals[name+"[0]"]; ok {
			return v
		}
	}
	return t.first
}

// declaration walks declare, local, export and their like.
func (s *scope) declaration(c *syntax.DeclClause) {
	local, integer, associative := c.Variant.Value == "local" || c.Variant.Value == "declare" || c.Variant.Value == "typeset", false, false
	shows := false // functions or values, and declares nothing
	for _, a := range c.Args {
		if a.Name == nil && a.Value != nil {
			t := s.word(a.Value)
			if strings.HasPrefix(t.prefix, "-") || strings.HasPrefix(t.prefix, "+") {
				options := t.prefix
				local = local && !strings.Contains(options, "g")
				integer = integer || strings.HasPrefix(options, "-") && strings.Contains(options, "i")
				associative = associative || strings.Contains(options, "A")
				shows = shows || strings.ContainsAny(options, "fFp")
				continue
			}
			if shows {
				continue
			}
			s.chosenName(a.Value, t, c.Variant.Value)
			continue
		}
		s.declared(a, local, integer, associative)
	}
}

func (s *scope) declared(a *syntax.Assign, local, integer, associative bool) {
	if a.Name == nil {
		return
	}
	name := a.Name.Value
	if associative {
		s.finder.associative[name] = true
	}
	if integer {
		s.finder.integer[name] = true
	}
	if !local {
		if !a.Naked {
			s.assignment(a)
		}
		return
	}
	// The value is evaluated before the name is local.
	before := s.variable(name)
	wasOwn := s.own[name]
	if a.Naked {
		if !wasOwn {
			s.declare(name)
		}
		return
	}
	if s.function.name != "" {
		s.own[name] = true
		if _, ok := s.env[name]; !ok {
			before.exact = ""
			s.env[name] = before
		}
	}
	outside := s.conditional
	s.conditional = 0
	s.assignment(a)
	s.conditional = outside
}

// chosenName tells of a variable whose name the caller chooses.
func (s *scope) chosenName(node syntax.Node, t text, command string) {
	if t.prefix != "" && !strings.HasSuffix(t.prefix, "[") && strings.Contains(t.prefix, "=") || !t.tainted || !t.shape.Code && t.prefix != "" {
		return
	}
	if !t.shape.Subscript && !t.shape.Code {
		return
	}
	s.tell(VariableName, Grave, node, command+" sets the variable that "+t.whose(s.source(node))+" names, PATH for one, and evaluates a subscript in the name",
		`keep such values in an associative array: declare -A values; values[$key]=$value`)
}
