package jq

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Help is what jq --help prints.
const Help = `Run a filter of the jq language over JSON, as jq does.

Usage:
  conch jq [flags] FILTER [FILE...]

FILTER is applied to each JSON value in the files, or in standard input. Numbers
that it does not count with keep their digits. Members of objects are sorted.

Examples:
  conch jq -r '.name // "World"' <<<"$1"
  conch jq -n --arg name "$name" --argjson count 3 '{$name, $count}'

Flags:
  -r, --raw-output        print strings as their text
  -j, --join-output       the same, without a newline after each value
      --raw-output0       print strings as their text, and NUL behind each value
  -c, --compact-output    print each value in one line
  -a, --ascii-output      print what is not ASCII as \uXXXX
      --tab, --indent N   indent by a tab, or by N blanks (0 to 7) instead of 2
  -e, --exit-status       exit with 1 if the last value is false or null, 4 if
                          there is none
  -n, --null-input        run the filter once, with null; input and inputs read
  -R, --raw-input         take lines of text for inputs
  -s, --slurp             make one array of all inputs, or one text with -R
      --stream            make of each input its events, [PATH, LEAF] and [PATH]
  -f, --from-file FILE    read the filter from a file; no FILTER is given then
      --arg NAME TEXT     set $NAME to a text
      --argjson NAME JSON set $NAME to a value
      --rawfile NAME FILE, --slurpfile NAME FILE
                          set $NAME to a file's text, or to the array of its values
      --args, --jsonargs  what follows FILTER is no files, but $ARGS.positional
  -L, --library-path DIR  look for modules there, and not in ~/.jq
  -S, -M, --unbuffered    taken for jq's sake: so it is anyway
  -C                      taken for jq's sake; nothing is coloured
  -V, --version           print the version of jq whose language this is

A link to conch that is called jq is the same program.

Members are sorted also in to_entries, keys_unsorted and .[], and there is no
input_line_number and no --seq.

The exit status is 2 if a file or a flag is wrong, 3 if the filter is, and 5 if it
raises an error.
`

// command is what the arguments say.
type command struct {
	help, version              bool
	raw, ascii, exitStatus     bool
	nullInput, rawInput, slurp bool
	stream                     bool
	indent, separator          string
	libraries                  []string // directories of modules

	filter, filterFile  string
	hasFilter, fromFile bool
	files               []string
	rest                func(text string) error // what becomes of an argument behind the filter

	names      []string // of variables, with $
	values     []any    // of each
	named      map[string]any
	positional []any
}

// parser takes arguments one by one.
type parser struct {
	*command
	args []string
}

