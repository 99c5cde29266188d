package smell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// builtins are the commands of Bash that do something with a text. They are filled
// in by init, since they lead back here.
var builtins map[string]func(s *scope, argv []text, stdin value) value

func init() {
	nothing := func(*scope, []text, value) value { return value{} }
	builtins = map[string]func(*scope, []text, value) value{
		"eval": (*scope).eval, "trap": (*scope).trap, "source": (*scope).sourceFile, ".": (*scope).sourceFile,
		"printf": (*scope).printf, "echo": (*scope).echo, "read": (*scope).read, "mapfile": (*scope).mapfile, "readarray": (*scope).mapfile,
		"unset": (*scope).unset, "shift": (*scope).shift, "set": (*scope).set, "[": (*scope).testCommand, "test": (*scope).testCommand, "return": nothing, "exit": nothing,
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

// testCommand is test, which is [ as well: of what it takes -v alone is evaluated.
func (s *scope) testCommand(argv []text, _ value) value {
	for i, t := range argv[1:] {
		if before := argv[i]; before.static && before.prefix == "-v" {
			s.isSet(t)
		}
	}
	return value{}
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
				s.demand(aChoice, t.value)+`, or have a case choose the file`)
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
