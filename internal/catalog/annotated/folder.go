package annotated

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/regular"
	"github.com/conch-mcp/conch/internal/tags"
)

// A Folder is a server whose tools are files: scripts and programs that say in
// tags what they are. Files below its folders are none of it, nor is what has no
// tags or a name that begins with a dot. It is read again when it has changed.
type Folder struct {
	path string // absolute
	env  Environment

	mu     sync.Mutex
	seen   []seenFile
	read   *reading
	known  bool     // seen can be trusted to tell a change
	named  []string // paths of files that tags name, as those of the last reading
	wanted []string // variables that commands need, likewise
	merged merged
}

// A seenFile is a file as it was when it was read.
type seenFile struct {
	name string // or the path, of one that tags name
	stat unix.Stat_t
}

// reading is what the files say.
type reading struct {
	tools    []*catalog.Tool
	problems []string
	faults   error
}

// NewFolder names a folder; it is not read yet.
func NewFolder(path string, env Environment) (*Folder, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", path, err)
	}
	return &Folder{path: absolute, env: env}, nil
}

// Check tells what is wrong with the files as they are now, and whether anything
// here could be called, of a list's as well.
func (f *Folder) Check(list *catalog.Tools) error {
	tools, err := f.Tools(list)
	if err != nil {
		return err
	}
	if err := f.faults(); err != nil {
		return err
	}
	if len(tools.Problems) > 0 || slices.ContainsFunc(tools.List, func(t *catalog.Tool) bool { return t.Engine != nil }) {
		return nil
	}
	return fmt.Errorf("no file in %s has a tag that says what it is, such as # @describe%s", f.path, f.hint())
}

// faults are what is wrong with the files as they were read last.
func (f *Folder) faults() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read.faults
}

// Wanted are the variables of the environment that commands need, of the files as
// they were read last.
func (f *Folder) Wanted() (names []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.wanted)
}

// hint names what may be meant by a folder that has no tools.
func (f *Folder) hint() string {
	entries, _ := os.ReadDir(f.path)
	for _, e := range entries {
		path := filepath.Join(f.path, e.Name())
		switch {
		case strings.HasSuffix(path, ".sh") && e.Type().IsRegular():
			return "; to serve a script, name it: " + path
		case e.IsDir() && e.Name() == "tools":
			return "; to serve a folder below it, name that: " + path
		}
	}
	return ""
}

// Tools are those of the files as they are now, and of the list beside them. A file
// with a fault has none.
func (f *Folder) Tools(list *catalog.Tools) (*catalog.Tools, error) {
	r, err := f.now()
	if err != nil {
		return nil, &catalog.FileError{What: "folder of tools", Path: f.path, Reason: err.Error(), NotFound: errors.Is(err, os.ErrNotExist)}
	}
	return f.merged.with(list, r, func() ([]*catalog.Tool, []string) { return r.tools, r.problems }), nil
}

// Files are the folder, the files that it has and those that tags name, by their
// paths, all of them as they are now.
func (f *Folder) Files() (paths []string) {
	_, _ = f.now() // which knows what tags name
	f.mu.Lock()
	defer f.mu.Unlock()
	paths = append([]string{f.path}, f.named...)
	names, _ := f.list()
	for _, name := range names {
		paths = append(paths, filepath.Join(f.path, name))
	}
	return paths
}

// list are the names of the files that may be tools.
func (f *Folder) list() (names []string, err error) {
	entries, err := os.ReadDir(f.path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), "~") || e.IsDir() {
			continue
		}
		names = append(names, e.Name())
	}
	return names, nil
}

// now reads the folder, unless nothing has changed.
func (f *Folder) now() (*reading, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	names, err := f.list()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	seen := f.look(names)
	if f.known && slices.EqualFunc(slices.Concat(seen, f.look(f.named)), f.seen, isSame) {
		return f.read, nil
	}
	f.named, f.wanted = nil, nil
	f.read = f.readAll(seen)
	// Which files tags name is known only once they have been read.
	f.seen = slices.Concat(seen, f.look(f.named))
	f.known = !slices.ContainsFunc(f.seen, func(s seenFile) bool { return !regular.IsSettled(&s.stat, start) })
	return f.read, nil
}

// look finds how the files are.
func (f *Folder) look(names []string) (seen []seenFile) {
	for _, name := range names {
		s := seenFile{name: name}
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(f.path, name)
		}
		if unix.Stat(path, &s.stat) == nil && s.stat.Mode&unix.S_IFMT == unix.S_IFREG {
			seen = append(seen, s)
		}
	}
	return seen
}

func isSame(a, b seenFile) bool { return a.name == b.name && regular.IsSame(&a.stat, &b.stat) }

// readAll reads the files. Of two tools with one name neither is served.
func (f *Folder) readAll(files []seenFile) *reading {
	r := &reading{}
	from := map[string]string{}
	for _, file := range files {
		tools, problems, err := f.readFile(file)
		if err != nil {
			r.faults = errors.Join(r.faults, err)
			r.problems = append(r.problems, strings.ReplaceAll(err.Error(), "\n", "; ")+"; its tools are not served")
		}
		r.problems = append(r.problems, problems...)
		for _, tool := range tools {
			if other, twice := from[tool.Name]; twice {
				r.faults = errors.Join(r.faults, fmt.Errorf("%s and %s both have a tool %s; give one of them another name", other, file.name, tool.Name))
				r.problems = append(r.problems, fmt.Sprintf("%s and %s both have a tool %s; it is not served", other, file.name, tool.Name))
				r.tools = slices.DeleteFunc(r.tools, func(t *catalog.Tool) bool { return t.Name == tool.Name })
				continue
			}
			from[tool.Name] = file.name
			r.tools = append(r.tools, tool)
		}
	}
	return r
}

// maxScript bounds a file with tags.
const maxScript = 4 << 20

// readFile reads one of the files. One that is neither a script nor a program with
// tags has nothing.
func (f *Folder) readFile(file seenFile) (tools []*catalog.Tool, problems []string, err error) {
	path := filepath.Join(f.path, file.name)
	if file.stat.Size > maxScript {
		if languageOf(file.name, nil) == unknown {
			return nil, nil, nil
		}
		return nil, []string{fmt.Sprintf("%s is larger than %d MiB; it is not served", path, maxScript>>20)}, nil
	}
	text, _, err := regular.Read(path, maxScript)
	if err != nil {
		return nil, []string{fmt.Sprintf("cannot read %s: %v; it is not served", path, err)}, nil
	}
	form, ok := FormOf(file.name, text)
	switch {
	case !ok:
		return nil, nil, nil
	case form.IsScript:
		return f.readScript(path, text)
	}
	return f.readProgram(path, text, form, file.stat.Mode&0o111 != 0)
}

// readTags reads the tags of a file, and notes which others they name.
func (f *Folder) readTags(path string, text []byte) (*Script, error) {
	s, err := Read(path, text, f.env)
	if s != nil {
		f.named = append(f.named, s.named()...)
		f.wanted = append(f.wanted, s.Wanted()...)
	}
	return s, err
}

func (f *Folder) readScript(path string, text []byte) ([]*catalog.Tool, []string, error) {
	s, err := f.readTags(path, text)
	if err != nil {
		return nil, nil, err
	}
	s.apart = true
	tools, problems := s.own()
	return tools, problems, nil
}

// unserved tells of a script with tags that has no tool.
func unserved(s *tags.Script) []string {
	if len(s.Commands) > 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s has tags, and no function below a @cmd that could be a tool (one whose name begins with _ is private)", s.File)}
}
