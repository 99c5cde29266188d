package smell

import (
	"slices"
	"strings"
)

// pathTakers read or write the files that their words name.
var pathTakers = []string{
	"cat", "tac", "nl", "head", "tail", "less", "wc", "sort", "uniq", "cut", "paste", "fold", "fmt", "od", "xxd", "strings", "cksum", "md5sum", "sha1sum", "sha256sum", "sha512sum", "shasum", "base64", "ls", "stat", "file", "tree", "du",
	"cp", "mv", "ln", "rm", "rmdir", "unlink", "mkdir", "touch", "install", "truncate", "shred", "split", "tee", "chmod", "chown", "chgrp", "grep", "egrep", "fgrep", "rg", "sed", "awk", "diff", "cmp", "comm", "join", "patch", "tar", "zip", "unzip", "gzip", "gunzip",
	"jq", "find", "cd", "pushd", "rsync", "scp", "pandoc", "ffmpeg", "sqlite3",
}

// paths tells of words that name files below a folder, as far as nobody limits them.
func (s *scope) paths(name string, argv []text) {
	if !slices.Contains(pathTakers, name) {
		return
	}
	words := argv[1:]
	if commands[name].pattern || commands[name].filter || name == "sed" || name == "awk" || strings.HasSuffix(name, "grep") {
		words = behindPattern(words)
	}
	for _, t := range words {
		s.belowFolder(t)
	}
}

// behindPattern leaves out the first word that is no option, and what options give.
func behindPattern(words []text) (files []text) {
	seen := false
	for _, t := range words {
		if strings.HasPrefix(t.prefix, "-") {
			continue
		}
		if seen {
			files = append(files, t)
		}
		seen = true
	}
	return files
}

// belowFolder tells of a path whose beginning is the script's own, and whose rest may
// lead out of it.
func (s *scope) belowFolder(t text) {
	// An author who writes ./ means to make no option of it.
	if !t.below || t.prefix == "./" || strings.Contains(t.prefix, "://") || strings.Contains(s.source(t.node), "://") {
		return
	}
	expression := s.culprit(t)
	s.path(t, "with ../ in it, "+t.whose(expression)+" leads out of the folder in front of it, to any file that this server may open")
}

// path tells of a file that the caller chooses, once for each argument and function.
func (s *scope) path(t text, message string) {
	key := s.function.name + "\x00" + s.function.file.Name + "\x00" + t.origin
	if s.finder.telling && s.finder.paths[key] {
		return
	}
	s.tell(Path, Minor, t.node, message, s.demand(aPattern, t.value)+`, or take the path from mcp_require_path, which keeps it below the roots`)
	s.finder.paths[key] = s.finder.telling
}
