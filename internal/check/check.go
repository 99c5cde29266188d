// Package check reads servers for what is wrong with them, and runs nothing of
// them: lists that cannot be read, lists, tags and functions that disagree, schemas
// that are wrong or of little use to a model, scripts that Bash cannot read, and
// arguments that become more than data.
//
// It looks at files. What a script does to itself while it runs, with eval say, it
// cannot know; where that matters it says so, and is less sure of what it finds.
//
// It knows nothing of terminals, and of the forms in which findings are told.
package check

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/conch-mcp/conch/internal/regular"
)

// A Severity says how much a finding matters.
type Severity int

const (
	Note    Severity = iota // worth knowing
	Warning                 // likely to be wrong, or bad for models
	Error                   // wrong
)

// String is the severity's name: note, warning or error.
func (s Severity) String() string { return [...]string{"note", "warning", "error"}[s] }

// A Finding is one thing that was found.
type Finding struct {
	Rule     string // one of [Rules], or a code of shellcheck's such as SC2086
	Severity Severity
	File     string // as it was named, or found from what was named
	// Where it begins, and the place behind its end, counted from 1, columns in
	// characters. Line is 0 for a file as a whole, EndLine where no end is known.
	Line, Column       int
	EndLine, EndColumn int
	Message            string // a sentence without its full stop
	Safer              string // what to write instead; "" for none
	Source             string // the line that it begins on
}

// Options say what is checked, and by what means.
type Options struct {
	// The lists, in place of those that a script names or that stand beside it; ""
	// for none. They are for one script.
	Tools, Config, Resources, Prompts string
	Revisions                         []string // the protocol revisions that a configuration may name
	Bash                              string   // to try scripts' syntax with; "" to leave it
	Shellcheck                        string   // its path; "" to leave it
	Disabled                          []string // rules that are not told of
	Getenv                            func(string) (string, bool)
	Find                              func(program string) bool // whether there is such a program
}

// A Result is what has been found.
type Result struct {
	Findings []Finding // by file, in the order of the targets, and by place
	Files    int       // how many were read
	Tools    int       // how many they declare
}

// Count is how many findings are of a severity.
func (r Result) Count(severity Severity) (n int) {
	for _, f := range r.Findings {
		if f.Severity == severity {
			n++
		}
	}
	return n
}

// Check checks scripts, and folders with scripts in them. An error says what cannot
// be checked at all.
func Check(ctx context.Context, targets []string, options Options) (Result, error) {
	c := &checker{ctx: ctx, options: options, files: map[string]*file{}, seen: map[key]bool{}, checked: map[string]bool{}}
	var scripts []*script
	var errs []error
	for _, target := range targets {
		c.own = append(c.own, folderOf(target))
		found, err := c.find(target)
		errs = append(errs, err)
		scripts = append(scripts, found...)
	}
	if err := errors.Join(errs...); err != nil {
		return Result{}, err
	}
	if len(scripts) > 1 && (options.Tools != "" || options.Config != "" || options.Resources != "" || options.Prompts != "") {
		return Result{}, fmt.Errorf("--tools, --config, --resources and --prompts are for one script, and %d are to be checked", len(scripts))
	}
	for _, s := range scripts {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		c.script(s)
	}
	c.twiceInFolder(scripts)
	if options.Shellcheck == "" && slices.ContainsFunc(scripts, func(s *script) bool { return s.isBash }) {
		c.tell(Finding{Rule: ruleNoShellcheck, Message: "shellcheck is not installed, so that its checks are left out", Safer: "install it: https://www.shellcheck.net"})
	}
	return c.result(), nil
}

// checker is one run.
type checker struct {
	ctx      context.Context
	own      []string // the folders of the targets, as they really are
	options  Options
	files    map[string]*file
	order    []string
	findings []Finding
	seen     map[key]bool
	checked  map[string]bool // files that belong to several scripts
	tools    int
}

// key tells findings apart.
type key struct {
	rule, file   string
	line, column int
	message      string
}

// file is one file's text.
type file struct {
	name  string
	text  []byte
	lines []string
}

func newFile(name string, text []byte) *file {
	return &file{name, text, strings.Split(string(text), "\n")}
}

