package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/internal/catalog/annotated"
	"github.com/conch-mcp/conch/internal/catalog/bashsdk"
	"github.com/conch-mcp/conch/internal/clients"
	"github.com/conch-mcp/conch/internal/regular"
)

// This file is how a server is started that a client is to start: with every path
// written out, and with the variables without which it would not start.

// launch is how a server is started.
type launch struct {
	entry clients.Entry
	title string   // what it may be called, "" if nothing tells
	needs []string // variables that it cannot do without
}

func newLaunch(args []string, isCommand bool) (launch, error) {
	if err := refuseInstalledURL(args[0]); err != nil {
		return launch{}, err
	}
	switch {
	case isCommand:
		return launchCommand(args)
	case isFolder(args[0]):
		return launchFolder(args[0])
	}
	return launchScript(args[0])
}

// launchFolder is for a folder of tools, which conch serves.
func launchFolder(folder string) (l launch, err error) {
	path, err := filepath.Abs(folder)
	if err != nil {
		return l, fmt.Errorf("find %s: %w", folder, err)
	}
	if l.needs, err = needsOfFolder(path); err != nil {
		return l, err
	}
	conch, err := ownPath()
	if err != nil {
		return l, err
	}
	l.entry = clients.Entry{Command: conch, Args: []string{"serve", path}}
	l.title = titleOf(path)
	return l, nil
}

// needsOfFolder is needsOf of a folder.
func needsOfFolder(path string) ([]string, error) {
	tools, err := annotated.NewFolder(path, annotated.Environment{Get: os.LookupEnv})
	if err != nil {
		return nil, err
	}
	list, err := bashsdk.NewToolsFile(filepath.Join(path, "tools.json"), true).Read()
	if err != nil {
		return nil, err
	}
	if err := tools.Check(list); err != nil {
		return nil, err
	}
	return tools.Wanted(), nil
}

func refuseInstalledURL(server string) error {
	if _, err := os.Stat(server); err == nil || !strings.Contains(server, "://") {
		return nil
	}
	return fmt.Errorf("%s is a URL, and nothing is started for one; docs/http.md shows what clients want of it", server)
}

func launchScript(script string) (l launch, err error) {
	path, err := filepath.Abs(script)
	if err != nil {
		return l, fmt.Errorf("find %s: %w", script, err)
	}
	text, mode, err := head(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, fmt.Errorf("there is no script %s; a command goes behind --", script)
	}
	if err != nil {
		return l, err
	}
	if strings.ContainsRune(text, 0) {
		return l, fmt.Errorf("%s is no script; for a program write -- %s", script, script)
	}
	conch, err := ownPath()
	if err != nil {
		return l, err
	}
	l.title = titleOf(path)
	if !startsItself(text) {
		l.entry = clients.Entry{Command: conch, Args: []string{"serve", path}}
		l.needs, err = needsOf(path, text)
		return l, err
	}
	if mode&0o111 == 0 {
		return l, fmt.Errorf("%s starts itself, by run_mcp_server, and is not executable; chmod +x it", script)
	}
	if !strings.HasPrefix(text, "#!") {
		return l, fmt.Errorf("%s starts itself, by run_mcp_server, and its first line does not say with what; begin it with #!/usr/bin/env bash", script)
	}
	l.entry = clients.Entry{Command: path, Env: itsConch(conch)}
	return l, nil
}

// mayHaveTools is what a script without tags has in it that has tools: a function of
// one, or what another file may have some in.
var mayHaveTools = regexp.MustCompile(`tool_|(?m:^\s*(?:source|\.)\s)`)

// needsOf are the variables of the environment that a script with tags cannot do
// without. A script that has no tools is none to install.
func needsOf(path, text string) ([]string, error) {
	_, err := os.Stat(beside(path, "tools.json"))
	hasList := err == nil
	if !annotated.Is([]byte(text), hasList) {
		if !hasList && !mayHaveTools.MatchString(text) {
			return nil, fmt.Errorf("nothing in %s is a tool: there is no function below a comment # @cmd, and none called tool_NAME", path)
		}
		return nil, nil
	}
	script, err := annotated.Read(path, []byte(text), annotated.Environment{Get: os.LookupEnv})
	if err != nil {
		return nil, err
	}
	return script.Wanted(), nil
}

// tellNeeds tells of variables that the entry does not give the server.
func (l launch) tellNeeds(out io.Writer, entry clients.Entry) {
	for _, name := range l.needs {
		if !slices.ContainsFunc(entry.Env, func(v clients.Variable) bool { return v.Name == name }) {
			fmt.Fprintf(out, "conch: the server needs the environment variable %s, and the entry does not give it; if the client does not have it, add --env %s\n", name, name)
		}
	}
}

// itsConch is how a script with a drop-in file finds conch without a PATH.
func itsConch(conch string) []clients.Variable {
	return []clients.Variable{{Name: "CONCH_BIN", Value: conch}}
}

