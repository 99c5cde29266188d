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
		if line := shown(f.Source, f.Column); line != "" {
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

// shown is a line of a file, as far as it fits: what is before a column is cut off
// where that would not be seen otherwise.
func shown(line string, column int) string {
	runes := []rune(printable(line))
	from, to := 0, len(runes)
	if column-1 > mostShown*3/4 && to > mostShown {
		from = min(column-1-mostShown/4, to)
	}
	if to-from > mostShown {
		to = from + mostShown
	}
	text := strings.TrimSpace(string(runes[from:to]))
	if from > 0 {
		text = "…" + text
	}
	if to < len(runes) {
		text += "…"
	}
	return text
}
