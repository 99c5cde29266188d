package tags

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/conch-mcp/conch/internal/schema"
)

// A givenSchema is one that the script gives as JSON: of one property, or of all
// arguments where it has no name.
type givenSchema struct {
	name string
	json json.RawMessage
	line int
}

func (c *command) addSchema(t tag) *flaw {
	if f := t.apart(); f != nil {
		return f
	}
	given := givenSchema{line: t.line}
	if !t.has("{") {
		if given.name = t.while(isName); given.name == "" || !t.blanks() {
			return t.unexpected("a parameter's name and its schema, or the schema of all arguments")
		}
	}
	var f *flaw
	if given.json, f = t.json(); f != nil {
		return f
	}
	given.name = strings.TrimLeft(given.name, "-")
	for _, other := range c.schemas {
		if other.name == given.name || other.name == "" || given.name == "" {
			return whole(fmt.Sprintf("the @schema of line %d says that already, or leaves nothing to say", other.line), "one for all arguments, or one for each parameter")
		}
	}
	c.schemas = append(c.schemas, given)
	return nil
}

// json takes one JSON value, which may go on in the comments below. Comments
// behind it are none of it.
func (t tag) json() (json.RawMessage, *flaw) {
	text := strings.Join(append([]string{t.rest()}, t.more...), "\n")
	decoder := json.NewDecoder(strings.NewReader(text))
	var value json.RawMessage
	if err := decoder.Decode(&value); err != nil {
		return nil, explain(err, text)
	}
	rest, _, _ := strings.Cut(text[decoder.InputOffset():], "\n")
	if strings.TrimSpace(rest) != "" {
		return nil, &flaw{at: t.at, what: excerpt(strings.TrimSpace(rest)) + " stands behind the schema", expected: "nothing more in that line"}
	}
	if value[0] != '{' && value[0] != 't' && value[0] != 'f' {
		return nil, &flaw{at: t.at, what: "the schema is no JSON object", expected: "one like {\"type\":\"object\"}"}
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, value)
	return compact.Bytes(), nil
}

// explain says where a text ceases to be JSON.
func explain(err error, text string) *flaw {
	f := whole("the schema has no end", "a JSON object, in this line and the comments below")
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		f.what = fmt.Sprintf("the schema is no JSON: %v", syntax)
		f.below = strings.Count(text[:min(int(syntax.Offset), len(text))], "\n")
	}
	return f
}

// placeSchemas gives schemas to the parameters beside which they stand, so that
// the commands below have both. The others wait until it is known what those of
// a command are.
func (t *tree) placeSchemas() {
	for _, c := range t.all() {
		var waiting []givenSchema
		for _, given := range c.schemas {
			if i := given.find(c.params); i >= 0 {
				c.params[i].Schema = given.json
				t.check(c, &Command{Params: c.params[i : i+1]}, given)
				continue
			}
			waiting = append(waiting, given)
		}
		if c.schemas = waiting; c == t.root && len(t.commands) > 0 {
			t.refuse(waiting)
		}
	}
}

// refuse tells of schemas above the first @cmd that no command has.
func (t *tree) refuse(schemas []givenSchema) {
	for _, given := range schemas {
		f := whole("a @schema of all arguments concerns one command", "it below a @cmd")
		if given.name != "" {
			f = given.aboutNothing()
		}
		t.fault(nil, given.line, f, "")
	}
}

// giveSchemas puts those that waited in their places.
func (t *tree) giveSchemas(c *command, made *Command) bool {
	made.Params = slices.Clone(made.Params)
	for _, given := range c.schemas {
		i := given.find(made.Params)
		switch {
		case given.name == "":
			made.Schema = given.json
		case i >= 0:
			made.Params[i].Schema = given.json
		default:
			t.fault(c, given.line, given.aboutNothing(), "")
			return false
		}
		if !t.check(c, made, given) {
			return false
		}
	}
	return true
}

// find returns the place of the parameter that a schema is about, -1 for none.
func (g givenSchema) find(params []Param) int {
	return slices.IndexFunc(params, func(p Param) bool {
		return g.name == p.Property || g.name == p.Name
	})
}

func (g givenSchema) aboutNothing() *flaw {
	return whole(fmt.Sprintf("@schema is about %.40s, which is no parameter", g.name), "an @option or @arg of that name beside it")
}

// check finds out whether what a command has with a given schema is a schema.
func (t *tree) check(c *command, made *Command, given givenSchema) bool {
	if err := given.compile(made); err != nil {
		t.fault(c, given.line, whole(fmt.Sprintf("@schema does not hold a JSON Schema: %v", err), ""), "")
		return false
	}
	return true
}

func (g givenSchema) compile(made *Command) error {
	var members map[string]json.RawMessage
	if g.name == "" && (json.Unmarshal(g.json, &members) != nil || string(members["type"]) != `"object"`) {
		return errors.New(`that of all arguments has "type":"object", which arguments always are`)
	}
	text, err := made.InputSchema()
	if err == nil {
		_, err = schema.Compile(text)
	}
	return err
}
