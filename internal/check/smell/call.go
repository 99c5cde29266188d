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
	var argv []text
	for _, w := range c.Args {
		argv = append(argv, s.words(w)...)
	}
	for _, t := range argv {
		s.split(t)
	}
	return s.execute(argv, st, stdin)
}

// execute walks the words of a command.
func (s *scope) execute(argv []text, st *syntax.Stmt, stdin value) value {
	for {
		if len(argv) == 0 {
			return value{}
		}
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
	first := s.firstOf(t)
	begins := t.prefix == "" && first.tainted && hasCode(first)
	// Below a folder it may still have .. in it.
	below := t.tainted && t.shape.Code && !begins && t.below
	switch {
	case begins:
		s.tell(CommandName, Grave, t.node, first.whose(s.source(t.node))+" is run as a command: the caller chooses which",
			s.demand(aChoice, t.value)+`, or have a case choose among the commands you mean`)
	case below:
		s.tell(CommandName, Grave, t.node, "the file that "+t.whose(s.culprit(t))+" names is run as a command, and .. in it leads to others",
			s.demand(aChoice, t.value)+`, or have a case choose among the commands you mean`)
	}
}

// run walks a command that is known by name.
func (s *scope) run(name string, argv []text, st *syntax.Stmt, stdin value) value {
	if fn := s.finder.functions[name]; fn != nil {
		return s.callFunction(fn, argv[1:])
	}
	if name == "cd" || name == "pushd" {
		s.paths(name, argv)
	}
	if known, ok := builtins[name]; ok {
		return known(s, argv, stdin)
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	s.nestedShell(argv)
	s.interpreted(base, argv)
	s.programs(base, argv, st, stdin)
	s.options(base, argv)
	s.paths(base, argv)
	for _, inner := range executed(base, argv) {
		s.execute(inner, st, value{})
	}
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

// A wrapper runs the command behind its own words.
type wrapper struct {
	words  int      // how many it has that are no options
	values string   // the options that take a value, by their letters
	long   []string // and with two dashes
}

var wrappers = map[string]wrapper{
	"command": {}, "builtin": {}, "exec": {values: "a"}, "nohup": {}, "setsid": {}, "time": {values: "fo", long: []string{"--format", "--output"}},
	"sudo": {values: "CDghpRrTtu", long: []string{"--user", "--group", "--chdir", "--host", "--prompt", "--chroot", "--role", "--type", "--close-from", "--command-timeout"}},
	"doas": {values: "Cu"}, "runuser": {values: "uggG", long: []string{"--user", "--group"}}, "setpriv": {long: []string{"--reuid", "--regid", "--groups"}},
	"nice": {values: "n", long: []string{"--adjustment"}}, "ionice": {values: "cnpPu", long: []string{"--class", "--classdata"}}, "stdbuf": {values: "ioe", long: []string{"--input", "--output", "--error"}},
	"taskset": {words: 1}, "chrt": {words: 1}, "timeout": {words: 1, values: "ks", long: []string{"--kill-after", "--signal"}},
	"xargs": {values: "adEIiLlnPs", long: []string{"--arg-file", "--delimiter", "--max-lines", "--max-args", "--max-procs", "--max-chars"}}, "flock": {words: 1, values: "Ewc", long: []string{"--timeout", "--conflict-exit-code"}},
	"chroot": {words: 1}, "unbuffer": {}, "env": {values: "uCS", long: []string{"--unset", "--chdir", "--split-string"}}, "mcp_with_retry": {words: 2}, "mcp_run_with_progress": {},
	"unshare": {values: "SG"}, "nsenter": {values: "tSG", long: []string{"--target"}}, "chronic": {}, "strace": {values: "abeEIoOpPsSuX"}, "ltrace": {values: "aADeFlnopsuwx"}, "valgrind": {}, "caffeinate": {values: "tw"},
	"firejail": {}, "systemd-run": {values: "puEHM", long: []string{"--property", "--unit", "--slice", "--setenv", "--uid", "--gid", "--description"}}, "dbus-run-session": {}, "xvfb-run": {values: "efnpsw"}, "proxychains": {values: "f"}, "proxychains4": {values: "f"}, "torsocks": {},
}

// executed are the commands among the words of find and fd.
func executed(name string, argv []text) (commands [][]text) {
	var begins []string
	switch name {
	case "find":
		begins = []string{"-exec", "-execdir", "-ok", "-okdir"}
	case "fd", "fdfind":
		begins = []string{"-x", "-X", "--exec", "--exec-batch"}
	default:
		return nil
	}
	for i := 1; i < len(argv); i++ {
		if !argv[i].static || !slices.Contains(begins, argv[i].prefix) {
			continue
		}
		behind := argv[i+1:]
		if end := slices.IndexFunc(behind, func(t text) bool { return t.static && (t.prefix == ";" || t.prefix == "+") }); end >= 0 {
			behind = behind[:end]
		}
		commands = append(commands, behind)
		i += len(behind)
	}
	return commands
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
			if t.static && (takesNext(t.prefix, w.values) || slices.Contains(w.long, t.prefix)) {
				i++
			}
			if name == "command" && (t.prefix == "-v" || t.prefix == "-V") {
				return nil, false
			}
		case (name == "env" || name == "sudo") && assigned.MatchString(t.prefix):
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
