package tags

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/conch-mcp/conch/internal/schema"
)

var (
	toolName     = regexp.MustCompile(`^[A-Za-z0-9_]+$`)
	bashVariable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// FuzzParse: whatever a file holds, its faults are in lines that it has, and what
// remains of it are tools that can be served.
func FuzzParse(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		script, err := Parse("a.sh", text)
		if err != nil {
			checkFaults(t, err, strings.Count(string(text), "\n")+1)
		}
		names := map[string]bool{}
		for _, c := range script.Commands {
			if names[c.Name] {
				t.Errorf("two tools have the name %s", c.Name)
			}
			names[c.Name] = true
			checkCommand(t, c)
		}
	})
}

func seeds(f *testing.F) (texts [][]byte) {
	f.Helper()
	scripts, _ := filepath.Glob("testdata/*.script")
	for _, path := range scripts {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		texts = append(texts, text)
	}
	for _, test := range faultyScripts {
		texts = append(texts, []byte(test.text))
	}
	for _, test := range quotingScripts {
		texts = append(texts, []byte(test.text+"\n# @cmd\na() { :; }"))
	}
	for _, test := range paramTags {
		texts = append(texts, []byte("# "+test.tag+"\nfn() { :; }"))
	}
	return texts
}

func checkFaults(t *testing.T, err error, lines int) {
	t.Helper()
	var faults Faults
	if !errors.As(err, &faults) || len(faults) == 0 {
		t.Fatalf("no faults: %v", err)
	}
	for _, fault := range faults {
		if fault.Line < 1 || fault.Line > lines || fault.Column < 0 || fault.What == "" || strings.Contains(fault.Error(), "\n") || !utf8.ValidString(fault.Error()) {
			t.Errorf("%+v, in %d lines", fault, lines)
		}
	}
}

func checkCommand(t *testing.T, c Command) {
	t.Helper()
	if !toolName.MatchString(c.Name) || c.Line < 1 {
		t.Errorf("%+v", c)
	}
	text, err := c.InputSchema()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := schema.Compile(text); err != nil {
		t.Errorf("%v in %s", err, text)
	}
	if entry, err := c.Entry(nil); err != nil || !json.Valid(entry) {
		t.Errorf("%s, %v", entry, err)
	}
	properties := map[string]bool{}
	for _, p := range c.Params {
		if !bashVariable.MatchString(p.Variable) || p.Bound != "" && !bashVariable.MatchString(p.Bound) || p.Line < 1 || properties[p.Property] {
			t.Errorf("%+v", p)
		}
		properties[p.Property] = true
	}
	for _, e := range c.Env {
		if !bashVariable.MatchString(e.Name) {
			t.Errorf("%+v", e)
		}
	}
}
