package annotated

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/catalog/program"
	"github.com/conch-mcp/conch/internal/tags"
)

// readProgram reads the tags of a program, which is one tool with the file's name.
func (f *Folder) readProgram(path string, text []byte, form Form, isExecutable bool) ([]*catalog.Tool, []string, error) {
	o, isNone := form.Obstacle(text, isExecutable)
	if isNone && o.Refused {
		return nil, nil, fmt.Errorf("%s %s", path, o.Why)
	}
	s, err := f.readTags(path, form.Tags)
	switch {
	case err != nil:
		return nil, nil, err
	case isNone:
		return nil, []string{fmt.Sprintf("%s %s; it is not served (%s)", path, o.Why, o.Remedy)}, nil
	}
	var tools []*catalog.Tool
	var problems []string
	for _, c := range s.tags.Commands {
		engine, problem := s.program(c)
		if problem == "" {
			var tool *catalog.Tool
			if tool, problem = s.tool(c, engine); tool != nil {
				tools = append(tools, tool)
			}
		}
		if problem != "" {
			problems = append(problems, fmt.Sprintf("%s:%d: %s", path, c.Line, problem))
		}
	}
	return tools, problems, nil
}

// program is what runs a program with tags. A function that computes something
// would be Bash's.
func (s *Script) program(c tags.Command) (p *program.Program, problem string) {
	p = &program.Program{Words: []string{s.path}, Needs: needsOf(c), Defaults: slices.Concat(s.dotenv, defaultsOf(c)), Computed: computedOf(c)}
	p.Wants = wantsOf(c, s.dotenv)
	p.Lacking = func(has func(string) bool) []string { return s.lacking(p.Needs, has) }
	for _, param := range c.Params {
		p.Declared = append(p.Declared, param.Property)
		if value, err := s.standardJSON(param); value != nil || err != nil {
			p.Standard = append(p.Standard, program.Argument{Name: param.Property, Value: value, Err: err})
		}
	}
	p.Environment, problem = EnvironmentOf(c)
	return p, problem
}

// wantsOf are the variables of the environment that a program names itself.
func wantsOf(c tags.Command, dotenv []string) (names []string) {
	for _, e := range c.Env {
		names = append(names, e.Name)
	}
	for _, entry := range dotenv {
		name, _, _ := strings.Cut(entry, "=")
		names = append(names, name)
	}
	return names
}

// standardJSON is what a parameter has that a call does not give, as JSON; nil for
// nothing.
func (s *Script) standardJSON(p tags.Param) (json.RawMessage, error) {
	if text, ok := s.env.bound(p); ok {
		values, err := fromEnvironment(p, text)
		if err != nil || len(values) == 0 {
			return nil, err
		}
		return literals(p, values)
	}
	one := tags.Command{Params: []tags.Param{p}}
	text, err := one.InputSchema()
	if err != nil {
		return nil, err
	}
	var schema struct {
		Properties map[string]struct{ Default json.RawMessage }
	}
	_ = json.Unmarshal(text, &schema)
	return schema.Properties[p.Property].Default, nil
}

// literals are values from the environment as JSON.
func literals(p tags.Param, values []string) (json.RawMessage, error) {
	if p.Form() == tags.Set {
		return json.RawMessage("true"), nil
	}
	var list []json.RawMessage
	for i, value := range values {
		notation := tags.Notation{}
		if p.Form() == tags.Count {
			notation.Name = "INT"
		} else if len(p.Notations) > 0 {
			notation = p.Notations[min(i, len(p.Notations)-1)]
		}
		literal, err := notation.Literal(value)
		if err != nil {
			return nil, err
		}
		list = append(list, literal)
	}
	if p.Form() != tags.List {
		return list[0], nil
	}
	return json.Marshal(list)
}
