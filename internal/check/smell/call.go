package smell

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call walks a simple command, and returns what of a caller's it prints.
func (s *scope) call(c *syntax.CallExpr, st *syntax.Stmt, stdin value) value {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			s.assignment(a)
		}
		return value{}
	}
	for _, a := range c.Assigns {
		// They are for the command alone.
		s.inner().assignment(a)
	}
	argv := make([]text, len(c.Args))
	for i, w := range c.Args {
		argv[i] = s.word(w)
		s.split(argv[i])
	}
	for {
		argv = s.ofConch(argv)
		name := argv[0]
		if !name.static {
			s.chosenCommand(name)
			return value{}
		}
		inner, ok := behind(argv)
		if !ok {
			return s.run(name.prefix, argv, st, stdin)
		}
		outer := argv[:len(argv)-len(inner)]
		s.options(name.prefix, outer)
		s.xargs(outer, st, stdin)
		argv = inner
	}
}

// ofConch has what the binary does stand for itself: "$CONCH_BIN" jq is jq.
func (s *scope) ofConch(argv []text) []text {
	if len(argv) < 2 || argv[0].prefix != "conch" && !strings.Contains(s.source(argv[0].node), "CONCH_BIN") {
		return argv
	}
	switch {
	case argv[1].prefix == "jq":
		return argv[1:]
	case argv[1].prefix == "tool" && len(argv) > 2 && argv[2].static:
		name := "mcp_" + strings.ReplaceAll(argv[2].prefix, "-", "_")
		if builtins[name] != nil {
			return append([]text{{static: true, prefix: name, node: argv[2].node}}, argv[3:]...)
		}
	}
	return argv
}

// chosenCommand tells of a command whose name the caller chooses.
func (s *scope) chosenCommand(t text) {
	if first := s.firstOf(t); t.prefix == "" && first.tainted && (first.shape.Code || first.shape.Splits) {
		s.tell(CommandName, Grave, t.node, first.whose(s.source(t.node))+" is run as a command: the caller chooses which",
			`give the argument an "enum" in its schema, or have a case choose among the commands you mean`)
	}
}

// run walks a command that is known by name.
func (s *scope) run(name string, argv []text, st *syntax.Stmt, stdin value) value {
	if fn := s.finder.functions[name]; fn != nil {
		return s.callFunction(fn, argv[1:])
	}
	if known, ok := builtins[name]; ok {
		return known(s, argv, stdin)
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	s.nestedShell(argv)
	s.programs(base, argv, st, stdin)
	s.options(base, argv)
	if base == "grep" || base == "egrep" {
		s.searched(argv, stdin)
	}
	return s.passed(base, argv, stdin)
}

func (s *scope) callFunction(fn *function, args []text) value {
	s.finder.called(fn, s, args)
	for i, arg := range args {
		if arg.exact == "" || arg.exact == "@" || !arg.tainted {
			continue
		}
		for _, n := range []int{0, i + 1} {
			if limit, ok := fn.limits[n]; ok {
				s.limit(arg.exact, limit)
			}
		}
	}
	printed := fn.prints
	printed.exact = ""
	return printed
}

// print notes what a function prints, where that is the text alone: what stands in
// sentences is for people.
func (s *scope) print(v value) value {
	if v.tainted && !v.mixed && s.function.name != "" {
		clean := v
		clean.exact = ""
		m := map[string]value{"": s.function.prints}
		s.finder.widen(m, "", clean)
		s.function.prints = m[""]
	}
	return v
}

// wrappers run the command behind their own words. The number is how many words
// they have that are no options.
var wrappers = map[string]struct {
	words  int
	values string // the options that take a value, by their letters
}{
	"command": {0, ""}, "builtin": {0, ""}, "exec": {0, "a"}, "nohup": {0, ""}, "setsid": {0, ""}, "time": {0, "fo"},
	"sudo": {0, "CDghpRrTtu"}, "doas": {0, "Cu"}, "nice": {0, "n"}, "ionice": {0, "cnpPu"}, "stdbuf": {0, "ioe"},
	"timeout": {1, "ks"}, "xargs": {0, "adEIiLlnPs"}, "flock": {1, "Ewc"}, "chroot": {1, ""}, "unbuffer": {0, ""},
	"env": {0, "uCS"}, "mcp_with_retry": {2, ""}, "mcp_run_with_progress": {0, ""}, "unshare": {0, ""}, "chronic": {0, ""},
}

// assigned is a word of env that is a variable for the command.
var assigned = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// behind is the command that a wrapper runs.
func behind(argv []text) (inner []text, ok bool) {
	name := argv[0].prefix
	w, ok := wrappers[name[strings.LastIndexByte(name, '/')+1:]]
	if !ok {
		return nil, false
	}
	if name == "mcp_run_with_progress" {
		at := slices.IndexFunc(argv, func(t text) bool { return t.static && t.prefix == "--" })
		return argv[max(at, 0)+1:], at > 0 && at+1 < len(argv)
	}
	words := w.words
	for i := 1; i < len(argv); i++ {
		t := argv[i]
		switch {
		case t.static && t.prefix == "--":
		case strings.HasPrefix(t.prefix, "-") && len(t.prefix) > 1:
			if len(t.prefix) == 2 && strings.Contains(w.values, t.prefix[1:]) {
				i++
			}
			if name == "command" && (t.prefix == "-v" || t.prefix == "-V") {
				return nil, false
			}
		case name == "env" && assigned.MatchString(t.prefix):
		case words > 0:
			words--
		default:
			return argv[i:], true
		}
	}
	return nil, false
}

// xargs tells of words that xargs cuts out of what it reads.
func (s *scope) xargs(outer []text, st *syntax.Stmt, stdin value) {
	if outer[0].prefix != "xargs" || !stdin.tainted || !stdin.shape.Splits {
		return
	}
	for _, t := range outer[1:] {
		if strings.HasPrefix(t.prefix, "-0") || strings.HasPrefix(t.prefix, "--null") || strings.HasPrefix(t.prefix, "-d") || strings.HasPrefix(t.prefix, "--delimiter") {
			return
		}
	}
	s.tell(Unquoted, Likely, st, "xargs cuts what "+stdin.origin+" holds at blanks and quotes", "printf '%s\\0' \""+stdin.origin+"\" | xargs -0 …")
}
