package smell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	evaluates = "arithmetic evaluates what %s holds, and runs the command in x[$(command)]"
	safeCount = `%s, or test it first: [[ %s =~ ^[0-9]+$ ]] || return`
)

// arithmetic walks an expression whose variables are evaluated.
func (s *scope) arithmetic(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		s.arithmetic(x.X)
		s.arithmetic(x.Y)
		s.assignedIn(x)
	case *syntax.UnaryArithm:
		s.arithmetic(x.X)
	case *syntax.ParenArithm:
		s.arithmetic(x.X)
	case *syntax.FlagsArithm:
		s.arithmetic(x.X)
	case *syntax.Word:
		s.operand(x)
	}
}

// letter walks an expression of let, which may stand in quotes.
func (s *scope) letter(x syntax.ArithmExpr) {
	w, ok := x.(*syntax.Word)
	if !ok || w.Lit() != "" {
		s.arithmetic(x)
		return
	}
	t := s.word(w)
	if !t.static {
		s.evaluated(w, t.value)
		return
	}
	inner, err := syntax.NewParser().Arithmetic(strings.NewReader(t.prefix))
	if err != nil || inner == nil {
		return
	}
	syntax.Walk(inner, func(node syntax.Node) bool {
		if word, ok := node.(*syntax.Word); ok && syntax.ValidName(word.Lit()) {
			s.evaluated(w, s.variable(word.Lit()))
		}
		return true
	})
}

// assignedIn notes that arithmetic has given a variable a number.
func (s *scope) assignedIn(x *syntax.BinaryArithm) {
	switch x.Op {
	case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
		syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
		if w, ok := x.X.(*syntax.Word); ok && syntax.ValidName(w.Lit()) {
			s.assign(w.Lit(), value{})
		}
	}
}

// operand is a variable, with or without its dollar sign, or a word.
func (s *scope) operand(w *syntax.Word) {
	if name := w.Lit(); name != "" {
		if syntax.ValidName(name) {
			s.evaluated(w, s.variable(name))
		}
		return
	}
	t := s.word(w)
	s.evaluated(w, t.value)
}

// evaluated tells of a text that arithmetic evaluates.
func (s *scope) evaluated(node syntax.Node, v value) {
	if !v.tainted || !v.shape.Subscript {
		return
	}
	name := s.source(node)
	variable := v.exact
	if variable == "" {
		variable = name
	} else {
		variable = "$" + variable
	}
	s.tell(Arithmetic, Grave, node, fmt.Sprintf(evaluates, v.whose(name)), fmt.Sprintf(safeCount, s.demand(anInteger, v), variable))
}

// subscript walks the index of an array. That of an associative one is a text.
func (s *scope) subscript(name string, index syntax.ArithmExpr) {
	if index == nil || isAll(index) {
		return
	}
	if s.finder.associative[name] {
		if w, ok := index.(*syntax.Word); ok {
			s.word(w)
		}
		return
	}
	s.arithmetic(index)
}

// test walks an expression of [[ ]].
func (s *scope) test(x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.BinaryTest:
		s.compare(x)
	case *syntax.UnaryTest:
		s.unaryTest(x)
	case *syntax.ParenTest:
		s.test(x.X)
	case *syntax.Word:
		s.word(x)
	}
}

func (s *scope) unaryTest(x *syntax.UnaryTest) {
	w, ok := x.X.(*syntax.Word)
	if !ok {
		s.test(x.X)
		return
	}
	if t := s.word(w); x.Op == syntax.TsVarSet {
		s.isSet(t)
	}
}

// isSet tells of a text that -v takes for the name of a variable.
func (s *scope) isSet(t text) {
	if t.tainted && t.shape.Subscript {
		s.tell(VariableName, Grave, t.node, "-v evaluates the subscript of the name that "+t.whose(s.source(t.node))+" gives",
			`look it up: [[ -n ${values[$key]+set} ]], with values declared as an associative array`)
	}
}

func (s *scope) compare(x *syntax.BinaryTest) {
	left, isWord := x.X.(*syntax.Word)
	right, _ := x.Y.(*syntax.Word)
	if !isWord || right == nil {
		s.test(x.X)
		s.test(x.Y)
		return
	}
	switch x.Op {
	case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
		s.operand(left)
		s.operand(right)
	case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch:
		s.matched(s.word(left), right)
		s.word(right)
	case syntax.TsReMatch:
		s.matchedExpression(s.word(left), right)
		s.word(right)
	default:
		s.word(left)
		s.word(right)
	}
}
