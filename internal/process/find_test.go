package process_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/conch-mcp/conch/internal/process"
)

func TestAPathLeadsToTheFirstProgramOfTheName(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, mode := range map[string]os.FileMode{"a/p": 0o644, "b/p": 0o755, "c/p": 0o755, "q": 0o755, "d/p/x": 0o755} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ path, dir, program, want string }{
		{dir + "/a:" + dir + "/d:" + dir + "/b:" + dir + "/c", "", "p", dir + "/b/p"},
		{dir + "/a", "", "p", ""},
		{"missing:b", "", "p", "b/p"},
		{"b", dir, "p", dir + "/b/p"},
		{"", "", "q", ""},
		{"c:", "", "q", "./q"},
		{":c", dir, "q", dir + "/q"},
	} {
		if got := process.Find(test.path, test.dir, test.program); got != test.want {
			t.Errorf("%q in %q for %s: %q, want %q", test.path, test.dir, test.program, got, test.want)
		}
	}
}
