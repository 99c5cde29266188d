// Package conformance_test runs the official conformance suite of MCP, from npm,
// against one endpoint of conch's, for every revision that the suite knows of.
//
// A warning of the suite's counts as a failure. What conch does not serve yet
// is listed in not-yet-REVISION.txt, by scenario; a listed scenario that passes
// fails the test as well, so that the lists only get shorter.
package conformance_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

// suiteDeadline bounds one run of the suite with all its scenarios.
const suiteDeadline = 2 * time.Minute

func directory() string { return filepath.Join(harness.Root(), "test", "conformance") }

func TestTheOfficialSuite(t *testing.T) {
	suite := newSuite(t)
	server := harness.ServeHTTP(t, filepath.Join(directory(), "server.sh"))
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(revision, func(t *testing.T) { suite.judge(t, server.URL(), revision) })
	}
	suite.reportExtensions(t, server.URL())
	server.Terminate()
}

// judge runs the scenarios of a revision, each of which is a subtest.
func (s suite) judge(t *testing.T, url, revision string) {
	scenarios := s.list(t, revision, "--spec-version", revision)
	notYet := readList(t, "not-yet-"+revision+".txt")
	for _, name := range notYet {
		if !slices.Contains(scenarios, name) {
			t.Errorf("not-yet-%s.txt lists %q, which is no scenario of the suite's", revision, name)
		}
	}
	results := s.run(t, url, "--spec-version", revision)
	passed := 0
	for _, name := range scenarios {
		r := results[name]
		if r.failure() == "" {
			passed++
		}
		t.Run(name, func(t *testing.T) { r.compare(t, slices.Contains(notYet, name)) })
	}
	t.Logf("%s: %d of %d scenarios pass, %d are not served yet; checks: %s", revision, passed, len(scenarios), len(notYet), count(results, scenarios))
}

// compare fails the test of a scenario that does not end as expected.
func (r result) compare(t *testing.T, notYet bool) {
	switch failure := r.failure(); {
	case failure != "" && !notYet:
		t.Error(failure)
	case failure == "" && notYet:
		t.Error("it passes; take it off the list of what is not served yet")
	}
}

// reportExtensions tells how scenarios of extensions end, and expects nothing of
// them.
func (s suite) reportExtensions(t *testing.T, url string) {
	names := s.list(t, "extension")
	results := s.run(t, url)
	for _, name := range names {
		t.Logf("extension: %s; checks: %s", name, count(results, []string{name}))
	}
}

// readList reads names, one a line; # begins a comment.
func readList(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(directory(), file))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		if name := strings.TrimSpace(line); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// suite is the installed suite.
type suite struct{ node, program string }

func newSuite(t *testing.T) suite {
	t.Helper()
	node, err := harness.Node(directory())
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(directory(), "node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js")
	return suite{node, program}
}

// listed is a scenario as the suite lists it, with what it belongs to.
var listed = regexp.MustCompile(`(?m)^ +- (\S+) \[(.+)\]$`)

// list returns the names of the scenarios for servers that belong to a revision,
// or are of an extension.
func (s suite) list(t *testing.T, of string, args ...string) []string {
	t.Helper()
	out, err := s.command(t.Context(), append([]string{"list", "--server"}, args...)...).Output()
	if err != nil {
		t.Fatalf("list the scenarios: %v", err)
	}
	var names []string
	for _, line := range listed.FindAllStringSubmatch(string(out), -1) {
		if slices.Contains(strings.Split(line[2], ","), of) {
			names = append(names, line[1])
		}
	}
	if len(names) == 0 {
		t.Fatalf("the suite lists no scenarios of %s: %q", of, out)
	}
	return names
}

// run runs all scenarios, or those of a revision, and returns what came of each.
func (s suite) run(t *testing.T, url string, args ...string) map[string]result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), suiteDeadline)
	defer cancel()
	dir := t.TempDir()
	out, err := s.command(ctx, append([]string{"server", "--url", url, "--suite", "all", "-o", dir}, args...)...).CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("the suite has not ended within %v", suiteDeadline)
	}
	results, readErr := readResults(dir)
	// It ends with status 1 where a scenario fails, and says so in the results.
	if readErr != nil || err != nil && len(results) == 0 {
		t.Fatalf("the suite ended with %v, reading its results with %v; it said:\n%s", err, readErr, out)
	}
	return results
}

func (s suite) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.node, append([]string{s.program}, args...)...)
	cmd.WaitDelay = harness.Deadline
	return cmd
}

// count counts checks by how they ended.
func count(results map[string]result, scenarios []string) string {
	counts := map[string]int{}
	for _, name := range scenarios {
		for _, c := range results[name] {
			counts[c.Status]++
		}
	}
	return fmt.Sprint(counts)
}
