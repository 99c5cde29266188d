package catalog

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/yosida95/uritemplate/v3"
)

// A Source is where the content of a resource or prompt comes from: a file, or a
// function of the script's.
type Source struct {
	// File is a path relative to the script's folder, in a template with {name}
	// for its variables; "" for none.
	File string
	// Function is the name of a function; it need not exist.
	Function string
}

// FileVariable is the place of a variable in the file of a template; its name is
// the first submatch.
var FileVariable = regexp.MustCompile(`\{([A-Za-z0-9_.]+)\}`)

// FileVariables are the names of the variables in the file of a template.
func FileVariables(file string) (names []string) {
	for _, found := range FileVariable.FindAllStringSubmatch(file, -1) {
		names = append(names, found[1])
	}
	return names
}

// A Resource is one declared resource.
type Resource struct {
	URI, Name string
	// Entry is the declaration as clients see it, the author's JSON without its
	// white space and without what is for Conch alone.
	Entry    json.RawMessage
	MIMEType string // "" if it says none
	Source
}

// A Template is one declared resource template.
type Template struct {
	Name     string
	Entry    json.RawMessage // as in [Resource]
	MIMEType string
	Source
	Complete map[string][]string // what its variables may be, by their names

	uri *uritemplate.Template
}

// NewTemplate gives t the URIs that a template stands for (RFC 6570).
func NewTemplate(t Template, uriTemplate string) (*Template, error) {
	var err error
	t.uri, err = uritemplate.New(uriTemplate)
	return &t, err
}

// URITemplate is the template's text.
func (t *Template) URITemplate() string { return t.uri.Raw() }

// Variables are the names of the template's variables.
func (t *Template) Variables() []string { return t.uri.Varnames() }

// Bounds of what is matched against templates: the bytes of a URI, and how many
// parts a list in it may have. The time that matching takes grows with the one
// times the other.
const (
	longestURI = 2 << 10
	mostParts  = 256
)

// isMatchable reports whether a URI is within those bounds.
func isMatchable(uri string) bool {
	if len(uri) > longestURI {
		return false
	}
	parts := 0
	for i := range len(uri) {
		if strings.IndexByte(",./;&", uri[i]) >= 0 {
			parts++
		}
	}
	return parts <= mostParts
}

// Match takes the values of the template's variables from a URI, which are a
// string, a list of strings or an object of strings each. A variable that the
// URI leaves out is not there. ok is false for a URI that is not the template's.
func (t *Template) Match(uri string) (values map[string]any, ok bool) {
	if !isMatchable(uri) {
		return nil, false
	}
	found := t.uri.Match(uri)
	if found == nil {
		return nil, false
	}
	values = map[string]any{}
	for name, v := range found {
		full, _, isPrefix := strings.Cut(name, ":")
		if isPrefix && found.Get(full).Valid() {
			// The beginning of a value is of no use beside the whole.
			continue
		}
		name = full
		switch v.T {
		case uritemplate.ValueTypeString:
			values[name] = v.String()
		case uritemplate.ValueTypeList:
			values[name] = v.List()
		case uritemplate.ValueTypeKV:
			values[name] = pairs(v.KV())
		}
	}
	return values, true
}

// pairs makes an object of names and values in turn.
func pairs(list []string) map[string]string {
	object := map[string]string{}
	for i := 0; i+1 < len(list); i += 2 {
		object[list[i]] = list[i+1]
	}
	return object
}

// Resources is one reading of a list of resources.
type Resources struct {
	// List and Templates hold what is declared exactly once, in the author's
	// order.
	List      []*Resource
	Templates []*Template
	Problems  []string // what in the list is of no use, a sentence each
	Absent    bool     // there is no such list
}

// Lookup returns the resource of that URI, nil when there is none.
func (r *Resources) Lookup(uri string) *Resource {
	for _, resource := range r.List {
		if resource.URI == uri {
			return resource
		}
	}
	return nil
}

// LookupTemplate returns the template of that text, nil when there is none.
func (r *Resources) LookupTemplate(uriTemplate string) *Template {
	for _, t := range r.Templates {
		if t.URITemplate() == uriTemplate {
			return t
		}
	}
	return nil
}

// An Argument is one that a prompt takes.
type Argument struct {
	Name     string
	Required bool
	Complete []string // what it may be, as far as the list says
}

// A Prompt is one declared prompt.
type Prompt struct {
	Name        string
	Description string
	Entry       json.RawMessage // as in [Resource]
	Source
	Arguments []Argument
}

// Prompts is one reading of a list of prompts.
type Prompts struct {
	List     []*Prompt // those declared exactly once, in the author's order
	Problems []string  // what in the list is of no use, a sentence each
	Absent   bool      // there is no such list
}

// Lookup returns the prompt of that name, nil when there is none.
func (p *Prompts) Lookup(name string) *Prompt {
	for _, prompt := range p.List {
		if prompt.Name == name {
			return prompt
		}
	}
	return nil
}

// Identifier makes a part of a function's name of a name: what no identifier may
// have in it becomes an underscore.
func Identifier(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			return c
		}
		return '_'
	}, name)
}
