package report

import (
	"fmt"

	"github.com/conch-mcp/conch/internal/trial"
)

// text is the report for people.
type text struct {
	w    *writer
	all  count
	path string
	bad  bool // a case of the file has not passed
}

func (t *text) Begin(int) {}

func (t *text) Open(path string) {
	t.path, t.bad = path, false
	t.w.printf("%s\n", printable(path))
}

func (t *text) Result(r trial.Result) {
	t.all.add(r)
	word := "ok  "
	switch {
	case r.NotRun != nil:
		// Why is told once, of the file.
		t.w.printf("  --    %s\n", printable(r.Case.Name))
		return
	case !r.Passed():
		word, t.bad = "FAIL", true
	}
	took := ""
	// Who comes near the limit will be late some day.
	if r.Outcome.Took > r.Case.Within/2 {
		took = fmt.Sprintf(" (%.1fs of %v)", r.Outcome.Took.Seconds(), r.Case.Within)
	}
	t.w.printf("  %s  %s%s\n", word, printable(r.Case.Name), took)
	if !r.Passed() {
		t.explain(r)
	}
}

func (t *text) explain(r trial.Result) {
	t.show("        ", problems(t.path, r))
	t.quote("        ", "it said:", r.Came)
	t.quote("        ", "it logged:", logged(r))
}

func (t *text) show(indent, text string) {
	for _, line := range lines(text) {
		t.w.printf("%s%s\n", indent, line)
	}
}

func (t *text) quote(indent, heading, text string) {
	if text != "" {
		t.w.printf("%s%s\n", indent, heading)
		t.show(indent+"  ", text)
	}
}

func (t *text) Close(said string, err error) {
	if err != nil {
		t.show("  ", "not run: "+err.Error())
	}
	if t.bad || err != nil {
		t.quote("  ", "its server wrote:", said)
	}
}

func (t *text) End(interrupted bool) error {
	if interrupted {
		t.w.printf("interrupted; ")
	}
	t.w.printf("%s\n", t.all.String())
	return t.w.err
}
