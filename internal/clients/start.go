package clients

import (
	"path/filepath"
	"slices"
	"strings"
)

// This file is what a client does with an entry when it starts the server.

// SystemPath is the PATH of a program that is started from a menu, where nobody
// has made it longer.
func (m Machine) SystemPath() string {
	if m.OS == "darwin" {
		return "/usr/bin:/bin:/usr/sbin:/sbin"
	}
	return "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
}

// Variables that are there without a terminal.
var sessionVariables = []string{
	"HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "LANG", "LANGUAGE", "DISPLAY", "WAYLAND_DISPLAY",
	"DBUS_SESSION_BUS_ADDRESS", "SSH_AUTH_SOCK", "TZ", "__CF_USER_TEXT_ENCODING",
}

// handsOn reports whether a variable of a terminal is one that the client's
// servers have, PATH aside.
func (c Client) handsOn(name string) bool {
	switch {
	case c.inherits != nil:
		return slices.Contains(c.inherits, name)
	case c.Windowed:
		return slices.Contains(sessionVariables, name) || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")
	}
	return true
}

// Environment is what a server has before its entry adds to it, where the client
// is started as it usually is: from a menu, or in a terminal with the environment
// environ, "name=value". handedOn are names that the entry asks for.
func (c Client) Environment(m Machine, environ, handedOn []string) []string {
	var env []string
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if c.Windowed && name == "PATH" {
			continue
		}
		if c.handsOn(name) || slices.Contains(handedOn, name) {
			env = append(env, variable)
		}
	}
	if c.Windowed {
		env = append(env, "PATH="+m.SystemPath())
	}
	return env
}

// StartDir is where a server runs that does not say where it is to run. project
// is the directory of the project whose configuration has it, "" for the user's.
func (c Client) StartDir(m Machine, project string) string {
	switch {
	case project != "":
		return project
	case c.Windowed && c.project == nil && m.OS == "darwin":
		return "/"
	case c.Windowed:
		return m.Home
	}
	return m.Dir
}

// A Filling is a text of a configuration, as the client makes it.
type Filling struct {
	Text string
	// Unset are variables of the environment that are not set; what stands for
	// them was left in the text.
	Unset []string
	// Taken are variables whose value is that of this environment.
	Taken []string
	// Unknown is what only the client can replace, such as ${input:token}.
	Unknown []string
}

// Fill puts into a text what the client would. project is as for
// [Client.StartDir].
func (c Client) Fill(m Machine, text, project string) Filling {
	f := Filling{Text: text}
	if c.variables == nil {
		return f
	}
	f.Text = c.variables.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(found, "$"), "{"), "}")
		if c.variables == braced {
			return f.special(m, found, name, c.StartDir(m, project))
		}
		name, otherwise, has := strings.Cut(name, ":-")
		return f.variable(m, found, name, otherwise, has)
	})
	return f
}

// special is what editors know besides variables.
func (f *Filling) special(m Machine, found, name, dir string) string {
	if name, ok := strings.CutPrefix(name, "env:"); ok {
		return f.variable(m, found, name, "", false)
	}
	switch name {
	case "userHome":
		return m.Home
	case "workspaceFolder":
		return dir
	case "workspaceFolderBasename":
		return filepath.Base(dir)
	case "pathSeparator", "/":
		return string(filepath.Separator)
	}
	f.Unknown = append(f.Unknown, found)
	return found
}

func (f *Filling) variable(m Machine, found, name, otherwise string, has bool) string {
	value := m.Getenv(name)
	switch {
	case value != "":
		f.Taken = append(f.Taken, name)
		return value
	case has:
		return otherwise
	}
	f.Unset = append(f.Unset, name)
	return found
}
