package report

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/internal/casefile"
	"github.com/conch-mcp/conch/internal/trial"
)

func result(name string, problems ...trial.Problem) trial.Result {
	return trial.Result{Case: casefile.Case{Name: name, Line: 3, Within: 10 * time.Second}, Problems: problems}
}

// tell tells a whole story to a report.
func tell(format string, interrupted bool, results ...trial.Result) string {
	var b strings.Builder
	r := New(format, &b)
	r.Begin(len(results))
	r.Open("a#b.test.yaml")
	for _, one := range results {
		r.Result(one)
	}
	r.Close("dear\x1b me\n", nil)
	if err := r.End(interrupted); err != nil {
		return err.Error()
	}
	return b.String()
}

// odd is a result that every format has to take care of.
func odd() trial.Result {
	r := result("a\x1b \\ # <&\"'", trial.Problem{Line: 4, Text: "one\n]]>\x00\ufffe<"}, trial.Problem{Line: 5, Text: "two"})
	r.Came = "came & went"
	r.Outcome.Logs = []json.RawMessage{
		[]byte(`{"level":"info","logger":"l","data":"text"}`), []byte(`{"level":"error","data":{"message":"inner","tool":"t"}}`), []byte(`{"level":"debug","data":[1.50]}`),
	}
	return r
}

func TestFormats(t *testing.T) {
	late := result("late")
	late.Outcome.Took = 6 * time.Second
	lost := result("lost")
	lost.NotRun = errors.New("no server")
	for format, want := range map[string]string{
		"text": `a#b.test.yaml
  ok    late (6.0s of 10s)
  FAIL  a� \ # <&"'
        a#b.test.yaml:4: one
        ]]>��<
        a#b.test.yaml:5: two
        it said:
          came & went
        it logged:
          info l: text
          error: inner
          debug: [1.50]
  --    lost
  its server wrote:
    dear� me
1 passed, 1 failed, 1 not run
`,
		"tap": `TAP version 14
1..3
ok 1 - a\#b.test.yaml: late
not ok 2 - a\#b.test.yaml: a� \\ \# <&"'
  ---
  message: |-
    a#b.test.yaml:4: one
    ]]>��<
    a#b.test.yaml:5: two
  at:
    file: a#b.test.yaml
    line: 3
  said: came & went
  logged: |-
    info l: text
    error: inner
    debug: [1.50]
  ...
not ok 3 - a\#b.test.yaml: lost
  ---
  message: 'a#b.test.yaml:3: it was not run: no server'
  at:
    file: a#b.test.yaml
    line: 3
  ...
# its server wrote:
#   dear� me
`,
	} {
		if got := tell(format, false, late, odd(), lost); got != want {
			t.Errorf("%s:\n%s\nand not\n%s", format, got, want)
		}
	}
}

func TestJUnitIsXML(t *testing.T) {
	lost := result("lost")
	lost.NotRun = errors.New("no server")
	text := tell("junit", false, result("good"), odd(), lost)
	var got junitSuites
	if err := xml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got.Tests != 3 || got.Failures != 1 || got.Errors != 1 || len(got.Suites) != 1 {
		t.Fatalf("the suites are %+v", got)
	}
	s := got.Suites[0]
	if s.Name != "a#b.test.yaml" || s.Err.Text != "dear\ufffd me" || len(s.Cases) != 3 {
		t.Fatalf("the suite is %+v", s)
	}
	bad := s.Cases[1]
	if bad.Name != "a\ufffd \\ # <&\"'" || bad.Line != 3 || bad.Failure == nil || bad.Error != nil ||
		bad.Failure.Message != "a#b.test.yaml:4: one" ||
		bad.Failure.Text != "a#b.test.yaml:4: one\n]]>\ufffd\ufffd<\na#b.test.yaml:5: two\nit said:\ncame & went" ||
		bad.Out.Text != "info l: text\nerror: inner\ndebug: [1.50]" {
		t.Errorf("the case is %+v\n%+v", bad, bad.Failure)
	}
	if s.Cases[0].Failure != nil || s.Cases[2].Error == nil {
		t.Errorf("the cases are %+v", s.Cases)
	}
}

func TestWhatIsInterruptedSaysSo(t *testing.T) {
	for format, want := range map[string]string{
		"text":  "a#b.test.yaml\n  ok    good\ninterrupted; 1 passed, 0 failed\n",
		"tap":   "TAP version 14\n1..1\nok 1 - a\\#b.test.yaml: good\nBail out! interrupted\n",
		"junit": "",
	} {
		if got := tell(format, true, result("good")); got != want {
			t.Errorf("%s: %q, not %q", format, got, want)
		}
	}
}

func TestMuchIsCutShort(t *testing.T) {
	got := lines(strings.Repeat("a\n", 100) + "\n")
	if len(got) != mostLines+1 || got[mostLines] != "… 40 more lines" {
		t.Errorf("%d lines, the last %q", len(got), got[len(got)-1])
	}
	if got := lines(strings.Repeat("ä", 600)); len(got) != 1 || got[0] != strings.Repeat("ä", mostRunes)+"…" {
		t.Errorf("%q", got)
	}
}

func TestAReportThatCannotBeWrittenIsAnError(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	for _, format := range Formats {
		report := New(format, w)
		report.Begin(0)
		if err := report.End(false); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: %v", format, err)
		}
	}
}
