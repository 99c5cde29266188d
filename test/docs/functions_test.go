package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

var scriptsFunction = regexp.MustCompile(`(?m)^(mcp_[a-z_]+)\(\)`)

// What scripts may call is what the documents tell of.
func TestEveryFunctionOfTheRuntimeIsDocumented(t *testing.T) {
	code := readAll(t, filepath.Join(harness.Root(), "internal", "shell", "*.bash"))
	text := readAll(t, filepath.Join(harness.Root(), "docs", "*.md"))
	found := scriptsFunction.FindAllStringSubmatch(code, -1)
	if len(found) < 40 {
		t.Fatalf("only %d functions were found", len(found))
	}
	for _, f := range found {
		if !regexp.MustCompile("`" + f[1] + `\b`).MatchString(text) {
			t.Errorf("no document tells of %s", f[1])
		}
	}
}

// readAll is the text of all files that a pattern finds.
func readAll(t *testing.T, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %v, %d files", pattern, err, len(paths))
	}
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
