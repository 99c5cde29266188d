package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/internal/clients"
	"github.com/conch-mcp/conch/internal/process"
	"github.com/conch-mcp/conch/internal/regular"
)

// This file is what can be said of an entry before anything is started.

// A Source is where an entry stands.
type Source struct {
	Client clients.Client
	File   string
	// Project is the directory of the project whose configuration it is, "" for
	// the user's.
	Project string
}

// launch is how a client starts a server.
type launch struct {
	name    string
	command string // as the client has it
	file    string // what that is
	args    []string
	env     []string
	dir     string
	isConch bool
}

// examination is of one entry.
type examination struct {
	Surroundings
	Source
	server  clients.Server
	section *Section
	launch
}

// examine works out how a server is started, and adds what keeps it from that, or
// is uncertain. ok says that it can be started.
func (s Surroundings) examine(section *Section, from Source, server clients.Server) (l launch, ok bool) {
	e := &examination{Surroundings: s, Source: from, server: server, section: section}
	e.name = server.Name
	switch {
	case len(server.Faults) > 0:
		for _, fault := range server.Faults {
			e.fail("mend the entry in "+s.short(from.File), "%s", fault)
		}
		return e.launch, false
	case server.URL != "":
		section.add(Note, server.Name, "", "is reached at %s, and not started; it was not tried", server.URL)
		return e.launch, false
	}
	ok = e.fill() && e.place() && e.locate()
	e.isConch = e.isOurs()
	return e.launch, ok && e.readFirstLine() && e.findScripts()
}

// who starts the server, for sentences about one.
func (e *examination) who() string {
	if e.Client.Name == "" {
		return "the client"
	}
	return e.Client.Title
}

func (e *examination) fail(remedy, format string, args ...any) {
	e.section.add(Fail, e.server.Name, remedy, format, args...)
}

// fill makes texts of the entry what the client makes of them.
func (e *examination) fill() bool {
	var known clients.Filling
	put := func(text string) string {
		f := e.Client.Fill(e.Machine, text, e.Project)
		known.Unset = append(known.Unset, f.Unset...)
		known.Taken = append(known.Taken, f.Taken...)
		known.Unknown = append(known.Unknown, f.Unknown...)
		return f.Text
	}
	e.command, e.dir = put(e.server.Command), put(e.server.Dir)
	for _, arg := range e.server.Args {
		e.args = append(e.args, put(arg))
	}
	startable := len(known.Unknown) == 0
	if !startable {
		e.section.add(Note, e.name, "", "has %s in what is started, which %s fills in and nobody else can know: it was not tried", listed(known.Unknown), e.who())
	}
	known.Unknown = nil
	e.env = e.Client.Environment(e.Machine, e.Environ, e.server.HandedOn)
	for _, v := range e.server.Env {
		e.env = append(e.env, v.Name+"="+put(v.Value))
	}
	if startable {
		e.tellFilled(known)
	}
	e.tellUnfilled()
	return startable
}

func (e *examination) tellFilled(f clients.Filling) {
	if len(f.Unknown) > 0 {
		e.section.add(Note, e.name, "", "%s in its env is for %s to fill in; here it was started with the text as it stands", listed(f.Unknown), e.who())
	}
	if unset := unique(f.Unset); len(unset) > 0 {
		e.section.add(Warn, e.name, "set it where "+e.who()+" is started, or write the value", "wants the variable %s, which is not set here", listed(unset))
	}
	if taken := unique(f.Taken); len(taken) > 0 && e.Client.Windowed {
		e.section.add(Note, e.name, "", "%s has its value from this terminal; %s has none when it is started from a menu", listed(taken), e.who())
	}
}