func parse(args []string) (*command, error) {
	c := &command{indent: "  ", separator: "\n", named: map[string]any{}, positional: []any{}}
	c.rest = c.addFile
	p := &parser{c, args}
	for len(p.args) > 0 && !c.help && !c.version {
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	if c.help || c.version {
		return c, nil
	}
	return c, c.finish()
}

// finish settles what could not be before all was read.
func (c *command) finish() error {
	switch {
	case c.fromFile:
		text, err := os.ReadFile(c.filterFile)
		if err != nil {
			return fmt.Errorf("read the filter: %w", err)
		}
		c.filter = string(text)
	case !c.hasFilter:
		return errors.New("there is no filter")
	}
	c.names = append(c.names, "$ARGS")
	c.values = append(c.values, map[string]any{"positional": c.positional, "named": c.named})
	return nil
}

func (c *command) addFile(name string) error {
	c.files = append(c.files, name)
	return nil
}

// next takes one argument, with what belongs to it.
func (p *parser) next() error {
	arg := p.args[0]
	p.args = p.args[1:]
	switch {
	case arg == "--":
		for _, text := range p.args {
			if err := p.operand(text); err != nil {
				return err
			}
		}
		p.args = nil
		return nil
	case strings.HasPrefix(arg, "--"):
		return p.long(arg)
	case strings.HasPrefix(arg, "-L") && len(arg) > 2:
		p.libraries = append(p.libraries, arg[2:])
		return nil
	case len(arg) > 1 && arg[0] == '-':
		for _, letter := range arg[1:] {
			if err := p.short(letter); err != nil {
				return err
			}
		}
		return nil
	}
	return p.operand(arg)
}

func (p *parser) operand(text string) error {
	if !p.hasFilter && !p.fromFile {
		p.filter, p.hasFilter = text, true
		return nil
	}
	return p.rest(text)
}

var longs = map[rune]string{
	'r': "--raw-output", 'j': "--join-output", 'c': "--compact-output", 'e': "--exit-status", 'n': "--null-input",
	'R': "--raw-input", 's': "--slurp", 'f': "--from-file", 'S': "--sort-keys", 'M': "--monochrome-output", 'C': "--color-output", 'h': "--help",
	'a': "--ascii-output", 'L': "--library-path", 'V': "--version",
}

func (p *parser) short(letter rune) error {
	long, ok := longs[letter]
	if !ok {
		return fmt.Errorf("there is no flag -%c", letter)
	}
	return p.long(long)
}

func (p *parser) long(flag string) error {
	switch flag {
	case "--raw-output":
		p.raw = true
	case "--join-output":
		p.raw, p.separator = true, ""
	case "--raw-output0":
		p.raw, p.separator = true, "\x00"
	case "--ascii-output":
		p.ascii = true
	case "--compact-output":
		p.indent = ""
	case "--tab":
		p.indent = "\t"
	case "--exit-status":
		p.exitStatus = true
	case "--null-input":
		p.nullInput = true
	case "--raw-input":
		p.rawInput = true
	case "--slurp":
		p.slurp = true
	case "--stream":
		p.stream = true
	case "--args":
		p.rest = p.addText
	case "--jsonargs":
		p.rest = p.addJSON
	case "--sort-keys", "--monochrome-output", "--color-output", "--unbuffered":
	case "--version":
		p.version = true
	case "--help":
		p.help = true
	default:
		return p.withValues(flag)
	}
	return nil
}

// withValues is a flag that takes the next arguments.
func (p *parser) withValues(flag string) error {
	count := 2
	switch flag {
	case "--indent", "--from-file", "--library-path":
		count = 1
	case "--arg", "--argjson", "--rawfile", "--slurpfile":
	default:
		return fmt.Errorf("there is no flag %s", flag)
	}
	if len(p.args) < count {
		return fmt.Errorf("%s takes %s", flag, []string{"an argument", "2 arguments"}[count-1])
	}
	given := p.args[:count]
	p.args = p.args[count:]
	switch flag {
	case "--indent":
		n, err := strconv.Atoi(given[0])
		if err != nil || n < 0 || n > 7 {
			return errors.New("--indent takes a number from 0 to 7")
		}
		p.indent = strings.Repeat(" ", n)
		return nil
	case "--from-file":
		return p.filterFrom(given[0])
	case "--library-path":
		p.libraries = append(p.libraries, given[0])
		return nil
	}
	return p.variable(flag, given[0], given[1])
}

// filterFrom takes a file for the filter. What was taken for one was a file.
func (p *parser) filterFrom(file string) error {
	p.fromFile, p.filterFile = true, file
	if p.hasFilter {
		p.hasFilter = false
		return p.rest(p.filter)
	}
	return nil
}

// variable sets a variable in the way of a flag. The first of a name is the one
// that counts, as with jq.
func (p *parser) variable(flag, name, text string) error {
	value, err := variableValue(flag, text)
	if err != nil {
		return fmt.Errorf("%s %s: %w", flag, name, err)
	}
	if !slices.Contains(p.names, "$"+name) {
		p.names, p.values = append(p.names, "$"+name), append(p.values, value)
		p.named[name] = value
	}
	return nil
}

func variableValue(flag, text string) (any, error) {
	switch flag {
	case "--argjson":
		return one(text)
	case "--rawfile":
		content, err := os.ReadFile(text)
		return strings.ToValidUTF8(string(content), "\uFFFD"), err
	case "--slurpfile":
		in := newInputs(&command{files: []string{text}, slurp: true}, nil)
		defer in.close()
		value, _ := in.Next()
		err, _ := value.(error)
		return value, err
	}
	return strings.ToValidUTF8(text, "\uFFFD"), nil
}

func (c *command) addText(text string) error {
	c.positional = append(c.positional, strings.ToValidUTF8(text, "\uFFFD"))
	return nil
}

func (c *command) addJSON(text string) error {
	value, err := one(text)
	if err != nil {
		return fmt.Errorf("--jsonargs: %w", err)
	}
	c.positional = append(c.positional, value)
	return nil
}
