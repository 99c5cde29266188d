package report

import (
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/conch-mcp/conch/internal/trial"
)

// tap is the report in version 14 of the Test Anything Protocol.
type tap struct {
	w      *writer
	number int
	path   string
	bad    bool // a case of the file has not passed
}

func (t *tap) Begin(cases int) { t.w.printf("TAP version 14\n1..%d\n", cases) }

func (t *tap) Open(path string) { t.path, t.bad = path, false }

// diagnostics is what goes with a test point that is not ok.
type diagnostics struct {
	Message string `yaml:"message"`
	At      struct {
		File string `yaml:"file"`
		Line int    `yaml:"line"`
	} `yaml:"at"`
	Said   string `yaml:"said,omitempty"`
	Logged string `yaml:"logged,omitempty"`
}

func (t *tap) Result(r trial.Result) {
	t.number++
	not := ""
	if !r.Passed() {
		not, t.bad = "not ", true
	}
	t.w.printf("%sok %d - %s\n", not, t.number, escaped(t.path+": "+r.Case.Name))
	if r.Passed() {
		return
	}
	d := diagnostics{Message: shown(problems(t.path, r)), Said: shown(r.Came), Logged: shown(logged(r))}
	d.At.File, d.At.Line = t.path, r.Case.Line
	t.diagnose(d)
}

func (t *tap) diagnose(d diagnostics) {
	text, err := yaml.Dump(d, yaml.WithIndent(2), yaml.WithLineWidth(-1))
	if err != nil {
		t.w.err = err
		return
	}
	t.w.printf("  ---\n")
	for line := range strings.Lines(string(text)) {
		t.w.printf("  %s", line)
	}
	t.w.printf("  ...\n")
}

// escaped is a description in which nothing is taken for a directive.
func escaped(description string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(printable(description))
}

func (t *tap) Close(said string, err error) {
	if (t.bad || err != nil) && said != "" {
		t.w.printf("# its server wrote:\n")
		for _, line := range lines(said) {
			t.w.printf("#   %s\n", line)
		}
	}
}

func (t *tap) End(interrupted bool) error {
	if interrupted {
		t.w.printf("Bail out! interrupted\n")
	}
	return t.w.err
}

// shown is what is shown of a text.
func shown(text string) string {
	if text == "" {
		return ""
	}
	return strings.Join(lines(text), "\n")
}
