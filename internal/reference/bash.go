package reference

import (
	"fmt"
	"go/doc/comment"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// scripts are the Bash files, in the order of the page. The first one has what a
// script defines, and nothing that it calls.
var scripts = []string{"runtime.bash", "talk.bash", "roots.bash", "tools.bash", "running.bash"}

// A section is the functions below a heading of a file.
type section struct {
	title   string
	entries []entry
}

// An entry is what a comment says of a function, or of several.
type entry struct {
	calls []string // how they are called, such as "mcp_json_arr [TEXT]…"
	about *comment.Doc
}

// names are the functions'.
func (e entry) names() []string {
	var all []string
	for _, call := range e.calls {
		name, _, _ := strings.Cut(call, " ")
		all = append(all, name)
	}
	return all
}

var (
	heading = regexp.MustCompile(`^# --- (.+?) -*$`)
	// How a function is called. Those that conch calls have a part in capitals.
	calling = regexp.MustCompile(`^# ((?:mcp|tool|resource|prompt|complete)_[A-Za-z_]+(?: .*)?)$`)
	defined = regexp.MustCompile(`(?m)^(mcp_[a-z_]+)\(\)`)
)

// readScripts reads the entries of all files.
func readScripts(top string) ([]section, error) {
	var all []section
	for _, name := range scripts {
		path := filepath.Join("internal", "shell", name)
		source, err := os.ReadFile(filepath.Join(top, path))
		if err != nil {
			return nil, err
		}
		found, err := sections(string(source))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// sections takes the entries out of a file. Every function that scripts may call
// must have one right above it.
func sections(source string) ([]section, error) {
	var all []section
	lines := strings.Split(source, "\n")
	for i := 0; i < len(lines); i++ {
		if h := heading.FindStringSubmatch(lines[i]); h != nil {
			all = append(all, section{title: h[1]})
			continue
		}
		block := commentAt(lines[i:])
		if len(block) == 0 {
			continue
		}
		if e, ok := entryOf(block); ok {
			if len(all) == 0 {
				return nil, fmt.Errorf("line %d: %s stands under no heading", i+1, e.names()[0])
			}
			last := &all[len(all)-1]
			last.entries = append(last.entries, e)
		}
		i += len(block) - 1
	}
	all = slices.DeleteFunc(all, func(s section) bool { return len(s.entries) == 0 })
	return all, complete(source, all)
}

// commentAt is the comment that the lines begin with.
func commentAt(lines []string) []string {
	n := slices.IndexFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "#") })
	if n < 0 {
		n = len(lines)
	}
	return lines[:n]
}

// entryOf reads a comment that begins with how functions are called, and goes on
// behind an empty line.
func entryOf(block []string) (e entry, ok bool) {
	for len(block) > 0 {
		c := calling.FindStringSubmatch(block[0])
		if c == nil {
			break
		}
		e.calls = append(e.calls, c[1])
		block = block[1:]
	}
	if len(e.calls) == 0 || len(block) == 0 || block[0] != "#" {
		return entry{}, false
	}
	e.about = new(comment.Parser).Parse(uncommented(block[1:]))
	return e, len(e.about.Content) > 0
}

// uncommented takes the # and one blank off each line. What is said to shellcheck
// is not for people.
func uncommented(block []string) string {
	var b strings.Builder
	for _, line := range block {
		if strings.HasPrefix(line, "# shellcheck ") {
			continue
		}
		b.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "#"), " ") + "\n")
	}
	return b.String()
}

// complete fails where the functions of a file and its entries are not the same.
func complete(source string, all []section) error {
	var told, there []string
	for _, s := range all {
		for _, e := range s.entries {
			told = append(told, e.names()...)
		}
	}
	for _, d := range defined.FindAllStringSubmatch(source, -1) {
		there = append(there, d[1])
		if !slices.Contains(told, d[1]) {
			return fmt.Errorf("no comment tells of %s: above it a comment must begin with how it is called, and go on behind an empty line (#)", d[1])
		}
	}
	for _, name := range told {
		// What conch calls is the script's to define.
		if strings.HasPrefix(name, "mcp_") && name != "mcp_before_tool_call" && !slices.Contains(there, name) {
			return fmt.Errorf("a comment tells of %s, and there is no such function", name)
		}
	}
	return nil
}
