package bashsdk

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEntriesAreShownAsTheyAreWrittenWithoutWhatIsForConch(t *testing.T) {
	for entry, want := range map[string]string{
		`{ "uri" : "a:b", "name":"n","z":1.50,"file":"f", "_meta":{"ui": 1e3} }`:     `{"uri":"a:b","name":"n","z":1.50,"_meta":{"ui":1e3}}`,
		`{"file":"f","uri":"a:b","name":"n"}`:                                        `{"uri":"a:b","name":"n"}`,
		`{"uri":"a:b","n\u0061me":"n","function":"f"}`:                               `{"uri":"a:b","n\u0061me":"n"}`,
		`{"uri":"a:b","name":"n","icons":[{"src":"x","file":"stays"}],"complete":1}`: `{"uri":"a:b","name":"n","icons":[{"src":"x","file":"stays"}]}`,
		`{"uri":"a:b","name":"n","file":"a","file":"b"}`:                             `{"uri":"a:b","name":"n"}`,
	} {
		r, err := parseResources([]byte(`{"resources":[` + entry + `]}`))
		if err != nil || len(r.List) != 1 || string(r.List[0].Entry) != want {
			t.Errorf("%s: %v, %+v; want %s", entry, err, r, want)
		}
	}
	p, err := parsePrompts([]byte(`{"prompts":[{"name":"p","arguments":[ {"name":"a", "complete":["x"],"required":true}, {"x":1,"name":"b"}],"file":"p.md","title":"T"}]}`))
	want := `{"name":"p","arguments":[{"name":"a","required":true},{"x":1,"name":"b"}],"title":"T"}`
	if err != nil || len(p.List) != 1 || string(p.List[0].Entry) != want {
		t.Errorf("got %+v, %v", p, err)
	}
	if a := p.List[0].Arguments; len(a) != 2 || !a[0].Required || a[0].Complete[0] != "x" || a[1].Required {
		t.Errorf("the arguments are %+v", a)
	}
}

func TestASourceIsAFileOrAFunction(t *testing.T) {
	r, err := parseResources([]byte(`{
		"resources":[{"uri":"a:1","name":"my doc"},{"uri":"a:2","name":"n","function":"f"},{"uri":"a:3","name":"n","file":"x"}],
		"resourceTemplates":[{"uriTemplate":"a:{x}","name":"my-doc","complete":{"x":["1","2"]}}]}`))
	if err != nil || len(r.Problems) > 0 || len(r.List) != 3 || len(r.Templates) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if s := r.List[0].Source; s.Function != "resource_my_doc" || s.File != "" {
		t.Errorf("without either: %+v", s)
	}
	if s := r.List[1].Source; s.Function != "f" || s.File != "" {
		t.Errorf("a function: %+v", s)
	}
	if s := r.List[2].Source; s.Function != "" || s.File != "x" {
		t.Errorf("a file: %+v", s)
	}
	if c := r.Templates[0]; c.Function != "resource_my_doc" || len(c.Complete["x"]) != 2 {
		t.Errorf("a template: %+v", c)
	}
}

