package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/catalog/annotated"
)

// A source is what a server is made of: a script whose tools a list declares, a
// script that says in tags what its tools are, or a folder of files that do.
type source struct {
	path   string // as it was given
	script string // what the shell is started with
	anchor string // a path in the folder that lists and roots are looked for in
	tagged *annotated.Script
	folder *annotated.Folder
	env    *taggedEnvironment
}

// taggedEnvironment is what tags ask of a server's environment. What the script
// makes of it is known once its shell is there.
type taggedEnvironment struct {
	getenv func(string) (string, bool)
	server *server
}

func (e *taggedEnvironment) environment() annotated.Environment {
	return annotated.Environment{Get: e.getenv, IsSet: e.isSet, HasProgram: e.hasProgram}
}

// isSet reports whether a variable is there once the script has been sourced.
func (e *taggedEnvironment) isSet(name string) bool {
	return e.server.shell != nil && e.server.shell.Script().Set[name]
}

// hasProgram reports whether the script's shell would find a program, or has a
// function of that name.
func (e *taggedEnvironment) hasProgram(name string) bool {
	if e.server.script.Functions[name] {
		return true
	}
	for _, folder := range filepath.SplitList(e.server.script.Variables["PATH"]) {
		info, err := os.Stat(e.server.inScriptDir(filepath.Join(folder, name)))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}

// openSource reads what a server is made of as far as it says so before a shell
// runs it.
func openSource(path string, flags serverFlags, s *server, getenv func(string) (string, bool)) (*source, error) {
	if err := checkTarget(path); err != nil {
		return nil, err
	}
	src := &source{path: path, script: path, anchor: path, env: &taggedEnvironment{getenv: getenv, server: s}}
	if isFolder(path) {
		src.anchor = filepath.Join(path, "server")
		var err error
		if src.folder, err = annotated.NewFolder(path, src.env.environment()); err != nil {
			return nil, err
		}
		return src, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the script: %w", err)
	}
	if !annotated.Is(text, src.hasList(text, flags, getenv)) {
		return src, nil
	}
	if src.tagged, err = annotated.Read(path, text); err != nil {
		return nil, err
	}
	src.tagged.In(src.env.environment())
	return src, nil
}

// hasList reports whether there is a list of tools, as far as that can be known
// before the script has run: it may name one itself.
func (src *source) hasList(text []byte, flags serverFlags, getenv func(string) (string, bool)) bool {
	if _, named := getenv("MCP_TOOLS_LIST_FILE"); named || flags.tools != "" || bytes.Contains(text, []byte("MCP_TOOLS_LIST_FILE")) {
		return true
	}
	_, err := os.Stat(beside(src.path, "tools.json"))
	return err == nil
}

// explain adds what may have been meant to an error about a list that is not there.
func (src *source) explain(err error) error {
	absent := "Cannot read tools list: " + beside(src.path, "tools.json") + ": there is no such file"
	if err == nil || src.isTagged() || !strings.Contains(err.Error(), absent) {
		return err
	}
	status := 2
	var exit *exitError
	if errors.As(err, &exit) {
		status, err = exit.status, exit.err
	}
	return &exitError{status, fmt.Errorf("%w; or write a comment # @cmd above each function that is a tool, and no list", err)}
}

// isTagged reports whether tags say what the tools are: then no list has to.
func (src *source) isTagged() bool { return src.tagged != nil || src.folder != nil }

// runsNothing reports whether the shell has nothing to source before calls do.
func (src *source) runsNothing() bool {
	return src.folder != nil || src.tagged != nil && src.tagged.IsApart()
}

// name is the server's where nothing else names it.
func (src *source) name() string {
	path := src.path
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if src.isTagged() {
		return nameFor(path)
	}
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// wanted are the variables of which the shell has to tell whether they are set.
func (src *source) wanted() []string {
	if src.tagged == nil {
		return nil
	}
	return src.tagged.Wanted()
}

// environment is what the shell gets besides its environment: what @meta dotenv
// names, and the place where scripts of llm-functions print their results.
func (src *source) environment() (entries []string) {
	if !src.isTagged() {
		return nil
	}
	if _, ok := src.env.getenv("LLM_OUTPUT"); !ok {
		entries = append(entries, "LLM_OUTPUT=/dev/stdout")
	}
	if src.tagged == nil {
		return entries
	}
	for _, entry := range src.tagged.Dotenv() {
		name, _, _ := strings.Cut(entry, "=")
		if _, ok := src.env.getenv(name); !ok {
			entries = append(entries, entry)
		}
	}
	return entries
}

// tools are those of a list and of tags.
func (src *source) tools(list func() (*catalog.Tools, error)) func() (*catalog.Tools, error) {
	if !src.isTagged() {
		return list
	}
	return func() (*catalog.Tools, error) {
		tools, err := list()
		if err != nil {
			return nil, err
		}
		if src.folder != nil {
			return src.folder.Tools(tools)
		}
		return src.tagged.Tools(tools), nil
	}
}

func (src *source) config(configuration func() (*catalog.Config, error)) func() (*catalog.Config, error) {
	if src.tagged == nil {
		return configuration
	}
	return func() (*catalog.Config, error) {
		c, err := configuration()
		if err != nil {
			return nil, err
		}
		return src.tagged.Config(c), nil
	}
}

// check tells what is wrong with a folder's files. At the start that is an error,
// later a warning.
func (src *source) check(l lists) error {
	if src.folder == nil {
		return nil
	}
	list, err := l.readList()
	if err != nil {
		// Clients are told, and so is the log.
		list = catalog.NewTools(nil, nil, []string{err.Error()})
	}
	return src.folder.Check(list)
}

func (src *source) version() string {
	if src.tagged == nil {
		return ""
	}
	return src.tagged.Version()
}

// own reports whether a function of the script's is one that tags have named: it
// need not be in a list.
func (src *source) own(function string) bool {
	return src.tagged != nil && slices.Contains(src.tagged.Functions(), function)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// checkTarget finds out whether something can be served at all.
func checkTarget(path string) error {
	if isFolder(path) {
		_, err := os.ReadDir(path)
		return err
	}
	return checkScript(path)
}

func checkScript(script string) error {
	info, err := os.Stat(script)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no script %s", script)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file; name a Bash script that defines tool_… functions", script)
	}
	f, err := os.Open(script)
	if err != nil {
		return err
	}
	return f.Close()
}
