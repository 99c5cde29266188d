package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/joho/godotenv"

	"github.com/conch-mcp/conch/internal/check/smell"
	"github.com/conch-mcp/conch/internal/regular"
	"github.com/conch-mcp/conch/internal/tags"
)

// tags checks the tags of a script, and returns what they say.
func (c *checker) tags(s *script) *tags.Script {
	described, err := tags.Parse(s.name, s.form.Tags)
	var faults tags.Faults
	if errors.As(err, &faults) {
		for _, fault := range faults {
			f := Finding{Rule: ruleTags, File: s.name, Line: fault.Line, Column: fault.Column, Message: fault.What}
			if fault.Expected != "" {
				f.Safer = "expected " + fault.Expected
			}
			c.tell(f)
		}
	}
	if described == nil {
		return nil
	}
	t := &tagged{checker: c, script: s, dotenv: c.dotenv(s, described.Meta.Dotenv)}
	for _, e := range described.Env {
		t.env(e)
	}
	t.programs(described.Meta.RequireTools)
	for _, command := range described.Commands {
		t.needs(command)
		// Without a @cmd the tags of a listed script speak of the script alone.
		if !s.listed || hasCommands(s) {
			t.command(command)
			c.tools++
		}
	}
	return described
}

// tagged is what the tags of one script are checked with.
type tagged struct {
	*checker
	script *script
	dotenv map[string]bool // the variables that its file gives
}

func (t *tagged) at(rule string, line int) Finding {
	return Finding{Rule: rule, File: t.script.name, Line: line}
}

func (t *tagged) command(command tags.Command) {
	if !toolName.MatchString(command.Name) {
		f := t.at(ruleName, command.Line)
		f.Message = "the name " + quoted(command.Name) + " is not one that all clients take: it has more than 128 characters"
		t.tell(f)
	}
	if command.Describe == "" {
		f := t.at(ruleDescription, command.Line)
		f.Message, f.Safer = "tool "+command.Name+" has no description, and a model knows nothing of it but its name", "# @cmd What it is good for"
		if command.Function == "" || !strings.Contains(t.line(command.Line), "@cmd") {
			f.Safer = "# @describe What it is good for"
		}
		t.tell(f)
	}
	for _, p := range command.Params {
		t.notations(p)
		if p.Describe == "" && !strings.Contains(string(p.Schema), `"description"`) {
			f := t.at(ruleDescription, p.Line)
			f.Message = "argument " + p.Property + " has no description, and a model knows nothing of it but its name"
			f.Safer = strings.TrimSpace(t.line(p.Line)) + "   What it is, and an example of a value"
			t.tell(f)
		}
	}
	if path := command.Meta.OutputSchema; path != "" {
		t.output(path, command)
	}
}

// notations are names that people know from other languages, and how their types are
// written here.
var notations = map[string]string{
	"INTEGER": "<INT>", "UINT": "<INT>", "LONG": "<INT>", "NUMBER": "<NUM>", "FLOAT": "<NUM>", "DOUBLE": "<NUM>", "DECIMAL": "<NUM>", "URI": "<URL>", "OBJECT": "<JSON>",
	"BOOL": "@flag in place of @option", "BOOLEAN": "@flag in place of @option", "ARRAY": "* behind the name", "LIST": "* behind the name",
}

// strayed is a notation, choices, a default or a mark at the beginning of a text, where
// they say nothing: behind two blanks, or one too many.
var strayed = regexp.MustCompile(`^(?:<[A-Za-z][A-Za-z_-]*>|\[[^\]]*[|,][^\]]*\]|=\s*\S+|[!*+](?:\s|$))`)

// notations tells of a notation that says less than it seems to.
func (t *tagged) notations(p tags.Param) {
	if lost := strings.TrimSpace(strayed.FindString(p.Describe)); lost != "" {
		f := t.at(ruleNotation, p.Line)
		f.Message = lost + " is part of the description of " + p.Property + ", and says nothing of its values"
		f.Safer = "write !, * and =default right behind the name, choices as [a|b], and one blank in front of <TYPE>"
		t.tell(f)
	}
	if p.Schema != nil || len(p.Choices) > 0 {
		return
	}
	for _, n := range p.Notations {
		meant, ok := notations[strings.ToUpper(n.Name)]
		if !ok || p.Many && meant == "* behind the name" {
			continue
		}
		f := t.at(ruleNotation, p.Line)
		f.Message, f.Safer = "<"+n.Name+"> is no type, so that "+p.Property+" is a string", "write "+meant
		t.tell(f)
	}
}

// hasCommands reports whether a script has a @cmd, and not only tags of its own.
func hasCommands(s *script) bool { return tags.Mentions(s.text, "cmd") }

// needs checks what has to be there for a command.
func (t *tagged) needs(command tags.Command) {
	for _, e := range command.Env {
		t.env(e)
	}
	t.programs(command.Meta.RequireTools)
}

