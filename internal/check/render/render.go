// Package render tells what conch check has found: to people, as JSON, as SARIF and
// as workflow commands of GitHub's.
//
// It knows findings and the four forms. It knows nothing of how anything is found.
package render

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/conch-mcp/conch/internal/check"
)

// Formats are the names that [Render] takes.
var Formats = []string{"text", "json", "sarif", "github"}

// Render writes a result in one of the [Formats]. version is that of conch.
func Render(out io.Writer, format string, result check.Result, version string) error {
	w := &writer{out: out}
	switch format {
	case "json":
		return asJSON(out, result)
	case "sarif":
		return asSARIF(out, result, version)
	case "github":
		github(w, result)
	default:
		text(w, result)
	}
	return w.err
}

// writer keeps the first error of all that is written.
type writer struct {
	out io.Writer
	err error
}

func (w *writer) printf(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.out, format, args...)
	}
}

func encode(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// printable leaves what a terminal shows as it is. Names, and scripts, may hold any
// byte.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// count is a number of things, such as "2 errors".
func count(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// summary counts what has been found.
func summary(result check.Result) string {
	return fmt.Sprintf("%s, %s, %s in %s with %s",
		count(result.Count(check.Error), "error", "errors"), count(result.Count(check.Warning), "warning", "warnings"),
		count(result.Count(check.Note), "note", "notes"), count(result.Files, "file", "files"), count(result.Tools, "tool", "tools"))
}
