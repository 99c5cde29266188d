package jq

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
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

// single is the next value, io.EOF after the last.
func (i *inputs) single() (any, error) {
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
	if len(i.files) == 0 {
		return io.EOF
	}
	file, err := os.Open(i.files[0])
	if err != nil {
		return err
	}
	i.open = file
	i.read(i.files[0], file)
	i.files = i.files[1:]
	return nil
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
	d := json.NewDecoder(r)
	d.UseNumber()
	i.next = func() (any, error) {
		value, err := decode(d)
		if err != nil && !errors.Is(err, io.EOF) {
			err = fmt.Errorf("%s: %w", place(name), err)
		}
		return value, err
	}
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
