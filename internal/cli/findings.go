package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/conch-mcp/conch/internal/doctor"
)

// findings are what conch doctor has found, as text while it is found, or as JSON
// at the end.
type findings struct {
	out      io.Writer
	sections []doctor.Section
	asJSON   bool
	colored  bool
	width    int // of the subjects of the section
}

func newFindings(asJSON bool) *findings {
	colored := term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return &findings{out: os.Stdout, asJSON: asJSON, colored: colored}
}

// show takes a section that is complete.
func (f *findings) show(s doctor.Section) {
	var subjects []string
	for _, c := range s.Checks {
		subjects = append(subjects, c.Subject)
	}
	f.begin(s.Title, subjects)
	for _, c := range s.Checks {
		f.add(c)
	}
}

// begin begins a section, of checks of these subjects.
func (f *findings) begin(title string, subjects []string) {
	if !f.asJSON {
		if len(f.sections) > 0 {
			fmt.Fprintln(f.out)
		}
		fmt.Fprintln(f.out, printable(title))
	}
	f.width = 0
	for _, subject := range subjects {
		f.width = max(f.width, utf8.RuneCountInString(printable(subject)))
	}
	// Checks are an array also where there are none.
	f.sections = append(f.sections, doctor.Section{Title: title, Checks: []doctor.Check{}})
}

func (f *findings) add(c doctor.Check) {
	last := &f.sections[len(f.sections)-1]
	last.Checks = append(last.Checks, c)
	if f.asJSON {
		return
	}
	subject := printable(c.Subject)
	blanks := strings.Repeat(" ", max(0, f.width-utf8.RuneCountInString(subject)))
	fmt.Fprintf(f.out, "  %s  %s%s  %s\n", f.mark(c.Mark), subject, blanks, printable(c.Finding))
	for _, line := range c.Said {
		fmt.Fprintf(f.out, "          | %s\n", printable(line))
	}
	if c.Remedy != "" {
		fmt.Fprintf(f.out, "        to do: %s\n", printable(c.Remedy))
	}
}

// mark is a mark four columns wide.
func (f *findings) mark(m doctor.Mark) string {
	text := fmt.Sprintf("%-4s", m)
	color := map[doctor.Mark]string{doctor.OK: "32", doctor.Note: "36", doctor.Warn: "33", doctor.Fail: "31"}[m]
	if !f.colored {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}

// end sums up, and returns what conch ends with.
func (f *findings) end() error {
	failed := doctor.Failed(f.sections)
	if err := f.sumUp(failed); err != nil {
		return &exitError{1, fmt.Errorf("print what was found: %w", err)}
	}
	if failed > 0 {
		return &exitError{1, nil}
	}
	return nil
}

func (f *findings) sumUp(failed int) error {
	var err error
	switch {
	case f.asJSON:
		e := json.NewEncoder(f.out)
		e.SetEscapeHTML(false)
		err = e.Encode(struct {
			Failed   int              `json:"failed"`
			Sections []doctor.Section `json:"sections"`
		}{failed, f.sections})
	case failed == 0:
		_, err = fmt.Fprintln(f.out, "\nnothing fails")
	case failed == 1:
		_, err = fmt.Fprintln(f.out, "\n1 thing fails")
	default:
		_, err = fmt.Fprintf(f.out, "\n%d things fail\n", failed)
	}
	return err
}
