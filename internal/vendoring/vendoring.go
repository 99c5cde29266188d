// Package vendoring keeps copies of Conch's files in the tree of a project, and
// a record of them in the project's .conch.lock.
//
// It knows of files and digests alone: not what is in them, and not how what
// it finds is told to anybody.
package vendoring

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/lib"
)

// Release is what one conch has to vendor.
type Release struct {
	Conch   string // its version
	Formats []lib.Format
}

func (r Release) format(name string) (lib.Format, error) {
	var names []string
	for _, f := range r.Formats {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return lib.Format{}, fmt.Errorf("there is no format %q; there is %s", name, strings.Join(names, ", "))
}

// Directory is where a project keeps its .conch.lock, and the only place below
// which files are read and written.
type Directory struct {
	name string // as the user knows it, absolute
	real string // the same without links
	root *os.Root
}

// Open opens a directory. Close it.
func Open(name string) (*Directory, error) {
	name, err := filepath.Abs(name)
	if err != nil {
		return nil, fmt.Errorf("find the directory: %w", err)
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return nil, fmt.Errorf("find the directory: %w", err)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("open the directory: %w", err)
	}
	return &Directory{name, real, root}, nil
}

// Close closes the directory.
func (d *Directory) Close() error { return d.root.Close() }

// Comparison is what is different in a directory from what a release has.
type Comparison struct {
	Files       int          // how many were compared, the lock aside
	Differences []Difference // by format and path, the lock last
	Recorded    string       // the version of conch in the lock; "" if none was read
}

// Plan tells what vendoring is to write. Each argument is a file or a directory
// for the format's files, and is added to those in the lock. Without arguments,
// and with none recorded, the directory is the format's own. Without a format it is about
// what the lock records.
//
// Everything recorded is compared, since a lock speaks of one release only. An
// error says why nothing is to be written: an unknown format, a lock that cannot
// be read, a path outside of the directory, something there that is no file.
func (d *Directory) Plan(r Release, format string, arguments []string) (Comparison, error) {
	lock, err := d.readLock()
	if format != "" && errors.Is(err, errNoLock) {
		err = nil
	}
	if err != nil {
		return Comparison{}, err
	}
	if format != "" {
		if lock, err = d.record(lock, r, format, arguments); err != nil {
			return Comparison{}, err
		}
	}
	renewed, err := lock.renewed(r)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{Recorded: lock.Conch}
	if err := d.compareRecorded(&c, r, lock.Formats); err != nil {
		return Comparison{}, err
	}
	return c, d.compare(&c, LockName, string(renewed.Encode()))
}

// record adds paths for the format's files to a lock.
func (d *Directory) record(lock Lock, r Release, format string, arguments []string) (Lock, error) {
	f, err := r.format(format)
	if err != nil {
		return Lock{}, err
	}
	if len(arguments) == 0 && len(lock.Formats[format].Paths) == 0 {
		arguments = []string{f.Dir}
	}
	paths, err := d.locate(arguments, f)
	if err != nil {
		return Lock{}, err
	}
	if err := lock.free(format, paths); err != nil {
		return Lock{}, err
	}
	return lock.with(format, paths), nil
}

// Check compares without a plan to write: what the lock records of the format,
// or of every format if it is "", and the lock itself; or, if there are
// arguments, the format's files at those places, recorded or not.
//
// The versions of conch need not be the same, only what they have to vendor.
// Errors are those of [Directory.Plan], and a lock that is not there.
func (d *Directory) Check(r Release, format string, arguments []string) (Comparison, error) {
	if len(arguments) > 0 {
		return d.checkPlaces(r, format, arguments)
	}
	lock, err := d.readLock()
	if err != nil {
		return Comparison{}, err
	}
	formats, err := lock.only(r, format)
	if err != nil {
		return Comparison{}, err
	}
	renewed, err := lock.renewed(r)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{Recorded: lock.Conch}
	if err := d.compareRecorded(&c, r, formats); err != nil {
		return Comparison{}, err
	}
	if lock.sameFiles(renewed) {
		return c, nil
	}
	return c, d.compare(&c, LockName, string(renewed.Encode()))
}

func (d *Directory) checkPlaces(r Release, format string, arguments []string) (c Comparison, err error) {
	f, err := r.format(format)
	if err != nil {
		return c, err
	}
	paths, err := d.locate(arguments, f)
	if err != nil {
		return c, err
	}
	return c, d.compareRecorded(&c, r, map[string]Entry{format: {Paths: paths}})
}

// compareRecorded compares the files of some formats, which the release has.
func (d *Directory) compareRecorded(c *Comparison, r Release, formats map[string]Entry) error {
	for _, name := range slices.Sorted(maps.Keys(formats)) {
		f, err := r.format(name)
		if err != nil {
			return err
		}
		for _, path := range formats[name].Paths {
			file, ok := f.FileAt(path)
			if !ok {
				return noFile(path, f)
			}
			c.Files++
			known := len(c.Differences)
			if err := d.compare(c, path, file.Text); err != nil {
				return err
			}
			if len(c.Differences) > known && filepath.Base(path) != file.Name {
				c.Differences[known].mark = file.Mark
			}
		}
	}
	return nil
}
