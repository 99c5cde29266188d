// Package roots tells which files and directories are in scope for a client:
// those the client names or, where it names none, those the server's side does.
//
// It knows file URIs, paths, and when to ask a client again. It asks through a
// function that it is given, and knows nothing of transports, methods or tools.
package roots

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// maxJSON bounds a set. Linux starts no program with a variable of more than
// 128 KiB, and tools are to have [Set.JSON] in one.
const maxJSON = 64 << 10

// A Root is a file, or most often a directory with all that is below it.
type Root struct {
	URI  string `json:"uri"`  // as the client wrote it
	Name string `json:"name"` // for people; a client may leave it empty
	Path string `json:"path"` // absolute, without links
}

// A Set is the roots that are in scope. It never changes. The zero value is the
// empty set, in which nothing is.
type Set struct {
	roots []Root
	json  string
}

// List returns the roots in the order in which they were named.
func (s Set) List() []Root { return slices.Clone(s.roots) }

// Count returns how many roots there are.
func (s Set) Count() int { return len(s.roots) }

// JSON returns an array of objects with the members uri, name and path.
func (s Set) JSON() string { return "[" + s.json + "]" }

// Paths returns the paths of the roots, with a newline between any two. No path
// has one in it.
func (s Set) Paths() string {
	paths := make([]string, len(s.roots))
	for i, r := range s.roots {
		paths[i] = r.Path
	}
	return strings.Join(paths, "\n")
}

// Single returns the path of the only root, if there is exactly one.
func (s Set) Single() (string, bool) {
	if len(s.roots) != 1 {
		return "", false
	}
	return s.roots[0].Path, true
}

// Contains reports whether an absolute path leads to a root or into one. It is
// judged by where links lead to now; what is not there yet, by the nearest
// directory above that is. A relative path is in no root, since it depends on
// whose it is.
func (s Set) Contains(path string) bool {
	_, ok := s.Place(path)
	return ok
}

// Place returns where a path leads to, if [Set.Contains] says that it is in a
// root.
func (s Set) Place(path string) (place string, ok bool) {
	place, err := canonical(path)
	if err != nil || !slices.ContainsFunc(s.roots, func(r Root) bool { return within(place, r.Path) }) {
		return "", false
	}
	return place, true
}

// within compares two canonical paths.
func within(path, root string) bool {
	below, ok := strings.CutPrefix(path, root)
	return ok && (below == "" || below[0] == '/' || root == "/")
}

// gathering is a set that is not complete yet.
type gathering struct{ set Set }

// add takes a root whose path is canonical, unless it is there already.
func (g *gathering) add(r Root) error {
	if slices.ContainsFunc(g.set.roots, func(other Root) bool { return other.Path == r.Path }) {
		return nil
	}
	text, err := encode(r)
	if err != nil {
		return fmt.Errorf("write %.200q as JSON: %w", r.Path, err)
	}
	if g.set.json != "" {
		text = g.set.json + "," + text
	}
	if len(text)+len("[]") > maxJSON {
		return fmt.Errorf("%.200q is one too many: as JSON, the roots would have more than %d KiB; name a directory above several of them", r.Path, maxJSON>>10)
	}
	g.set = Set{roots: append(g.set.roots, r), json: text}
	return nil
}

func encode(r Root) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// readable returns the canonical path of what is there and can be read.
func readable(path string) (string, error) {
	place, err := canonical(path)
	if err == nil {
		// The path itself: canonical goes on where ".." follows what does not exist.
		err = unix.Faccessat(unix.AT_FDCWD, path, unix.R_OK, unix.AT_EACCESS)
	}
	switch {
	case err == unix.ENOENT || err == unix.ENOTDIR:
		return "", fmt.Errorf("%.200q does not exist", path)
	case err != nil:
		return "", fmt.Errorf("%.200q cannot be read: %w", path, err)
	case strings.Contains(place, "\n"):
		return "", fmt.Errorf("%.200q has a line break in it, and roots are listed one a line", place)
	case !utf8.ValidString(place):
		return "", fmt.Errorf("%.200q is not UTF-8, as JSON must be", place)
	}
	return place, nil
}
