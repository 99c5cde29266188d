// Package jq is what scripts do with JSON that shells cannot do: filters in jq's
// language, whether a text is JSON, making a string of text, and cutting arrays.
//
// It knows nothing of calls. The language is gojq's; the front is here, with the
// options that scripts use. Numbers keep their digits until a filter counts with
// them, and members of objects are sorted.
package jq

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf16"

	"github.com/itchyny/gojq"
)

// Statuses, as jq's.
const (
	statusFalse   = 1 // -e, and the last value was false or null
	statusUsage   = 2 // or a file cannot be read, or holds what is no JSON
	statusCompile = 3
	statusNothing = 4 // -e, and there was no value
	statusError   = 5 // the filter raised an error
)

// version is the jq whose language is spoken, in the form in which scripts look
// for it.
const version = "jq-1.7.1-conch"

// definitions are of functions that gojq does not have, or is stricter with than
// the jq that scripts were written for.
const definitions = `
def keys_unsorted: keys;
def toarray: if type == "array" then . else [.] end;
def leaf_paths: paths(scalars);
def recurse_down: recurse;
def have_literal_numbers: true;
def have_decnum: false;
def ltrimstr($x): if type == "string" and ($x | type) == "string" and startswith($x) then .[$x | length:] else . end;
def rtrimstr($x): if type == "string" and ($x | type) == "string" and endswith($x) then .[:length - ($x | length)] else . end;
`

// Streams are a program's.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Main runs a filter as the arguments say, in the manner of jq, and returns the
// exit status. name is what its messages begin with.
func Main(name string, args []string, streams Streams) int {
	c, err := parse(args)
	switch {
	case err != nil:
		fmt.Fprintf(streams.Err, "%s: %v; see %s --help\n", name, err, name)
		return statusUsage
	case c.help:
		fmt.Fprint(streams.Out, strings.ReplaceAll(Help, "conch jq", name))
		return 0
	case c.version:
		fmt.Fprintln(streams.Out, version)
		return 0
	}
	r := &run{command: c, name: name, streams: streams, last: statusNothing}
	status := r.all()
	if status == 0 && c.exitStatus {
		return r.last
	}
	return status
}

// run is one run of a filter over all its inputs.
type run struct {
	*command
	name    string
	streams Streams
	last    int // the status that the last value means for -e
}

func (r *run) all() int {
	inputs := newInputs(r.command, r.streams.In)
	inputs.unreadable = func(err error) { r.complain(statusUsage, err) }
	defer inputs.close()
	code, err := r.compile(inputs)
	if err != nil {
		return r.complain(statusCompile, err)
	}
	status := r.over(code, inputs)
	if status == 0 && inputs.missed {
		return statusUsage
	}
	return status
}

// over runs the filter over all inputs.
func (r *run) over(code *gojq.Code, inputs *inputs) (status int) {
	if r.nullInput {
		status, _ = r.each(code, nil)
		return status
	}
	for {
		value, ok := inputs.Next()
		if !ok {
			return status
		}
		if err, bad := value.(error); bad {
			return r.complain(statusUsage, err)
		}
		one, halted := r.each(code, value)
		if halted {
			return one
		}
		if one != 0 {
			status = one
		}
	}
}

func (r *run) complain(status int, err error) int {
	fmt.Fprintf(r.streams.Err, "%s: %v\n", r.name, err)
	return status
}

func (r *run) compile(inputs *inputs) (*gojq.Code, error) {
	query, err := gojq.Parse(r.filter)
	if err != nil {
		return nil, syntaxError(r.filter, err)
	}
	own, err := gojq.Parse(definitions)
	if err != nil {
		return nil, fmt.Errorf("read what is defined for every filter: %w", err)
	}
	query.FuncDefs = append(own.FuncDefs, query.FuncDefs...)
	return gojq.Compile(query,
		gojq.WithEnvironLoader(os.Environ),
		gojq.WithVariables(r.names),
		gojq.WithInputIter(inputs),
		gojq.WithModuleLoader(gojq.NewModuleLoader(r.searchPath())),
		gojq.WithFunction("debug", 0, 0, r.debug),
		gojq.WithFunction("stderr", 0, 0, r.stderr),
		gojq.WithFunction("input_filename", 0, 0, func(any, []any) any { return inputs.file() }),
	)
}

// searchPath is where modules are. ~/.jq may be a file of definitions too, which
// every filter has.
func (c *command) searchPath() []string {
	if len(c.libraries) == 0 {
		return []string{"~/.jq"}
	}
	return c.libraries
}

// syntaxError says where in the filter the error is.
func syntaxError(filter string, err error) error {
	var syntax *gojq.ParseError
	if !errors.As(err, &syntax) {
		return fmt.Errorf("the filter %q: %w", filter, err)
	}
	before := filter[:min(max(syntax.Offset-len(syntax.Token), 0), len(filter))]
	if syntax.Token == "" {
		return fmt.Errorf("the filter %q ends too early", filter)
	}
	return fmt.Errorf("the filter %q: %q is not expected after %q", filter, syntax.Token, before)
}

// each runs the filter over one input. It reports whether the filter has ended
// the whole run.
func (r *run) each(code *gojq.Code, input any) (status int, halted bool) {
	values := code.Run(input, r.values...)
	for {
		value, ok := values.Next()
		if !ok {
			return 0, false
		}
		err, bad := value.(error)
		if !bad {
			if err := r.print(value); err != nil {
				return r.complain(statusUsage, err), true
			}
			continue
		}
		var halt *gojq.HaltError
		if errors.As(err, &halt) {
			if halt.Value() != nil {
				fmt.Fprint(r.streams.Err, plain(halt.Value()))
			}
			return halt.ExitCode(), true
		}
		return r.complain(statusError, err), false
	}
}

func (r *run) print(value any) error {
	r.last = 0
	if value == nil || value == false {
		r.last = statusFalse
	}
	text, err := r.format(value)
	if err == nil {
		_, err = io.WriteString(r.streams.Out, text+r.separator)
	}
	if err != nil {
		return fmt.Errorf("print a value: %w", err)
	}
	return nil
}

func (r *run) format(value any) (string, error) {
	if r.raw {
		if text, ok := value.(string); ok && r.separator == "\x00" && strings.ContainsRune(text, 0) {
			return "", errors.New("--raw-output0: the text has a NUL in it")
		} else if ok && !r.ascii {
			return text, nil
		}
	}
	text, err := gojq.Marshal(value)
	if r.ascii {
		text = escaped(text)
	}
	if err != nil || r.indent == "" {
		return string(text), err
	}
	var out bytes.Buffer
	err = json.Indent(&out, text, "", r.indent)
	return out.String(), err
}

// escaped is JSON without what is not ASCII.
func escaped(text []byte) []byte {
	var out []byte
	for _, c := range string(text) {
		switch {
		case c < 0x80:
			out = append(out, byte(c))
		case c > 0xFFFF:
			high, low := utf16.EncodeRune(c)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, c)
		}
	}
	return out
}

func (r *run) debug(value any, _ []any) any {
	fmt.Fprintf(r.streams.Err, "[\"DEBUG:\",%s]\n", compact(value))
	return value
}

func (r *run) stderr(value any, _ []any) any {
	fmt.Fprint(r.streams.Err, plain(value))
	return value
}

// plain is a string's text, and anything else as JSON.
func plain(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	return compact(value)
}

func compact(value any) string {
	// It never fails.
	text, _ := gojq.Marshal(value)
	return string(text)
}
