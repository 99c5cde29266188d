package roots

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Sources are where the roots of clients that name none may come from.
type Sources struct {
	List   []string                 // what --roots says; nil where it is not given
	Getenv func(name string) string // [os.Getenv]
	Dir    string                   // the server's directory, absolute
}

// Fallback returns the roots of clients that name none, from the first source
// that there is: the list, a variable that is not empty, config/roots.json, the
// server's directory.
//
// What is wrong with the first two is an error, for whoever starts the server to
// mend. What is wrong with the file is a warning. A file that cannot be used at
// all leaves nothing in scope: whoever wrote it did not mean the whole directory.
func Fallback(s Sources) (set Set, warnings []string, err error) {
	if s.List != nil {
		set, err = FromList(s.List, s.Dir)
		return set, nil, of("--roots", err)
	}
	for _, name := range []string{"CONCH_ROOTS", "MCPBASH_ROOTS"} {
		if text := s.Getenv(name); text != "" {
			set, err = FromVariable(text, s.Dir)
			return set, nil, of(name, err)
		}
	}
	set, warnings, err = fromServer(s.Dir)
	if err != nil {
		warnings = []string{err.Error() + "; nothing is in scope for clients that name no roots"}
	}
	return set, warnings, nil
}

func of(source string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", source, err)
}

func fromServer(dir string) (set Set, warnings []string, err error) {
	set, warnings, err = FromFile(filepath.Join(dir, "config", "roots.json"), dir)
	if errors.Is(err, fs.ErrNotExist) {
		set, err = FromDir(dir)
	}
	return set, warnings, err
}

// FromList makes a set of paths, as --roots has them. Relative ones are below
// base, which is absolute, and "~" is the home directory. One that does not exist
// or cannot be read is an error.
func FromList(paths []string, base string) (Set, error) {
	if len(paths) == 0 {
		return Set{}, errors.New("it names no directory")
	}
	var g gathering
	for _, path := range paths {
		if err := g.addPath(path, "", base); err != nil {
			return Set{}, err
		}
	}
	return g.set, nil
}

// FromVariable does what [FromList] does for paths with colons between them, of
// which empty ones say nothing. Characters that a shell would expand stand for
// themselves.
func FromVariable(text, base string) (Set, error) {
	var paths []string
	for path := range strings.SplitSeq(text, ":") {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return FromList(paths, base)
}

// FromDir makes a set of one directory, which is absolute.
func FromDir(dir string) (Set, error) {
	set, err := FromList([]string{dir}, "/")
	if err != nil {
		return Set{}, fmt.Errorf("the server's directory cannot be a root: %w", err)
	}
	return set, nil
}

// addPath takes a path that somebody has typed. Without a name it has that of the
// directory.
func (g *gathering) addPath(path, name, base string) error {
	path, err := resolve(path, base)
	if err != nil {
		return err
	}
	place, err := readable(path)
	if err != nil {
		return err
	}
	if name == "" {
		name = filepath.Base(place)
	}
	return g.add(Root{URI: uriOf(place), Name: name, Path: place})
}