func unique(names []string) []string {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// tellUnfilled finds what a shell would replace, and the client does not.
func (e *examination) tellUnfilled() {
	for _, text := range append([]string{e.command}, e.args...) {
		for _, shells := range []string{"~/", "$HOME/", "${HOME}/"} {
			if strings.HasPrefix(text, shells) {
				e.section.add(Warn, e.name, "write the whole path: "+filepath.Join(e.Home, strings.TrimPrefix(text, shells)),
					"has %s, and %s is for shells: %s does not replace it", text, strings.TrimSuffix(shells, "/"), e.who())
			}
		}
	}
}

// place is where the server runs.
func (e *examination) place() bool {
	start := e.Client.StartDir(e.Machine, e.Project)
	switch {
	case e.dir == "":
		e.dir = start
	case !filepath.IsAbs(e.dir):
		e.dir = filepath.Join(start, e.dir)
	}
	if info, err := os.Stat(e.dir); err != nil || !info.IsDir() {
		e.fail("make it, or name another in the entry", "is to run in %s, which is no directory", e.dir)
		return false
	}
	return true
}

// path is the PATH that the server is started with.
func (e *examination) path() string {
	for _, variable := range slices.Backward(e.env) {
		if path, ok := strings.CutPrefix(variable, "PATH="); ok {
			return path
		}
	}
	return ""
}

// locate finds the program.
func (e *examination) locate() bool {
	if !strings.ContainsRune(e.command, filepath.Separator) {
		e.file = process.Find(e.path(), e.dir, e.command)
		if e.file == "" {
			e.notOnPath(e.command)
		}
		return e.file != ""
	}
	e.file = e.command
	if !filepath.IsAbs(e.file) {
		e.file = filepath.Join(e.dir, e.file)
	}
	info, err := os.Stat(e.file)
	switch {
	case err != nil && e.isLine():
		return false
	case errors.Is(err, fs.ErrNotExist):
		e.fail(e.whereElse(), "there is no %s", e.file)
	case err != nil:
		e.fail("give yourself the right to read its directories", "%s cannot be looked at: %v", e.file, errors.Unwrap(err))
	case info.IsDir():
		e.fail("name the program in it", "%s is a directory, and no program", e.file)
	case !process.IsProgram(e.file):
		e.fail(fmt.Sprintf("chmod +x %s, or start it as the argument of the program that runs it", e.file), "%s is not executable", e.file)
	default:
		if !filepath.IsAbs(e.command) {
			e.section.add(Warn, e.name, "write the whole path: "+e.file, "its command %s is relative, and leads from wherever %s is", e.command, e.who())
		}
		return true
	}
	return false
}

// isLine tells of a command that is a whole command line.
func (e *examination) isLine() bool {
	words := strings.Fields(e.command)
	if len(words) < 2 {
		return false
	}
	e.fail(fmt.Sprintf("let command be %q, and begin args with the rest", words[0]),
		"its command is %q; %s takes all of that for the name of one program", e.command, e.who())
	return true
}

// whereElse is what to do about a path that leads nowhere.
func (e *examination) whereElse() string {
	if there := filepath.Join(e.Dir, e.command); !filepath.IsAbs(e.command) && process.IsProgram(there) {
		return fmt.Sprintf("it is started in %s; write the whole path: %s", e.dir, there)
	}
	if there := process.Find(e.Surroundings.path(), "", filepath.Base(e.file)); there != "" {
		return fmt.Sprintf("there is one at %s; %s", there, e.orInstall("write that"))
	}
	return e.orInstall("write where it is now")
}

// orInstall adds the way that writes whole paths by itself.
func (e *examination) orInstall(otherwise string) string {
	if e.Client.Name == "" || filepath.Base(e.command) != "conch" && !e.isConch {
		return otherwise
	}
	return fmt.Sprintf("%s, or let conch install --client %s write the entry anew", otherwise, e.Client.Name)
}

// notOnPath tells of a program that the client does not find.
func (e *examination) notOnPath(program string) {
	if program == e.command && e.isLine() {
		return
	}
	finding := fmt.Sprintf("there is no %s on the PATH that %s starts it with (%s)", program, e.who(), e.path())
	here := process.Find(e.Surroundings.path(), "", program)
	switch {
	case here == "":
		e.fail("install it, or write where it is", "%s, nor on that of this terminal", finding)
	case program == e.command:
		e.fail(e.orInstall(fmt.Sprintf("in this terminal it is %s; write that", here)), "%s", finding)
	default:
		e.fail(e.orInstall(fmt.Sprintf("in this terminal it is %s; give the entry a PATH in its env that has %s", here, filepath.Dir(here))), "%s", finding)
	}
}

// headSize is enough of a script to tell what it is.
const headSize = 256 << 10

func head(file string) []byte {
	// What cannot be read is looked at by whoever starts it.
	text, _ := regular.Head(file, headSize)
	return text
}

// firstLine is what the #! of a script names; nil where it has none.
func firstLine(text []byte) []string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	if !ok {
		return nil
	}
	return strings.FieldsFunc(string(rest), func(r rune) bool { return r == ' ' || r == '\t' })
}

