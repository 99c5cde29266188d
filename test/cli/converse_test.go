package cli_test

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/conch-mcp/conch/test/harness"
)

// converse FILE ANSWERS COMMAND... runs a command at a terminal of its own, which is
// its standard input and error, and keeps in FILE what the terminal was sent. Its
// standard output is in FILE.stdout. A line of the file ANSWERS has the end of a
// prompt, " => " and what is typed when the terminal ends in that; ^C and ^D are
// those keys. Negated, the command must fail.
func converse(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: [!] converse file answers command...")
	}
	master, slave, err := openTerminal()
	ts.Check(err)
	defer master.Close()
	cmd := command(ts, args[2], args[3:]...)
	var stdout bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, &stdout, slave
	// Only so does a key send a signal.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = cmd.Start()
	slave.Close()
	ts.Check(err)
	screen := readScreen(master)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for answer := range strings.Lines(ts.ReadFile(args[1])) {
		prompt, text, _ := strings.Cut(strings.TrimSuffix(answer, "\n"), " => ")
		if !screen.endsIn(prompt) {
			_ = cmd.Process.Kill()
			<-ended
			ts.Fatalf("the terminal never ends in %q; it has:\n%s", prompt, screen.text())
		}
		screen.next()
		keys := strings.NewReplacer("^C", "\x03", "^D", "\x04").Replace(text)
		if keys == text {
			keys += "\n"
		}
		_, err := io.WriteString(master, keys)
		ts.Check(err)
	}
	select {
	case err = <-ended:
	case <-time.After(harness.Deadline):
		_ = cmd.Process.Kill()
		err = <-ended
		ts.Logf("the command had to be killed")
	}
	<-screen.over
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(screen.text()), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".stdout"), stdout.Bytes(), 0o600))
	if (err != nil) != neg {
		ts.Fatalf("%s: %v; the terminal has:\n%s", args[2], err, screen.text())
	}
}

// screen is what a terminal has been sent.
type screen struct {
	mu   sync.Mutex
	sent strings.Builder
	seen int // how much had been sent when the last prompt was answered
	over chan struct{}
}

func readScreen(master io.Reader) *screen {
	s := &screen{over: make(chan struct{})}
	go func() {
		defer close(s.over)
		// The last close of the other side ends this with an error.
		_, _ = io.Copy(s, master)
	}()
	return s
}

// Write implements [io.Writer].
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent.Write(p)
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent.String()
}

// endsIn waits until what was sent since the last prompt ends in another.
func (s *screen) endsIn(prompt string) bool {
	for end := time.Now().Add(harness.Deadline); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if strings.HasSuffix(s.text()[s.seen:], prompt) {
			return true
		}
	}
	return false
}

func (s *screen) next() { s.seen = len(s.text()) }
