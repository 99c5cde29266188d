// Package annotated reads servers whose scripts say in comments what their tools
// are: one script, or a folder of scripts and programs.
//
// It makes entries and engines of tags. It knows nothing of how a shell runs what
// its engines say, nor of the protocol.
package annotated

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/joho/godotenv"

	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/catalog/bashsdk"
	"github.com/conch-mcp/conch/internal/invocation"
	"github.com/conch-mcp/conch/internal/regular"
	"github.com/conch-mcp/conch/internal/tags"
)

// An Environment is that of a server.
type Environment struct {
	Get func(name string) (value string, ok bool)
	// IsSet reports whether the script has set a variable that is not there; nil
	// where nobody can tell.
	IsSet func(name string) bool
}

// keywords are those of tags that make a script one which says what its tools are.
var keywords = []string{"cmd", "describe", "arg", "option", "flag", "env", "meta"}

// Is reports whether a script says in tags what its tools are. Beside a list of
// tools only a @cmd says so: comments with an @ were there before tags.
func Is(text []byte, hasList bool) bool {
	if hasList {
		return tags.Mentions(text, "cmd")
	}
	return tags.Mentions(text, keywords...)
}

// runsMain finds where a script runs its function main itself, as in main "$@".
var runsMain = regexp.MustCompile(`(?m)^(?:[^#\n]*[\s;&|])?main +"?\$(?:@|\{@|\*)`)

// A Script is one that says in tags what its tools are.
type Script struct {
	tags   *tags.Script
	path   string   // absolute
	dotenv []string // NAME=value
	apart  bool     // it is sourced for each call
	env    Environment

	schemas map[string]json.RawMessage // of results, by their tools
	merged  merged
}

// Read reads the tags of a script. A [tags.Faults] says what is wrong with them;
// where the error is about a file that they name, the script is there all the same.
// env is the environment that it runs in.
func Read(path string, text []byte, env Environment) (*Script, error) {
	read, err := tags.Parse(path, text)
	if err != nil {
		return nil, err
	}
	s := &Script{tags: read}
	if s.path, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("find %s: %w", path, err)
	}
	if len(read.Commands) == 1 && read.Commands[0].Function == "main" && runsMain.Match(text) {
		// To call it as well would run it twice.
		read.Commands[0].Function = ""
	}
	// Such a script has nothing that could be called: it is run as a whole.
	s.apart = slices.ContainsFunc(read.Commands, func(c tags.Command) bool { return c.Function == "" })
	if err := s.readDotenv(); err != nil {
		return s, err
	}
	s.env = s.withDotenv(env)
	return s, s.readSchemas()
}

// beside is the path of a file that a tag names.
func (s *Script) beside(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(s.path), name)
}

// readDotenv reads the file of @meta dotenv, which need not be there.
func (s *Script) readDotenv() error {
	name := s.tags.Meta.Dotenv
	if name == "" {
		return nil
	}
	text, _, err := regular.Read(s.beside(name), maxScript)
	if errors.Is(err, regular.ErrAbsent) {
		return nil
	}
	var variables map[string]string
	if err == nil {
		variables, err = godotenv.UnmarshalBytes(text)
	}
	if err != nil {
		return fmt.Errorf("read %s, which @meta dotenv of %s names: %w", s.beside(name), s.tags.File, err)
	}
	for name, value := range variables {
		if isReserved(name) {
			continue
		}
		if _, ok := invocation.ParseEnvironment([]string{name}); !ok {
			return fmt.Errorf("%s, which @meta dotenv of %s names, has a variable %.40q, which is no name of one", s.beside(s.tags.Meta.Dotenv), s.tags.File, name)
		}
		s.dotenv = append(s.dotenv, name+"="+value)
	}
	slices.Sort(s.dotenv)
	return nil
}

// isReserved reports whether a variable is none for a file to give: one that a call
// sets, or that has Bash run something.
func isReserved(name string) bool {
	return name == "BASH_ENV" || name == "ENV" || strings.HasPrefix(name, "arg_") || strings.HasPrefix(name, "argc_") || strings.HasPrefix(name, "_conch_")
}

// readSchemas reads the files of @meta output-schema.
func (s *Script) readSchemas() error {
	s.schemas = map[string]json.RawMessage{}
	for _, c := range s.tags.Commands {
		if c.Meta.OutputSchema == "" {
			continue
		}
		schema, err := bashsdk.ReadDocument(s.beside(c.Meta.OutputSchema))
		if err != nil {
			return fmt.Errorf("%s:%d: @meta output-schema of %s: %w", s.tags.File, c.Line, c.Name, err)
		}
		s.schemas[c.Name] = schema
	}
	return nil
}

// named are the paths of the files that tags name, whether or not they are there.
func (s *Script) named() (paths []string) {
	if s.tags.Meta.Dotenv != "" {
		paths = append(paths, s.beside(s.tags.Meta.Dotenv))
	}
	for _, c := range s.tags.Commands {
		if c.Meta.OutputSchema != "" {
			paths = append(paths, s.beside(c.Meta.OutputSchema))
		}
	}
	return paths
}

// IsApart reports whether the script is sourced for each call, and not before.
func (s *Script) IsApart() bool { return s.apart }

// Dotenv is what @meta dotenv gives, NAME=value each.
func (s *Script) Dotenv() []string { return s.dotenv }

