package cli_test

import (
	"bytes"
	"io"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/conch-mcp/conch/test/harness"
)

// terminal FILE COMMAND... runs a command that must succeed, with a terminal
// for its standard error, and keeps in FILE what the terminal was sent.
func terminal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: terminal file command...")
	}
	master, slave, err := openTerminal()
	ts.Check(err)
	defer master.Close()
	cmd := command(ts, args[1], args[2:]...)
	cmd.Stderr = slave
	err = cmd.Start()
	slave.Close()
	ts.Check(err)
	var screen bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		// The last close of the other side ends this with an error.
		_, _ = io.Copy(&screen, master)
	}()
	if err := cmd.Wait(); err != nil {
		ts.Fatalf("%s: %v", args[1], err)
	}
	select {
	case <-done:
	case <-time.After(harness.Deadline):
		ts.Fatalf("the terminal is still held open %v after the command's end", harness.Deadline)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), screen.Bytes(), 0o600))
}
