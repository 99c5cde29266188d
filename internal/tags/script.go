package tags

import (
	"encoding/json"
	"time"
)

// A Script is what the tags of one file say.
type Script struct {
	File     string // as [Parse] was given it
	Describe string // what the server is for, "" if no tag says it
	Meta     Meta   // what is said above the first @cmd
	Env      []Env  // the variables that are named above the first @cmd
	// Commands are the tools, in the order of their tags. Those with a fault
	// are not among them.
	Commands []Command
	// Functions are all that the script defines at the beginning of a line, sorted.
	Functions []string
	// Before and After are the functions to run before and after each command,
	// "" where the script defines none.
	Before, After string
}

// A Command is one tool.
type Command struct {
	Name string // the tool's: letters, digits and underscores
	// Function is the one to run; "" where the script itself is the command: it
	// has tags, and neither a @cmd nor a function main.
	Function string
	Describe string // "" if no tag says it
	Aliases  []string
	// Params has those of the commands above this one first, and below that the
	// order in which they are written.
	Params []Param
	Env    []Env // likewise
	Meta   Meta
	// Schema is the whole input schema where the script gives it as JSON, nil
	// where it follows from Params.
	Schema json.RawMessage
	Line   int // of its @cmd, or of the script's first tag
}

// A Kind tells how a command line would give a parameter.
type Kind int

const (
	Argument Kind = iota // by its place
	Option               // a name with a value
	Flag                 // a name alone
)

// String is the tag of the kind, without its @.
func (k Kind) String() string {
	return [...]string{"arg", "option", "flag"}[k]
}

// A Form is what a parameter is in Bash.
type Form int

const (
	Text  Form = iota // a variable with the value
	List              // an array of the values
	Set               // a variable with 1 where the flag is set, none where it is not
	Count             // a variable with how often the flag is set, none for never
	Pairs             // an associative array: the values by what follows the prefix
)

// A Value is what may stand for a parameter or a variable of the environment.
type Value struct {
	// Required says that there must be a value and nothing gives one by default.
	Required        bool
	Default         *string // nil for none
	DefaultFunction string  // prints the default; "" for none
	Choices         []string
	ChoicesFunction string // prints the choices, one a line; "" for none
	// Validated says that values other than the choices are refused.
	Validated bool
}

// A Param is one parameter of a command.
type Param struct {
	Kind     Kind
	Name     string // as written, without dashes in front and modifiers behind
	Long     string // the name with its dashes, as in --dry-run; "" for an argument
	Short    string // as in -d; "" for none
	Property string // the name among a call's arguments, as in dry_run
	Variable string // of Bash: argc_ and the property
	Describe string
	Value
	// Many says that it may be given several times, and Rest that it takes all
	// that follows it: either way it is a list.
	Many, Rest bool
	// Separator parts the values in the text of a variable of the environment;
	// "" for none.
	Separator string
	// Assigned says that a command line has = between the name and the value.
	Assigned bool
	// Prefixed says that a command line has part of the value in the name: -Dname=value.
	Prefixed bool
	// Bound is the variable of the environment that gives the value where the
	// call does not; "" for none.
	Bound     string
	Notations []Notation
	// Schema is the property's schema where the script gives it as JSON.
	Schema json.RawMessage
	Line   int
}

// A Notation stands for one value of a parameter, as <INT> does.
type Notation struct {
	Name string // without brackets and modifier
	// Repeat is the modifier of the last one: * for any number of values, + for
	// at least one, ? for one or none; "" for one.
	Repeat string
}

// An Env is a variable of the environment that a command wants.
type Env struct {
	Name     string
	Describe string
	Value
	Notation string // "" for none
	Line     int
}

// Meta is what @meta says. What it does not say has the zero value.
type Meta struct {
	Version, Author, Title string
	// What clients may think of calls; nil is what the protocol assumes.
	ReadOnly, Destructive, Idempotent, OpenWorld *bool
	Timeout                                      time.Duration // 0 is the server's
	OutputSchema                                 string        // a file's path, as written
	Requires                                     []string      // what clients must be able to do: elicitation, sampling, roots
	RequireTools                                 []string      // programs that must be there
	Dotenv                                       string        // a file's path, as written; ".env" where none is
	Other                                        []Pair        // the rest, as written
}

// A Pair is one @meta that means nothing here.
type Pair struct {
	Name, Value string // the value may be ""
	Line        int
}
