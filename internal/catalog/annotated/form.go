package annotated

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/conch-mcp/conch/internal/invocation"
	"github.com/conch-mcp/conch/internal/tags"
)

// A Form is how a file says in tags what its tools are.
type Form struct {
	// IsScript is set for a script of Bash, whose functions are tools. Anything else
	// is a program, which is one tool.
	IsScript bool
	// Tags is what [tags.Parse] reads: a script as it is, of a program the comments,
	// each in its line.
	Tags []byte
}

// FormOf goes by a file's first line, and by its name where that says nothing. A file
// without tags has none.
func FormOf(name string, text []byte) (form Form, ok bool) {
	language := languageOf(name, text)
	if language == bash {
		return Form{IsScript: true, Tags: text}, Is(text, false)
	}
	sign := signs[language]
	if sign == "" {
		return Form{}, false
	}
	form.Tags = tags.Comments(text, sign)
	return form, Is(form.Tags, false)
}

// An Obstacle is why a program with tags is no tool.
type Obstacle struct {
	Why    string // what it has or is, as in "is not executable"
	Remedy string // what to do
	// Refused says that the folder is not served over it.
	Refused bool
}

// Obstacle tells why a program of this form is no tool; there is none if it is one.
func (f Form) Obstacle(text []byte, isExecutable bool) (o Obstacle, ok bool) {
	switch {
	case f.IsScript:
		return Obstacle{}, false
	case !isExecutable:
		return Obstacle{Why: "has tags, and is not executable", Remedy: "chmod +x"}, true
	case !bytes.HasPrefix(text, []byte("#!")):
		// Bash would take it for a script of its own.
		return Obstacle{Why: "has tags, and does not begin with #! and what runs it", Remedy: "#!/usr/bin/env …"}, true
	case tags.Mentions(f.Tags, "cmd"):
		return Obstacle{
			Why:    "has a @cmd, which stands above a function of Bash; a program is one tool, whose tags are @describe, @option and the like",
			Remedy: "write @describe in its place", Refused: true,
		}, true
	}
	return Obstacle{}, false
}

// EnvironmentOf is what the tags of a command say of its environment. A problem says
// why that is nothing.
func EnvironmentOf(c tags.Command) (e invocation.Environment, problem string) {
	for _, other := range c.Meta.Other {
		if other.Name != "environment" {
			continue
		}
		var ok bool
		if e, ok = invocation.ParseEnvironment(strings.Fields(other.Value)); !ok {
			return e, fmt.Sprintf("@meta environment has %.40q, which is neither inherit nor minimal nor names of variables; it is not served", other.Value)
		}
	}
	return e, ""
}

// IsScript reports whether a file is a script for Bash, by its name and first line.
// What says nothing of that is one.
func IsScript(path string, text []byte) bool {
	language := languageOf(filepath.Base(path), text)
	return language == bash || language == unknown
}

// A language is what a file is written in, as far as it matters here.
type language int

const (
	unknown language = iota
	bash
	hashes  // whose comments begin with #
	slashes // with //
	dashes  // with --
)

var signs = map[language]string{hashes: "#", slashes: "//", dashes: "--"}

var (
	firstLine    = regexp.MustCompile(`^#! *(?:\S*/env +(?:-\S+ +)*)?(\S+)`)
	interpreters = map[string]language{"bash": bash, "sh": bash, "dash": bash, "ash": bash, "ksh": bash, "mksh": bash, "zsh": bash, "busybox": bash, "conch": bash, "argc": bash, "node": slashes, "deno": slashes, "bun": slashes, "lua": dashes, "luajit": dashes, "runghc": dashes, "runhaskell": dashes}
	extensions   = map[string]language{
		".sh": bash, ".bash": bash, ".ksh": bash, ".zsh": bash, ".js": slashes, ".mjs": slashes, ".cjs": slashes, ".ts": slashes, ".go": slashes, ".php": slashes, ".swift": slashes, ".rs": slashes, ".kts": slashes,
		".py": hashes, ".rb": hashes, ".pl": hashes, ".awk": hashes, ".r": hashes, ".jq": hashes, ".jl": hashes, ".tcl": hashes, ".fish": hashes,
		".lua": dashes, ".hs": dashes, ".sql": dashes,
	}
)

// languageOf goes by the first line, and by the name where that says nothing. What
// has another interpreter has comments of the kind that nearly all have.
func languageOf(name string, text []byte) language {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	extension := extensions[strings.ToLower(filepath.Ext(name))]
	found := firstLine.FindSubmatch(first)
	if found == nil {
		return extension
	}
	if known := interpreters[filepath.Base(string(found[1]))]; known != unknown {
		return known
	}
	if extension != unknown && extension != bash {
		return extension
	}
	return hashes
}