func TestEntriesOfNoUseAreProblemsAndHideNothing(t *testing.T) {
	const good = `{"uri":"a:good","name":"good"}`
	for entry, want := range map[string]string{
		`7`:                         "entry 1 of the resources list is not a JSON object",
		`{"uri":"a:b"}`:             "has no name",
		`{"uri":"a:b","name":""}`:   "has no name",
		`{"name":"n"}`:              "(n) has no uri",
		`{"uri":"n","name":"n"}`:    "(n) has no uri, or one without a scheme",
		`{"uri":"a:\n","name":"n"}`: "(n) has no uri",
		`{"uri":"a:b","name":"n","file":"f","function":"g"}`:         "both a file and a function",
		`{"uri":"a:b","name":"n","mimeType":7}`:                      "a mimeType that is no string",
		`{"uri":"a:b","name":"n","title":null}`:                      "a title that is no string",
		`{"uri":"a:b","name":"n"},{"uri":"a:b","name":"m"}`:          "declares a:b 2 times",
		`{"uri":"a:b","name":"n"},{"uri":"a:\u0062","name":"other"}`: "declares a:b 2 times",
	} {
		r, err := parseResources([]byte(`{"resources":[` + entry + `,` + good + `]}`))
		if err != nil || len(r.List) != 1 || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], want) || !strings.HasSuffix(r.Problems[0], "; it is not served") {
			t.Errorf("%s: %+v, %v", entry, r, err)
		}
	}
	for entry, want := range map[string]string{
		`{"name":"n"}`:                                              "no uriTemplate",
		`{"uriTemplate":"a:{","name":"n"}`:                          "RFC 6570",
		`{"uriTemplate":"a:{x}","name":"n","complete":["x"]}`:       "no object of arrays",
		`{"uriTemplate":"a:{x}","name":"n","complete":{"x":[1]}}`:   "no object of arrays",
		`{"uriTemplate":"a:{x}","name":"n","complete":{"y":["1"]}}`: `completions for "y"`,
		`{"uriTemplate":"a:{x}","name":"n","file":"{x}/{y}.md"}`:    "a file with {y}",
	} {
		r, err := parseResources([]byte(`{"resourceTemplates":[` + entry + `]}`))
		if err != nil || len(r.Templates) != 0 || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], want) {
			t.Errorf("%s: %+v, %v", entry, r, err)
		}
	}
	for entry, want := range map[string]string{
		`{"name":"a\nb"}`:                                        "line break",
		`{"name":"n","arguments":{}}`:                            "no array",
		`{"name":"n","arguments":[7]}`:                           "argument 1 that is no object",
		`{"name":"n","arguments":[{"name":"a"},{}]}`:             "argument 2 that has no name",
		`{"name":"n","arguments":[{"name":"a","required":"x"}]}`: "neither true nor false",
		`{"name":"n","arguments":[{"name":"a","complete":"x"}]}`: "no array of strings",
	} {
		p, err := parsePrompts([]byte(`{"prompts":[` + entry + `]}`))
		if err != nil || len(p.List) != 0 || len(p.Problems) != 1 || !strings.Contains(p.Problems[0], want) {
			t.Errorf("%s: %+v, %v", entry, p, err)
		}
	}
}

func TestAListNobodyHasNamedNeedNotBeThere(t *testing.T) {
	dir := t.TempDir()
	if r, err := NewResourcesFile(filepath.Join(dir, "resources.json"), true).Read(); err != nil || !r.Absent {
		t.Errorf("resources: %+v, %v", r, err)
	}
	if p, err := NewPromptsFile(filepath.Join(dir, "prompts.json"), true).Read(); err != nil || !p.Absent {
		t.Errorf("prompts: %+v, %v", p, err)
	}
	if _, err := NewPromptsFile(filepath.Join(dir, "prompts.json"), false).Read(); err == nil || !strings.Contains(err.Error(), "there is no such file") {
		t.Errorf("one that was named: %v", err)
	}
	if err := os.Symlink("gone", filepath.Join(dir, "prompts.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := NewPromptsFile(filepath.Join(dir, "prompts.json"), true).Read(); err == nil {
		t.Error("a link that leads nowhere is no error")
	}
	broken := filepath.Join(dir, "broken.json")
	for _, text := range []string{`{`, `[]`, `{"resources":{}}`, `{"resourceTemplates":"x"}`} {
		if err := os.WriteFile(broken, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := NewResourcesFile(broken, true).Read(); err == nil || !strings.Contains(err.Error(), broken) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What a list shows of an entry is JSON, and has nothing that is for Conch.
func FuzzLists(f *testing.F) {
	f.Add([]byte(`{"resources":[{"uri":"a:b","name":"n","file":"f"}],"resourceTemplates":[{"uriTemplate":"a:{x}","name":"t","complete":{"x":["1"]}}],"prompts":[{"name":"p","arguments":[{"name":"a","complete":[]}]}]}`))
	f.Add([]byte(`{"prompts":[{"name":"p","arguments":[{"name":"\u0061"}],"arguments":null}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if checkObject(text) != nil {
			return
		}
		var shown []json.RawMessage
		if r, err := parseResources(text); err == nil {
			for _, e := range r.List {
				shown = append(shown, e.Entry)
			}
			for _, e := range r.Templates {
				shown = append(shown, e.Entry)
			}
		}
		if p, err := parsePrompts(text); err == nil {
			for _, e := range p.List {
				shown = append(shown, e.Entry)
			}
		}
		for _, entry := range shown {
			var members map[string]json.RawMessage
			if err := json.Unmarshal(entry, &members); err != nil {
				t.Fatalf("%s: %v", entry, err)
			}
			for _, name := range own {
				if members[name] != nil {
					t.Errorf("%s has a %s", entry, name)
				}
			}
			var compact bytes.Buffer
			if json.Compact(&compact, entry) != nil || !bytes.Equal(compact.Bytes(), entry) {
				t.Errorf("%s has white space", entry)
			}
		}
	})
}
