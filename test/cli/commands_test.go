package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/conch-mcp/conch/test/harness"
)

// shutdown is how long a command may take to die by a signal: its calls have a
// grace time of two seconds, and the machine may be slow.
const shutdown = 8 * time.Second

var commands = map[string]func(*testscript.TestScript, bool, []string){
	"status":    status,
	"interrupt": interrupt,
	"gone":      gone,
	"terminal":  terminal,
	"converse":  converse,
	"chmod":     chmod,
	"times":     times,
}

// command prepares a program of the story's PATH in the story's directory and
// environment.
func command(ts *testscript.TestScript, name string, args ...string) *exec.Cmd {
	path := name
	if !strings.ContainsRune(name, filepath.Separator) {
		for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				path = filepath.Join(dir, name)
				break
			}
		}
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "XDG_RUNTIME_DIR", "GORACE", "WORK"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	return cmd
}

// status N COMMAND... runs a command that must end with exit status N. What it
// printed is there for the commands stdout and stderr.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := err.(*exec.ExitError); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// interrupt SIGNAL FILE COMMAND... starts a command, sends it the signal once
// FILE is there, and fails unless the command dies by it.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}
	if neg || len(args) < 3 || signals[args[0]] == 0 {
		ts.Fatalf("usage: interrupt INT|TERM|HUP file command...")
	}
	cmd := command(ts, args[2], args[3:]...)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	// What outlives the command may hold its output.
	cmd.WaitDelay = time.Second
	ts.Check(cmd.Start())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait()
	}()
	eventually(ts, args[1]+" is there", func() bool {
		_, err := os.Stat(ts.MkAbs(args[1]))
		return err == nil
	})
	ts.Check(cmd.Process.Signal(signals[args[0]]))
	select {
	case <-done:
	case <-time.After(shutdown):
		_ = cmd.Process.Kill()
		<-done
		ts.Fatalf("not ended within %v of SIG%s; it said:\n%s", shutdown, args[0], &output)
	}
	ended := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ended.Signaled() || ended.Signal() != signals[args[0]] {
		ts.Fatalf("ended with %v, not by SIG%s; it said:\n%s", cmd.ProcessState, args[0], &output)
	}
}

// gone FILE waits until the process whose id FILE holds has ended.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone file")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	eventually(ts, "process "+strconv.Itoa(pid)+" has ended", func() bool { return !harness.Alive(pid) })
}

func eventually(ts *testscript.TestScript, what string, condition func() bool) {
	for end := time.Now().Add(harness.Deadline); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("not within %v: %s", harness.Deadline, what)
		}
	}
}

// chmod MODE FILE... sets permissions, given in octal.
func chmod(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: chmod mode file...")
	}
	mode, err := strconv.ParseUint(args[0], 8, 32)
	ts.Check(err)
	for _, file := range args[1:] {
		ts.Check(os.Chmod(ts.MkAbs(file), os.FileMode(mode)))
	}
}

// times N COMMAND... runs a command N times. Each must succeed and print
// nothing on standard error.
func times(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: times n command...")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	for range n {
		cmd := command(ts, args[1], args[2:]...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Run(); err != nil || stderr.Len() > 0 {
			ts.Fatalf("%v; standard error:\n%s", err, &stderr)
		}
	}
}
