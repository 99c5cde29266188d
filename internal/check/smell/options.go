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
	// long are those with two dashes that do.
	long []string
	// loose has the word behind any option be its value: there are too many.
	loose bool
	safer string // %s is the word; "" for command -- %s
	// patterns is for commands whose first word is no file.
	pattern bool
	// paths says that only the words in front of the first option are meant.
	paths bool
}

const asPath = `put ./ before a relative path: "./%e"`

var commands = map[string]command{
	"rm": {}, "rmdir": {}, "unlink": {}, "cp": {values: "St", long: []string{"--suffix", "--target-directory"}}, "mv": {values: "St", long: []string{"--suffix", "--target-directory"}},
	"ln": {values: "St"}, "mkdir": {values: "mZ", long: []string{"--mode"}}, "touch": {values: "drt", long: []string{"--date", "--reference"}},
	"cat": {}, "tac": {values: "s"}, "nl": {values: "bdfhilnsvw"}, "head": {values: "cn", long: []string{"--lines", "--bytes"}}, "tail": {values: "cnsp", long: []string{"--lines", "--bytes", "--pid"}},
	"less": {loose: true}, "wc": {}, "sort": {values: "koStT", long: []string{"--key", "--output"}}, "uniq": {values: "fsw"}, "cut": {values: "bcdf", long: []string{"--fields", "--delimiter"}},
	"paste": {values: "d"}, "fold": {values: "w"}, "fmt": {values: "w"}, "od": {values: "AjNtSw"}, "xxd": {values: "cglos", safer: asPath}, "strings": {values: "nte"},
	"cksum": {}, "md5sum": {}, "sha1sum": {}, "sha256sum": {}, "sha512sum": {}, "shasum": {values: "a"}, "base64": {values: "wio"},
	"ls": {values: "ITw", long: []string{"--ignore", "--sort"}}, "stat": {values: "cft", long: []string{"--format", "--printf"}}, "file": {values: "emfFP"}, "tree": {values: "LPIoT", safer: asPath},
	"du": {values: "dBtX", long: []string{"--max-depth", "--exclude", "--threshold"}}, "df": {values: "Btx"}, "realpath": {}, "readlink": {}, "basename": {values: "s"}, "dirname": {},
	"chmod": {}, "chown": {}, "chgrp": {}, "tee": {}, "diff": {values: "CUILFxXW", long: []string{"--label"}}, "cmp": {values: "in"}, "comm": {}, "join": {values: "12aejotv"},
	"patch": {values: "BDdFgiopVYz"}, "install": {values: "gmotS"}, "truncate": {values: "rs"}, "shred": {values: "ns"}, "split": {values: "abClnt"},
	"grep": {values: "ABCDdefm", long: []string{"--regexp", "--file", "--max-count", "--context", "--after-context", "--before-context"}, pattern: true},
	"rg":   {loose: true, pattern: true}, "ag": {loose: true, pattern: true},
	"sed": {values: "efl", long: []string{"--expression", "--file"}}, "awk": {values: "FvfEi"},
	"tar": {loose: true}, "zip": {loose: true}, "unzip": {values: "dPx"}, "gzip": {values: "S"}, "gunzip": {values: "S"}, "bzip2": {}, "xz": {values: "FMT"}, "zstd": {loose: true},
	"find": {paths: true, safer: asPath + `, or give the path from the root`},
	"curl": {loose: true, safer: `tell curl that it is a URL: curl … --url "%e"`},
	"wget": {loose: true}, "ssh": {values: sshValues}, "scp": {values: "cDFiJloPSX"}, "sftp": {values: "BbcDFiJloPRSsX"}, "rsync": {loose: true},
	"ping": {values: "IQSTWcilmpstw"}, "dig": {loose: true, safer: `have a "pattern" in the schema refuse it: "^[A-Za-z0-9]"`}, "host": {values: "ctNRmpW"}, "nslookup": {safer: `have a "pattern" in the schema refuse it: "^[A-Za-z0-9]"`}, "whois": {values: "hpTtiv"}, "traceroute": {loose: true},
	"docker": {loose: true}, "podman": {loose: true}, "kubectl": {loose: true}, "helm": {loose: true}, "gh": {loose: true}, "systemctl": {loose: true}, "journalctl": {loose: true},
	"kill": {values: "nsq"}, "pkill": {loose: true}, "pgrep": {loose: true}, "killall": {loose: true}, "xargs": {loose: true}, "xdg-open": {safer: asPath}, "open": {loose: true},
	"make": {loose: true}, "npm": {loose: true}, "pip": {loose: true}, "cargo": {loose: true}, "go": {loose: true},
	"ffmpeg": {loose: true, safer: asPath}, "ffprobe": {loose: true, safer: `name it behind -i: ffprobe -i "%e"`}, "convert": {loose: true, safer: asPath}, "magick": {loose: true, safer: asPath}, "identify": {loose: true, safer: asPath}, "pandoc": {loose: true},
	"psql": {loose: true}, "sqlite3": {loose: true, safer: asPath}, "shellcheck": {loose: true}, "date": {values: "dfr", long: []string{"--date"}, safer: `name it behind --date: date --date="%e"`},
	"xmllint": {loose: true, safer: asPath}, "man": {loose: true}, "useradd": {loose: true}, "userdel": {loose: true}, "passwd": {loose: true},
}

