package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/conch-mcp/conch/internal/process"
)

// This file is how scripts find a jq where the machine has none: a link to conch,
// which is conch jq when it is called by that name.

// jqName is the name by which scripts call it.
const jqName = "jq"

// jqFolder is the folder in the control directory that holds the link alone, and
// goes with that directory.
const jqFolder = "bin"

// isJQ reports whether this process was started as jq.
func isJQ(line []string) bool { return len(line) > 0 && filepath.Base(line[0]) == jqName }

// pathWithJQ is the variable PATH with a jq on it, for a script that would find
// none on its own; nothing for one that would.
func (p place) pathWithJQ() ([]string, error) {
	path := p.getenv("PATH")
	folder, err := jqFor(path, p.self, p.dir)
	if folder == "" || err != nil {
		return nil, err
	}
	return []string{"PATH=" + path + string(filepath.ListSeparator) + folder}, nil
}

// jqFor makes a folder with a jq in the control directory dir, to go last on a
// PATH that has none, and returns its path; "" where there is one already. Without
// any PATH Bash has one of its own, which is not to be lost.
func jqFor(path, self, dir string) (folder string, err error) {
	if path == "" || process.Find(path, "", jqName) != "" {
		return "", nil
	}
	folder = filepath.Join(dir, jqFolder)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make a folder for jq: %w", err)
	}
	if err := os.Symlink(self, filepath.Join(folder, jqName)); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make a jq of conch: %w", err)
	}
	return folder, nil
}
