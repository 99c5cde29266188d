package reference

import (
	"strings"

	"github.com/spf13/cobra"
)

const functionsHead = `# Functions

What a script that ` + "`conch serve`" + ` runs may call, and what it may define for Conch to call. [Writing servers](../writing-servers.md) shows them at work.

In how a function is called, capitals are what you put there, brackets stand around what may be left out, and … is for any number of them. The status is 0 unless it is said otherwise. What is said outside of a call goes nowhere, and what it asks fails with status 1.

`

const toolHead = `The commands of ` + "`conch tool`" + ` do the same for a program in any language that a tool runs. In a call, ` + "`$CONCH_BIN`" + ` is where conch is. The status is 0, or 1 where something could not be done, or 2 where the command is used wrongly, unless it is said otherwise.

`

func functionsPage(script []section, root *cobra.Command) string {
	var t text
	for _, s := range script {
		t.paragraph("## %s", s.title)
		for _, e := range s.entries {
			t.paragraph("### %s", strings.Join(e.names(), ", "))
			t.block(strings.Join(e.calls, "\n"))
			t.paragraph("%s", strings.TrimRight(markdown(e.about), "\n"))
		}
	}
	t.paragraph("## Programs in other languages")
	t.WriteString(toolHead)
	for _, c := range root.Commands() {
		if isTool(c) {
			describeTool(&t, c)
		}
	}
	return functionsHead + contents(t.String(), "## ") + t.String()
}

// describeTool tells of the commands below one.
func describeTool(t *text, parent *cobra.Command) {
	for _, c := range parent.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		t.paragraph("### %s", c.CommandPath())
		t.paragraph("%s.", plain.Replace(c.Short))
		aboutCommand(t, c)
		describeTool(t, c)
	}
}
