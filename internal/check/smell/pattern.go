package smell

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// shapeOfPattern is the shape of texts that a regular expression finds something
// in. What is not understood of it limits nothing.
func shapeOfPattern(pattern string) Shape {
	shape := Anything
	shape.Free = false
	rest, ahead := withoutLookahead(pattern)
	shape.Dash = !ahead.excludesDash
	re, err := syntax.Parse(spelled(rest), syntax.Perl)
	if err != nil {
		return shape
	}
	found := shapeOfExpression(re)
	found.Dash = found.Dash && shape.Dash
	return found
}

func shapeOfExpression(re *syntax.Regexp) Shape {
	shape := Anything
	shape.Free = false
	re = re.Simplify()
	shape.Dash = beginsWithDash(re)
	if !isWhole(re) {
		return shape
	}
	shape.Splits = allows(re, func(c rune) bool { return strings.ContainsRune(splitting, c) })
	shape.Subscript = allows(re, func(c rune) bool { return c == '[' })
	shape.Code = allows(re, func(c rune) bool { return !isPlain(c) })
	return shape
}

// lookahead is what a pattern demands in front of what it matches.
type lookahead struct{ excludesDash bool }

// negative is a lookahead at the beginning of a pattern, of one class or character
// at its own beginning, as in ^(?![-/]) and ^(?!-).
var negative = regexp.MustCompile(`^\^\(\?!(\[[^\]\\^]*\]|[^()\[\]|\\])([^()|]*)\)`)

// withoutLookahead takes those off that are understood. The others have the pattern
// be none that is.
func withoutLookahead(pattern string) (rest string, found lookahead) {
	for {
		m := negative.FindStringSubmatch(pattern)
		if m == nil {
			return pattern, found
		}
		class, _ := strings.CutPrefix(m[1], "[")
		if strings.Contains(class, "-") && dashIsItself(m[1]) && m[2] == "" {
			found.excludesDash = true
		}
		pattern = "^" + pattern[len(m[0]):]
	}
}

// dashIsItself reports whether the dash in a class is at its edge, where it is no
// range.
func dashIsItself(class string) bool {
	return class == "-" || strings.HasPrefix(class, "[-") || strings.HasSuffix(class, "-]")
}

// escaped is a character by its number, as ECMAScript writes it.
var escaped = regexp.MustCompile(`\\u([0-9A-Fa-f]{4})`)

// spelled is a pattern of ECMAScript as Go writes it.
func spelled(pattern string) string {
	return escaped.ReplaceAllString(strings.ReplaceAll(pattern, `\/`, "/"), `\x{$1}`)
}

// beginsWithDash reports whether a text that the expression matches may begin with
// a dash.
func beginsWithDash(re *syntax.Regexp) bool {
	dash, nullable, _ := begins(re, false)
	return dash || nullable && !isWhole(re)
}

// begins tells whether a text may begin with a dash by what the expression
// consumes first, and whether it may consume nothing at all; anchored says that
// the match begins where the text does, before and behind the expression.
func begins(re *syntax.Regexp, anchored bool) (dash, nullable, nowAnchored bool) {
	switch re.Op {
	case syntax.OpBeginText:
		return false, true, true
	case syntax.OpEmptyMatch, syntax.OpEndText, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return false, true, anchored
	case syntax.OpLiteral:
		return !anchored || re.Rune[0] == '-', false, anchored
	case syntax.OpCharClass:
		return !anchored || inClass(re.Rune, func(c rune) bool { return c == '-' }), false, anchored
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true, false, anchored
	case syntax.OpStar, syntax.OpQuest:
		dash, _, _ = begins(re.Sub[0], anchored)
		return dash, true, anchored
	case syntax.OpPlus, syntax.OpCapture:
		return begins(re.Sub[0], anchored)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			d, empty, now := begins(sub, anchored)
			dash, anchored = dash || d, now
			if !empty {
				return dash, false, anchored
			}
		}
		return dash || !anchored, true, anchored
	case syntax.OpAlternate:
		nowAnchored = true
		for _, sub := range re.Sub {
			d, empty, now := begins(sub, anchored)
			dash, nullable, nowAnchored = dash || d, nullable || empty, nowAnchored && now
		}
		return dash, nullable, nowAnchored
	}
	return true, true, anchored
}

// isWhole reports whether a match is the whole text.
func isWhole(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpCapture:
		return isWhole(re.Sub[0])
	case syntax.OpConcat:
		return len(re.Sub) > 1 && re.Sub[0].Op == syntax.OpBeginText && re.Sub[len(re.Sub)-1].Op == syntax.OpEndText
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !isWhole(sub) {
				return false
			}
		}
		return true
	}
	return false
}

// allows reports whether the expression can consume such a character.
func allows(re *syntax.Regexp, such func(rune) bool) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return strings.ContainsFunc(string(re.Rune), such)
	case syntax.OpCharClass:
		return inClass(re.Rune, such)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	}
	for _, sub := range re.Sub {
		if allows(sub, such) {
			return true
		}
	}
	return false
}

// inClass reports whether one of the characters is in a class, which is pairs of
// first and last. What is beyond ASCII is as good as one of them for all.
func inClass(ranges []rune, such func(rune) bool) bool {
	for i := 0; i+1 < len(ranges); i += 2 {
		for c := ranges[i]; c <= min(ranges[i+1], 0x80); c++ {
			if such(c) {
				return true
			}
		}
		if ranges[i+1] > 0x80 && such(max(ranges[i], 0x80)) {
			return true
		}
	}
	return false
}

// shapeOfSet is the shape of texts of the characters in a set, as it stands in the
// brackets of a pattern or behind tr -cd.
func shapeOfSet(set string) Shape {
	escapedSet := strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(set)
	re, err := syntax.Parse("^["+escapedSet+"]*$", syntax.Perl)
	if err != nil {
		re, err = syntax.Parse("^["+regexp.QuoteMeta(escapedSet)+"]*$", syntax.Perl)
	}
	if err != nil {
		return Anything
	}
	return shapeOfExpression(re)
}
