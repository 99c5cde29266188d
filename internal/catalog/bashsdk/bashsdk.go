// Package bashsdk reads the format of two files beside a Bash script: a list
// of tools (tools.json) and a description of the server (config.json), both
// read again whenever they are needed.
package bashsdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// maxFile bounds a list or configuration.
const maxFile = 64 << 20

// FileError says why a file cannot be used. Its text is meant for clients and
// authors alike.
type FileError struct {
	What   string // "tools list" or "server configuration"
	Path   string
	Reason string
}

func (e *FileError) Error() string {
	return fmt.Sprintf("Cannot read %s: %s: %s", e.What, e.Path, e.Reason)
}

// file is a JSON file whose meaning is worked out anew only when its bytes
// have changed. It is read each time all the same: a time stamp can stay as it
// was.
type file[T any] struct {
	what, path string
	parse      func([]byte) (T, error)

	mu    sync.Mutex
	bytes []byte
	value T
	known bool
}

// read returns what the file holds now.
func (f *file[T]) read() (T, error) {
	var none T
	text, err := readObject(f.path)
	if err != nil {
		return none, &FileError{f.what, f.path, err.Error()}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known && bytes.Equal(text, f.bytes) {
		return f.value, nil
	}
	value, err := f.parse(text)
	if err != nil {
		return none, &FileError{f.what, f.path, err.Error()}
	}
	f.bytes, f.value, f.known = text, value, true
	return value, nil
}

// readObject reads a regular file that holds exactly one JSON object.
func readObject(path string) ([]byte, error) {
	// Without O_NONBLOCK the open of a FIFO would wait for a writer.
	in, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, reason(err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, reason(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	}
	text := make([]byte, 0, info.Size()+1)
	buf := bytes.NewBuffer(text)
	if _, err := buf.ReadFrom(io.LimitReader(in, maxFile+1)); err != nil {
		return nil, reason(err)
	}
	return buf.Bytes(), checkObject(buf.Bytes())
}

func reason(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("there is no such file")
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

func checkObject(text []byte) error {
	if !utf8.Valid(text) {
		return errors.New("it is not valid UTF-8")
	}
	var value json.RawMessage
	if err := json.Unmarshal(text, &value); err != nil {
		return fmt.Errorf("it does not hold exactly one JSON object: %w", at(text, err))
	}
	if bytes.TrimSpace(text)[0] != '{' {
		return errors.New("it does not hold exactly one JSON object: the value is of another type")
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
