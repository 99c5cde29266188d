// Package bashsdk reads the format of the files beside a Bash script: a list of
// tools (tools.json) and a description of the server (config.json), and lists
// of resources and prompts (resources.json, prompts.json). All are read again
// whenever they are needed.
//
// The first two have two readings. The usual one judges what is in the file, and shows
// clients what they can use. The verbatim one is for scripts that were written
// for bash-mcp-sdk, where clients see what the author wrote.
package bashsdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/nowait"
	"github.com/conch-mcp/conch/internal/regular"
)

// maxFile bounds a list or configuration.
const maxFile = 64 << 20

// byteOrderMark is what some editors begin a file with.
var byteOrderMark = []byte("\ufeff")

// file is a JSON file that is read again when it has changed.
type file[T comparable] struct {
	what, path string
	shown      string // what errors call it
	anyMark    bool   // it may begin with a byte order mark
	parse      func([]byte) (T, error)
	absent     T // what it says where there is no such file; the zero T has that be an error

	mu    sync.Mutex
	seen  unix.Stat_t
	place nowait.Place // of path
	value T
	known bool // seen and value are those of the latest reading, and can be trusted
}

// read returns what the file says now.
func (f *file[T]) read() (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var now unix.Stat_t
	if f.known && f.place.Stat(f.path, &now) == nil && regular.IsSame(&now, &f.seen) {
		return f.value, nil
	}
	f.known = false
	start := time.Now()
	text, stat, err := readObject(f.path, f.anyMark)
	var value, none T
	if f.absent != none && errors.Is(err, regular.ErrAbsent) && !isThere(f.path) {
		return f.absent, nil
	}
	if err == nil {
		value, err = f.parse(text)
	}
	if err != nil {
		return none, &catalog.FileError{What: f.what, Path: f.shown, Reason: err.Error(), NotFound: !isRegular(f.path)}
	}
	f.seen, f.value, f.place = stat, value, nowait.PlaceOf(f.path)
	f.known = regular.IsSettled(&stat, start)
	return value, nil
}

// isThere reports whether there is anything of that name, be it a link that
// leads nowhere.
func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// ReadDocument returns the JSON document that a file holds, without its white
// space. The text of an error is for a log.
func ReadDocument(path string) (json.RawMessage, error) {
	text, _, err := readText(path, true)
	if err == nil {
		err = checkDocument(text)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	var b bytes.Buffer
	_ = json.Compact(&b, text)
	return b.Bytes(), nil
}

// ReadObject returns the JSON object that a file holds, without its white
// space. The text of an error is [catalog.FileError.Brief].
func ReadObject(path string) (json.RawMessage, error) {
	text, _, err := readObject(path, true)
	if err != nil {
		e := catalog.FileError{Path: path, NotFound: !isRegular(path)}
		return nil, errors.New(e.Brief())
	}
	return compact(text), nil
}

// readObject reads a regular file that holds exactly one JSON object, behind a
// byte order mark if there may be one.
func readObject(path string, anyMark bool) (text []byte, stat unix.Stat_t, err error) {
	if text, stat, err = readText(path, anyMark); err == nil {
		err = checkObject(text)
	}
	return text, stat, err
}

// readText reads a regular file, without its byte order mark if it may have one.
func readText(path string, anyMark bool) (text []byte, stat unix.Stat_t, err error) {
	text, stat, err = regular.Read(path, maxFile)
	if err != nil {
		return nil, stat, err
	}
	if anyMark {
		text = bytes.TrimPrefix(text, byteOrderMark)
	}
	return text, stat, nil
}

func checkObject(text []byte) error {
	if err := checkDocument(text); err != nil {
		return err
	}
	if bytes.TrimSpace(text)[0] != '{' {
		return errors.New("it does not hold exactly one JSON object: the value is of another type")
	}
	return nil
}

func checkDocument(text []byte) error {
	if !utf8.Valid(text) {
		return errors.New("it is not valid UTF-8")
	}
	if bytes.HasPrefix(text, byteOrderMark) {
		return errors.New("it begins with a byte order mark; save it without")
	}
	var value json.RawMessage
	if err := json.Unmarshal(text, &value); err != nil {
		return fmt.Errorf("it does not hold exactly one JSON object: %w", at(text, err))
	}
	return nil
}

// at adds the line to a JSON error.
func at(text []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	line := 1 + bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte{'\n'})
	return fmt.Errorf("line %d: %w", line, err)
}
