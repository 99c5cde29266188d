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

// builtins are the commands of Bash that do something with a text. They are filled
// in by init, since they lead back here.
var builtins map[string]func(s *scope, argv []text, stdin value) value

func init() {
	nothing := func(*scope, []text, value) value { return value{} }
	builtins = map[string]func(*scope, []text, value) value{
		"eval": (*scope).eval, "trap": (*scope).trap, "source": (*scope).sourceFile, ".": (*scope).sourceFile,
		"printf": (*scope).printf, "echo": (*scope).echo, "read": (*scope).read, "mapfile": (*scope).mapfile, "readarray": (*scope).mapfile,
		"unset": (*scope).unset, "shift": (*scope).shift, "set": (*scope).set, "[": nothing, "test": nothing, "return": nothing, "exit": nothing,
		"cd": nothing, "pushd": nothing, "popd": nothing, "true": nothing, "false": nothing, ":": nothing, "wait": nothing, "getopts": nothing,
		"mcp_args_raw": (*scope).argumentsRaw, "mcp_args_get": (*scope).argumentGet, "mcp_args_require": (*scope).argumentNamed,
		"mcp_require_path": (*scope).requirePath, "mcp_args_int": nothing, "mcp_args_bool": nothing,
		"mcp_json_escape": nothing, "mcp_json_obj": nothing, "mcp_json_arr": nothing, "mcp_byte_length": nothing,
	}
}

func all(argv []text) (v value) {
	for _, t := range argv {
		v = v.or(t.value)
	}
	return v
}

// risky finds the first word of those that holds more than a plain word, and is not
// quoted for a shell.
func risky(argv []text) (t text, ok bool) {
	for _, t := range argv {
		if t.tainted && (t.shape.Code || t.shape.Splits) && !t.value.quoted {
			return t, true
		}
	}
	return text{}, false
}

func (s *scope) eval(argv []text, _ value) value {
	if t, ok := risky(argv[1:]); ok {
		s.tell(Eval, Grave, t.node, "eval runs what "+t.whose(s.culprit(t))+" holds",
			`call the command itself, with its arguments in quotes: command -- "`+s.culprit(t)+`"; an array holds a command that is put together`)
	}
	return value{}
}

// culprit is the expansion in a word that is somebody else's, as it is written.
func (s *scope) culprit(t text) (source string) {
	source = t.origin
	if t.node == nil {
		return source
	}
	found := false
	syntax.Walk(t.node, func(node syntax.Node) bool {
		p, ok := node.(*syntax.ParamExp)
		if !ok || found || p.Param == nil {
			return !found
		}
		if v := s.named(p.Param.Value); v.tainted {
			source, found = s.source(p), true
		}
		return !found
	})
	return source
}

func (s *scope) trap(argv []text, _ value) value {
	if len(argv) > 2 {
		if t, ok := risky(argv[1:2]); ok {
			s.tell(Eval, Grave, t.node, "the trap runs what "+t.whose(s.culprit(t))+" holds, like eval",
				"put the command into single quotes, so that the variable is expanded when the trap runs: trap 'rm -f -- \"$file\"' EXIT")
		}
	}
	return value{}
}

func (s *scope) sourceFile(argv []text, _ value) value {
	for _, t := range argv[1:min(2, len(argv))] {
		// One below a folder of the script's may still have .. in it.
		if t.tainted && t.shape.Code || t.first.tainted && t.prefix == "" && t.first.shape.Free {
			s.tell(SourcedFile, Grave, t.node, "the file that "+t.whose(s.culprit(t))+" names is run as part of this script",
				`give the argument an "enum" in its schema, or have a case choose the file`)
		}
	}
	return value{}
}

