package roots

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/regular"
)

const maxFile = 1 << 20

// FromFile makes a set of what a file like {"roots":[{"path":"./data","name":"Data"}]}
// names, in the way of [FromList]. An entry that cannot be used is left out and
// becomes a warning. An error is about the whole file, and is [regular.ErrAbsent]
// where there is none.
func FromFile(path, base string) (set Set, warnings []string, err error) {
	text, _, err := regular.Read(path, maxFile)
	if errors.Is(err, unix.ENOTDIR) {
		err = regular.ErrAbsent
	}
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
