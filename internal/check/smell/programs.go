package smell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// shells run what is behind -c, or what they read.
var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "busybox"}

// program is a command that takes text of a language.
type program struct {
	language string
	// options have the text behind them; first says that it is the first word which
	// is no option, unless an option had it, second that it is the one behind that.
	options       []string
	first, second bool
	values        string   // options that take some other value, by their letters
	long          []string // likewise, with two dashes; each takes so many as are listed
	stdin         bool     // it also reads such text
	gravity       Gravity
	safer         string // %s is the expansion
}

var programs = map[string]program{
	"awk":     {language: "awk", first: true, values: "FvfEi", gravity: Grave, safer: `put the program into single quotes, and the text into the environment: text="%s" awk '… ENVIRON["text"] …'`},
	"sed":     {language: "sed", options: []string{"-e", "--expression"}, first: true, values: "fl", gravity: Grave, safer: `replace in Bash, where quotes make a pattern a text: "${line//"$old"/"%s"}"; or use awk with ENVIRON`},
	"perl":    {language: "Perl", options: []string{"-e", "-E", "-ne", "-pe", "-lne", "-lpe", "-pie", "-nle", "-ple", "-le", "-0777pe", "-0pe"}, gravity: Grave, safer: `put the program into single quotes, and the text behind it: perl -e '… $ARGV[0] …' -- "%s"`, stdin: true},
	"python3": {language: "Python", options: []string{"-c"}, gravity: Grave, safer: `put the program into single quotes, and the text behind it: python3 -c '… sys.argv[1] …' "%s"`, stdin: true},
	"ruby":    {language: "Ruby", options: []string{"-e", "-ne", "-pe"}, gravity: Grave, safer: `put the program into single quotes, and the text behind it: ruby -e '… ARGV[0] …' -- "%s"`, stdin: true},
	"node":    {language: "JavaScript", options: []string{"-e", "--eval", "-p", "--print", "-pe"}, gravity: Grave, safer: `put the program into single quotes, and the text behind it: node -e '… process.argv[1] …' -- "%s"`, stdin: true},
	"php":     {language: "PHP", options: []string{"-r"}, gravity: Grave, safer: `put the program into single quotes, and the text behind it: php -r '… $argv[1] …' -- "%s"`},
	"lua":     {language: "Lua", options: []string{"-e"}, gravity: Grave, safer: `put the program into single quotes, and the text into the environment: text="%s" lua -e '… os.getenv("text") …'`},
	"osascript": {
		language: "AppleScript", options: []string{"-e"}, gravity: Grave, stdin: true,
		safer: `give the text to a handler: osascript -e 'on run argv' -e '… item 1 of argv …' -e 'end run' -- "%s"`,
	},
	"jq": {language: "jq", first: true, values: "Lf", long: []string{"--arg", "--arg", "--argjson", "--argjson", "--slurpfile", "--slurpfile", "--rawfile", "--rawfile", "--indent"}, gravity: Likely, safer: `put the filter into single quotes, and the text into a variable: jq --arg text "%s" '… $text …'`},
	"yq": {language: "yq", first: true, values: "", long: []string{"--arg", "--arg"}, gravity: Likely, safer: `put the text into the environment: text="%s" yq '… strenv(text) …'`},
	"sqlite3": {
		language: "SQL", options: []string{"-cmd"}, second: true, long: []string{"-separator", "-newline", "-nullvalue", "-init"}, stdin: true, gravity: Grave,
		safer: `put the text between single quotes, with those in it doubled: text=%s; sqlite3 "$db" "… '${text//\'/\'\'}' …"`,
	},
	"duckdb":  {language: "SQL", options: []string{"-c", "-cmd", "-s"}, second: true, long: []string{"-separator", "-init"}, stdin: true, gravity: Grave, safer: `put the text between single quotes, with those in it doubled: text=%s; … '${text//\'/\'\'}' …`},
	"psql":    {language: "SQL", options: []string{"-c", "--command"}, stdin: true, gravity: Grave, safer: `give it as a variable: psql -v text="%s" <<<"select … :'text' …"`},
	"mysql":   {language: "SQL", options: []string{"-e", "--execute"}, stdin: true, gravity: Grave, safer: `double each ' and \ in the text before it stands between single quotes: text=${%b//\\/\\\\}; text=${text//\'/\'\'}`},
	"mongosh": {language: "JavaScript", options: []string{"--eval"}, gravity: Grave, safer: `put the text into the environment: text="%s" mongosh --eval '… process.env.text …'`},
}

