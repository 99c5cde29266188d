package cli

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/casefile"
	"github.com/conch-mcp/conch/internal/report"
	"github.com/conch-mcp/conch/internal/trial"
)

// testFlags say what is tested, and how it is told.
type testFlags struct {
	server serverFlags
	cases  []string
	jobs   count
	format string
	filter string
	list   bool
}

func newTest() *cobra.Command {
	var flags testFlags
	cmd := &cobra.Command{
		Use:   "test [flags] SCRIPT|FOLDER\n  conch test [flags] --cases FILE -- COMMAND [ARG...]",
		Short: "Run an author's test cases against a server",
		Long: `Test calls tools as cases say, and tells which of them came out as expected.

Cases stand in files, *.test.yaml, beside the script that they are for: those of
server.sh in server.test.yaml. Of a FOLDER all files below it are run, each
against its own server. A server that COMMAND starts on its standard input and
output needs --cases.

Each file has one server, which its cases ask side by side. What they start and
what they leave in $TMPDIR is gone in the end.

The exit status is 0 when all cases have passed, 1 when one has failed, and 2 when
cases, script or command cannot be used.`,
		Example: `  conch test server.sh
  conch test examples
  conch test --filter 'greet|farewell' --jobs 1 server.sh
  conch test --format junit server.sh >report.xml
  conch test --cases server.test.yaml -- npx some-server

A file of cases:

` + indented(sampleCases),
		Args: atLeast(1, "name the SCRIPT to test, or a FOLDER"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			target, rest, err := newTarget(cmd, args, flags.server)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return fmt.Errorf("what is %q for? conch test takes one script or folder", rest[0])
			}
			suites, err := flags.suites(target)
			if err != nil {
				return err
			}
			if flags.list {
				return listCases(suites)
			}
			return status2(dieBySignal(func(ctx context.Context) error {
				return flags.run(ctx, suites)
			}))
		},
	}
	flags.register(cmd)
	return cmd
}

// indented is a text as an example of cobra's.
func indented(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

func (f *testFlags) register(cmd *cobra.Command) {
	f.server.register(cmd)
	f.server.length.register(cmd.Flags())
	f.server.log.setDefault(cmd, "warn")
	f.jobs = count(min(runtime.NumCPU(), maxConcurrency))
	flags := cmd.Flags()
	flags.StringArrayVar(&f.cases, "cases", nil, "a `file` of cases, in place of those beside SCRIPT; may be given more than once")
	flags.Var(&f.jobs, "jobs", "how many cases run at once")
	annotate(flags, "jobs", FlagDefault, "as many as there are CPUs")
	flags.StringVar(&f.format, "format", "text", "how to report: text, tap or junit")
	flags.StringVar(&f.filter, "filter", "", "run only cases whose name matches this `regexp`")
	flags.BoolVar(&f.list, "list", false, "list the cases and run none")
}

func (f *testFlags) check() error {
	if !slices.Contains(report.Formats, f.format) {
		return fmt.Errorf("--format is %q; it must be one of %s", f.format, strings.Join(report.Formats, ", "))
	}
	if _, err := regexp.Compile(f.filter); err != nil {
		return fmt.Errorf("--filter: %w", err)
	}
	// Whoever asks for so many at once does not want them to wait.
	f.server.concurrency = max(f.server.concurrency, f.jobs)
	return nil
}

// suites are those of the target, with the cases that are to run.
func (f *testFlags) suites(t target) ([]suite, error) {
	all, err := findSuites(t, f.cases)
	if err != nil {
		return nil, err
	}
	wanted := regexp.MustCompile(f.filter)
	var some []suite
	for _, s := range all {
		if s = s.only(wanted); len(s.file.Cases) > 0 {
			some = append(some, s)
		}
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("no case has a name that matches %q (--filter); --list lists them", f.filter)
	}
	return some, f.checkScripts(some)
}

// checkScripts refuses flags that no script can be served with, and those that
// name the files of one for more than one.
func (f *testFlags) checkScripts(suites []suite) error {
	scripts := map[string]bool{}
	for _, s := range suites {
		if s.command == nil {
			scripts[s.script] = true
		}
	}
	if len(scripts) == 0 {
		return nil
	}
	for _, own := range []struct{ name, value string }{
		{"tools", f.server.tools}, {"config", f.server.config}, {"resources", f.server.resources}, {"prompts", f.server.prompts},
	} {
		if own.value != "" && len(scripts) > 1 {
			return fmt.Errorf("--%s is for one script, and %d are to be tested", own.name, len(scripts))
		}
	}
	return f.server.check()
}

func listCases(suites []suite) error {
	for _, s := range suites {
		for _, c := range s.file.Cases {
			if _, err := fmt.Printf("%s:%d: %s\n", s.file.Path, c.Line, printable(c.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// run runs all suites, one after the other.
func (f *testFlags) run(ctx context.Context, suites []suite) error {
	r := &testRun{flags: f, report: report.New(f.format, os.Stdout)}
	for _, s := range suites {
		r.cases += len(s.file.Cases)
	}
	r.report.Begin(r.cases)
	for _, s := range suites {
		if ctx.Err() == nil {
			r.suite(ctx, s)
		}
	}
	err := r.report.End(ctx.Err() != nil)
	switch {
	case err != nil:
		return fmt.Errorf("write the report: %w", err)
	case r.unusable:
		return &exitError{2, nil}
	case r.failed:
		return &exitError{1, nil}
	}
	return nil
}

// testRun is one run of conch test.
type testRun struct {
	flags  *testFlags
	report report.Report
	cases  int

	ended            atomic.Int64 // calls; of them the report may wait for earlier ones
	failed, unusable bool
}

// counted counts the calls that have ended.
type counted struct {
	trial.Server
	ended *atomic.Int64
}

// Call implements [trial.Server].
func (c counted) Call(ctx context.Context, one casefile.Case) trial.Outcome {
	defer c.ended.Add(1)
	return c.Server.Call(ctx, one)
}

// suite runs the cases of one file.
func (r *testRun) suite(ctx context.Context, s suite) {
	r.report.Open(s.file.Path)
	stop := r.progress(s)
	bed, err := openTestbed(ctx, s, r.flags.server)
	if err == nil {
		for result := range trial.Run(ctx, counted{bed.server, &r.ended}, s.file.Cases, r.jobs(s)) {
			if ctx.Err() != nil {
				break
			}
			stop()
			r.result(result)
			stop = r.progress(s)
		}
	}
	said := bed.close()
	stop()
	if ctx.Err() != nil {
		// What does not come any more is nobody's fault.
		err = nil
	}
	if err != nil {
		r.unusable = true
		for _, c := range s.file.Cases {
			r.result(trial.Result{Case: c, NotRun: err})
		}
	}
	r.report.Close(said, err)
}

// jobs is how many cases of a suite run at once.
func (r *testRun) jobs(s suite) int {
	if s.file.InOrder {
		return 1
	}
	return int(r.flags.jobs)
}

func (r *testRun) result(result trial.Result) {
	r.failed = r.failed || !result.Passed()
	r.report.Result(result)
}

// progress shows on a terminal how far the run is, until stop is called.
func (r *testRun) progress(s suite) (stop func()) {
	return startSpinner(os.Stderr, func() string {
		return fmt.Sprintf("%s, %d of %d cases", s.file.Path, r.ended.Load(), r.cases)
	})
}
