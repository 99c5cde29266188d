package report

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"github.com/conch-mcp/conch/internal/trial"
)

// junit is the report in the XML of JUnit, which begins with numbers that are
// known at the end.
type junit struct {
	w      *writer
	suites junitSuites
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`

	took time.Duration
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Time     string      `xml:"time,attr"`
	Cases    []junitCase `xml:"testcase"`
	Err      *junitText  `xml:"system-err"`

	took time.Duration
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr"`
	Line    int           `xml:"line,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
	Out     *junitText    `xml:"system-out"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",cdata"`
}

type junitText struct {
	Text string `xml:",cdata"`
}

// newJunitText is nil for a text that is not there.
func newJunitText(text string) *junitText {
	if text == "" {
		return nil
	}
	return &junitText{shown(text)}
}

func (j *junit) Begin(int) {}

func (j *junit) Open(path string) {
	j.suites.Suites = append(j.suites.Suites, junitSuite{Name: printable(path)})
}

func (j *junit) suite() *junitSuite { return &j.suites.Suites[len(j.suites.Suites)-1] }

func (j *junit) Result(r trial.Result) {
	s := j.suite()
	c := junitCase{Name: printable(r.Case.Name), Class: s.Name, File: s.Name, Line: r.Case.Line, Time: seconds(r.Outcome.Took), Out: newJunitText(logged(r))}
	s.Tests++
	s.took += r.Outcome.Took
	switch {
	case r.NotRun != nil:
		s.Errors++
		c.Error = newJunitProblem(s.Name, r)
	case !r.Passed():
		s.Failures++
		c.Failure = newJunitProblem(s.Name, r)
	}
	s.Cases = append(s.Cases, c)
}

func newJunitProblem(path string, r trial.Result) *junitProblem {
	text := shown(problems(path, r))
	first, _, _ := strings.Cut(text, "\n")
	if r.Came != "" {
		text += "\nit said:\n" + shown(r.Came)
	}
	return &junitProblem{first, text}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

func (j *junit) Close(said string, err error) {
	s := j.suite()
	if s.Failures > 0 || err != nil {
		s.Err = newJunitText(said)
	}
}

func (j *junit) End(interrupted bool) error {
	if interrupted {
		// Half of it would be taken for the whole.
		return j.w.err
	}
	all := &j.suites
	for i := range all.Suites {
		s := &all.Suites[i]
		s.Time = seconds(s.took)
		all.Tests, all.Failures, all.Errors, all.took = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.took+s.took
	}
	all.Time = seconds(all.took)
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	j.w.printf("%s%s\n", xml.Header, text)
	return j.w.err
}
