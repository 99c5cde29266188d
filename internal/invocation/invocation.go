// Package invocation is what one call runs, as data, where that is not a function
// with its arguments as JSON in $1: a command that finds them in variables, or a
// program.
//
// It knows nothing of who asks, of tags and lists, nor of how a shell is told.
package invocation

// An Invocation is what one call runs: a program, else a command of the script's.
type Invocation struct {
	// File is sourced first, with an absolute path; "" where the shell has what is
	// run already.
	File string
	// Function is called with Words; "" where sourcing File is all there is to do.
	Function string
	Words    []string
	// Before and After are functions to call around it, "" for none. Neither gets
	// Words.
	Before, After string
	// Computed is what functions of the script's say of variables, in their order,
	// once all others are set.
	Computed []Computed

	// Program is the program and its first arguments; its standard input is
	// Input. It takes the place of the shell.
	Program []string
	Input   []byte
	// Environment is what of the shell's environment the program gets.
	Environment Environment

	// Variables are set before. What they do not name and is in Unset is not there.
	Variables []Variable
	Unset     []string
}

// A Variable is one of Bash.
type Variable struct {
	Name   string // an identifier
	Kind   Kind
	Values []string // one for a Text; names and values in turn for Pairs
	Export bool
}

// A Kind is what a variable is in Bash.
type Kind int

const (
	Text  Kind = iota // one value
	List              // an array
	Pairs             // an associative array
)

// Computed says that a function of the script's gives a variable its value, or says
// what it may be.
type Computed struct {
	Variable string
	Function string
	// Choices says that it prints what the values may be, a line each. Else it
	// prints the value for a variable that has none.
	Choices bool
	// Label is what messages call the variable.
	Label string
	Kind  Kind
}

// An Environment is what of the shell's environment a program gets, besides the
// variables of the call. The zero value is all of it.
type Environment struct {
	Limited bool
	Names   []string // what it gets where Limited
}
