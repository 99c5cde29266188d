package schema

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/conch-mcp/conch/internal/nowait"
)

// matchTimeout ends one catastrophic match.
const matchTimeout = 250 * time.Millisecond

// pattern is one ECMAScript regular expression. source is what the schema says
// and what messages show; the engine may have been given an equivalent spelling.
type pattern struct {
	source string
	engine *regexp2.Regexp
}

func (p *pattern) String() string { return p.source }

// MatchString exists for the library's interface. Verdicts use match, because a
// plain boolean cannot say that a match ran out of time.
func (p *pattern) MatchString(text string) bool {
	matched, err := p.match(text)
	return matched && err == nil
}

func (p *pattern) match(text string) (bool, error) {
	// It has its time from a clock that has to run meanwhile.
	nowait.Long()
	return p.engine.MatchString(text)
}

// patternCompiler compiles each distinct pattern of a schema once.
type patternCompiler struct {
	// toECMAScript rewrites a pattern that is in another dialect.
	toECMAScript func(source string) (string, error)
	known        map[string]*pattern
}

func newPatternCompiler(toECMAScript func(source string) (string, error)) *patternCompiler {
	return &patternCompiler{toECMAScript: toECMAScript, known: map[string]*pattern{}}
}

func (c *patternCompiler) compile(source string) (jsonschema.Regexp, error) {
	if known, ok := c.known[source]; ok {
		return known, nil
	}
	spelling, err := c.toECMAScript(source)
	if err != nil {
		return nil, err
	}
	engine, err := regexp2.Compile(spellForEngine(spelling), regexp2.ECMAScript|regexp2.Unicode)
	if err != nil {
		return nil, err
	}
	engine.MatchTimeout = matchTimeout
	compiled := &pattern{source: source, engine: engine}
	c.known[source] = compiled
	return compiled, nil
}

// fromECMAScript takes patterns for what JSON Schema says they are.
func fromECMAScript(source string) (string, error) { return source, nil }

// spellForEngine rewrites the few ECMAScript escapes the engine spells in another
// way: surrogate pairs and the long forms of Unicode properties.
func spellForEngine(source string) string {
	if !strings.Contains(source, `\p{`) && !strings.Contains(source, `\P{`) && !strings.Contains(source, `\u`) {
		return source
	}
	var out strings.Builder
	for len(source) > 0 {
		text, width := spellNext(source)
		out.WriteString(text)
		source = source[width:]
	}
	return out.String()
}

func spellNext(source string) (text string, width int) {
	if source[0] != '\\' || len(source) < 2 {
		return source[:1], 1
	}
	switch source[1] {
	case 'u':
		if pair, ok := surrogatePair(source); ok {
			return fmt.Sprintf(`\u{%X}`, pair), len(`\uD83D\uDE00`)
		}
	case 'p', 'P':
		if name, ok := propertyName(source); ok {
			return source[:2] + "{" + shortProperty(name) + "}", len(`\p{}`) + len(name)
		}
	}
	return source[:2], 2
}

func surrogatePair(source string) (rune, bool) {
	high, okHigh := hexEscape(source)
	if !okHigh || high < 0xD800 || high > 0xDBFF {
		return 0, false
	}
	low, okLow := hexEscape(source[len(`\uD83D`):])
	if !okLow || low < 0xDC00 || low > 0xDFFF {
		return 0, false
	}
	return (high-0xD800)<<10 + (low - 0xDC00) + 0x10000, true
}

func hexEscape(source string) (rune, bool) {
	const width = len(`\uD83D`)
	if len(source) < width || source[0] != '\\' || source[1] != 'u' {
		return 0, false
	}
	value, err := strconv.ParseUint(source[2:width], 16, 16)
	return rune(value), err == nil
}

func propertyName(source string) (string, bool) {
	if len(source) < 3 || source[2] != '{' {
		return "", false
	}
	name, _, closed := strings.Cut(source[3:], "}")
	return name, closed
}

// shortProperty returns the name the engine knows a property by, or the name
// unchanged, which the engine then accepts or refuses by itself.
func shortProperty(name string) string {
	for _, prefix := range []string{"Script=", "sc=", "Script_Extensions=", "scx=", "General_Category=", "gc="} {
		if rest, found := strings.CutPrefix(name, prefix); found {
			name = rest
			break
		}
	}
	switch name {
	case "Letter":
		return "L"
	case "Uppercase_Letter":
		return "Lu"
	case "Lowercase_Letter":
		return "Ll"
	case "Mark":
		return "M"
	case "Number":
		return "N"
	case "Decimal_Number", "digit":
		return "Nd"
	case "Punctuation", "punct":
		return "P"
	case "Symbol":
		return "S"
	case "Separator":
		return "Z"
	case "Space_Separator":
		return "Zs"
	default:
		return name
	}
}
