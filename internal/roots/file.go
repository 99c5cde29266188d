package roots

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

const maxFile = 1 << 20

// FromFile makes a set of what a file like {"roots":[{"path":"./data","name":"Data"}]}
// names, in the way of [FromList]. An entry that cannot be used is left out and
// becomes a warning. An error is about the whole file, and is [fs.ErrNotExist]
// where there is none.
func FromFile(path, base string) (set Set, warnings []string, err error) {
	text, err := readFile(path)
	if err != nil {
		return Set{}, nil, fmt.Errorf("read %s: %w", path, err)
	}
	entries, err := parseFile(text)
	if err != nil {
		return Set{}, nil, fmt.Errorf("%s cannot be used: %w", path, err)
	}
	var g gathering
	for i, raw := range entries {
		if err := g.addEntry(raw, base); err != nil {
			warnings = append(warnings, fmt.Sprintf("%s: root %d is left out: %v", path, i+1, err))
		}
	}
	return g.set, warnings, nil
}

func readFile(path string) ([]byte, error) {
	// Without O_NONBLOCK the open of a FIFO would wait for a writer.
	in, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ENOTDIR) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, cause(err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	text, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	if err != nil {
		return nil, cause(err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	}
	return text, nil
}

func parseFile(text []byte) ([]json.RawMessage, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("it is not valid UTF-8")
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, notJSON(text, err)
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(members["roots"], &entries); err != nil || entries == nil {
		return nil, errors.New(`it must have a member "roots", an array of objects like {"path":"./data","name":"Data"}`)
	}
	return entries, nil
}

// notJSON says where the text stops being a JSON object.
func notJSON(text []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return errors.New("it does not hold a JSON object")
	}
	line := 1 + bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte{'\n'})
	return fmt.Errorf("line %d is not JSON: %w", line, err)
}

func (g *gathering) addEntry(raw json.RawMessage, base string) error {
	var members map[string]json.RawMessage
	var path, name string
	if json.Unmarshal(raw, &members) != nil || json.Unmarshal(members["path"], &path) != nil {
		return errors.New(`it must be an object with a string "path"`)
	}
	if given := members["name"]; given != nil && json.Unmarshal(given, &name) != nil {
		return errors.New("its name must be a string")
	}
	return g.addPath(path, name, base)
}
