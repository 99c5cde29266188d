package smell

import (
	"slices"
	"strings"
)

// A command of these takes a word that begins with a dash for options, and "--" for
// the end of them, unless safer says how else it is told.
type command struct {
	// values are the options that take the next word, by their letters.
	values string
	// long are those of several letters that do, with their dashes. One that takes
	// several words is listed as many times.
	long []string
	// loose has an option that is not listed take the next word: there are too many.
	// flags are those that do not, by their letters, longFlags with their dashes.
	loose     bool
	flags     string
	longFlags []string
	// subcommands have flags of their own letters, in place of those.
	subcommands map[string]string
	safer       string // %e is the word; "" for command -- %e
	// pattern is for commands whose first word is a pattern, filter for those whose
	// first word is a program.
	pattern, filter bool
	// paths says that only the words in front of the first option are meant.
	paths bool
	// runs are the subcommands behind whose first word stands another command.
	runs []string
}

// options tells of words that a command would take for options of its own.
func (s *scope) options(name string, argv []text) {
	if other, ok := namesakes[name]; ok {
		name = other
	}
	c, ok := commands[name]
	switch {
	case name == "git":
		s.gitOptions(argv)
		return
	case name == "egrep" || name == "fgrep" || name == "zgrep":
		c, ok = commands["grep"], true
	}
	if !ok {
		return
	}
	if name == "tar" {
		argv = withoutBundle(argv)
	}
	hasPattern := false
	sub, words := "", 0
	for i := 1; i < len(argv); i++ {
		t := argv[i]
		switch {
		case t.static && t.prefix == "--":
			return
		case c.paths && t.static && strings.HasPrefix(t.prefix, "-") && len(t.prefix) > 2, c.paths && (t.prefix == "(" || t.prefix == "!"):
			return
		case strings.HasPrefix(t.prefix, "-") && len(t.prefix) > 1:
			hasPattern = hasPattern || strings.HasPrefix(t.prefix, "-e") || strings.HasPrefix(t.prefix, "--regexp") || strings.HasPrefix(t.prefix, "-f")
			if t.static {
				i += c.takes(t.prefix, sub, argv[i+1:])
			}
		case t.begins() && !(c.filter && words == 0):
			s.option(name, c, t, !hasPattern && c.pattern)
			words++
		default:
			// The pattern is written out, or begins so.
			hasPattern = true
			words++
			if words == 1 {
				sub = t.prefix
			} else if words == 2 && slices.Contains(c.runs, sub) {
				return
			}
		}
	}
}

// withoutBundle leaves out tar's first word where it holds letters of options without
// a dash, as in tar xzf, and the values of those, which stand behind it in turn.
func withoutBundle(argv []text) []text {
	if len(argv) < 2 || !argv[1].static || argv[1].prefix == "" || strings.HasPrefix(argv[1].prefix, "-") {
		return argv
	}
	values := 0
	for _, letter := range argv[1].prefix {
		if strings.ContainsRune(tarValues, letter) {
			values++
		}
	}
	return append([]text{argv[0]}, argv[min(2+values, len(argv)):]...)
}

// takes is how many of the words behind an option are its value.
func (c command) takes(option, sub string, behind []text) (n int) {
	if strings.Contains(option, "=") || len(behind) == 0 {
		return 0
	}
	for _, long := range c.long {
		if option == long {
			n++
		}
	}
	switch {
	case n > 0 || slices.Contains(c.longFlags, option):
		return n
	case takesNext(option, c.values):
		return 1
	case !c.loose || slices.Contains(plain, option) || strings.HasPrefix(behind[0].prefix, "-"):
		return 0
	}
	flags, ok := c.subcommands[sub]
	if !ok {
		flags = c.flags
	}
	if !strings.HasPrefix(option, "--") && strings.Contains(flags, option[len(option)-1:]) {
		return 0
	}
	return 1
}

// takesNext reports whether the word behind letters of options is a value. That of
// the first letter which has one is what follows it.
func takesNext(option, values string) bool {
	if strings.HasPrefix(option, "--") || len(option) < 2 {
		return false
	}
	at := strings.IndexAny(option[1:], values)
	return values != "" && at >= 0 && at == len(option)-2
}

func (s *scope) option(name string, c command, t text, isPattern bool) {
	expression := s.culprit(t)
	safer := name + ` … -- "` + expression + `"`
	switch {
	case isPattern:
		safer = name + ` -e "` + expression + `" -- …`
	case c.safer != "":
		safer = strings.ReplaceAll(c.safer, "%e", expression)
	case name == "ssh":
		safer = `ssh … -- "` + expression + `" (an option of ssh's can run a command on this machine)`
	}
	if t.whole != nil && !isPattern && c.safer == "" {
		// Around the whole it would make one word of several.
		safer = strings.Replace(s.source(t.whole), s.source(t.node), "-- "+s.source(t.node), 1)
	}
	s.tell(Option, Likely, t.node, name+" takes "+t.first.whose(expression)+" for options where it begins with a dash", safer)
}

// gitOptions is options for git, most of whose commands take revisions as well,
// which stand before --.
func (s *scope) gitOptions(argv []text) {
	sub := ""
	for i := 1; i < len(argv); i++ {
		t := argv[i]
		switch {
		case t.static && (t.prefix == "--" || t.prefix == "--end-of-options"):
			return
		case strings.HasPrefix(t.prefix, "-") && len(t.prefix) > 1:
			if t.static && takesNextOfGit(t.prefix, sub) {
				i++
			}
		case t.begins():
			expression := s.culprit(t)
			s.tell(Option, Likely, t.node, "git takes "+t.first.whose(expression)+" for options where it begins with a dash: some of them run programs or write files",
				saferGit(sub, expression))
		case sub == "":
			sub = t.prefix
		}
	}
}

func takesNextOfGit(option, sub string) bool {
	if strings.HasPrefix(option, "--") {
		return slices.Contains(gitLong, option)
	}
	values, ok := gitValues[sub]
	if !ok {
		values = otherGitValues
	}
	return takesNext(option, values)
}

// saferGit goes by whether a command takes files or revisions.
func saferGit(sub, expression string) string {
	switch sub {
	case "log", "show", "diff", "rev-parse", "checkout", "merge", "rebase", "cherry-pick", "revert", "reset", "describe", "cat-file", "rev-list", "blame", "branch", "tag":
		return "git " + sub + ` --end-of-options "` + expression + `" for a revision, git ` + sub + ` -- "` + expression + `" for a file`
	case "":
		return `git … -- "` + expression + `"`
	}
	return "git " + sub + ` … -- "` + expression + `"`
}
