package jq

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// inputs are the values that a filter gets, one after the other, of all files. It
// implements gojq.Iter; an error is a value, and the last.
type inputs struct {
	*command
	files []string // not yet opened
	in    io.Reader
	open  *os.File
	name  string // of the file that is read; "" for standard input
	next  func() (any, error)
	done  bool

	unreadable func(error) // is told of a file that is passed over; nil where none may be
	missed     bool        // one was

	events []any // what is left of an input that is taken to pieces
}

func newInputs(c *command, in io.Reader) *inputs {
	i := &inputs{command: c, files: c.files, in: in}
	if len(c.files) == 0 {
		i.read("", in)
	}
	return i
}

func (i *inputs) close() {
	if i.open != nil {
		_ = i.open.Close()
		i.open = nil
	}
}

// file is what input_filename gives.
func (i *inputs) file() any {
	if i.name == "" {
		return nil
	}
	return i.name
}

// Next implements gojq.Iter.
func (i *inputs) Next() (any, bool) {
	if i.done {
		return nil, false
	}
	value, err := i.value()
	switch {
	case errors.Is(err, io.EOF):
		i.done = true
		return nil, false
	case err != nil:
		i.done = true
		return err, true
	}
	return value, true
}

func (i *inputs) value() (any, error) {
	if i.slurp {
		i.done = true
		return i.all()
	}
	return i.single()
}

// single is the next value, or the next event of one, and io.EOF after the last.
func (i *inputs) single() (any, error) {
	if !i.stream || i.rawInput {
		return i.whole()
	}
	for {
		if len(i.events) > 0 {
			event := i.events[0]
			i.events = i.events[1:]
			return event, nil
		}
		value, err := i.whole()
		if err != nil {
			return nil, err
		}
		i.events = events(nil, nil, value)
	}
}

// events appends what a value at a path is taken to: each leaf with its path, and
// behind the last of an array or of an object the path of that alone.
func events(list, path []any, value any) []any {
	var last []any
	switch v := value.(type) {
	case []any:
		for n, item := range v {
			last = append(slices.Clone(path), n)
			list = events(list, last, item)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			last = append(slices.Clone(path), name)
			list = events(list, last, v[name])
		}
	}
	if last == nil {
		return append(list, []any{append([]any{}, path...), value})
	}
	return append(list, []any{last})
}

// whole is the next value, io.EOF after the last.
func (i *inputs) whole() (any, error) {
	for {
		if i.next == nil {
			if err := i.openNext(); err != nil {
				return nil, err
			}
		}
		value, err := i.next()
		if err == nil || !errors.Is(err, io.EOF) {
			return value, err
		}
		i.next = nil
		i.close()
	}
}

func (i *inputs) openNext() error {
	for len(i.files) > 0 {
		name := i.files[0]
		i.files = i.files[1:]
		file, err := os.Open(name)
		switch {
		case err == nil:
			i.open = file
			i.read(name, file)
			return nil
		case i.unreadable == nil:
			return err
		}
		i.missed = true
		i.unreadable(err)
	}
	return io.EOF
}

// all is what --slurp makes of the inputs.
func (i *inputs) all() (any, error) {
	values := []any{}
	var text strings.Builder
	for {
		value, err := i.single()
		switch {
		case errors.Is(err, io.EOF) && i.rawInput:
			return text.String(), nil
		case errors.Is(err, io.EOF):
			return values, nil
		case err != nil:
			return nil, err
		case i.rawInput:
			text.WriteString(value.(string))
		default:
			values = append(values, value)
		}
	}
}

func (i *inputs) read(name string, r io.Reader) {
	i.name = name
	if i.rawInput {
		lines := bufio.NewReader(r)
		i.next = func() (any, error) { return line(lines, !i.slurp) }
		return
	}
	var d *json.Decoder
	i.next = func() (any, error) {
		// Not before: a filter that wants no input does not wait for it.
		if d == nil {
			d = json.NewDecoder(withoutBOM(r))
			d.UseNumber()
		}
		value, err := decode(d)
		if err != nil && !errors.Is(err, io.EOF) {
			err = fmt.Errorf("%s: %w", place(name), err)
		}
		return value, err
	}
}

// withoutBOM passes over the mark that texts from Windows begin with.
func withoutBOM(r io.Reader) io.Reader {
	const bom = "\ufeff"
	buffered := bufio.NewReader(r)
	if first, _ := buffered.Peek(1); len(first) == 0 || first[0] != bom[0] {
		return buffered
	}
	if begin, _ := buffered.Peek(len(bom)); string(begin) == bom {
		_, _ = buffered.Discard(len(bom))
	}
	return buffered
}

func place(name string) string {
	if name == "" {
		return "standard input"
	}
	return name
}

// decode returns io.EOF where there is nothing more.
func decode(d *json.Decoder) (any, error) {
	var value any
	err := d.Decode(&value)
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("the JSON ends too early")
	case errors.As(err, &syntax):
		return nil, fmt.Errorf("no JSON after %d bytes: %s", max(syntax.Offset-1, 0), strings.TrimPrefix(syntax.Error(), "json: "))
	}
	return value, err
}

// line reads a line, which may be the last without a newline.
func line(r *bufio.Reader, chomp bool) (any, error) {
	text, err := r.ReadString('\n')
	if err != nil && text == "" {
		return nil, err
	}
	if chomp {
		text = strings.TrimSuffix(text, "\n")
	}
	return strings.ToValidUTF8(text, "\uFFFD"), nil
}

// one decodes a text that is one value.
func one(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	value, err := decode(d)
	if errors.Is(err, io.EOF) {
		return nil, errors.New("there is no JSON")
	}
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one JSON value")
	}
	return value, nil
}
