package smell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// text is what a word stands for.
type text struct {
	value
	node   syntax.Node
	first  value // what it begins with
	begun  bool
	prefix string // what it begins with where that is written out
	static bool   // all of it is written out, in prefix
	many   bool   // it may be several words, or none
	bare   []bare // what in it is not quoted
	// whole is the expansion that the word is part of, as in ${x:+--option "$x"}.
	whole *syntax.Word
	slash bool // what has been read of it ends in a /
}

// bare is an expansion without quotes.
type bare struct {
	node syntax.Node
	value
}

// source is the script's own text of a node.
func (s *scope) source(node syntax.Node) string {
	from, to := int(node.Pos().Offset()), int(node.End().Offset())
	if text := s.function.file.Text; from <= to && to <= len(text) {
		return string(text[from:to])
	}
	return ""
}

// word evaluates a word, and walks what is in it.
func (s *scope) word(w *syntax.Word) text {
	if w == nil {
		return text{static: true}
	}
	t := text{node: w, static: true}
	for _, part := range w.Parts {
		s.part(&t, part, false)
	}
	if len(w.Parts) > 1 {
		t.exact = ""
		t.document = nil
	}
	if t.static {
		t.value = value{}
	}
	return t
}

// words evaluates a word that may be several: in ${x:+--option "$x"} without quotes
// it is what stands there, or nothing.
func (s *scope) words(w *syntax.Word) (list []text) {
	p, ok := onlyPart(w).(*syntax.ParamExp)
	if !ok || p.Exp == nil || p.Exp.Word == nil || p.Exp.Op != syntax.AlternateUnset && p.Exp.Op != syntax.AlternateUnsetOrNull {
		return []text{s.word(w)}
	}
	for _, one := range cut(p.Exp.Word) {
		t := s.word(one)
		t.whole = w
		list = append(list, t)
	}
	return list
}

// cut cuts a word at the blanks in it that are not quoted.
func cut(w *syntax.Word) (list []*syntax.Word) {
	one := &syntax.Word{}
	end := func() {
		if len(one.Parts) > 0 {
			list = append(list, one)
		}
		one = &syntax.Word{}
	}
	for _, part := range w.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok || !strings.ContainsAny(lit.Value, " \t\n") {
			one.Parts = append(one.Parts, part)
			continue
		}
		for i, field := range strings.FieldsFunc(lit.Value, isBlank) {
			if i > 0 || isBlank(rune(lit.Value[0])) {
				end()
			}
			one.Parts = append(one.Parts, &syntax.Lit{ValuePos: lit.ValuePos, ValueEnd: lit.ValueEnd, Value: field})
		}
		if isBlank(rune(lit.Value[len(lit.Value)-1])) {
			end()
		}
	}
	end()
	return list
}

func isBlank(c rune) bool { return c == ' ' || c == '\t' || c == '\n' }

// part adds a part of a word to its text.
func (s *scope) part(t *text, part syntax.WordPart, quoted bool) {
	switch p := part.(type) {
	case *syntax.Lit:
		t.literal(unescaped(p.Value, quoted))
	case *syntax.SglQuoted:
		t.literal(p.Value)
	case *syntax.DblQuoted:
		for _, inner := range p.Parts {
			s.part(t, inner, true)
		}
		if len(p.Parts) > 1 {
			t.exact, t.document = "", nil
		}
	case *syntax.ParamExp:
		t.expansion(p, s.param(p), quoted)
		t.many = t.many || isList(p)
	case *syntax.CmdSubst:
		v := s.inner().statements(p.Stmts, value{})
		v.exact = ""
		t.expansion(p, v, quoted)
	case *syntax.ArithmExp:
		s.arithmetic(p.X)
		t.expansion(p, value{}, quoted)
	case *syntax.ProcSubst:
		s.inner().statements(p.Stmts, value{})
		t.expansion(p, value{}, true)
	case *syntax.BraceExp:
		for _, element := range p.Elems {
			t.expansion(p, s.word(element).value, quoted)
		}
	default:
		t.static = false
	}
}

func (t *text) literal(text string) {
	if t.static {
		t.prefix += text
	}
	if text != "" {
		t.begun, t.mixed = true, true
		t.slash = strings.HasSuffix(text, "/")
	}
}

func (t *text) expansion(node syntax.Node, v value, quoted bool) {
	t.static = false
	if v.tainted && !quoted && !v.within {
		t.bare = append(t.bare, bare{node, v})
	}
	v.within = false
	if !t.begun {
		t.first, t.begun = v, true
	}
	mixed, first := t.mixed, !t.tainted
	t.value = t.value.or(v)
	t.mixed = mixed || v.mixed
	t.below = t.below || t.slash && v.tainted && v.shape.Free
	t.slash = false
	if !first {
		t.exact, t.document = "", nil
	}
}

// begins reports whether the word may begin with a dash that is not the author's.
func (t text) begins() bool {
	return t.prefix == "" && t.first.tainted && t.first.shape.Dash
}