func (t *tagged) line(number int) string {
	if number < 1 || number > len(t.script.lines) {
		return ""
	}
	return t.script.lines[number-1]
}

// output checks the file that is to be the schema of results.
func (t *tagged) output(path string, command tags.Command) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(t.script.name), path)
	}
	line := t.lineOf(command, "output-schema")
	f, err := t.read(path)
	if err != nil {
		found := t.at(ruleNoFile, line)
		found.Severity = Error
		found.Message = fmt.Sprintf("the outputSchema of %s cannot be read: %s: %v", command.Name, path, err)
		t.tell(found)
		return
	}
	root, wrong := parseJSON(f)
	if wrong != nil {
		found := f.at(ruleOutputSchema, wrong.offset, 0)
		found.Message = "the outputSchema of " + command.Name + " cannot be used: " + wrong.text
		t.tell(found)
		return
	}
	t.outputSchema(root)
}

// lineOf is the line of a @meta behind a command's tag.
func (t *tagged) lineOf(command tags.Command, meta string) int {
	for i := command.Line; i <= len(t.script.lines) && i > 0; i++ {
		if text := t.line(i); strings.Contains(text, "@meta") && strings.Contains(text, meta) {
			return i
		}
	}
	return command.Line
}

// env tells of a variable that has to be set.
func (t *tagged) env(e tags.Env) {
	if !e.Required || e.Default != nil || e.DefaultFunction != "" || t.dotenv[e.Name] || t.options.Getenv == nil {
		return
	}
	if value, ok := t.options.Getenv(e.Name); ok && value != "" {
		return
	}
	f := t.at(ruleMissingEnv, e.Line)
	f.Message = "the environment has no " + e.Name + ", which has to be set"
	f.Safer = "export " + e.Name + "=…, or give it a default: @env " + e.Name + "=…"
	t.tell(f)
}

// programs tells of those that have to be there.
func (t *tagged) programs(names []string) {
	for _, name := range names {
		if t.options.Find == nil || t.options.Find(name) {
			continue
		}
		f := t.at(ruleMissingProgram, 1)
		for i, text := range t.script.lines {
			if strings.Contains(text, "require-tools") && strings.Contains(text, name) {
				f.Line = i + 1
				break
			}
		}
		f.Message = "there is no program " + name + " on the PATH, which the tags require"
		t.tell(f)
	}
}

// dotenv are the variables of a file that @meta dotenv names.
func (c *checker) dotenv(s *script, path string) map[string]bool {
	if path == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(s.name), path)
	}
	text, _, err := regular.Read(path, mostOfScript)
	if errors.Is(err, regular.ErrAbsent) {
		return nil
	}
	var variables map[string]string
	if err == nil {
		variables, err = godotenv.UnmarshalBytes(text)
	}
	if err != nil {
		line := 1 + slices.IndexFunc(s.lines, func(line string) bool { return strings.Contains(line, "@meta dotenv") })
		c.tell(Finding{Rule: ruleNoFile, Severity: Error, File: s.name, Line: line, Message: fmt.Sprintf("%s cannot be read: %v; the script is not served", path, err)})
	}
	given := map[string]bool{}
	for name := range variables {
		given[name] = true
	}
	return given
}

// taggedTools are the functions of commands, with what their arguments may be.
func taggedTools(described *tags.Script, listed bool) (tools []smell.Tool) {
	if described == nil {
		return nil
	}
	for _, command := range described.Commands {
		if listed && command.Function == "" {
			continue
		}
		input, err := command.InputSchema()
		if err != nil {
			input = json.RawMessage(`{}`)
		}
		byProperty, open := shapes(input)
		for _, p := range command.Params {
			if p.ChoicesFunction != "" && p.Validated {
				// The values are those of a function.
				shape := byProperty[p.Property]
				shape.Free = false
				byProperty[p.Property] = shape
			}
			// A schema of all arguments need not have every one that has a tag.
			if _, ok := byProperty[p.Property]; !ok {
				byProperty[p.Property] = smell.Anything
			}
		}
		t := smell.Tool{Function: command.Function, Prefix: "argc_", Arguments: byProperty, Open: open, Tagged: true}
		if command.Function != "" {
			t.Positional = positional(command, byProperty)
		}
		tools = append(tools, t)
		if strings.HasPrefix(command.Function, "tool_") && t.Positional == nil {
			tools = append(tools, smell.Tool{Function: t.Function, Prefix: "arg_", Arguments: byProperty, Open: open, Document: 1, Tagged: true})
		}
	}
	return tools
}

// positional is what the parameters of a command's function may be: its arguments
// in their order.
func positional(command tags.Command, shapes map[string]smell.Shape) *smell.Shape {
	all := smell.Shape{}
	some := false
	for _, p := range command.Params {
		if p.Kind == tags.Argument {
			shape := shapes[p.Property]
			all, some = all.Or(shape), true
		}
	}
	if !some {
		return nil
	}
	return &all
}