func (s *scope) printf(argv []text, _ value) value {
	words := argv[1:]
	target := ""
	if len(words) > 1 && words[0].static && words[0].prefix == "-v" {
		s.chosenName(words[1].node, words[1], "printf -v")
		target = words[1].prefix
		words = words[2:]
	}
	if len(words) > 0 && words[0].static && words[0].prefix == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return value{}
	}
	if format := words[0]; format.tainted && format.shape.Code {
		s.tell(Format, Likely, format.node, "printf takes "+format.whose(s.culprit(format))+" for its format: % and \\ in it are not printed as they are",
			"printf '%s\\n' \""+s.culprit(format)+"\"")
	}
	printed := s.formatted(words)
	if target != "" {
		s.assign(target, printed)
		return value{}
	}
	return s.print(printed)
}

// formatted is what printf makes of its arguments.
func (s *scope) formatted(words []text) value {
	v := all(words)
	switch format := words[0]; {
	case !format.static:
		v.exact = ""
		return v
	case strings.Contains(format.prefix, "%q"):
		v.quoted = v.tainted
		v.exact = ""
		return v
	case !strings.Contains(format.prefix, "%s") && !strings.Contains(format.prefix, "%b"):
		// Numbers, dates, or nothing of the arguments at all.
		return value{}
	default:
		plain := strings.TrimSuffix(strings.TrimSuffix(format.prefix, `\n`), "\n")
		v.mixed = plain != "%s" && plain != "%b" || v.mixed
		if v.mixed {
			v.exact, v.document = "", nil
			if !strings.HasPrefix(plain, "%") {
				v.shape.Dash = false
			}
		}
		return v
	}
}

func (s *scope) echo(argv []text, _ value) value {
	words := argv[1:]
	for len(words) > 0 && words[0].static && (words[0].prefix == "-n" || words[0].prefix == "-e" || words[0].prefix == "-E") {
		words = words[1:]
	}
	if len(words) == 0 {
		return value{}
	}
	v := all(words)
	if len(words) > 1 || words[0].prefix != "" {
		v.mixed = true
		v.exact, v.document = "", nil
	}
	if words[0].prefix != "" || !words[0].first.tainted {
		v.shape.Dash = false
	}
	return s.print(v)
}

func (s *scope) read(argv []text, stdin value) value {
	stdin.exact, stdin.document = "", nil
	for i := 1; i < len(argv); i++ {
		t := argv[i]
		if strings.HasPrefix(t.prefix, "-") {
			if len(t.prefix) > 1 && strings.ContainsAny(t.prefix[len(t.prefix)-1:], "adinNptu") {
				i++
				if strings.HasSuffix(t.prefix, "a") && i < len(argv) {
					s.assign(argv[i].prefix, stdin)
				}
			}
			continue
		}
		if !t.static {
			s.chosenName(t.node, t, "read")
			continue
		}
		s.assign(t.prefix, stdin)
	}
	return value{}
}

func (s *scope) mapfile(argv []text, stdin value) value {
	stdin.exact, stdin.document = "", nil
	if last := argv[len(argv)-1]; len(argv) > 1 && last.static && !strings.HasPrefix(last.prefix, "-") {
		s.assign(last.prefix, stdin)
	}
	return value{}
}

func (s *scope) unset(argv []text, _ value) value {
	for _, t := range argv[1:] {
		if t.static {
			delete(s.env, t.prefix)
			s.env[t.prefix] = value{}
			continue
		}
		s.chosenName(t.node, t, "unset")
	}
	return value{}
}

func (s *scope) shift(argv []text, _ value) value {
	n := 1
	if len(argv) > 1 && len(argv[1].prefix) == 1 && argv[1].prefix >= "0" && argv[1].prefix <= "9" {
		n = int(argv[1].prefix[0] - '0')
	}
	if s.conditional == 0 {
		s.shifted += n
	}
	return value{}
}

// set gives the positional parameters new values.
func (s *scope) set(argv []text, _ value) value {
	at := slices.IndexFunc(argv, func(t text) bool { return t.static && t.prefix == "--" })
	if at > 0 {
		for i, t := range argv[at+1:] {
			s.env[string(rune('1'+min(i, 8)))] = t.value
		}
	}
	return value{}
}

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
	in.exact = ""
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
