package render

import (
	"strconv"
	"strings"

	"github.com/conch-mcp/conch/internal/check"
)

// mostShown is how many characters of a line are shown.
const mostShown = 160

// text is the report for people.
func text(w *writer, result check.Result) {
	for _, f := range result.Findings {
		w.printf("%s%s: %s [%s]\n", place(f), f.Severity, printable(f.Message), f.Rule)
		if line := shown(f.Source); line != "" {
			w.printf("    %s\n", line)
		}
		if f.Safer != "" {
			w.printf("    > %s\n", printable(f.Safer))
		}
	}
	w.printf("%s\n", summary(result))
}

// place is where a finding is, as editors and terminals take it.
func place(f check.Finding) string {
	parts := []string{printable(f.File)}
	if f.File == "" {
		return ""
	}
	if f.Line > 0 {
		parts = append(parts, strconv.Itoa(f.Line))
	}
	if f.Line > 0 && f.Column > 0 {
		parts = append(parts, strconv.Itoa(f.Column))
	}
	return strings.Join(parts, ":") + ": "
}

// shown is a line of a file, as far as it fits.
func shown(line string) string {
	line = strings.TrimSpace(printable(line))
	if runes := []rune(line); len(runes) > mostShown {
		return string(runes[:mostShown]) + "…"
	}
	return line
}
