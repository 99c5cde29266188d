// Package report tells what became of cases: to people, as TAP, and as the XML of
// JUnit.
//
// It knows verdicts and the three forms. It knows nothing of how a verdict came
// about.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/trial"
)

// A Report is told of all cases in their order, file by file.
type Report interface {
	// Begin says how many cases there are.
	Begin(cases int)
	// Open says which file the cases are of that follow.
	Open(path string)
	Result(r trial.Result)
	// Close ends the file: with what its server has written to standard error,
	// and why there was no server, if that is so.
	Close(said string, err error)
	// End ends the report. What was interrupted is not whole.
	End(interrupted bool) error
}

// Formats are the names that [New] takes.
var Formats = []string{"text", "tap", "junit"}

// New returns a report in one of the [Formats].
func New(format string, out io.Writer) Report {
	w := &writer{out: out}
	switch format {
	case "tap":
		return &tap{w: w}
	case "junit":
		return &junit{w: w}
	}
	return &text{w: w}
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

// What is shown of a text; a person reads no more.
const (
	mostLines = 60
	mostRunes = 500 // of a line
)

// lines are those of a text that are shown, without what a terminal would take
// for something else.
func lines(text string) []string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	var shown []string
	for i, line := range all {
		if i == mostLines {
			shown = append(shown, fmt.Sprintf("… %d more lines", len(all)-mostLines))
			break
		}
		shown = append(shown, printable(cut(line)))
	}
	return shown
}

func cut(line string) string {
	runes := 0
	for i := range line {
		if runes++; runes > mostRunes {
			return line[:i] + "…"
		}
	}
	return line
}

// printable leaves what a terminal shows as it is, and what XML may hold.
func printable(line string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 || r == 0xfffe || r == 0xffff {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(line, "\uFFFD"))
}

// place says where a problem is.
func place(path string, line int) string { return fmt.Sprintf("%s:%d", path, line) }

// problems are all problems of a case, each with its place.
func problems(path string, r trial.Result) string {
	var list []string
	for _, p := range r.Problems {
		list = append(list, place(path, p.Line)+": "+p.Text)
	}
	if r.NotRun != nil {
		list = append(list, place(path, r.Case.Line)+": it was not run: "+r.NotRun.Error())
	}
	return strings.Join(list, "\n")
}

// logged are the messages that a call has logged, a line each.
func logged(r trial.Result) string {
	var list []string
	for _, params := range r.Outcome.Logs {
		var m struct {
			Level, Logger string
			Data          json.RawMessage
		}
		_ = json.Unmarshal(params, &m)
		list = append(list, strings.TrimSpace(m.Level+" "+m.Logger)+": "+told(m.Data))
	}
	return strings.Join(list, "\n")
}

// told is the text of a message where it is one.
func told(data json.RawMessage) string {
	for _, text := range []string{message.Text(data), message.Text(message.Member(data, "message"))} {
		if text != "" {
			return text
		}
	}
	return string(data)
}

// count counts cases.
type count struct{ passed, failed, notRun int }

func (c *count) add(r trial.Result) {
	switch {
	case r.NotRun != nil:
		c.notRun++
	case r.Passed():
		c.passed++
	default:
		c.failed++
	}
}

func (c *count) String() string {
	s := fmt.Sprintf("%d passed, %d failed", c.passed, c.failed)
	if c.notRun > 0 {
		s += fmt.Sprintf(", %d not run", c.notRun)
	}
	return s
}