// Wanted are the variables of the environment that commands need, and that the
// file of @meta dotenv does not give.
func (s *Script) Wanted() (names []string) {
	for _, c := range s.tags.Commands {
		for _, e := range c.Env {
			isGiven := slices.ContainsFunc(s.dotenv, func(entry string) bool { return strings.HasPrefix(entry, e.Name+"=") })
			if e.Required && !isGiven && !slices.Contains(names, e.Name) {
				names = append(names, e.Name)
			}
		}
	}
	return names
}

// Functions are those that commands run.
func (s *Script) Functions() (names []string) {
	for _, c := range s.tags.Commands {
		names = append(names, c.Function)
	}
	return names
}

// withDotenv is an environment with what the script's file says, where that is not
// there already.
func (s *Script) withDotenv(env Environment) Environment {
	get := env.Get
	env.Get = func(name string) (string, bool) {
		if value, ok := get(name); ok {
			return value, true
		}
		for _, entry := range s.dotenv {
			if value, ok := strings.CutPrefix(entry, name+"="); ok {
				return value, true
			}
		}
		return "", false
	}
	return env
}

// own are the tools that the tags describe. What is wrong with one is a problem to
// tell.
func (s *Script) own() (list []*catalog.Tool, problems []string) {
	for _, c := range s.tags.Commands {
		engine := s.engine(c)
		tool, problem := s.tool(c, engine)
		if problem != "" {
			problems = append(problems, fmt.Sprintf("%s:%d: %s", s.tags.File, c.Line, problem))
		}
		if tool != nil {
			tool.Suggest = engine.suggest
			list = append(list, tool)
		}
	}
	return list, append(problems, unserved(s.tags)...)
}

func (s *Script) tool(c tags.Command, engine catalog.Engine) (tool *catalog.Tool, problem string) {
	c.Params = shown(c.Params, s.env)
	entry, err := c.Entry(s.schemas[c.Name])
	if err != nil {
		return nil, err.Error()
	}
	tool, problem = bashsdk.ParseTool(entry, "")
	if tool != nil {
		tool.Engine, tool.Aliases = engine, c.Aliases
	}
	return tool, problem
}

func (s *Script) engine(c tags.Command) *command {
	e := &command{Command: c, standard: standards(c.Params, s.env)}
	e.base = invocation.Invocation{
		Function: c.Function, HasJSON: isListed(c), Before: s.tags.Before, After: s.tags.After,
		Needs: needsOf(c), Defaults: defaultsOf(c), Computed: computedOf(c),
	}
	if s.apart {
		e.base.File = s.path
		e.base.Defaults = slices.Concat(s.dotenv, e.base.Defaults)
	}
	e.lacking = func(has func(string) bool) []string { return s.lacking(e.base.Needs, has) }
	return e
}

// isListed reports whether a command is a function as a list has them.
func isListed(c tags.Command) bool {
	return strings.HasPrefix(c.Function, "tool_") && !slices.ContainsFunc(c.Params, func(p tags.Param) bool { return p.Kind == tags.Argument })
}

func needsOf(c tags.Command) (needs invocation.Needs) {
	needs.Programs = c.Meta.RequireTools
	for _, e := range c.Env {
		if e.Required {
			needs.Variables = append(needs.Variables, e.Name)
		}
	}
	return needs
}

func defaultsOf(c tags.Command) (entries []string) {
	for _, e := range c.Env {
		if e.Default != nil {
			entries = append(entries, e.Name+"="+*e.Default)
		}
	}
	return entries
}

// computedOf is what functions say of variables of the environment, and what those
// may be.
func computedOf(c tags.Command) (all []invocation.Computed) {
	for _, e := range c.Env {
		about := invocation.Computed{Variable: e.Name, Label: "the environment variable " + e.Name}
		if e.DefaultFunction != "" {
			about.Function, about.What = e.DefaultFunction, invocation.Exported
			all = append(all, about)
		}
		switch {
		case e.ChoicesFunction != "" && e.Validated:
			about.Function, about.What = e.ChoicesFunction, invocation.Choices
			all = append(all, about)
		case len(e.Choices) > 0:
			about.Function, about.What = strings.Join(e.Choices, "\n"), invocation.Allowed
			all = append(all, about)
		}
	}
	return all
}

// lacking tells what of the needs is not there. has reports whether there is a
// program of a name.
func (s *Script) lacking(needs invocation.Needs, has func(program string) bool) (phrases []string) {
	for _, name := range needs.Variables {
		if _, ok := s.env.Get(name); !ok && (s.env.IsSet == nil || !s.env.IsSet(name)) {
			phrases = append(phrases, fmt.Sprintf("the environment variable %s, which is not set", name))
		}
	}
	for _, name := range needs.Programs {
		if !has(name) && !slices.Contains(s.tags.Functions, name) {
			phrases = append(phrases, fmt.Sprintf("the program %s, which is not on PATH", name))
		}
	}
	return phrases
}

// Config is how the server describes itself: as its configuration says, and as the
// tags say where that says nothing.
func (s *Script) Config(c *catalog.Config) *catalog.Config {
	with := *c
	if with.Instructions == "" {
		with.Instructions = s.tags.Describe
	}
	if with.ServerInfo == nil && s.tags.Meta.Title != "" {
		with.ServerInfo, _ = json.Marshal(map[string]string{"title": s.tags.Meta.Title})
	}
	return &with
}

// Version is what @meta version says, "" for nothing.
func (s *Script) Version() string { return s.tags.Meta.Version }
