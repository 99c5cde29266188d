package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/catalog/annotated"
	"github.com/conch-mcp/conch/internal/regular"
)

// A source is what a server is made of: a listed script, a tagged script, or a
// tagged folder.
type source interface {
	// script is what the shell is started with; "" where calls source files
	// themselves.
	script() string
	// environment is what the shell gets besides the server's, NAME=value each, and
	// wanted the variables of which it tells whether they are set.
	environment() []string
	wanted() []string

	// name and version are the server's where nothing else says them.
	name() string
	version() string
	// home is the folder that roots are relative to, and beside where a file of the
	// server's is that nobody has named.
	home() (string, error)
	beside(name string) string

	// isTagged reports whether tags say what the tools are: then no list has to.
	isTagged() bool
	// tools and config are what clients get to know, from the list and the
	// configuration that stand beside.
	tools(list func() (*catalog.Tools, error)) func() (*catalog.Tools, error)
	config(configuration func() (*catalog.Config, error)) func() (*catalog.Config, error)
	// owns reports whether a function is one that tags have named.
	owns(function string) bool
	// files are those that the list of tools is in besides.
	files() []string

	// check tells at the start what later is a warning. list is that of tools.
	check(list func() (*catalog.Tools, error)) error
	// explain adds what may have been meant to an error of the server's.
	explain(err error) error
}

// whereabouts are what of a server's start its source depends on.
type whereabouts struct {
	getenv func(name string) (value string, ok bool)
	isSet  func(name string) bool // whether the script has set a variable
	tools  string                 // the list that a flag names
}

// openSource reads what a server is made of as far as it says so before a shell
// runs it.
func openSource(path string, in whereabouts) (source, error) {
	if err := checkTarget(path); err != nil {
		return nil, err
	}
	env := annotated.Environment{Get: in.getenv, IsSet: in.isSet}
	if isFolder(path) {
		folder, err := annotated.NewFolder(path, env)
		return &taggedFolder{path: path, folder: folder, getenv: in.getenv}, err
	}
	text, _, err := regular.Read(path, maxScript)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if !annotated.IsScript(path, text) {
		return nil, fmt.Errorf("%s is a program and no script for Bash; conch serves programs with tags in a folder: conch serve %s", path, filepath.Dir(path))
	}
	listed := listedScript{path}
	if !annotated.Is(text, listed.hasList(text, in)) {
		return listed, nil
	}
	script, err := annotated.Read(path, text, env)
	if err != nil {
		return nil, err
	}
	return &taggedScript{listed, script, in.getenv}, nil
}

// maxScript is more than any script has.
const maxScript = 64 << 20

// listedScript is a script whose functions a list declares.
type listedScript struct{ path string }

// namesList finds a script that says where its list is.
var namesList = regexp.MustCompile(`(?m)^[^#\n]*\bMCP_TOOLS_LIST_FILE=`)

// hasList reports whether there is a list of tools, as far as that can be known
// before the script has run: it may name one itself.
func (s listedScript) hasList(text []byte, in whereabouts) bool {
	if path, _ := in.getenv("MCP_TOOLS_LIST_FILE"); path != "" || in.tools != "" || namesList.Match(text) {
		return true
	}
	_, err := os.Stat(s.beside("tools.json"))
	return err == nil
}

func (s listedScript) script() string            { return s.path }
func (s listedScript) environment() []string     { return nil }
func (s listedScript) wanted() []string          { return nil }
func (s listedScript) version() string           { return "" }
func (s listedScript) beside(name string) string { return beside(s.path, name) }
func (s listedScript) isTagged() bool            { return false }
func (s listedScript) owns(string) bool          { return false }
func (s listedScript) files() []string           { return nil }

func (s listedScript) name() string {
	base := filepath.Base(s.path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// home is the script's folder or, where a link to the script stands alone, that of
// the script itself.
func (s listedScript) home() (string, error) {
	dir, err := filepath.Abs(filepath.Dir(s.path))
	if err != nil {
		return "", fmt.Errorf("find the folder of %s: %w", s.path, err)
	}
	return homeOf(s.path, dir), nil
}

func (s listedScript) tools(list func() (*catalog.Tools, error)) func() (*catalog.Tools, error) {
	return list
}

func (s listedScript) config(configuration func() (*catalog.Config, error)) func() (*catalog.Config, error) {
	return configuration
}

func (s listedScript) check(func() (*catalog.Tools, error)) error { return nil }

func (s listedScript) explain(err error) error {
	absent := "Cannot read tools list: " + s.beside("tools.json") + ": there is no such file"
	if err == nil || !strings.Contains(err.Error(), absent) {
		return err
	}
	status := 2
	var exit *exitError
	if errors.As(err, &exit) {
		status, err = exit.status, exit.err
	}
	return &exitError{status, fmt.Errorf("%w; or write a comment # @cmd above each function that is a tool, and no list", err)}
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
