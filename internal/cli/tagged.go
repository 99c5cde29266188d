package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/catalog/annotated"
)

// taggedScript is a script that says in tags what its tools are.
type taggedScript struct {
	listedScript
	tags   *annotated.Script
	getenv func(name string) (value string, ok bool)
}

func (s *taggedScript) script() string {
	if s.tags.IsApart() {
		return ""
	}
	return s.path
}

// environment is what @meta dotenv names, and the place where scripts of
// llm-functions print their results.
func (s *taggedScript) environment() []string {
	entries := llmOutput(s.getenv)
	for _, entry := range s.tags.Dotenv() {
		name, _, _ := strings.Cut(entry, "=")
		if _, ok := s.getenv(name); !ok {
			entries = append(entries, entry)
		}
	}
	return entries
}

func llmOutput(getenv func(name string) (value string, ok bool)) []string {
	if _, ok := getenv("LLM_OUTPUT"); ok {
		return nil
	}
	return []string{"LLM_OUTPUT=/dev/stdout"}
}

func (s *taggedScript) wanted() []string { return s.tags.Wanted() }
func (s *taggedScript) version() string  { return s.tags.Version() }
func (s *taggedScript) isTagged() bool   { return true }
func (s *taggedScript) owns(function string) bool {
	return slices.Contains(s.tags.Functions(), function)
}
func (s *taggedScript) explain(err error) error { return err }
func (s *taggedScript) name() string            { return taggedName(s.path) }

func (s *taggedScript) tools(list func() (*catalog.Tools, error)) func() (*catalog.Tools, error) {
	return func() (*catalog.Tools, error) {
		tools, err := list()
		if err != nil {
			return nil, err
		}
		return s.tags.Tools(tools), nil
	}
}

func (s *taggedScript) config(configuration func() (*catalog.Config, error)) func() (*catalog.Config, error) {
	return func() (*catalog.Config, error) {
		c, err := configuration()
		if err != nil {
			return nil, err
		}
		return s.tags.Config(c), nil
	}
}

// taggedFolder is a folder of scripts and programs that say in tags what they are.
type taggedFolder struct {
	path   string
	folder *annotated.Folder
	getenv func(name string) (value string, ok bool)
}

func (f *taggedFolder) script() string            { return "" }
func (f *taggedFolder) environment() []string     { return llmOutput(f.getenv) }
func (f *taggedFolder) wanted() []string          { return nil }
func (f *taggedFolder) name() string              { return taggedName(f.path) }
func (f *taggedFolder) version() string           { return "" }
func (f *taggedFolder) beside(name string) string { return filepath.Join(f.path, name) }
func (f *taggedFolder) isTagged() bool            { return true }
func (f *taggedFolder) owns(string) bool          { return false }
func (f *taggedFolder) files() []string           { return f.folder.Files() }
func (f *taggedFolder) explain(err error) error   { return err }

func (f *taggedFolder) home() (string, error) {
	dir, err := filepath.Abs(f.path)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", f.path, err)
	}
	return dir, nil
}

func (f *taggedFolder) tools(list func() (*catalog.Tools, error)) func() (*catalog.Tools, error) {
	return func() (*catalog.Tools, error) {
		tools, err := list()
		if err != nil {
			return nil, err
		}
		return f.folder.Tools(tools)
	}
}

func (f *taggedFolder) config(configuration func() (*catalog.Config, error)) func() (*catalog.Config, error) {
	return configuration
}

func (f *taggedFolder) check(list func() (*catalog.Tools, error)) error {
	tools, err := list()
	if err != nil {
		// Clients are told, and so is the log.
		tools = catalog.NewTools(nil, nil, []string{err.Error()})
	}
	return f.folder.Check(tools)
}

// taggedName is what a server with tags is called: after its file, or its folder where
// the file's name says nothing.
func taggedName(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	return nameFor(path)
}