// namesakes are other names of those.
var namesakes = map[string]string{
	"usql": "psql", "gawk": "awk", "mawk": "awk", "nawk": "awk", "gsed": "sed", "python": "python3", "python2": "python3", "nodejs": "node", "gojq": "jq", "mariadb": "mysql",
}

// programs tells of text that a command takes for a program.
func (s *scope) programs(name string, argv []text, st *syntax.Stmt, stdin value) {
	switch {
	case slices.Contains(shells, name):
		s.shell(argv, st, stdin)
		return
	case name == "su" || name == "script" || name == "watch":
		s.lineOf(name, argv)
		return
	case name == "ssh":
		s.remote(argv, st, stdin)
		return
	case name == "parallel":
		s.parallel(argv)
		return
	}
	if other, ok := namesakes[name]; ok {
		name = other
	}
	p, ok := programs[name]
	if !ok {
		return
	}
	texts, words := p.texts(argv[1:])
	for _, t := range texts {
		s.programText(p, t)
	}
	// With a file for the program, standard input is data.
	hasFile := words > 0 && p.language != "SQL"
	if p.stdin && len(texts) == 0 && !hasFile && stdin.tainted && hasCode(stdin) {
		s.tell(ProgramText, p.gravity, st, "what "+stdin.origin+" holds becomes part of a program in "+p.language+", on standard input", s.saferProgram(p, stdin.origin))
	}
}

func hasCode(v value) bool { return (v.shape.Code || v.shape.Splits) && !v.quoted }

func (s *scope) programText(p program, t text) {
	if _, ok := risky([]text{t}); !ok {
		return
	}
	if p.language == "SQL" && s.doubled(t) {
		return
	}
	s.tell(ProgramText, p.gravity, t.node, "what "+t.whose(s.culprit(t))+" holds becomes part of a program in "+p.language, s.saferProgram(p, s.culprit(t)))
}

func (s *scope) saferProgram(p program, expression string) string {
	bare := strings.Trim(strings.TrimPrefix(expression, "$"), "{}")
	return strings.NewReplacer("%s", expression, "%b", bare).Replace(p.safer)
}

// doubled reports whether single quotes are replaced in the expansions of a word.
func (s *scope) doubled(t text) bool {
	ok := true
	syntax.Walk(t.node, func(node syntax.Node) bool {
		p, isParam := node.(*syntax.ParamExp)
		if !isParam || p.Param == nil {
			return true
		}
		if s.named(p.Param.Value).tainted && (p.Repl == nil || !p.Repl.All || !strings.Contains(s.source(p.Repl.Orig), "'")) {
			ok = false
		}
		return false
	})
	return ok
}

// texts are the words that hold the program, and words is how many others there
// are that are no options.
func (p program) texts(argv []text) (texts []text, words int) {
	rest := false
	for i := 0; i < len(argv); i++ {
		t := argv[i]
		option := t.prefix
		switch {
		case option == "-" && t.static && !p.first:
		case rest || !strings.HasPrefix(option, "-") || option == "-":
			words++
			if p.first && words == 1 && len(texts) == 0 || p.second && words >= 2 {
				texts = append(texts, t)
			}
		case option == "--" && t.static:
			rest = true
		case slices.Contains(p.options, option) && t.static:
			if i++; i < len(argv) {
				texts = append(texts, argv[i])
			}
		case p.joined(option):
			texts = append(texts, t)
		default:
			i += p.takes(option)
			// The program is in a file.
			if p.first && (option == "-f" || option == "--from-file" || option == "--file") {
				words++
			}
		}
	}
	return texts, words
}

// joined reports whether an option has the program behind an equals sign.
func (p program) joined(option string) bool {
	return slices.ContainsFunc(p.options, func(o string) bool { return strings.HasPrefix(o, "--") && strings.HasPrefix(option, o+"=") })
}

// takes is how many words an option has behind it.
func (p program) takes(option string) (n int) {
	for _, long := range p.long {
		if option == long {
			n++
		}
	}
	if n == 0 && !strings.HasPrefix(option, "--") && len(option) > 1 && strings.Contains(p.values, option[len(option)-1:]) {
		return 1
	}
	return n
}

