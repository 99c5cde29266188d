// Package reference writes docs/reference from the code: commands and flags from
// cobra's commands, functions from the comments above them in Bash, variables from
// their list, tags from the package comment of tags.
//
// It runs when somebody works on Conch, and is no part of the program. It knows how
// each of these is put down in the code and what a page looks like, and nothing of
// what it says.
package reference

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/conch-mcp/conch/internal/cli"
	"github.com/conch-mcp/conch/internal/variables"
)

//go:generate go run ./generate ../..

// Dir is where the pages are, below the repository's top.
const Dir = "docs/reference"

// A Page is one document.
type Page struct {
	Name string // of the file
	Text []byte // Markdown
}

// Pages writes all pages. top is the repository's top. An error says what in the
// code cannot be made a page of, and where it stands.
func Pages(top string) ([]Page, error) {
	script, err := readScripts(top)
	if err != nil {
		return nil, err
	}
	tags, err := os.ReadFile(filepath.Join(top, tagsFile))
	if err != nil {
		return nil, err
	}
	about, err := tagsPage(tags)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tagsFile, err)
	}
	commands := cli.Command()
	return []Page{
		page("flags.md", "internal/cli", flagsPage(commands)),
		page("functions.md", "internal/shell/*.bash and internal/cli", functionsPage(script, commands)),
		page("variables.md", "internal/variables", variablesPage(variables.Groups())),
		page("tags.md", tagsFile, about),
	}, nil
}

// page puts above a text where it comes from.
func page(name, source, text string) Page {
	head := fmt.Sprintf("<!-- Generated from %s by `make reference`. Do not edit. -->\n\n", source)
	return Page{name, []byte(head + strings.TrimRight(text, "\n") + "\n")}
}

// A text is Markdown in the making.
type text struct{ bytes.Buffer }

// line adds a line, or several.
func (t *text) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// paragraph adds lines with an empty one behind them.
func (t *text) paragraph(format string, args ...any) { t.line(format+"\n", args...) }

// block adds what is shown as it is. test/docs runs blocks that are fenced "sh",
// and this is none.
func (t *text) block(code string) { t.paragraph("```console\n%s\n```", strings.TrimRight(code, "\n")) }

// contents lists the headings of a page that begin so, each with a link.
func contents(page string, marks ...string) string {
	var t text
	for line := range strings.Lines(page) {
		for _, mark := range marks {
			if title, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
				t.line("- [%s](#%s)", title, anchor(title))
			}
		}
	}
	return t.String() + "\n"
}

// anchor is what hosts of Markdown make of a heading.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// plain makes a text one that Markdown changes nothing in, in a table too.
var plain = strings.NewReplacer(`\`, `\\`, `|`, `\|`, `*`, `\*`, `_`, `\_`, `<`, `\<`, "`", "\\`", `[`, `\[`, "\n", " ")

// code is a text in backticks, in a table too.
func code(text string) string { return "`" + strings.ReplaceAll(text, "|", `\|`) + "`" }