// asked is the program that a first line has env look for, "" for none.
func asked(words []string) string {
	if len(words) < 2 || filepath.Base(words[0]) != "env" {
		return ""
	}
	for _, word := range words[1:] {
		if !strings.HasPrefix(word, "-") && !strings.ContainsRune(word, '=') {
			return word
		}
	}
	return ""
}

// readFirstLine looks at what is to run a script.
func (e *examination) readFirstLine() bool {
	words := firstLine(head(e.file))
	if len(words) == 0 {
		return true
	}
	last := words[len(words)-1]
	program := asked(words)
	switch {
	case strings.HasSuffix(last, "\r"):
		e.fail("save it with the line ends of Unix: tr -d '\\r' makes them", "%s has the line ends of Windows; its first line asks for %q, which is nowhere", e.file, strings.TrimSuffix(last, "\r")+"␍")
	case program != "" && strings.ContainsRune(program, filepath.Separator), program == "" && !process.IsProgram(words[0]):
		if program == "" {
			program = words[0]
		}
		if process.IsProgram(program) {
			return true
		}
		e.fail("begin it with #!/usr/bin/env "+filepath.Base(program), "the first line of %s asks for %s, which is not there", e.file, program)
	case program != "" && process.Find(e.path(), e.dir, program) == "":
		e.notOnPathOf(program)
	default:
		return true
	}
	return false
}

func (e *examination) notOnPathOf(program string) {
	before := len(e.section.Checks)
	e.notOnPath(program)
	for i := range e.section.Checks[before:] {
		c := &e.section.Checks[before+i]
		c.Finding = fmt.Sprintf("the first line of %s asks env for %s, and %s", e.file, program, c.Finding)
	}
}

// scripts are the arguments that are files to run, as far as one can tell.
func (l launch) scripts() []string {
	var files []string
	for i, arg := range l.args {
		isValue := i > 0 && strings.HasPrefix(l.args[i-1], "-") && !strings.ContainsRune(l.args[i-1], '=') && l.args[i-1] != "--"
		if filepath.IsAbs(arg) && !isValue {
			files = append(files, arg)
		}
	}
	return files
}

// findScripts looks for the script of a server that conch serves.
func (e *examination) findScripts() bool {
	if filepath.Base(e.command) != "conch" && !sameFile(e.file, e.Conch) {
		return true
	}
	files := e.scripts()
	if len(files) == 0 {
		return true
	}
	// Behind the first are the script's own arguments.
	_, err := os.Stat(files[0])
	if errors.Is(err, fs.ErrNotExist) {
		e.fail(e.orInstall("write where the script is now"), "there is no script %s", files[0])
		return false
	}
	return true
}

// isOurs reports whether the server is conch's: conch itself, or a script that
// conch runs.
func (e *examination) isOurs() bool {
	if filepath.Base(e.command) == "conch" || e.file != "" && sameFile(e.file, e.Conch) {
		return true
	}
	for _, file := range append([]string{e.file}, e.scripts()...) {
		text := head(file)
		if bytes.IndexByte(text, 0) >= 0 {
			continue
		}
		if asked(firstLine(text)) == "conch" || bytes.Contains(text, []byte("\nrun_mcp_server")) {
			return true
		}
	}
	return false
}