// largest is how large a file may be.
const largest = 64 << 20

// read reads a regular file, once.
func (c *checker) read(name string) (*file, error) {
	if f := c.files[name]; f != nil {
		return f, nil
	}
	text, _, err := regular.Read(name, largest)
	if err != nil {
		return nil, err
	}
	f := newFile(name, text)
	c.files[name] = f
	c.order = append(c.order, name)
	return f, nil
}

var errNoFile = errors.New("there is no such file")

func reason(err error) error {
	var path *os.PathError
	if errors.Is(err, os.ErrNotExist) {
		return errNoFile
	}
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// tell notes a finding, unless it is not wanted.
func (c *checker) tell(f Finding) {
	rule, known := rules[f.Rule]
	switch {
	case known && f.Severity == unset:
		f.Severity = rule.Severity
	case f.Severity == noted:
		f.Severity = Note
	}
	if slices.Contains(c.options.Disabled, f.Rule) {
		return
	}
	if source := c.files[f.File]; source != nil && f.Line > 0 && f.Line <= len(source.lines) {
		if c.isOwn(f.File) {
			f.Source = strings.TrimSuffix(source.lines[f.Line-1], "\r")
		}
		if source.disables(f.Rule, f.Line) {
			return
		}
	}
	k := key{f.Rule, f.File, f.Line, f.Column, f.Message}
	if !c.seen[k] {
		c.seen[k] = true
		c.findings = append(c.findings, f)
	}
}

// folderOf is the folder that a target is or stands in, without links; "" where
// that cannot be told.
func folderOf(target string) string {
	real, err := filepath.EvalSymlinks(target)
	if err != nil {
		return ""
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		real = filepath.Dir(real)
	}
	absolute, err := filepath.Abs(real)
	if err != nil {
		return ""
	}
	return absolute
}

// isOwn reports whether a file belongs to the targets. A script may name any file
// of the machine, and what is in it is not for a report.
func (c *checker) isOwn(name string) bool {
	real, err := filepath.EvalSymlinks(name)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	return err == nil && slices.ContainsFunc(c.own, func(folder string) bool {
		return folder != "" && (strings.HasPrefix(real, folder+string(filepath.Separator)) || folder == string(filepath.Separator))
	})
}

// unset has a finding be of its rule's severity, noted of none where the rule's is
// another.
const (
	unset = Note
	noted = Severity(-1)
)

// result is what has been found, in order.
func (c *checker) result() Result {
	place := map[string]int{}
	for i, name := range c.order {
		place[name] = i
	}
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		// What is said of no file comes last.
		if (a.File == "") != (b.File == "") {
			return cmp.Compare(b.File, a.File)
		}
		pa, oka := place[a.File]
		pb, okb := place[b.File]
		if !oka {
			pa = len(place)
		}
		if !okb {
			pb = len(place)
		}
		return cmp.Or(cmp.Compare(pa, pb), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return Result{Findings: c.findings, Files: len(c.order), Tools: c.tools}
}

// position is the line and the column of an offset.
func (f *file) position(offset int) (line, column int) {
	offset = max(0, min(offset, len(f.text)))
	before := f.text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	line = 1 + bytes.Count(before, []byte("\n"))
	return line, 1 + utf8.RuneCount(before[start:])
}

// at is a finding at a part of a file.
func (f *file) at(rule string, from, to int) Finding {
	found := Finding{Rule: rule, File: f.name}
	found.Line, found.Column = f.position(from)
	if to > from {
		found.EndLine, found.EndColumn = f.position(to)
	}
	return found
}

// column makes characters of bytes.
func (f *file) column(line, bytes int) int {
	if line < 1 || line > len(f.lines) {
		return bytes
	}
	text := f.lines[line-1]
	return 1 + utf8.RuneCountInString(text[:max(0, min(bytes-1, len(text)))])
}

// beside is the path of a file beside another, which may be a link.
func beside(name, other string) string {
	path := filepath.Join(filepath.Dir(name), other)
	if _, err := os.Stat(path); err != nil {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			if there := filepath.Join(filepath.Dir(real), other); real != name {
				return there
			}
		}
	}
	return path
}
