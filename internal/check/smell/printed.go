package smell

import (
	"regexp"
	"strings"
)

// member is a jq filter for one of the arguments, whatever is given in its place
// where it is not there.
var member = regexp.MustCompile(`^\s*\.(?:([A-Za-z_][A-Za-z0-9_]*)|\["([^"\\]+)"\]|"([^"\\]+)")(\[\])?\s*(?://\s*(?:empty|null|"[A-Za-z0-9_./ ]*"|'[^']*'|-?[0-9.]+|true|false))?\s*$`)

// number is a jq filter whose results are numbers, or single words.
var number = regexp.MustCompile(`\|\s*(?:tonumber|length|floor|ceil|round|type|not)\s*$`)

// extracted is what a filter makes of the arguments of tools.
func extracted(filter string, document value, tools []*Tool) value {
	if number.MatchString(filter) {
		return value{}
	}
	m := member.FindStringSubmatch(filter)
	if m == nil {
		return tainted(Anything, document.origin)
	}
	name := m[1] + m[2] + m[3]
	var v value
	for _, tool := range tools {
		argument := tool.argument(name, document.origin)
		argument.origin = document.origin + ", ." + name
		v = v.or(argument)
	}
	return v
}

func (s *scope) argumentsRaw([]text, value) value {
	v := tainted(Document, "$(mcp_args_raw)")
	v.document = s.tools()
	return v
}

func (s *scope) argumentGet(argv []text, _ value) value {
	filter := "."
	if len(argv) > 1 {
		filter = argv[1].prefix
	}
	return extracted(filter, value{origin: "mcp_args_get"}, s.tools())
}

func (s *scope) argumentNamed(argv []text, _ value) value {
	if len(argv) < 2 || !argv[1].static {
		return tainted(Anything, "mcp_args_require")
	}
	name := argv[1].prefix
	if !strings.HasPrefix(name, ".") {
		name = `."` + name + `"`
	}
	return extracted(name, value{origin: "mcp_args_require"}, s.tools())
}

// requirePath prints a path from the root, below the roots.
func (s *scope) requirePath([]text, value) value {
	return tainted(Shape{Splits: true, Subscript: true, Code: true}, "mcp_require_path")
}

// passers print what they read or are given, or parts of it.
var passers = map[string]bool{
	"cat": true, "tr": true, "sed": true, "awk": true, "gawk": true, "cut": true, "head": true, "tail": true, "sort": true, "uniq": true,
	"basename": true, "dirname": true, "realpath": true, "readlink": true, "jq": true, "tee": true, "rev": true, "xargs": true, "fold": true,
}

// passed is what of a caller's a command prints.
func (s *scope) passed(name string, argv []text, stdin value) value {
	if !passers[name] {
		return value{}
	}
	in := stdin
	switch name {
	case "jq":
		if filter := jqFilter(argv); len(in.document) > 0 {
			return extracted(filter, in, in.document)
		}
	case "basename", "dirname", "realpath", "readlink":
		in = all(argv[1:])
		in.shape.Free = false
		if name == "realpath" {
			in.shape.Dash = false
		}
	case "tr":
		if set, ok := kept(argv); ok {
			return in.of(in.shape.and(shapeOfSet(set)))
		}
	}
	in.exact, in.below = "", false
	if name != "cat" && name != "tee" {
		in.document = nil
	}
	return in
}

// kept is the set of the characters that tr -cd leaves.
func kept(argv []text) (set string, ok bool) {
	if len(argv) != 3 || !argv[2].static {
		return "", false
	}
	switch argv[1].prefix {
	case "-cd", "-dc":
		set := strings.NewReplacer("[:digit:]", "0-9", "[:alnum:]", "A-Za-z0-9", "[:alpha:]", "A-Za-z", "[:lower:]", "a-z", "[:upper:]", "A-Z").Replace(argv[2].prefix)
		return set, !strings.Contains(set, "[:")
	}
	return "", false
}

// jqFilter is the filter among jq's arguments.
func jqFilter(argv []text) string {
	for i := 1; i < len(argv); i++ {
		switch t := argv[i]; {
		case t.prefix == "--arg" || t.prefix == "--argjson" || t.prefix == "--slurpfile" || t.prefix == "--rawfile":
			i += 2
		case t.prefix == "--indent" || t.prefix == "-L":
			i++
		case strings.HasPrefix(t.prefix, "-"):
		case t.static:
			return t.prefix
		default:
			return "."
		}
	}
	return "."
}
