package check

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/conch-mcp/conch/internal/catalog/annotated"
	"github.com/conch-mcp/conch/internal/regular"
	"github.com/conch-mcp/conch/internal/tags"
)

// script is one script to check.
type script struct {
	*file
	isBash bool // and not of another language, whose code is not looked at
	tagged bool
	form   annotated.Form // of what is tagged
	// described is what the tags say; nil where they have faults, or are none.
	described *tags.Script
	inFolder  bool // it is in a folder that is to be checked, and not only below it
	unknown   bool // neither its name nor its first line says what it is
	named     bool // it is itself what is to be checked
	listed    bool // there is a list of tools, or ought to be
	shares    bool // there is a list of the folder's
	alone     bool // it is a server by itself
	code      *code
	// unreadable says that Bash cannot read it.
	unreadable bool
}

// toolFunction is the head of a tool's function.
var toolFunction = regexp.MustCompile(`(?m)^[ \t]*(?:function[ \t]+)?tool_[A-Za-z0-9_.-]+[ \t]*(?:\(\)|\{)`)

// find is what there is to check of a target.
func (c *checker) find(target string) ([]*script, error) {
	info, err := os.Stat(target)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", target, reason(err))
	}
	if info.IsDir() {
		return c.below(target)
	}
	f, err := c.read(target)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", target, err)
	}
	s := &script{file: f, isBash: isBash(f), named: true}
	if s.form, s.tagged = annotated.FormOf(f.name, f.text); s.isBash {
		// Bash runs whatever it is given by name.
		s.form, s.tagged = annotated.Form{IsScript: true, Tags: f.text}, annotated.Is(f.text, false)
	}
	if !s.isBash && !s.tagged {
		return nil, fmt.Errorf("%s is neither a Bash script nor one with tags; name a script, or a folder of scripts", target)
	}
	s.listed = s.isBash && (!s.tagged || c.hasList(s))
	s.alone = s.isBash
	return []*script{s}, nil
}

// hasList reports whether a script has a list of tools.
func (c *checker) hasList(s *script) bool {
	if c.options.Tools != "" {
		return true
	}
	s.code = c.readCode(s.file)
	if _, named := c.listPath(s, "MCP_TOOLS_LIST_FILE"); named {
		return true
	}
	_, err := os.Stat(beside(s.name, "tools.json"))
	return err == nil
}

// below finds the scripts in a folder and those in it. Folders that are hidden, or
// that others' packages are installed in, are nobody's to check.
func (c *checker) below(folder string) (scripts []*script, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path != folder && (strings.HasPrefix(entry.Name(), ".") || strings.HasSuffix(entry.Name(), "~") || entry.Name() == "node_modules"):
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case entry.IsDir():
			return nil
		}
		if s := c.candidate(path, filepath.Dir(path) == filepath.Clean(folder)); s != nil {
			scripts = append(scripts, s)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for scripts: %w", err)
	}
	if len(scripts) == 0 && isFile(filepath.Join(folder, "tools.json")) {
		// A folder of programs that a list names.
		return []*script{{file: newFile(filepath.Join(folder, "tools.json"), nil), inFolder: true, shares: true, code: &code{}}}, nil
	}
	if len(scripts) == 0 {
		return nil, fmt.Errorf("there is nothing to check below %s: no script with tags, and none with tool_… functions beside a tools.json", folder)
	}
	return scripts, nil
}

// noScripts are the ends of names that no script has.
var noScripts = []string{".md", ".json", ".yaml", ".yml", ".txt", ".toml", ".html", ".css", ".csv", ".bats", ".test"}

// mostOfScript is more than any script has.
const mostOfScript = 4 << 20

// candidate is the script that a file in a folder is, nil for none.
func (c *checker) candidate(path string, inFolder bool) *script {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostOfScript || slices.Contains(noScripts, filepath.Ext(path)) {
		return nil
	}
	text, _, err := regular.Read(path, mostOfScript)
	if err != nil || !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil
	}
	f := newFile(path, text)
	s := &script{file: f, isBash: isBash(f)}
	if s.form, s.tagged = annotated.FormOf(path, text); s.tagged {
		s.isBash = s.form.IsScript
	}
	if !s.tagged && s.isBash && inFolder && tags.Mentions(text, "cmd") {
		// conch serve would not know it for a script.
		s.form, s.tagged, s.unknown = annotated.Form{IsScript: true, Tags: text}, true, true
	}
	hasFirstLine := bytes.HasPrefix(text, []byte("#!"))
	if s.tagged && !s.isBash && !hasFirstLine && info.Mode()&0o111 == 0 && !inFolder {
		return nil // a module, which another program runs
	}
	s.inFolder = inFolder
	_, err = os.Stat(beside(path, "tools.json"))
	s.listed = s.isBash && err == nil && toolFunction.Match(text)
	s.shares = s.tagged && err == nil && !s.listed
	if !s.tagged && !s.listed {
		return nil
	}
	c.files[path] = f
	c.order = append(c.order, path)
	return s
}

// interpreter is what a #! line names, or what env is to find.
var interpreter = regexp.MustCompile(`^#!\s*(?:\S*/env\s+(?:-\S+\s+)*)?(\S+)`)

// isBash reports whether a script is one for Bash. What other shells run is read as
// Bash reads it.
func isBash(f *file) bool {
	if !annotated.IsScript(f.name, f.text) || slices.Contains(noScripts, filepath.Ext(f.name)) && !bytes.HasPrefix(f.text, []byte("#!")) {
		return false
	}
	return utf8.Valid(f.text) && bytes.IndexByte(f.text, 0) < 0
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
