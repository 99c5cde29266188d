package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/process"
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

// start starts a server over a script. No other process may be waited for
// while it runs.
func start(t *testing.T, script string, workers int, change ...func(*Options)) *Server {
	t.Helper()
	s, err := tryStart(t, script, workers, change...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func tryStart(t *testing.T, script string, workers int, change ...func(*Options)) (*Server, error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "server.sh")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	control := filepath.Join(dir, "control")
	lifeline, err := process.NewLifeline(control, []string{os.Args[0], roleSentinel})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lifeline.Close)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	opts := Options{
		Script: path, Dir: control, Output: null, Workers: workers, Lifeline: lifeline, Log: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&opts)
	}
	return Start(t.Context(), opts)
}

// acquire takes a worker. Who takes it gives it back.
func acquire(t *testing.T, s *Server) *Worker {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	w, err := s.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// wait sees a started call to its end.
func wait(w *Worker) (status int, err error) {
	for end := time.Now().Add(patience); ; {
		status, err = w.Wait(context.Background(), end)
		if !errors.Is(err, ErrNotYet) || time.Now().After(end) {
			return status, err
		}
	}
}

// run runs one call and returns its status and output.
func run(t *testing.T, s *Server, tool, arguments string) (status int, output string) {
	t.Helper()
	w := acquire(t, s)
	out, hold, err := w.Output()
	if err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&printed, out)
	}()
	if err := w.Start(Job{Function: "tool_" + tool, Dir: t.TempDir(), Arguments: json.RawMessage(arguments)}); err != nil {
		t.Fatal(err)
	}
	status, err = wait(w)
	if err != nil {
		t.Fatal(err)
	}
	_ = out.SetReadDeadline(time.Unix(1, 0))
	<-read
	out.Close()
	hold.Close()
	if err := w.Drain(&printed); err != nil {
		t.Fatal(err)
	}
	// As one who runs calls must: what a killed subshell was to be woken by may
	// still be there.
	if status >= 128 {
		s.Lose(w)
	} else {
		s.Release(w)
	}
	return status, printed.String()
}
