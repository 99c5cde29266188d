// Package batsrun runs suites of bats against the built binary, and makes each of
// their tests one of Go's. It knows nothing of what the suites are about.
package batsrun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

const (
	// suiteDeadline bounds one file with all its tests.
	suiteDeadline = 10 * time.Minute
	// atOnce is how many files run at once: their tests have time limits.
	atOnce = 2
)

// A Variant is a way to run the suites.
type Variant struct {
	Name string
	Env  string // "name=value", or nothing
}

// Suites runs every suite of the current directory in every variant. modules is
// the folder of npm's packages that bats is in.
func Suites(t *testing.T, modules string, variants []Variant) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the suites find processes in /proc")
	}
	files, err := filepath.Glob("*.bats")
	if err != nil || len(files) == 0 {
		t.Fatalf("no suites here: %v", err)
	}
	bats, conch := installed(t, modules), Binary(t)
	slots := make(chan struct{}, atOnce)
	for _, v := range variants {
		for _, file := range files {
			t.Run(v.Name+"/"+file, func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				report(t, run(t, bats, file, "CONCH_BIN="+conch, v.Env))
			})
		}
	}
}

// Applets is a folder with the commands of busybox, which do less than those of
// a usual system.
func Applets(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("busybox", "--install", "-s", dir).CombinedOutput(); err != nil {
		t.Fatalf("install busybox: %v\n%s; run make test-deps", err, out)
	}
	return dir
}

// installed is the path of the bats that package.json pins.
func installed(t *testing.T, modules string) string {
	t.Helper()
	bats := filepath.Join(modules, "bats", "bin", "bats")
	if _, err := os.Stat(bats); errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%v; run make test-deps", err)
	}
	return bats
}

// Binary is the path of $CONCH_BIN, or of a conch built without the race
// detector, which would miss the suites' time limits.
func Binary(t *testing.T) string {
	t.Helper()
	if bin := os.Getenv("CONCH_BIN"); bin != "" {
		bin, err := filepath.Abs(bin)
		if err != nil {
			t.Fatal(err)
		}
		return bin
	}
	bin := filepath.Join(t.TempDir(), "conch")
	cmd := exec.Command("go", "build", "-o", bin, "./cmd/conch")
	cmd.Dir = harness.Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build conch: %v\n%s", err, out)
	}
	return bin
}

// run runs one file of tests and returns what bats says, in TAP.
func run(t *testing.T, bats, file string, env ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), suiteDeadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, bats, "--formatter", "tap", file)
	cmd.Env = append(append(os.Environ(), "TMPDIR="+t.TempDir()), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	// A server that outlives bats may hold its output.
	cmd.WaitDelay = harness.Deadline
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	// A failed test is reported by name; that bats itself failed is not.
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) || stderr.Len() > 0 {
		t.Errorf("bats: %v; standard error:\n%s", err, stderr.Bytes())
	}
	return stdout.String()
}

var (
	plan    = regexp.MustCompile(`^1\.\.(\d+)$`)
	verdict = regexp.MustCompile(`^(not ok|ok) \d+ (.*?)( # skip.*)?$`)
)

// An outcome is one test's line of TAP and what is said about it.
type outcome struct {
	name, skip  string
	failed      bool
	diagnostics strings.Builder
}

// report turns TAP into subtests.
func report(t *testing.T, tap string) {
	t.Helper()
	planned, outcomes := parse(tap)
	for _, o := range outcomes {
		t.Run(o.name, func(t *testing.T) {
			switch {
			case o.failed:
				t.Errorf("\n%s", o.diagnostics.String())
			case o.skip != "":
				t.Skip(o.skip)
			}
		})
	}
	if planned == "" || fmt.Sprint(len(outcomes)) != planned {
		t.Errorf("%d tests ran where %q were planned:\n%s", len(outcomes), planned, tap)
	}
}

func parse(tap string) (planned string, outcomes []*outcome) {
	for line := range strings.Lines(tap) {
		line = strings.TrimSuffix(line, "\n")
		if m := plan.FindStringSubmatch(line); m != nil && planned == "" {
			planned = m[1]
		} else if m := verdict.FindStringSubmatch(line); m != nil {
			outcomes = append(outcomes, &outcome{
				name:   strings.ReplaceAll(m[2], `\#`, "#"),
				skip:   strings.TrimPrefix(m[3], " # "),
				failed: m[1] == "not ok",
			})
		} else if len(outcomes) > 0 {
			said := strings.TrimPrefix(strings.TrimPrefix(line, "#"), " ")
			fmt.Fprintln(&outcomes[len(outcomes)-1].diagnostics, said)
		}
	}
	return planned, outcomes
}
