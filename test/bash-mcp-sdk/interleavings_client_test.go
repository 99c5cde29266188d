package batstest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// leaving is how long processes and files may outlive the server.
const leaving = 5 * time.Second

// A client speaks to the server of one run. One goroutine uses it.
type client struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  *os.File
	lines  chan string // closed at the end of the output
	exited chan struct{}
	got    []string // of lines, what has been received
	// Nobody has to read any more.
	signalled bool

	tmp, run, work          string // the server's TMPDIR, XDG_RUNTIME_DIR and working directory
	record, journal, stderr string // files

	mu         sync.Mutex // the reader of the output notes too
	begin      time.Time
	transcript strings.Builder
}

// start starts the server in a process group and in places of its own.
func start(t *testing.T, s server, p *interleaving) *client {
	t.Helper()
	dir := t.TempDir()
	c := &client{
		t: t, lines: make(chan string, 1000), exited: make(chan struct{}), begin: time.Now(),
		tmp: filepath.Join(dir, "tmp"), run: filepath.Join(dir, "run"), work: filepath.Join(dir, "work"),
		record: filepath.Join(dir, "record"), journal: filepath.Join(dir, "journal"), stderr: filepath.Join(dir, "stderr"),
	}
	for _, place := range c.places() {
		if err := os.Mkdir(place, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	c.cmd = exec.Command(s.script, c.marker())
	c.cmd.Dir = c.work
	c.cmd.Env = s.environment(c.tmp, c.run, c.record, c.journal, fmt.Sprint(p.concurrency))
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.connect()
	c.note("-- ", fmt.Sprintf("start, with MCP_CONCURRENCY=%d", p.concurrency))
	t.Cleanup(func() { c.cleanUp(p.seed) })
	return c
}

// marker is the argument that tells this server from all others.
func (c *client) marker() string { return "--run=" + c.run }

// connect starts the command between two pipes. Its standard error is a file:
// whoever outlives it must not keep anybody waiting.
func (c *client) connect() {
	c.t.Helper()
	stdin, feed, err := os.Pipe()
	if err != nil {
		c.t.Fatal(err)
	}
	defer stdin.Close()
	output, stdout, err := os.Pipe()
	if err != nil {
		c.t.Fatal(err)
	}
	defer stdout.Close()
	stderr, err := os.Create(c.stderr)
	if err != nil {
		c.t.Fatal(err)
	}
	defer stderr.Close()
	c.stdin = feed
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = stdin, stdout, stderr
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	go c.read(output)
	go func() {
		defer close(c.exited)
		_ = c.cmd.Wait()
	}()
}

func (c *client) read(output *os.File) {
	defer output.Close()
	defer close(c.lines)
	for r := bufio.NewReader(output); ; {
		line, err := r.ReadString('\n')
		if line != "" {
			c.note("<- ", line)
			c.lines <- line
		}
		if err != nil {
			return
		}
	}
}

func (c *client) note(mark, text string) {
	const most = 300
	if len(text) > most {
		text = fmt.Sprintf("%s… (%d bytes)", text[:most], len(text))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(&c.transcript, "%5d ms %s%s\n", time.Since(c.begin).Milliseconds(), mark, strings.TrimSuffix(text, "\n"))
}

// write sends bytes. Once there was a signal, nobody needs to take them.
func (c *client) write(text string) {
	c.t.Helper()
	_ = c.stdin.SetWriteDeadline(time.Now().Add(harness.Deadline))
	if _, err := c.stdin.WriteString(text); err != nil && !c.signalled {
		c.t.Fatalf("write to the server: %v", err)
	}
}

func (c *client) closeInput() { c.stdin.Close() }

// receive waits for the next line; false means that the output has ended.
func (c *client) receive(what string) bool {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if ok {
			c.got = append(c.got, line)
		}
		return ok
	case <-time.After(harness.Deadline):
		c.t.Fatalf("not within %v: %s", harness.Deadline, what)
		return false
	}
}

// await waits for the response to l, and then looks for what its call must not
// have left.
func (c *client) await(l *line) {
	c.t.Helper()
	for !c.has(l) {
		if !c.receive(l.String()) {
			c.t.Fatalf("the output has ended without it: %s", l)
		}
	}
	switch l.tool {
	case "child":
		pid, _ := strconv.Atoi(c.recorded("child", l.n))
		harness.Eventually(c.t, leaving, "the end of a child whose call is answered", func() bool { return !c.isOurs(pid) })
	case "files":
		if path := c.recorded("files", l.n); path == "" || exists(path) {
			c.t.Errorf("there is still %q, whose call is answered: %s", path, l)
		}
	}
}

func (c *client) has(l *line) bool {
	for _, text := range c.got {
		if l.matches(text) {
			return true
		}
	}
	return false
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// awaitBegin waits until the call is recorded as begun.
func (c *client) awaitBegin(l *line) {
	c.t.Helper()
	harness.Eventually(c.t, harness.Deadline, "the begin of "+l.String(), func() bool {
		return c.readRecord()[fmt.Sprintf("begun %s %d", l.tool, l.n)] > 0
	})
}

// awaitIdle waits until the server is one process again.
func (c *client) awaitIdle() {
	c.t.Helper()
	harness.Eventually(c.t, harness.Deadline, "one process only", func() bool {
		return len(processesWith("cmdline", c.marker())) == 1
	})
}

// signal sends a signal to the script's shell, or to its group.
func (c *client) signal(sig syscall.Signal, toGroup bool) {
	c.signalled = true
	pid := c.cmd.Process.Pid
	if toGroup {
		pid = -pid
	}
	select {
	case <-c.exited:
		// The number may be somebody else's.
	default:
		_ = syscall.Kill(pid, sig)
	}
}

// killHelper kills the conch that the script's shell has started.
func (c *client) killHelper() {
	c.t.Helper()
	c.signalled = true
	harness.Eventually(c.t, harness.Deadline, "the shell's conch", func() bool {
		for _, pid := range processesWith("cmdline", "\x00__bash-mcp-sdk\x00loop\x00") {
			if parent(pid) == c.cmd.Process.Pid {
				return syscall.Kill(pid, syscall.SIGKILL) == nil
			}
		}
		return false
	})
}

// awaitEnd waits until the server and its output have ended.
func (c *client) awaitEnd() {
	c.t.Helper()
	select {
	case <-c.exited:
		c.note("== ", c.cmd.ProcessState.String())
	case <-time.After(harness.Deadline):
		c.t.Fatalf("the server has not ended within %v", harness.Deadline)
	}
	for c.receive("the end of the output") {
	}
}

// awaitNothingLeft waits until no process and no file of the run is left.
func (c *client) awaitNothingLeft() {
	c.t.Helper()
	end := time.Now().Add(leaving)
	for ; ; time.Sleep(10 * time.Millisecond) {
		processes, files := c.processes(), c.files()
		if len(processes)+len(files) == 0 {
			return
		}
		if time.Now().After(end) {
			c.t.Errorf("left after %v: processes %q, files %q", leaving, describe(processes), files)
			return
		}
	}
}

// inheritance is in the environment of all that the server has started.
func (c *client) inheritance() string { return "\x00TMPDIR=" + c.tmp + "\x00" }

// processes lists what the server has started and what still runs.
func (c *client) processes() []int { return processesWith("environ", c.inheritance()) }

func (c *client) isOurs(pid int) bool { return hasText(pid, "environ", c.inheritance()) }

// processesWith lists the processes for which hasText holds.
func processesWith(file, text string) (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if hasText(pid, file, text) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// hasText reports whether a process's file in /proc, with a NUL in front of it
// as there is one behind each of its fields, holds text. A zombie's is empty.
func hasText(pid int, file, text string) bool {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	return bytes.Contains(append([]byte{0}, data...), []byte(text))
}

func describe(pids []int) (lines []string) {
	for _, pid := range pids {
		args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		lines = append(lines, fmt.Sprintf("%d (child of %d): %s", pid, parent(pid), bytes.ReplaceAll(args, []byte{0}, []byte{' '})))
	}
	return lines
}

func parent(pid int) int {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := strings.Cut(string(stat), ") ")
	var state string
	var ppid int
	_, _ = fmt.Sscan(after, &state, &ppid)
	return ppid
}

// places are the directories that are to be as empty at the end as they were.
func (c *client) places() []string { return []string{c.tmp, c.run, c.work} }

// files lists what is in these directories.
func (c *client) files() (files []string) {
	for _, dir := range c.places() {
		_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, _ error) error {
			if path != dir {
				files = append(files, path)
			}
			return nil
		})
	}
	return files
}

// readRecord is how often each line is in the server's record.
func (c *client) readRecord() map[string]int {
	text, _ := os.ReadFile(c.record)
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		counts[strings.TrimSuffix(line, "\n")]++
	}
	return counts
}

// recorded is what the record says of the call n behind word.
func (c *client) recorded(word string, n int) string {
	for line := range c.readRecord() {
		if value, ok := strings.CutPrefix(line, fmt.Sprintf("%s %d ", word, n)); ok {
			return value
		}
	}
	return ""
}

// words is what the server has said beside the protocol.
func (c *client) words() (stderr, journal string) {
	e, _ := os.ReadFile(c.stderr)
	j, _ := os.ReadFile(c.journal)
	return string(e), string(j)
}

// cleanUp ends what is left, and tells of a failed run all there is to tell.
func (c *client) cleanUp(seed uint64) {
	c.stdin.Close()
	for _, pid := range c.processes() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-c.exited
	for range c.lines {
		// The reader ends with the output.
	}
	if c.t.Failed() {
		stderr, journal := c.words()
		c.t.Logf("CONCH_TEST_SEED=%d plays this again:\n%s\nstandard error:\n%s\njournal:\n%s", seed, c.transcript.String(), stderr, journal)
	}
}
