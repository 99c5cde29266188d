package shell

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/conch-mcp/conch/internal/invocation"
)

// inputSuffix is that of what a program reads on its standard input.
const inputSuffix = ".input"

// invocation enters what command.bash says of itself that a job has.
func (e *encoding) invocation(v *invocation.Invocation) error {
	if strings.ContainsAny(v.File+v.Function+v.Before+v.After, "\n\x00") {
		return fmt.Errorf("a name or path of the command holds a newline or NUL: %q, %q", v.File, v.Function)
	}
	if hasNUL(v) {
		return ErrNUL
	}
	if len(v.Program) > 0 {
		e.scalar("_conch_function", "_conch_run_program")
		e.texts("_conch_program", v.Program)
		if v.Environment.Limited {
			e.scalar("_conch_passed", strings.Join(append(v.Environment.Passed(), v.Wants...), " "))
		}
	} else {
		e.scalar("_conch_function", "_conch_run_command")
		e.command(v)
	}
	if len(v.Computed) > 0 {
		var fours []string
		for _, c := range v.Computed {
			fours = append(fours, c.Variable, c.Label, c.Function, string(c.What))
		}
		e.texts("_conch_computed", fours)
	}
	return e.variables(v)
}

func (e *encoding) command(v *invocation.Invocation) {
	e.unlessEmpty("_conch_file", v.File)
	e.unlessEmpty("_conch_command", v.Function)
	e.unlessEmpty("_conch_ahead", v.Before)
	e.unlessEmpty("_conch_behind", v.After)
	if len(v.Words) > 0 {
		e.texts("_conch_words", v.Words)
	}
	var late []string
	for _, l := range v.Late {
		late = append(late, strconv.Itoa(l.Word)+"="+l.Variable)
	}
	e.unlessEmpty("_conch_late", strings.Join(late, " "))
}

// variables enters those of the call, and which of them are more than a text.
func (e *encoding) variables(v *invocation.Invocation) error {
	var exported, pairs []string
	for _, variable := range v.Variables {
		if !isIdentifierPart(variable.Name) {
			return errors.New("a variable has the name " + variable.Name)
		}
		if variable.Kind == invocation.Text {
			e.scalar(variable.Name, variable.Values[0])
		} else {
			e.texts(variable.Name, variable.Values)
		}
		if variable.Kind == invocation.Pairs {
			pairs = append(pairs, variable.Name)
		}
		if variable.Export {
			exported = append(exported, variable.Name)
		}
	}
	e.unlessEmpty("_conch_pairs", strings.Join(pairs, " "))
	e.unlessEmpty("_conch_exported", strings.Join(exported, " "))
	e.unlessEmpty("_conch_unset", strings.Join(v.Unset, " "))
	e.unlessEmpty("_conch_variables", strings.Join(v.Needs.Variables, " "))
	e.unlessEmpty("_conch_programs", strings.Join(v.Needs.Programs, " "))
	if len(v.Defaults) > 0 {
		e.texts("_conch_environment", v.Defaults)
	}
	return nil
}

func (e *encoding) unlessEmpty(name, value string) {
	if value != "" {
		e.scalar(name, value)
	}
}

// hasNUL reports whether a text is to become a variable that none can hold.
func hasNUL(v *invocation.Invocation) bool {
	has := func(text string) bool { return strings.ContainsRune(text, 0) }
	return slices.ContainsFunc(v.Words, has) || slices.ContainsFunc(v.Program, has) || slices.ContainsFunc(v.Defaults, has) ||
		slices.ContainsFunc(v.Variables, func(variable invocation.Variable) bool { return slices.ContainsFunc(variable.Values, has) })
}
