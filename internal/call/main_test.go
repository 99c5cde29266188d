package call

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/process"
	"github.com/conch-mcp/conch/internal/shell"
)

// patience is how long anything awaited may take before a test fails.
const patience = 60 * time.Second

const roleSentinel = "play-sentinel"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == roleSentinel {
		_ = process.Sentinel(os.Args[2])
		// Not by Exit: the race detector makes that take a second.
		_ = unix.Kill(os.Getpid(), unix.SIGKILL)
	}
	os.Exit(m.Run())
}

// newLifeline starts a lifeline. There may be one at a time, and no other
// process may be waited for meanwhile.
func newLifeline(t testing.TB) (l *process.Lifeline, control string) {
	t.Helper()
	control = filepath.Join(t.TempDir(), "control")
	l, err := process.NewLifeline(control, []string{os.Args[0], roleSentinel})
	must(t, err)
	t.Cleanup(l.Close)
	return l, control
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newRunner starts a script and returns what runs its tools, with call
// directories below tmp.
func newRunner(t testing.TB, script, tmp string, limits Limits) *Runner {
	t.Helper()
	l, control := newLifeline(t)
	path := filepath.Join(t.TempDir(), "server.sh")
	must(t, os.WriteFile(path, []byte(script), 0o600))
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	must(t, err)
	t.Cleanup(func() { null.Close() })
	s, err := shell.Start(t.Context(), shell.Options{
		Script: path, Dir: control, Output: null, Workers: 4, Lifeline: l, Log: slog.New(slog.DiscardHandler),
	})
	must(t, err)
	t.Cleanup(s.Close)
	r, err := NewRunner(s, Options{Limits: limits, Tmp: tmp, Lifeline: l, Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	t.Cleanup(r.Close)
	return r
}
