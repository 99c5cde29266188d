package examples_test

import (
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

// An author's own cases are a part of what an example teaches.
func TestEveryExampleHasCasesThatPass(t *testing.T) {
	root := harness.Root()
	before := filesBelow(t, filepath.Join(root, "examples"))
	tmp, run := t.TempDir(), t.TempDir()
	cmd := exec.Command(harness.Binary(t), "test", "examples")
	cmd.Dir = root
	// What somebody has set for the examples is not for the cases.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return regexp.MustCompile(`^(GREETING|LOGS$|LLM_|TZ$|FILE_ROOT|GIT_|WEATHER_|NOTES_|MEMOS_|DEPLOY_|CONCH_|MCPBASH_)`).MatchString(entry)
	})
	cmd.Env = append(cmd.Env, "TMPDIR="+tmp, "XDG_RUNTIME_DIR="+run)
	report, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("conch test examples: %v\n%s", err, report)
	}
	for _, target := range targets(t) {
		cases, _ := filepath.Rel(root, strings.TrimSuffix(target, ".sh")+".test.yaml")
		if !strings.Contains(string(report), cases+"\n  ok    ") {
			t.Errorf("no case of %s has passed", cases)
		}
	}
	if after := filesBelow(t, filepath.Join(root, "examples")); !slices.Equal(before, after) {
		t.Errorf("the examples were %q and are %q", before, after)
	}
	harness.Eventually(t, 10*time.Second, "nothing is left", func() bool { return empty(t, tmp) && empty(t, run) })
}

func filesBelow(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}