// launchCommand finds the program, as the shell would. Arguments are the
// program's own, so a path among them can only be pointed to.
func launchCommand(args []string) (l launch, err error) {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return l, notThere(args[0], err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return l, fmt.Errorf("find %s: %w", args[0], err)
	}
	for _, arg := range args[1:] {
		if info, err := os.Stat(arg); err == nil && info.Mode().IsRegular() && !filepath.IsAbs(arg) {
			fmt.Fprintf(os.Stderr, "conch: %s is a file here, and the client starts the command elsewhere; if that is what you mean, write \"$PWD/%s\"\n", arg, arg)
		}
	}
	l.entry = clients.Entry{Command: path, Args: args[1:]}
	if strings.ContainsRune(args[0], '/') {
		l.title = titleOf(path)
	}
	if text, _, err := head(path); err == nil && startsItself(text) {
		conch, err := ownPath()
		if err != nil {
			return l, err
		}
		l.entry.Env = itsConch(conch)
	}
	return l, nil
}

// head is the beginning of a file, and enough of any script.
func head(path string) (text string, mode fs.FileMode, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", 0, err
	}
	if !info.Mode().IsRegular() {
		return "", 0, fmt.Errorf("%s is no file", path)
	}
	read, err := regular.Head(path, 1<<20)
	if err != nil {
		return "", 0, fmt.Errorf("read %s: %w", path, err)
	}
	return string(read), info.Mode(), nil
}

var ownStart = regexp.MustCompile(`(?m)^[^#\n]*\brun_mcp_server\b(?:[^(\n]|$)`)

// startsItself reports whether a script is a server when it is run, and not when
// conch serve runs it alone: one that calls the function of a drop-in file.
func startsItself(text string) bool {
	return !strings.ContainsRune(text, 0) && ownStart.MatchString(text)
}

// ownPath is where conch is by the name it was called: a package manager moves
// what that leads to with every version.
func ownPath() (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find conch itself: %w", err)
	}
	called, err := exec.LookPath(os.Args[0])
	if err != nil {
		return program, nil
	}
	if called, err = filepath.Abs(called); err != nil {
		return program, nil
	}
	if !isSame(program, called) {
		return program, nil
	}
	return called, nil
}

// isSame reports whether two paths lead to one file.
func isSame(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// titleOf is what the server of a script or folder may be called: what its
// configuration says, or else what [nameFor] does.
func titleOf(server string) string {
	var config struct{ ServerInfo struct{ Name string } }
	dir := filepath.Dir(server)
	if isFolder(server) {
		dir = server
	}
	text, _, err := regular.Read(filepath.Join(dir, "config.json"), maxConfiguration)
	if err == nil && json.Unmarshal(text, &config) == nil && config.ServerInfo.Name != "" {
		return config.ServerInfo.Name
	}
	return nameFor(server)
}

// nameFor is the name of a file or folder, or that of the folder it is in where its
// own says nothing.
func nameFor(server string) string {
	name := filepath.Base(server)
	if !isFolder(server) {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	if slices.Contains([]string{"server", "mcp", "main", "index", "run", "start", "tools"}, name) {
		return filepath.Base(filepath.Dir(server))
	}
	return name
}

// nameOf is the server's name in the client's configuration.
func (f installFlags) nameOf(client clients.Client, title string) (string, error) {
	if f.name != "" {
		return f.name, nil
	}
	if name := client.NameFor(title); name != "" {
		return name, nil
	}
	return "", errors.New("nothing tells what to call the server; give it a name with --name")
}

// nameOnly is the name of a server that need not be there any more.
func (f installFlags) nameOnly(client clients.Client, args []string) (string, error) {
	title := ""
	if len(args) > 0 && strings.ContainsAny(args[0], "/.") {
		path, err := filepath.Abs(args[0])
		if err != nil {
			return "", fmt.Errorf("find %s: %w", args[0], err)
		}
		title = titleOf(path)
	}
	return f.nameOf(client, title)
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// complete adds variables to an entry: PATH, and those that are asked for, which
// may be PATH too.
func (f installFlags) complete(entry clients.Entry, client clients.Client) (clients.Entry, error) {
	env := slices.Clone(entry.Env)
	if path := presentPath(); f.path || !f.pathGiven && client.Windowed && leadsFurther(path) {
		env = append(env, clients.Variable{Name: "PATH", Value: path})
	}
	for _, given := range f.env {
		name, value, typed := strings.Cut(given, "=")
		if !variableName.MatchString(name) {
			return entry, fmt.Errorf("--env %q names no variable; write KEY=VALUE, or KEY alone for its present value", given)
		}
		if !typed {
			present, ok := os.LookupEnv(name)
			if !ok {
				return entry, fmt.Errorf("--env %s: there is no such variable here to take the value of; write %s=VALUE", name, name)
			}
			value = present
		}
		env = slices.DeleteFunc(env, func(v clients.Variable) bool { return v.Name == name })
		env = append(env, clients.Variable{Name: name, Value: value, Typed: typed})
	}
	entry.Env = env
	return entry, nil
}

// presentPath is the PATH of this shell, each directory once, without those that
// would be others in another directory.
func presentPath() string {
	var dirs []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// leadsFurther reports whether a PATH has more than programs with windows have
// anyway.
func leadsFurther(path string) bool {
	return slices.ContainsFunc(filepath.SplitList(path), func(dir string) bool {
		return !slices.Contains([]string{"/usr/bin", "/bin", "/usr/sbin", "/sbin"}, dir)
	})
}
