package bashsdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"github.com/conch-mcp/conch/internal/catalog"
)

// A ResourcesFile is a list of resources and of templates for them:
// {"resources":[…],"resourceTemplates":[…]}.
type ResourcesFile struct{ file[*catalog.Resources] }

// NewResourcesFile names the list; it is not read yet. Where it is optional and
// there is no such file, nothing is declared.
func NewResourcesFile(path string, optional bool) *ResourcesFile {
	f := &ResourcesFile{file[*catalog.Resources]{what: "resources list", path: path, shown: path, parse: parseResources}}
	if optional {
		f.absent = &catalog.Resources{Absent: true}
	}
	return f
}

// Read returns what the file declares now. An error is a [*catalog.FileError].
func (f *ResourcesFile) Read() (*catalog.Resources, error) { return f.read() }

func parseResources(text []byte) (*catalog.Resources, error) {
	var list map[string]json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	declared, err := entries(list, "resources")
	if err != nil {
		return nil, err
	}
	templates, err := entries(list, "resourceTemplates")
	if err != nil {
		return nil, err
	}
	r := collected[*catalog.Resource]{list: "resources", key: func(r *catalog.Resource) string { return r.URI }, parse: parseResource}
	t := collected[*catalog.Template]{list: "resource templates", key: (*catalog.Template).URITemplate, parse: parseTemplate}
	found := &catalog.Resources{List: r.take(declared), Templates: t.take(templates)}
	found.Problems = append(r.problems, t.problems...)
	return found, nil
}

func parseResource(entry json.RawMessage) (*catalog.Resource, error) {
	d, err := declare(entry, "resource_", "uri", "mimeType")
	if err != nil {
		return nil, err
	}
	uri := d.text("uri")
	if parsed, err := url.Parse(uri); err != nil || !parsed.IsAbs() || !isLine(uri) {
		return nil, fmt.Errorf("(%s) has no uri, or one without a scheme", d.name)
	}
	return &catalog.Resource{URI: uri, Name: d.name, Entry: d.entry, MIMEType: d.text("mimeType"), Source: d.source}, nil
}

func parseTemplate(entry json.RawMessage) (*catalog.Template, error) {
	d, err := declare(entry, "resource_", "uriTemplate", "mimeType")
	if err != nil {
		return nil, err
	}
	text := d.text("uriTemplate")
	if text == "" || !isLine(text) {
		return nil, fmt.Errorf("(%s) has no uriTemplate", d.name)
	}
	t := catalog.Template{Name: d.name, Entry: d.entry, MIMEType: d.text("mimeType"), Source: d.source}
	if t.Complete, err = templateCompletions(d.members["complete"]); err != nil {
		return nil, fmt.Errorf("(%s) %w", d.name, err)
	}
	made, err := catalog.NewTemplate(t, text)
	if err != nil {
		return nil, fmt.Errorf("(%s) has a uriTemplate that is none (RFC 6570): %w", d.name, err)
	}
	for _, name := range catalog.FileVariables(t.File) {
		if !slices.Contains(made.Variables(), name) {
			return nil, fmt.Errorf("(%s) has a file with {%s}, which is no variable of its uriTemplate", d.name, name)
		}
	}
	for name := range t.Complete {
		if !slices.Contains(made.Variables(), name) {
			return nil, fmt.Errorf("(%s) has completions for %q, which is no variable of its uriTemplate", d.name, name)
		}
	}
	return made, nil
}

// templateCompletions are arrays of strings, by variable.
func templateCompletions(raw json.RawMessage) (map[string][]string, error) {
	wrong := errors.New("has a complete that is no object of arrays of strings")
	if raw == nil || string(raw) == "null" {
		return nil, nil
	}
	var members map[string]json.RawMessage
	if raw[0] != '{' || json.Unmarshal(raw, &members) != nil {
		return nil, wrong
	}
	all := map[string][]string{}
	for name, member := range members {
		values, ok := completions(member)
		if !ok {
			return nil, wrong
		}
		all[name] = values
	}
	return all, nil
}
