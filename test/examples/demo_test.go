package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// demo runs examples/http-demo.sh, of which nothing may be left.
func demo(t *testing.T, env ...string) (output string, status int) {
	t.Helper()
	left := &harness.Server{Tmp: t.TempDir(), Run: t.TempDir(), Cmd: &exec.Cmd{Process: &os.Process{}}}
	cmd := exec.CommandContext(t.Context(), filepath.Join(harness.Root(), "examples", "http-demo.sh"))
	cmd.Env = append(os.Environ(), "TMPDIR="+left.Tmp, "XDG_RUNTIME_DIR="+left.Run, "CONCH_BIN="+harness.Binary(t))
	cmd.Env = append(cmd.Env, env...)
	cmd.WaitDelay = harness.Deadline
	defer time.AfterFunc(harness.Deadline, func() { _ = cmd.Process.Kill() }).Stop()
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	left.Left(t)
	return string(out), cmd.ProcessState.ExitCode()
}

func TestTheDemoCallsAToolOverHTTP(t *testing.T) {
	output, status := demo(t)
	const answer = `{"type":"text","text":"m3: Safety Last! (1923), comedy\nm4: The General (1926), comedy"}`
	if status != 0 || !strings.Contains(output, answer) {
		t.Errorf("status %d, and no %s in\n%s", status, answer, output)
	}
}

func TestTheDemoSaysWhatItCannotDo(t *testing.T) {
	bin := t.TempDir()
	for _, program := range []string{"env", "bash"} {
		path, err := exec.LookPath(program)
		if err != nil {
			t.Fatal(err)
		}
		link(t, path, filepath.Join(bin, program))
	}
	stranger := filepath.Join(t.TempDir(), "conch")
	write(t, stranger, "#!/bin/sh\nexit 1\n")
	for _, c := range []struct {
		about, env, says string
		status           int
	}{
		{"no curl", "PATH=" + bin, "curl is not installed", 0},
		{"no conch", "CONCH_BIN=" + filepath.Join(bin, "conch"), "make build", 1},
		{"a conch that serves nothing", "CONCH_BIN=" + stranger, "The server has ended", 1},
	} {
		t.Run(c.about, func(t *testing.T) {
			if output, status := demo(t, c.env); status != c.status || !strings.Contains(output, c.says) {
				t.Errorf("status %d, and want %d; no %q in\n%s", status, c.status, c.says, output)
			}
		})
	}
}
