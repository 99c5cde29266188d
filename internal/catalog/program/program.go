// Package program is what a call runs of a tool that is a program: its arguments
// as JSON on standard input, and one by one in the environment.
//
// It knows nothing of how a program is started, nor of lists.
package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/invocation"
)

// A Program runs a tool. It implements [catalog.Engine].
type Program struct {
	Words       []string // the program and its first arguments
	Environment invocation.Environment
	Wants       []string // variables that it has also of a limited environment
	// Declared are the arguments that the tool's schema has. Of two whose variables
	// have the same name, a declared one has it.
	Declared []string
	// Standard are the values of arguments that a call does not give.
	Standard []Argument
	// Defaults, Needs and Computed are those of an [invocation.Invocation].
	Defaults []string
	Needs    invocation.Needs
	Computed []invocation.Computed
	// Lacking tells what is not there, as Missing does; nil for nothing.
	Lacking func(has func(program string) bool) []string
}

// An Argument is one of a call.
type Argument struct {
	Name  string
	Value json.RawMessage // without white space
	Err   error           // why there is no value, of one that a call does not give
}

// Below finds what the words of a command name below a folder, so that the command
// works wherever the server is started: files that are there get their whole path.
// A program without a slash is looked for on PATH.
func Below(folder string, words []string) []string {
	found := make([]string, len(words))
	for i, word := range words {
		found[i] = word
		hasFolder := strings.ContainsRune(word, '/')
		if filepath.IsAbs(word) || strings.HasPrefix(word, "-") || i == 0 && !hasFolder {
			continue
		}
		path, err := filepath.Abs(filepath.Join(folder, word))
		if err != nil {
			continue
		}
		if info, err := os.Stat(path); i == 0 || err == nil && info.Mode().IsRegular() {
			found[i] = path
		}
	}
	return found
}

// Missing implements [catalog.Engine].
func (p *Program) Missing(has func(program string) bool) []string {
	var phrases []string
	if p.Lacking != nil {
		phrases = p.Lacking(has)
	}
	if !has(p.Words[0]) {
		phrases = append(phrases, fmt.Sprintf("the program %s, which is not there or cannot be executed", p.Words[0]))
	}
	return phrases
}

// Bounds of what a program finds in its environment, in bytes: systems refuse to
// start one that is given more. What is longer is on its standard input alone.
const (
	longestVariable   = 32 << 10
	mostVariables     = 500
	longestOfThemAll  = 256 << 10
	environmentPrefix = "ARG_"
)

// Invocation implements [catalog.Engine].
func (p *Program) Invocation(arguments json.RawMessage) (*invocation.Invocation, error) {
	given, err := read(arguments)
	if err != nil {
		return nil, err
	}
	for _, standard := range p.Standard {
		if given.has(standard.Name) {
			continue
		}
		if standard.Err != nil {
			return nil, standard.Err
		}
		given.set(standard)
	}
	v := &invocation.Invocation{
		Program: p.Words, Environment: p.Environment, Wants: p.Wants, Defaults: p.Defaults, Needs: p.Needs, Computed: p.Computed,
		Input: append(given.object(), '\n'),
	}
	v.Variables = p.variables(given)
	return v, nil
}

// variables are those of the arguments that the tool declares, and then of others,
// as far as there is room.
func (p *Program) variables(given *arguments) (variables []invocation.Variable) {
	room := longestOfThemAll
	taken := map[string]bool{}
	add := func(a Argument) {
		name := environmentPrefix + strings.ToUpper(catalog.Identifier(a.Name))
		text, ok := a.text()
		if !ok || taken[name] || len(variables) == mostVariables || len(text) > longestVariable || len(name)+len(text) > room {
			return
		}
		taken[name] = true
		room -= len(name) + len(text)
		variables = append(variables, invocation.Variable{Name: name, Values: []string{text}, Export: true})
	}
	for _, declared := range []bool{true, false} {
		for _, a := range given.list {
			if slices.Contains(p.Declared, a.Name) == declared {
				add(a)
			}
		}
	}
	return variables
}

// text is what a variable has of an argument. ok is false for null, and for what no
// variable can hold.
func (a Argument) text() (text string, ok bool) {
	text = invocation.TextOf(a.Value)
	return text, a.Value[0] != 'n' && !strings.ContainsRune(text, 0)
}

// arguments are those of a call, in its order.
type arguments struct {
	list  []Argument
	place map[string]int
}

func read(object json.RawMessage) (list *arguments, err error) {
	list = &arguments{place: map[string]int{}}
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("the arguments are no JSON object")
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("read the arguments: %w", err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("read the arguments: %w", err)
		}
		var compact bytes.Buffer
		_ = json.Compact(&compact, value)
		name, _ := key.(string)
		list.set(Argument{Name: name, Value: compact.Bytes()})
	}
	return list, nil
}

// set puts an argument in the place of one of the same name: the last counts, and
// it is the one that was checked.
func (a *arguments) set(argument Argument) {
	if at, ok := a.place[argument.Name]; ok {
		a.list[at] = argument
		return
	}
	a.place[argument.Name] = len(a.list)
	a.list = append(a.list, argument)
}

func (a *arguments) has(name string) bool {
	_, ok := a.place[name]
	return ok
}

func (a *arguments) object() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, argument := range a.list {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(argument.Name)
		b.Write(name)
		b.WriteByte(':')
		b.Write(argument.Value)
	}
	b.WriteByte('}')
	return b.Bytes()
}
