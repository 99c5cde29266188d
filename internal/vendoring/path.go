package vendoring

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/conch-mcp/conch/lib"
)

// locate makes paths for a lock from those a user has typed, which name a file
// itself or the directory that the format's files are to be in.
func (d *Directory) locate(arguments []string, f lib.Format) ([]string, error) {
	var paths []string
	for _, argument := range arguments {
		path, err := d.relative(argument)
		if err != nil {
			return nil, err
		}
		places := []string{path}
		if d.namesDirectory(argument, path) {
			places = nil
			for _, file := range f.Files {
				places = append(places, filepath.Join(path, file.Name))
			}
		}
		for _, place := range places {
			if err := checkPath(place); err != nil {
				return nil, err
			}
			if _, ok := f.FileAt(place); !ok {
				return nil, noFile(place, f)
			}
		}
		paths = append(paths, places...)
	}
	return paths, nil
}

// noFile says that a path does not tell which of a format's files it is for.
func noFile(path string, f lib.Format) error {
	var names []string
	for _, file := range f.Files {
		names = append(names, file.Name)
	}
	return fmt.Errorf("%s has the name of none of the files of %s, which are %s; name a directory", path, f.Name, strings.Join(names, " and "))
}

func (d *Directory) relative(argument string) (string, error) {
	if argument == "" {
		// An unset variable, most likely, and not the current directory.
		return "", errors.New("a PATH is empty")
	}
	path := filepath.Clean(argument)
	if filepath.IsAbs(path) {
		below, err := filepath.Rel(d.name, path)
		if err != nil {
			return "", fmt.Errorf("find %s from %s: %w", argument, d.name, err)
		}
		path = below
	}
	if !filepath.IsLocal(path) {
		return "", fmt.Errorf("%s is outside of %s, where %s is; vendor from a directory that holds both", argument, d.name, LockName)
	}
	return path, nil
}

// namesDirectory tells a directory that may not be there yet from a file that
// may not: "conch vendor FORMAT lib" must not make a file called lib.
func (d *Directory) namesDirectory(argument, path string) bool {
	if strings.HasSuffix(argument, "/") {
		return true
	}
	if info, err := os.Stat(filepath.Join(d.real, path)); err == nil {
		return info.IsDir()
	}
	extension := filepath.Ext(path)
	return extension != ".sh" && extension != ".bash"
}

// checkPath says what is wrong with a path that is in a lock, or is to be.
func checkPath(path string) error {
	switch {
	case !printable(path):
		return fmt.Errorf("%.100q is no path that can be recorded: it is empty, no UTF-8, or has control characters in it", path)
	case !filepath.IsLocal(path) || filepath.Clean(path) != path || path == ".":
		return fmt.Errorf("%.100q is no plain path below the directory of %s", path, LockName)
	case path == LockName || strings.HasPrefix(path, LockName+"/"):
		return fmt.Errorf("%s is no place for a vendored file", LockName)
	}
	return nil
}

func printable(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// resolve follows the links in a path to the place they lead to, below the
// directory: a file is to be replaced where it is, and its link to stay a link.
func (d *Directory) resolve(path string) (place string, err error) {
	full := filepath.Join(d.real, path)
	if _, err := os.Lstat(full); errors.Is(err, fs.ErrNotExist) {
		parent, err := d.resolve(filepath.Dir(path))
		return filepath.Join(parent, filepath.Base(path)), err
	}
	real, err := filepath.EvalSymlinks(full)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is a link to nothing", path)
	}
	if err != nil {
		return "", fmt.Errorf("find %s: %w", path, cause(err))
	}
	place, err = filepath.Rel(d.real, real)
	if err != nil || !filepath.IsLocal(place) {
		return "", fmt.Errorf("%s is a link to %q, outside of %s", path, real, d.name)
	}
	if place == LockName && path != LockName {
		return "", fmt.Errorf("%s is a link to %s, no place for a vendored file", path, LockName)
	}
	return place, nil
}
