package tags

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEntries(t *testing.T) {
	const least = `"inputSchema":{"type":"object","properties":{},"additionalProperties":false}`
	for _, test := range []struct{ tags, output, want string }{
		{"# @meta my own", "", `{"name":"tool",` + least + `}`},
		{"# @describe a <b>\n# c", "", `{"name":"tool","description":"a <b>\nc",` + least + `}`},
		{
			"# @describe a\n# @meta title B\n# @meta readonly\n# @meta destructive false\n# @meta idempotent\n# @meta open-world\n# @meta timeout 1.5\n# @meta requires roots",
			`{"type":"object"}`,
			`{"name":"tool","title":"B","description":"a",` + least + `,"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":true},"timeout":1.5,"requires":["roots"]}`,
		},
	} {
		var output json.RawMessage
		if test.output != "" {
			output = json.RawMessage(test.output)
		}
		got, err := one(t, test.tags).Entry(output)
		if err != nil || string(got) != test.want {
			t.Errorf("%s:\n%s, want\n%s; %v", test.tags, got, test.want, err)
		}
	}
}

func TestAnEntryWithoutASchema(t *testing.T) {
	c := Command{Name: "a", Params: []Param{{Kind: Option, Property: "b", Notations: named("INT"), Value: byDefault("x")}}}
	if _, err := c.Entry(nil); err == nil || !strings.Contains(err.Error(), "the schema of a: ") {
		t.Error(err)
	}
}

// Each script of testdata makes the list of tools that stands beside it.
func TestScriptsBecomeListsOfTools(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.script")
	if err != nil || len(scripts) == 0 {
		t.Fatal(scripts, err)
	}
	for _, path := range scripts {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(path, ".script")
		script, err := Parse(name+".sh", text)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		want, err := os.ReadFile(name + ".tools")
		if err != nil {
			t.Error(err)
		}
		if got := listOf(t, script); got != string(want) {
			t.Errorf("%s makes\n%s", path, got)
		}
	}
}

// listOf has a line for each tool: its function, and its entry.
func listOf(t testing.TB, script *Script) string {
	t.Helper()
	var list strings.Builder
	for _, c := range script.Commands {
		schemaOf(t, c)
		entry, err := c.Entry(nil)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&list, "%s %s\n", c.Function, entry)
	}
	return list.String()
}
