package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// maxName is as long as the name of a server may be. Clients put it before the
// names of tools, which they bound.
const maxName = 50

var goodName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// NameOf is the name of a server in that directory, which need not be there: the
// directory's own, in characters that every client takes. The error says what it
// may be.
func NameOf(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("the name is empty")
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("find %s: %w", dir, err)
	}
	name := filepath.Base(full)
	switch {
	case !goodName.MatchString(name):
		return "", fmt.Errorf("%.100q cannot be the name of a server: it may have letters from a to z, digits, - and _, and begins with a letter or digit", name)
	case len(name) > maxName:
		return "", fmt.Errorf("%.60q… is too long for the name of a server, which may have %d characters", name, maxName)
	}
	return name, nil
}

// InTheWayError tells of what is there already.
type InTheWayError struct {
	Paths []string
}

func (e *InTheWayError) Error() string {
	if len(e.Paths) == 1 {
		return e.Paths[0] + " is there already, and nothing was written"
	}
	return strings.Join(e.Paths, ", ") + " are there already, and nothing was written"
}

// Make makes the template's files in a directory, and the directory if it is not
// there, and returns their paths below it. The server has the directory's name; see
// [NameOf]. Either all files are made or, where there is an error, none, and no
// directory. A file that is there by the name of one of them is an
// [*InTheWayError].
func (t Template) Make(dir string) ([]string, error) {
	name, err := NameOf(dir)
	if err != nil {
		return nil, err
	}
	files, err := t.files(name)
	if err != nil {
		return nil, err
	}
	if err := checkClear(dir, files); err != nil {
		return nil, err
	}
	m := making{}
	if err := m.all(dir, files); err != nil {
		return nil, errors.Join(err, m.undo())
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.path
	}
	return paths, nil
}

// checkClear returns an error unless all files can be new.
func checkClear(dir string, files []file) error {
	var there []string
	for _, f := range files {
		at, err := inTheWay(dir, f.path)
		if err != nil {
			return err
		}
		if at != "" && !slices.Contains(there, at) {
			there = append(there, at)
		}
	}
	if len(there) > 0 {
		return &InTheWayError{there}
	}
	return nil
}

// inTheWay is what keeps a file from being made: that or another file where it, or
// a directory above it, is to be. A link is taken for a file, wherever it leads, but
// for dir itself.
func inTheWay(dir, file string) (string, error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return dir, nil
	}
	at := dir
	for element := range strings.SplitSeq(file, "/") {
		at = filepath.Join(at, element)
		info, err = os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		if !info.IsDir() {
			break
		}
	}
	return at, nil
}

// making is what has been made so far, by full paths, in this order.
type making struct {
	made []string
}

func (m *making) all(dir string, files []file) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("find %s: %w", dir, err)
	}
	if err := m.directory(dir); err != nil {
		return err
	}
	// From here on no link, be it made this moment, leads out of the directory.
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	defer root.Close()
	for _, f := range files {
		if err := m.below(root, path.Dir(f.path)); err != nil {
			return err
		}
		if err := m.file(root, f); err != nil {
			return err
		}
	}
	return nil
}

// directory makes a directory and those above it, as far as they are missing.
func (m *making) directory(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	if above := filepath.Dir(dir); above != dir {
		if err := m.directory(above); err != nil {
			return err
		}
	}
	err := os.Mkdir(dir, 0o777)
	if err == nil {
		m.made = append(m.made, dir)
	}
	if errors.Is(err, fs.ErrExist) {
		// It may have been made this moment; if it is no directory, the next step fails.
		return nil
	}
	return err
}

// below makes a directory below root, and those between.
func (m *making) below(root *os.Root, dir string) error {
	if dir == "." {
		return nil
	}
	if err := m.below(root, path.Dir(dir)); err != nil {
		return err
	}
	err := root.Mkdir(dir, 0o777)
	if err == nil {
		m.made = append(m.made, filepath.Join(root.Name(), dir))
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

func (m *making) file(root *os.Root, f file) error {
	out, err := root.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode())
	if err != nil {
		return fmt.Errorf("make a file in %s: %w", root.Name(), err)
	}
	m.made = append(m.made, filepath.Join(root.Name(), f.path))
	_, err = out.Write(f.text)
	if err := errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("write %s: %w", m.made[len(m.made)-1], err)
	}
	return nil
}

// undo removes what has been made. A directory that somebody has put something into
// meanwhile stays.
func (m *making) undo() error {
	var faults []error
	for _, made := range slices.Backward(m.made) {
		faults = append(faults, os.Remove(made))
	}
	return errors.Join(faults...)
}
