package reference

import (
	"go/doc/comment"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conch-mcp/conch/internal/cli"
	"github.com/conch-mcp/conch/internal/jq"
)

const flagsHead = `# Commands and flags

All of them, as the commands' own ` + "`--help`" + ` has them. [Operations](../operations.md) and [HTTP](../http.md) tell more of those of a server. A DURATION is like ` + "`500ms`, `30s` or `1m30s`" + `. A SIZE is a number of bytes, or one with ` + "`KiB`, `MiB` or `GiB`" + ` behind it. The commands of ` + "`conch tool`" + ` stand with the [functions](functions.md#programs-in-other-languages).

`

// flagsPage is what `conch COMMAND --help` says of all commands, in the order in
// which `conch --help` lists them.
func flagsPage(root *cobra.Command) string {
	var t text
	describe(&t, root, 2)
	return flagsHead + contents(t.String(), "### ", "## ") + t.String()
}

// describe tells of a command and those below it. level is that of its heading.
func describe(t *text, c *cobra.Command, level int) {
	t.paragraph("%s %s", strings.Repeat("#", level), c.CommandPath())
	t.paragraph("%s.", plain.Replace(c.Short))
	aboutCommand(t, c)
	for _, below := range c.Commands() {
		// Cobra counts the command help as none.
		if (below.IsAvailableCommand() || below.Name() == "help") && !isTool(c) {
			describe(t, below, min(level+1, 3))
		}
	}
}

// aboutCommand is all that is to be said of a command behind its name.
func aboutCommand(t *text, c *cobra.Command) {
	if c.DisableFlagParsing && c.Name() == "jq" {
		t.block(jq.Help)
		return
	}
	t.block(dedented(c.UseLine()))
	if c.Long != "" && c.Long != c.Short {
		t.paragraph("%s", prose(c.Long))
	}
	if c.HasExample() {
		t.paragraph("Examples:")
		t.block(dedented(c.Example))
	}
	flagTable(t, c)
}

// hashes are headings of Markdown, which cobra has in a text of its own.
var hashes = regexp.MustCompile(`(?m)^#+ `)

// prose is what a command's help says, which is written as comments of Go are.
func prose(long string) string {
	doc := new(comment.Parser).Parse(hashes.ReplaceAllString(long, ""))
	return strings.TrimRight(markdown(doc), "\n")
}

// dedented is a text of several lines without the two blanks that the help has
// before them.
func dedented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}

// isTool reports whether a command's commands are told of elsewhere.
func isTool(c *cobra.Command) bool { return c.Name() == "tool" }

// flagTable lists a command's own flags, group by group.
func flagTable(t *text, c *cobra.Command) {
	c.InitDefaultVersionFlag()
	var groups []string
	flags := map[string][]*pflag.Flag{}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		group := annotation(f, cli.FlagGroup)
		if !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
		flags[group] = append(flags[group], f)
	})
	slices.Sort(groups) // those of no group first
	for _, group := range groups {
		if group != "" {
			t.paragraph("%s:", group)
		}
		t.line("| flag | default | means |")
		t.line("|---|---|---|")
		for _, f := range flags[group] {
			t.line("| %s | %s | %s |", flagNames(f), defaultOf(f), meaning(f))
		}
		t.line("")
	}
}

// flagNames are a flag's names, with what it takes.
func flagNames(f *pflag.Flag) string {
	takes, _ := pflag.UnquoteUsage(f)
	name := "--" + f.Name
	switch {
	case takes != "" && f.NoOptDefVal != "" && f.Value.Type() != "bool":
		name += "[=" + strings.ToUpper(takes) + "]"
	case takes != "":
		name += " " + strings.ToUpper(takes)
	}
	if f.Shorthand != "" {
		return code("-"+f.Shorthand) + ", " + code(name)
	}
	return code(name)
}

// defaultOf is what holds without the flag, in the same words on every machine.
func defaultOf(f *pflag.Flag) string {
	if words := annotation(f, cli.FlagDefault); words != "" {
		return words
	}
	switch f.DefValue {
	case "", "[]", "false":
		return ""
	}
	return code(f.DefValue)
}

func meaning(f *pflag.Flag) string {
	_, usage := pflag.UnquoteUsage(f)
	if f.NoOptDefVal != "" && f.Value.Type() != "bool" {
		usage += "; " + f.NoOptDefVal + " where it has none"
	}
	return plain.Replace(usage)
}

func annotation(f *pflag.Flag, key string) string {
	if values := f.Annotations[key]; len(values) > 0 {
		return values[0]
	}
	return ""
}