// shell tells of what a shell is given to run.
func (s *scope) shell(argv []text, st *syntax.Stmt, stdin value) {
	words := 0
	for i := 1; i < len(argv); i++ {
		t := argv[i]
		switch {
		case !strings.HasPrefix(t.prefix, "-") && !strings.HasPrefix(t.prefix, "+"):
			// A file; what is behind it is data.
			s.interpretedFile(t)
			if argv[0].prefix != "busybox" || words > 0 || t.prefix != "sh" {
				return
			}
			words++
		case isC(t):
			return // nestedShell has it
		case t.prefix == "-s":
			i = len(argv)
		}
	}
	if stdin.tainted && hasCode(stdin) {
		s.tell(ShellCode, Grave, st, argv[0].prefix+" runs what "+stdin.origin+" holds, on standard input",
			argv[0].prefix+` -s -- "`+stdin.origin+`" <<'END' … "$1" … END`)
	}
}

// isC reports whether a word is a shell's -c, perhaps with other letters.
func isC(t text) bool {
	return t.static && len(t.prefix) > 1 && t.prefix[0] == '-' && t.prefix[1] != '-' && t.prefix[len(t.prefix)-1] == 'c'
}

// nestedShell finds a shell with -c anywhere among a command's words: find, docker
// and many others run one.
func (s *scope) nestedShell(argv []text) {
	for i := 0; i+2 < len(argv); i++ {
		name := argv[i].prefix[strings.LastIndexByte(argv[i].prefix, '/')+1:]
		if !argv[i].static || !slices.Contains(shells, name) {
			continue
		}
		for j := i + 1; j+1 < len(argv) && strings.HasPrefix(argv[j].prefix, "-"); j++ {
			if t := argv[j+1]; isC(argv[j]) {
				s.shellLine(name+" -c", t)
				return
			}
		}
	}
}

func (s *scope) shellLine(command string, t text) {
	if _, ok := risky([]text{t}); !ok {
		return
	}
	expression := s.culprit(t)
	s.tell(ShellCode, Grave, t.node, command+" runs what "+t.whose(expression)+" holds as part of its command",
		"put the command into single quotes, and the text behind it: "+command+` '… "$1" …' _ "`+expression+`"`)
}

// parallel tells of what stands in front of its sources, which a shell reads as a
// command line.
func (s *scope) parallel(argv []text) {
	for _, t := range argv[1:] {
		if t.static && strings.HasPrefix(t.prefix, ":::") {
			return
		}
		if _, ok := risky([]text{t}); ok {
			s.tell(ShellCode, Grave, t.node, "parallel has a shell run what "+t.whose(s.culprit(t))+" holds",
				`give it as a source, which parallel quotes: parallel command ::: "`+s.culprit(t)+`"`)
			return
		}
	}
}

// lineOf is for commands that have a command line behind -c, or as their words.
func (s *scope) lineOf(name string, argv []text) {
	for i := 1; i < len(argv); i++ {
		if (isC(argv[i]) || argv[i].prefix == "--command") && i+1 < len(argv) && name != "watch" {
			s.shellLine(name+" -c", argv[i+1])
			return
		}
	}
	if name == "watch" && slices.ContainsFunc(argv, func(t text) bool { return t.prefix == "-x" || t.prefix == "--exec" }) {
		return // it runs the words as they are
	}
	if t, ok := risky(argv[1:]); ok && name == "watch" {
		expression := s.culprit(t)
		s.tell(ShellCode, Grave, t.node, "watch has a shell run what "+t.whose(expression)+" holds",
			`have it run the command itself: watch -x command -- "`+expression+`"`)
	}
}

// sshValues are the options of ssh that take a value.
const sshValues = "BbcDEeFIiJLlmOoPpQRSWw"

// remote tells of what ssh hands to the shell at the other end, which reads it as a
// command line: quotes here are gone there.
func (s *scope) remote(argv []text, st *syntax.Stmt, stdin value) {
	words, rest := 0, false
	for i := 1; i < len(argv); i++ {
		t := argv[i]
		switch {
		case t.static && t.prefix == "--" && !rest && words == 0:
			rest = true
		case strings.HasPrefix(t.prefix, "-") && !rest && words == 0:
			if len(t.prefix) == 2 && strings.Contains(sshValues, t.prefix[1:]) {
				i++
			}
		default:
			words++
			if _, ok := risky([]text{t}); ok && words > 1 {
				expression := s.culprit(t)
				s.tell(RemoteCode, Grave, t.node, "the shell at the other end runs what "+t.whose(expression)+" holds: quotes on this side are gone on that one",
					`quote it for that shell: ssh -- "$host" "command -- $(printf %q "`+expression+`")"`)
				return
			}
		}
	}
	if words <= 1 && stdin.tainted && hasCode(stdin) {
		s.tell(RemoteCode, Grave, st, "the shell at the other end runs what "+stdin.origin+" holds, on standard input",
			`quote it for that shell: $(printf %q "`+stdin.origin+`")`)
	}
}
