// Package invocation is what one call runs, as data, where that is not a function
// with its arguments as JSON in $1: a command that finds them in variables, or a
// program.
//
// It knows nothing of who asks, of tags and lists, nor of how a shell is told.
package invocation

import "slices"

// An Invocation is what one call runs: a program, else a command of the script's.
type Invocation struct {
	// File is sourced first, with an absolute path; "" where the shell has what is
	// run already.
	File string
	// Function is called with Words; "" where sourcing File is all there is to do.
	Function string
	Words    []string
	// HasJSON says that it is a function as those of a list are, too: its only word
	// is the arguments as JSON, and they are in variables arg_ and their names.
	HasJSON bool
	// Late are the words that computed variables give.
	Late []Late
	// Before and After are functions to call around it, "" for none. Neither gets
	// Words.
	Before, After string
	// Computed is what functions of the script's say of variables, in their order,
	// once all others are set.
	Computed []Computed

	// Program is a program and its first arguments, without a shell in between; its
	// standard input is Input.
	Program     []string
	Input       []byte
	Environment Environment
	// Wants are the variables that the program has also of a limited environment.
	Wants []string

	// Variables are set before. Those in Unset are not there.
	Variables []Variable
	Unset     []string
	// Defaults are NAME=value for what is not in the environment.
	Defaults []string
	Needs    Needs
}

// A Variable is one of Bash.
type Variable struct {
	Name   string // an identifier
	Kind   Kind
	Values []string // one for a Text; keys and values in turn for Pairs
	Export bool
}

// A Kind is what a variable is in Bash.
type Kind int

const (
	Text  Kind = iota // one value
	List              // an array
	Pairs             // an associative array
)

// Late is a word that a variable gives once that is computed.
type Late struct {
	Word     int // its place in Words
	Variable string
}

// Computed is what a function of the script's prints for a variable.
type Computed struct {
	Variable string
	Label    string // what messages call the variable
	Function string
	What     What
}

// What a function prints, as the runtime calls it.
type What string

const (
	Value       What = "value"       // the value of a variable that has none
	FirstOfList What = "list"        // the only element of an array
	Exported    What = "environment" // the value of a variable of the environment that is not there
	Choices     What = "choices"     // what the values may be, a line each
	Allowed     What = "allowed"     // likewise, where Function is not one but the lines
)

// Needs is what has to be there for a call to run.
type Needs struct {
	Variables []string // of the environment
	Programs  []string // on PATH, or functions
}

// An Environment is what of the shell's environment a program gets, besides the
// variables of the call. The zero value says nothing about it.
type Environment struct {
	Says    bool
	Limited bool     // else all of it
	Names   []string // what it gets where Limited, besides PATH and what Conch tells calls
}

// Minimal is what a program needs to find its way.
var Minimal = []string{
	"HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_MONETARY", "LC_NUMERIC", "LC_TIME",
	"LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
}

// own are the variables in which calls find what Conch tells them.
var own = []string{
	"PATH", "MCP_CALL_TMPDIR", "MCP_ROOTS_COUNT", "MCP_ROOTS_JSON", "MCP_ROOTS_PATHS",
	"CONCH_ASKER", "CONCH_ASK_ROOTS", "CONCH_BIN", "CONCH_TALK", "CONCH_UPDATES", "TRACEPARENT", "TRACESTATE", "BAGGAGE",
}

// Passed are the names of what a program gets of a limited environment.
func (e Environment) Passed() []string { return slices.Concat(own, e.Names) }

// ParseEnvironment reads what somebody says of it: inherit, minimal, or names of
// variables.
func ParseEnvironment(words []string) (e Environment, ok bool) {
	e.Says = true
	switch {
	case len(words) == 1 && words[0] == "inherit":
		return e, true
	case len(words) == 1 && words[0] == "minimal":
		e.Limited, e.Names = true, Minimal
		return e, true
	}
	e.Limited, e.Names = true, words
	return e, !slices.ContainsFunc(words, func(name string) bool { return !isName(name) })
}

func isName(text string) bool {
	for i, c := range text {
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return text != ""
}
