// Package clients knows programs that start MCP servers: where each keeps its
// configuration, what stands there for a server, and what it makes of it.
//
// It must not know how files are read and replaced, nor what anybody types.
package clients

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/internal/inplace"
)

// A Scope is for whom a server is there.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // for one user, wherever the client runs
	Project Scope = "project" // for whoever opens a directory in the client
)

// A Machine is what the places of files depend on.
type Machine struct {
	OS     string // as runtime.GOOS has it
	Home   string
	Dir    string // the project's
	Getenv func(string) string
}

// A Place is a client's file for a scope.
type Place struct {
	File string
	// Signs are paths of which one is there at least where the client has run.
	// Without any, the file may be made wherever it is missing.
	Signs []string
}

// A Client is a program that starts servers.
type Client struct {
	Name  string // as one types it
	Title string // as it calls itself
	// Windowed is a client that is started from a menu: its PATH is the system's
	// and not that of anybody's shell.
	Windowed bool
	Next     string // what makes it take up a change

	parse   func([]byte) (inplace.Document, error)
	servers string // the member that holds them
	kind    string // the member "type" of a server that is started; "" for none
	// foreign are members of a server that is reached in another way.
	foreign []string
	// strict clients take names of letters, digits, - and _ alone.
	strict bool
	// plain is a client in whose names of tools an underscore ends the server's.
	plain bool
	// variables is what the client replaces in texts, nil for nothing.
	variables *regexp.Regexp
	// inherits are the variables of the client's that its servers have; nil for all.
	inherits []string
	// keepsProjects is a client whose own file has servers of single projects too.
	keepsProjects bool

	user, project func(Machine) Place
}

// Of finds a client by its name.
func Of(name string) (Client, error) {
	for _, c := range All() {
		if c.Name == name {
			return c, nil
		}
	}
	return Client{}, fmt.Errorf("there is no client %q; there is %s; for any other, see what to write with --print, without --client", name, strings.Join(Names(), ", "))
}

// Names lists the clients' names.
func Names() []string {
	var names []string
	for _, c := range All() {
		names = append(names, c.Name)
	}
	return names
}

// Place is where the client reads what is in a scope.
func (c Client) Place(m Machine, s Scope) (Place, error) {
	switch {
	case s == User && c.user != nil:
		return c.user(m), nil
	case s == Project && c.project != nil:
		return c.project(m), nil
	case s == Project:
		return Place{}, fmt.Errorf("%s has no configuration for a project; leave --scope project out", c.Title)
	}
	return Place{}, fmt.Errorf("there is no scope %q; there is %s and %s", s, User, Project)
}

// NameFor makes a name for a server that every client takes of one that people
// have chosen freely. It may be empty.
func (c Client) NameFor(text string) string {
	name := strings.Map(func(r rune) rune {
		if !isPlain(r) || c.plain && r == '_' {
			return '-'
		}
		return r
	}, text)
	parts := slices.DeleteFunc(strings.Split(name, "-"), func(part string) bool { return part == "" })
	return strings.Join(parts, "-")
}

func isPlain(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// below is a file of a project, which is made where it is missing.
func below(path ...string) func(Machine) Place {
	return func(m Machine) Place {
		return Place{File: filepath.Join(m.Dir, filepath.Join(path...))}
	}
}

// within is a file in a directory that the client has made.
func within(dir string, path ...string) Place {
	return Place{File: filepath.Join(dir, filepath.Join(path...)), Signs: []string{dir}}
}

// or is a directory that a variable names, or else one in the home directory.
func (m Machine) or(variable string, path ...string) string {
	if dir := m.Getenv(variable); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(m.Home, filepath.Join(path...))
}

// settings is where programs of a desktop keep theirs.
func (m Machine) settings() string {
	if m.OS == "darwin" {
		return filepath.Join(m.Home, "Library", "Application Support")
	}
	return m.or("XDG_CONFIG_HOME", ".config")
}
