package cli

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/internal/casefile"
)

// casesSuffix is how the name of a file of cases ends.
const casesSuffix = ".test.yaml"

// suite is a file of cases and the server that they are for.
type suite struct {
	file    casefile.File
	script  string
	command []string // what starts a server that is no script; nil for one that is
	dir     string   // in which the command is started; "" is this process's
	scratch string   // a directory for the file alone, which is not there yet
}

// only is the suite with those cases whose names match.
func (s suite) only(names *regexp.Regexp) suite {
	s.file.Cases = slices.DeleteFunc(slices.Clone(s.file.Cases), func(c casefile.Case) bool { return !names.MatchString(c.Name) })
	return s
}

// own is what Directory stands for in the suite's file.
func (s suite) own() string { return filepath.Join(s.scratch, "test") }

// findSuites finds the files of cases for a target, or takes those that are named,
// and reads them. The error joins the faults of all.
func findSuites(t target, named []string) ([]suite, error) {
	if t.command != nil {
		if len(named) == 0 {
			return nil, errors.New("name the cases for the command: --cases FILE")
		}
		return readSuites(named, func(string) (string, error) { return "", nil }, t.command)
	}
	info, err := os.Stat(t.script)
	holdsCases := err == nil && strings.HasSuffix(t.script, casesSuffix)
	switch {
	case holdsCases && len(named) > 0:
		return nil, fmt.Errorf("--cases is for a server, and %s is none", t.script)
	case err == nil && info.IsDir() && len(named) == 0:
		return suitesBelow(t.script)
	case holdsCases:
		return readSuites([]string{t.script}, scriptOf, nil)
	}
	if err := checkTarget(t.script); err != nil {
		return nil, err
	}
	if len(named) == 0 {
		if named, err = casesBeside(t.script); err != nil {
			return nil, err
		}
	}
	return readSuites(named, func(string) (string, error) { return t.script, nil }, nil)
}

// suitesBelow reads all files of cases in a folder and those in it. Folders that
// are hidden, or that others' packages are installed in, are nobody's to test.
func suitesBelow(folder string) ([]suite, error) {
	var paths []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		name := ""
		if err == nil {
			name = entry.Name()
		}
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != folder && (strings.HasPrefix(name, ".") || name == "node_modules"):
			return filepath.SkipDir
		case !entry.IsDir() && strings.HasSuffix(name, casesSuffix):
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for cases: %w", err)
	}
	if beside := strings.TrimRight(folder, "/") + casesSuffix; isFile(beside) {
		// Those of the folder's own server.
		paths = append(paths, beside)
	}
	if len(paths) == 0 {
		return nil, noCases("below "+folder, "server"+casesSuffix+" beside a server.sh")
	}
	return readSuites(paths, scriptOf, nil)
}

// casesBeside finds the files of cases beside a script, those aside that are named
// after another.
func casesBeside(script string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(script))
	if err != nil {
		return nil, fmt.Errorf("look for cases: %w", err)
	}
	var paths []string
	for _, entry := range entries {
		path := filepath.Join(filepath.Dir(script), entry.Name())
		if !strings.HasSuffix(path, casesSuffix) {
			continue
		}
		if other := namesake(path); other == "" || filepath.Base(other) == filepath.Base(script) {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		base := strings.TrimSuffix(filepath.Base(script), filepath.Ext(script))
		return nil, noCases("for "+script, base+casesSuffix+" beside it")
	}
	return paths, nil
}

// sampleCases is what a file of cases looks like.
const sampleCases = `- name: greets by name
  tool: greet
  args: {name: Ada}
  expect:
    text: Hello, Ada!`

// noCases tells where cases are looked for, and what they look like.
func noCases(where, file string) error {
	return fmt.Errorf("there are no cases %s; write some in %s, such as\n\n%s", where, file, sampleCases)
}

// scriptOf finds the script that a file of cases is for: its namesake, or else the
// only one beside it.
func scriptOf(path string) (string, error) {
	if script := namesake(path); script != "" {
		return script, nil
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("look for the script of %s: %w", path, err)
	}
	var scripts []string
	for _, entry := range entries {
		if ext := filepath.Ext(entry.Name()); ext == ".sh" || ext == ".bash" {
			scripts = append(scripts, filepath.Join(filepath.Dir(path), entry.Name()))
		}
	}
	if len(scripts) == 1 {
		return scripts[0], nil
	}
	base := strings.TrimSuffix(filepath.Base(path), casesSuffix)
	if isProgramOf(filepath.Dir(path), base) {
		return filepath.Dir(path), nil
	}
	return "", fmt.Errorf("%s: for which script is it? There is no %s.sh beside it; name it after its script, or name both: conch test --cases %s SCRIPT", path, base, path)
}

// namesake is the script or folder that a file of cases is named after, "" where
// there is none: server.sh for server.test.yaml, and for server.errors.test.yaml too.
func namesake(path string) string {
	dir, name := filepath.Dir(path), strings.TrimSuffix(filepath.Base(path), casesSuffix)
	for ext := name; ext != ""; name = strings.TrimSuffix(name, ext) {
		for _, suffix := range []string{".sh", ".bash", ""} {
			script := filepath.Join(dir, name+suffix)
			if isFile(script) || suffix == "" && isFolder(script) {
				return script
			}
		}
		ext = filepath.Ext(name)
	}
	return ""
}

// isProgramOf reports whether a folder has a program of that name, whatever language
// its suffix tells: it is a tool of the folder, and no server of its own.
func isProgramOf(folder, name string) bool {
	found, _ := filepath.Glob(filepath.Join(folder, name) + ".*")
	return slices.ContainsFunc(found, func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
	})
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// readSuites reads files. Each is for the command where there is one, else for
// what it says itself, else for the script.
func readSuites(paths []string, script func(path string) (string, error), command []string) ([]suite, error) {
	var all []suite
	var faults []error
	for _, path := range paths {
		s, err := readSuite(path)
		faults = append(faults, err)
		if err != nil {
			continue
		}
		switch {
		case command != nil:
			s.command = command
		case s.file.Command != nil:
			s.command, s.dir = s.file.Command, filepath.Dir(path)
		default:
			s.script, err = script(path)
			faults = append(faults, err)
		}
		all = append(all, s)
	}
	return all, errors.Join(faults...)
}

func readSuite(path string) (suite, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return suite{}, fmt.Errorf("read cases: %w", err)
	}
	tmp, err := filepath.Abs(os.TempDir())
	if err != nil {
		return suite{}, fmt.Errorf("find the temporary directory: %w", err)
	}
	s := suite{scratch: filepath.Join(tmp, "conch-cases-"+rand.Text()[:12])}
	s.file, err = casefile.Parse(path, text, s.own())
	return s, err
}
