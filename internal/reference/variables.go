package reference

import (
	"strings"

	"github.com/conch-mcp/conch/internal/variables"
)

const variablesHead = `# Variables

All variables of the environment that Conch reads, and those that a script's functions find.

`

func variablesPage(groups []variables.Group) string {
	var t text
	t.WriteString(variablesHead)
	for _, group := range groups {
		t.paragraph("## %s", group.Title)
		t.paragraph("%s", group.About)
		t.line("| variable | means | without it |")
		t.line("|---|---|---|")
		for _, v := range group.All {
			t.line("| %s | %s | %s |", code(v.Name), v.Means, v.Default)
		}
		t.line("")
	}
	return strings.TrimRight(t.String(), "\n")
}