// gitValues are the options of git's commands that take a value, in any of them.
const gitValues = "CcmFbBnSUGueto"

// plain are those long options of git's that take none in the next word.
var plain = []string{
	"--all", "--amend", "--bare", "--cached", "--staged", "--force", "--hard", "--soft", "--mixed", "--oneline", "--stat", "--quiet", "--verbose", "--no-pager", "--no-color",
	"--patch", "--name-only", "--name-status", "--graph", "--porcelain", "--short", "--abbrev-ref", "--verify", "--prune", "--tags", "--follow", "--reverse", "--merges", "--no-merges",
	"--ff-only", "--no-ff", "--rebase", "--recursive", "--recurse-submodules", "--show-toplevel", "--exit-code", "--numstat", "--decorate", "--delete", "--list", "--detach", "--mirror", "--literal-pathspecs", "--no-index", "--no-edit", "--no-verify", "--ignore-case", "--fixed-strings", "--show-current", "--heads",
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
	hasPattern := false
	for i := 1; i < len(argv); i++ {
		t := argv[i]
		switch {
		case t.static && t.prefix == "--":
			return
		case c.paths && t.static && strings.HasPrefix(t.prefix, "-") && len(t.prefix) > 2, c.paths && (t.prefix == "(" || t.prefix == "!"):
			return
		case strings.HasPrefix(t.prefix, "-") && len(t.prefix) > 1:
			hasPattern = hasPattern || strings.HasPrefix(t.prefix, "-e") || strings.HasPrefix(t.prefix, "--regexp") || strings.HasPrefix(t.prefix, "-f")
			if t.static && c.takesNext(t.prefix) && !(c.loose && i+1 < len(argv) && strings.HasPrefix(argv[i+1].prefix, "-")) {
				i++
			}
		case t.begins():
			s.option(name, c, t, !hasPattern && c.pattern)
		default:
			// The pattern is written out, or begins so.
			hasPattern = true
		}
	}
}

// takesNext reports whether the word behind an option is its value.
func (c command) takesNext(option string) bool {
	switch {
	case c.loose:
		return !strings.Contains(option, "=")
	case strings.HasPrefix(option, "--"):
		return slices.Contains(c.long, option)
	}
	// The value of the first such letter is what follows it.
	at := strings.IndexAny(option[1:], c.values)
	return c.values != "" && at >= 0 && at == len(option)-2
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
			if t.static && takesNextOfGit(t.prefix) && !(i+1 < len(argv) && strings.HasPrefix(argv[i+1].prefix, "-")) {
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

func takesNextOfGit(option string) bool {
	if strings.HasPrefix(option, "--") {
		return !strings.Contains(option, "=") && !slices.Contains(plain, option)
	}
	return strings.Contains(gitValues, option[len(option)-1:])
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
