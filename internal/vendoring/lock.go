package vendoring

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/conch-mcp/conch/lib"
)

// LockName is the name of the lock, which stands in the directory that its
// paths start from.
const LockName = ".conch.lock"

// lockfileVersion numbers the shape of the lock. Another shape is refused, so
// that an old conch does not drop what a newer one has recorded.
const lockfileVersion = 1

// Lock records what was vendored: by which version of conch, and for each
// format the number of its protocol, its files' digest, and where copies are.
//
//	{
//	  "lockfileVersion": 1,
//	  "conch": "v1.2.0",
//	  "formats": {
//	    "bash-mcp-sdk": {
//	      "protocol": 2,
//	      "sha256": "64 hexadecimal digits",
//	      "paths": ["lib/mcpserver_core.sh"]
//	    }
//	  }
//	}
type Lock struct {
	Conch   string           `json:"conch"`
	Formats map[string]Entry `json:"formats"`
}

// Entry is what a lock says of one format.
type Entry struct {
	Protocol int      `json:"protocol"`
	SHA256   string   `json:"sha256"`
	Paths    []string `json:"paths"` // in order, slash-separated, below the lock's directory
}

// lockfile is a lock as it is written.
type lockfile struct {
	Version int `json:"lockfileVersion"`
	Lock
}

// ParseLock reads a lock, which may come from anywhere. Its error is one line.
func ParseLock(text []byte) (Lock, error) {
	if !utf8.Valid(text) {
		return Lock{}, errors.New("it is not UTF-8")
	}
	var shape struct {
		Version json.Number `json:"lockfileVersion"`
	}
	if err := json.Unmarshal(text, &shape); err != nil {
		return Lock{}, plain(text, err)
	}
	if shape.Version != json.Number(fmt.Sprint(lockfileVersion)) {
		return Lock{}, fmt.Errorf("its lockfileVersion is %.20q, and this conch knows %d", shape.Version, lockfileVersion)
	}
	var file lockfile
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return Lock{}, plain(text, err)
	}
	return file.Lock, file.check()
}

// plain words an error of the JSON decoder for people who know no Go.
func plain(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		line := 1 + bytes.Count(text[:syntax.Offset], []byte("\n"))
		return fmt.Errorf("line %d is no JSON", line)
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Errorf("%.100q cannot be a %s", kind.Field, kind.Value)
	case errors.As(err, &kind):
		return errors.New("it is not a JSON object")
	}
	return fmt.Errorf("%.200s", strings.TrimPrefix(err.Error(), "json: "))
}

var (
	digest     = regexp.MustCompile(`^[0-9a-f]{64}$`)
	formatName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)
)

func (l Lock) check() error {
	if !printable(l.Conch) || len(l.Conch) > 200 {
		return errors.New(`"conch" is no version`)
	}
	if len(l.Formats) == 0 {
		return errors.New(`"formats" is empty`)
	}
	for name, e := range l.Formats {
		if !formatName.MatchString(name) {
			return fmt.Errorf("%.100q is no name of a format", name)
		}
		if err := e.check(); err != nil {
			return fmt.Errorf("format %s: %w", name, err)
		}
	}
	return nil
}

func (e Entry) check() error {
	switch {
	case e.Protocol < 1:
		return errors.New(`"protocol" is no number from 1 on`)
	case !digest.MatchString(e.SHA256):
		return errors.New(`"sha256" is no digest`)
	case len(e.Paths) == 0:
		return errors.New(`"paths" is empty`)
	}
	for i, path := range e.Paths {
		if err := checkPath(path); err != nil {
			return err
		}
		if i > 0 && e.Paths[i-1] >= path {
			return fmt.Errorf("the path %.100q is there twice or out of order", path)
		}
	}
	return nil
}

// Encode writes the lock, the same bytes for the same lock.
func (l Lock) Encode() []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	// Strings and numbers always have a JSON text, and a buffer takes it.
	_ = encoder.Encode(lockfile{lockfileVersion, l})
	return text.Bytes()
}

// with adds paths to those of a format.
func (l Lock) with(format string, paths []string) Lock {
	formats := map[string]Entry{}
	maps.Copy(formats, l.Formats)
	e := formats[format]
	e.Paths = slices.Sorted(slices.Values(slices.Concat(e.Paths, paths)))
	e.Paths = slices.Compact(e.Paths)
	formats[format] = e
	return Lock{l.Conch, formats}
}

// only takes one format out of the lock, or all of them if the name is "".
func (l Lock) only(r Release, format string) (map[string]Entry, error) {
	if format == "" {
		return l.Formats, nil
	}
	if _, err := r.format(format); err != nil {
		return nil, err
	}
	e, recorded := l.Formats[format]
	if !recorded {
		return nil, fmt.Errorf("%s records nothing of %s; vendor it first", LockName, format)
	}
	return map[string]Entry{format: e}, nil
}

// renewed is the lock once the release has been vendored to all of its paths.
func (l Lock) renewed(r Release) (Lock, error) {
	formats := map[string]Entry{}
	for name, e := range l.Formats {
		f, err := r.format(name)
		if err != nil {
			return Lock{}, fmt.Errorf("%s, of conch %s: %w", LockName, l.Conch, err)
		}
		formats[name] = Entry{f.Protocol, sum(f), e.Paths}
	}
	return Lock{r.Conch, formats}, nil
}

// sum is the digest of a format's files, one behind the other.
func sum(f lib.Format) string {
	digest := sha256.New()
	for _, file := range f.Files {
		digest.Write([]byte(file.Text))
	}
	return hex.EncodeToString(digest.Sum(nil))
}

// free reports what is in the way of recording paths for a format: no file can be
// that of two.
func (l Lock) free(format string, paths []string) error {
	for name, e := range l.Formats {
		for _, path := range e.Paths {
			if name != format && slices.Contains(paths, path) {
				return fmt.Errorf("%s is the place of %s, by %s; remove it there first if it is to be that of %s", path, name, LockName, format)
			}
		}
	}
	return nil
}

// sameFiles reports whether two locks differ in the version of conch at most.
func (l Lock) sameFiles(other Lock) bool {
	return maps.EqualFunc(l.Formats, other.Formats, func(a, b Entry) bool {
		return a.Protocol == b.Protocol && a.SHA256 == b.SHA256 && slices.Equal(a.Paths, b.Paths)
	})
}
