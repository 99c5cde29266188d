package docs_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// loop runs the files that it is named, says with which status each has ended,
// and in the end ends what they have left in the background. What they print
// goes to files: of a pipe, a server in the background would hold the end.
const loop = `
while IFS= read -r block; do
  . "$block" </dev/null >"$block.out" 2>&1 3>&-
  echo "$?" >&3
done
for pid in $(jobs -rp); do
  kill "$pid"
done
wait
`

// shell is a Bash that runs all blocks of a document, as that of a reader does
// who pastes them one after the other.
type shell struct {
	t        *testing.T
	cmd      *exec.Cmd
	dir      string // for the blocks and what they print
	in       io.WriteCloser
	statuses *bufio.Reader
	ran      int
	ended    bool
}

func newShell(t *testing.T, dir string, env []string) *shell {
	t.Helper()
	s := &shell{t: t, dir: t.TempDir(), cmd: exec.Command("bash", "-c", loop)}
	s.cmd.Dir, s.cmd.Env = dir, env
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	statuses, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd.ExtraFiles = []*os.File{w}
	err = s.cmd.Start()
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	s.statuses = bufio.NewReader(statuses)
	t.Cleanup(func() {
		defer statuses.Close()
		s.end()
	})
	return s
}

// run runs one block.
func (s *shell) run(commands string) (output string, status int) {
	s.t.Helper()
	s.ran++
	path := filepath.Join(s.dir, fmt.Sprintf("block-%d", s.ran))
	if err := os.WriteFile(path, []byte(commands+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	defer time.AfterFunc(harness.Deadline, s.kill).Stop()
	fmt.Fprintln(s.in, path)
	line, err := s.statuses.ReadString('\n')
	printed, _ := os.ReadFile(path + ".out")
	if err != nil {
		s.t.Fatalf("the shell has ended, or was killed after %v, in\n%s\nIt printed:\n%s", harness.Deadline, commands, printed)
	}
	if status, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimRight(string(printed), "\n"), status
}

// end ends the shell and what it has in the background.
func (s *shell) end() {
	if s.ended {
		return
	}
	s.ended = true
	defer time.AfterFunc(harness.Deadline, s.kill).Stop()
	s.in.Close()
	if err := s.cmd.Wait(); err != nil && !s.t.Failed() {
		s.t.Errorf("the shell of the document ended with %v", err)
	}
}

// kill kills the shell and its background, which are one process group.
func (s *shell) kill() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) }

func TestBlocksShareAShell(t *testing.T) {
	s := newShell(t, t.TempDir(), os.Environ())
	for _, block := range []struct {
		commands, output string
		status           int
	}{
		{"x=1; false", "", 1},
		{"echo $x; cat; sleep 1000 & pid=$!", "1", 0},
		{"kill $pid; wait $pid; echo $?", "143", 0},
		{"sleep 1000 & echo $! >left", "", 0},
	} {
		output, status := s.run(block.commands)
		if output != block.output || status != block.status {
			t.Errorf("%s: status %d, %q", block.commands, status, output)
		}
	}
	left, err := os.ReadFile(filepath.Join(s.cmd.Dir, "left"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(left)))
	if err != nil {
		t.Fatal(err)
	}
	s.end()
	if harness.Alive(pid) {
		t.Error("what a block had left in the background is there still")
	}
}