// unescaped is a literal without its backslashes.
func unescaped(text string, quoted bool) string {
	if quoted || !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// isList reports whether an expansion gives each element a word of its own.
func isList(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Param.Value == "@" || isAll(p.Index)
}

func isAll(index syntax.ArithmExpr) bool {
	w, ok := index.(*syntax.Word)
	return ok && (w.Lit() == "@" || w.Lit() == "*")
}

// param is what a parameter expands to.
func (s *scope) param(p *syntax.ParamExp) value {
	if p.Param == nil {
		return value{}
	}
	name := p.Param.Value
	s.subscript(name, p.Index)
	if index, ok := p.Index.(*syntax.Word); ok && index.Lit() == "0" && !p.Excl {
		if v, ok := s.env[name+"[0]"]; ok && !p.Length {
			return v
		}
	}
	if p.Excl {
		return s.indirect(p)
	}
	if p.Length || p.Width || p.IsSet {
		return value{}
	}
	v := s.named(name)
	if p.Slice != nil {
		s.arithmetic(p.Slice.Offset)
		s.arithmetic(p.Slice.Length)
		v.exact = ""
	}
	if p.Repl != nil {
		v = s.replaced(v, p.Repl)
	}
	if p.Exp != nil {
		v = s.expanded(p, v)
	}
	return v
}

// named is what a parameter of any kind holds.
func (s *scope) named(name string) value {
	switch name {
	case "@", "*":
		return s.parameters()
	case "#", "?", "$", "!", "-", "0", "_":
		return value{}
	}
	if n, err := strconv.Atoi(name); err == nil && n > 0 {
		return s.parameter(n)
	}
	return s.variable(name)
}

// indirect expands a variable whose name another one holds. Such a name may have
// a subscript, which is evaluated.
func (s *scope) indirect(p *syntax.ParamExp) value {
	if p.Names != 0 || isAll(p.Index) {
		return value{}
	}
	if v := s.named(p.Param.Value); v.tainted && v.shape.Subscript {
		s.tell(VariableName, Grave, p, "Bash evaluates the name of a variable that "+v.whose(s.source(p))+" gives: in x[$(command)] it runs the command",
			`have a case choose the variable, or look it up in an associative array: "${values[$key]}"`)
	}
	return value{}
}

// replaced is a text in which something has been replaced. Where all characters
// but some have been removed, those are what it may hold.
func (s *scope) replaced(v value, r *syntax.Replace) value {
	s.word(r.Orig)
	with := s.word(r.With)
	if set, ok := complement(r.Orig); ok && r.All && with.static && with.prefix == "" {
		return v.limited(shapeOfSet(set)).of(v.shape.and(shapeOfSet(set)))
	}
	v.exact, v.document = "", nil
	if r.Orig == nil {
		return v
	}
	if orig := s.source(r.Orig); r.All && (strings.Contains(orig, "/") || strings.Contains(orig, "..")) {
		v.shape.Free, v.below = false, false
	}
	return v.or(with.value)
}

// complement is the set of a pattern [!set] or [^set].
func complement(w *syntax.Word) (set string, ok bool) {
	if w == nil {
		return "", false
	}
	pattern := w.Lit()
	for _, not := range []string{"[!", "[^"} {
		if rest, found := strings.CutPrefix(pattern, not); found && strings.HasSuffix(rest, "]") && len(rest) > 1 {
			return rest[:len(rest)-1], true
		}
	}
	return "", false
}

func (s *scope) expanded(p *syntax.ParamExp, v value) value {
	word := s.word(p.Exp.Word)
	exact := v.exact
	v.exact = ""
	if word.prefix != "" || !word.first.tainted {
		// An option that is written out is the author's own.
		word.shape.Dash = isDash(word.prefix)
	}
	word.below = word.below && word.prefix != "./"
	switch p.Exp.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		word.within = len(word.bare) == 0
		return word.value
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		document := v.document
		v = v.or(word.value)
		v.exact = exact
		if word.static {
			v.document = document
		}
		return v
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		v.exact = exact
		return v
	case syntax.OtherParamOps:
		return s.transformed(p, v)
	case syntax.RemLargePrefix:
		if word.prefix == "*/" {
			v.shape.Free, v.below = false, false
		}
	}
	v.document = nil
	return v
}

// isDash reports whether what follows a text is the name of an option.
func isDash(prefix string) bool { return prefix == "-" || prefix == "--" }

// transformed is what an operator behind an @ makes of a text.
func (s *scope) transformed(p *syntax.ParamExp, v value) value {
	switch p.Exp.Word.Lit() {
	case "Q", "K", "A":
		v.quoted = true
	case "P":
		if v.tainted && v.shape.Code && !v.quoted {
			s.tell(Eval, Grave, p, "${…@P} runs the commands that "+v.whose(s.source(p))+" holds in $( ), as a prompt does", "leave the @P out")
		}
	case "a":
		return value{}
	}
	return v
}

// whose is how messages call a text: by the expression, and by the argument that
// it comes from.
func (v value) whose(expression string) string {
	if expression == "" || len(expression) > 60 || "$"+expression == v.origin {
		return v.origin
	}
	if strings.Contains(strings.NewReplacer("{", "", "}", "").Replace(expression), v.origin) {
		return expression
	}
	return expression + " (from " + v.origin + ")"
}
