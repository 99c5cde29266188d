package call

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(list)
}

func TestNoDescriptorOfADirectoryIsLeftOpen(t *testing.T) {
	d := newTestDirs(t, t.TempDir())
	before := descriptors(t)
	for i := range 60 {
		had := []dir{take(t, d), take(t, d), take(t, d)}
		must(t, os.WriteFile(had[0].path+"/file", nil, 0o600))
		must(t, os.Remove(had[1].path))
		if i%3 == 0 {
			next := take(t, d)
			d.drop(next, false)
			must(t, os.RemoveAll(next.path))
		}
		for _, one := range had {
			d.drop(one, i%2 == 0)
		}
		if waiting := descriptors(t) - before; waiting > cap(d.next) {
			t.Fatalf("%d are open after %d calls", waiting, 3*i)
		}
	}
	d.close()
	if now := descriptors(t); now > before {
		t.Errorf("there were %d, and are %d", before, now)
	}
}

// Where a call's orphans are adopted elsewhere nobody knows who is still in its
// directory.
func TestADirectoryIsNotUsedAgainWhereOrphansAreAstray(t *testing.T) {
	for name, astray := range map[string]bool{"adopted here": false, "astray": true} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t, `tool_where() { printf %s "$MCP_CALL_TMPDIR"; }`, t.TempDir(), Limits{})
			r.astray = astray
			for i := range 3 {
				o, err := r.Run(t.Context(), Call{Function: "tool_where"})
				must(t, err)
				again := strings.HasPrefix(filepath.Base(string(o.Output)), "next-")
				if want := !astray && i > 0; again != want {
					t.Errorf("call %d is in %s", i, o.Output)
				}
			}
		})
	}
}
