package annotated

import (
	"fmt"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/internal/tags"
)

// A standard is what a parameter has that a call does not give.
type standard struct {
	values []string // none where it is not set
	label  string   // what messages call it; "" for the parameter's name
	err    error    // why there is none that could be used
}

// standards finds what the environment and the tags say of a command's parameters.
func standards(params []tags.Param, env Environment) map[string]standard {
	all := map[string]standard{}
	for _, p := range params {
		if text, ok := env.bound(p); ok {
			values, err := fromEnvironment(p, text)
			all[p.Property] = standard{values, fmt.Sprintf("the environment variable %s, for %s", p.Bound, p.Property), err}
		} else if p.Default != nil && p.Form() != tags.Pairs {
			all[p.Property] = standard{values: []string{*p.Default}}
		}
	}
	return all
}

// bound is what the environment gives a parameter.
func (e Environment) bound(p tags.Param) (text string, ok bool) {
	if p.Bound == "" {
		return "", false
	}
	return e.Get(p.Bound)
}

// fromEnvironment are the values that a variable of the environment gives.
func fromEnvironment(p tags.Param, text string) (values []string, err error) {
	if p.Kind == tags.Flag {
		return flagFrom(p, text)
	}
	values = []string{text}
	if p.Separator != "" {
		values = strings.Split(text, p.Separator)
	}
	for i, value := range values {
		if p.Validated && len(p.Choices) > 0 && !slices.Contains(p.Choices, value) {
			return nil, fmt.Errorf("the environment variable %s gives %s %.40q, and it may be %s", p.Bound, p.Property, value, strings.Join(p.Choices, ", "))
		}
		if len(p.Notations) == 0 {
			continue
		}
		if _, err := p.Notations[min(i, len(p.Notations)-1)].Literal(value); err != nil {
			return nil, fmt.Errorf("the environment variable %s gives %s a value that does not fit: %w", p.Bound, p.Property, err)
		}
	}
	return values, nil
}

func flagFrom(p tags.Param, text string) (values []string, err error) {
	switch {
	case text == "" || text == "0" || text == "false":
		return nil, nil
	case text == "1" || text == "true":
		return []string{"1"}, nil
	case p.Many && strings.Trim(text, "0123456789") == "":
		return []string{text}, nil
	}
	return nil, fmt.Errorf("the environment variable %s gives the flag %s %.40q, and it may be true or false", p.Bound, p.Property, text)
}

// shown are the parameters as clients see them: one that nothing in the environment
// gives has to be in the call.
func shown(params []tags.Param, env Environment) []tags.Param {
	params = slices.Clone(params)
	for i := range params {
		if _, ok := env.bound(params[i]); !ok {
			params[i].Bound = ""
		}
	}
	return params
}
