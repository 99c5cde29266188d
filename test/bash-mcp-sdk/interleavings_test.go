package batstest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

const (
	interleavings = 200
	// runsAtOnce is more than there are processors: a run mostly waits.
	runsAtOnce = 6
)

// interleavedServer has a tool for each way in which a call can be in the way.
// shellcheck has nothing to say of it: it is written to a file of its own.
const interleavedServer = `#!/usr/bin/env bash
source "$CORE"
MCP_TOOLS_LIST_FILE=$HERE/tools.json MCP_CONFIG_FILE=$HERE/config.json
tool_quick() { echo quick; }
tool_slow() { sleep "$arg_s"; echo slow; }
tool_slow_cancel() { :; }
tool_child() { sleep 500 & echo child; }
tool_stubborn() { trap '' TERM; sleep "$arg_s"; echo stubborn; }
tool_files() { mkdir -p "$MCP_CALL_TMPDIR/a/b"; : >"$MCP_CALL_TMPDIR/a/b/f"; chmod 555 "$MCP_CALL_TMPDIR/a/b"; chmod 0 "$MCP_CALL_TMPDIR/a"; echo files; }
tool_nested() { handle_tools_call 1 '{"name":"quick"}'; }
tool_big() { head -c 200000 /dev/zero | tr '\0' x; }
mcp_before_tool_call() { last=$1; }
run_mcp_server "$@"
`

var interleavedTools = []string{"quick", "slow", "child", "files", "nested", "big", "quick", "slow"}

// TestNothingIsLostOrLeftWhateverTheOrder runs sessions of calls, cancellations,
// partial lines, signals and ends in random order. $INTERLEAVING repeats the one
// of that number.
func TestNothingIsLostOrLeftWhateverTheOrder(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are found in /proc")
	}
	conch, dir := binary(t), t.TempDir()
	list := `{"tools":[`
	for _, tool := range []string{"quick", "slow", "child", "stubborn", "files", "nested", "big"} {
		list += fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}},`, tool)
	}
	for name, text := range map[string]string{"server.sh": interleavedServer, "tools.json": strings.TrimSuffix(list, ",") + "]}", "config.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	seeds := make(chan uint64)
	var workers sync.WaitGroup
	for range runsAtOnce {
		workers.Go(func() {
			for seed := range seeds {
				t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) { interleave(t, conch, dir, seed) })
			}
		})
	}
	for _, seed := range chosenSeeds(t) {
		seeds <- seed
	}
	close(seeds)
	workers.Wait()
}

func chosenSeeds(t *testing.T) (seeds []uint64) {
	t.Helper()
	if text := os.Getenv("INTERLEAVING"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("$INTERLEAVING: %v", err)
		}
		return []uint64{seed}
	}
	for seed := range uint64(interleavings) {
		seeds = append(seeds, seed)
	}
	return seeds
}

// session is one server with what was done to it and what must come of it.
type session struct {
	t      *testing.T
	rng    *rand.Rand
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	tmp    string
	run    string
	marker string
	story  []string // what was done, for a failure

	sent      []string        // what is to be answered, in order: ids, and null for garbage
	cancelled map[string]bool // of these, what may stay unanswered
	signal    syscall.Signal  // 0 when none was sent
	stderr    bytes.Buffer

	mu      sync.Mutex
	changed *sync.Cond
	ids     []string // of the responses
	torn    string   // what the output ended with, behind the last newline
	ended   bool     // the output has
}

func interleave(t *testing.T, conch, dir string, seed uint64) {
	s := &session{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), tmp: t.TempDir(), run: t.TempDir(),
		cancelled: map[string]bool{}, marker: fmt.Sprintf("INTERLEAVING_MARK=%d-%d", os.Getpid(), seed),
	}
	s.changed = sync.NewCond(&s.mu)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("INTERLEAVING=%d repeats this:\n%s\nanswered %v\nstandard error:\n%s", seed, strings.Join(s.story, "\n"), s.ids, s.stderr.Bytes())
		}
	})
	s.start(conch, dir)
	s.play()
	s.judge()
}

func (s *session) start(conch, dir string) {
	s.cmd = exec.Command(filepath.Join(dir, "server.sh"))
	s.cmd.Env = append(os.Environ(), "CONCH_BIN="+conch, "CORE="+filepath.Join(harness.Root(), "lib/bash-mcp-sdk/mcpserver_core.sh"),
		"HERE="+dir, "TMPDIR="+s.tmp, "XDG_RUNTIME_DIR="+s.run, s.marker)
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s.cmd.Stderr = &s.stderr
	// What outlives the server may hold its standard error.
	s.cmd.WaitDelay = harness.Deadline
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	stdout, w, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	s.stdin, s.cmd.Stdout = stdin, w
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	w.Close()
	go s.read(stdout)
	s.t.Cleanup(func() { _ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) })
}

// read takes the responses. Every line must be one.
func (s *session) read(stdout *os.File) {
	defer stdout.Close()
	for r := bufio.NewReader(stdout); ; {
		line, err := r.ReadString('\n')
		s.mu.Lock()
		if err != nil {
			s.torn, s.ended = line, true
			s.changed.Broadcast()
			s.mu.Unlock()
			return
		}
		var response struct {
			JSONRPC string
			ID      json.RawMessage
		}
		if json.Unmarshal([]byte(line), &response) != nil || response.JSONRPC != "2.0" {
			s.t.Errorf("this is no response: %.300q", line)
		}
		s.ids = append(s.ids, string(response.ID))
		s.changed.Broadcast()
		s.mu.Unlock()
	}
}

// play does between five and fifteen things, and ends the session.
func (s *session) play() {
	steps := 5 + s.rng.IntN(11)
	signalAt := -1
	if s.rng.IntN(4) == 0 {
		signalAt = s.rng.IntN(steps)
	}
	for i := range steps {
		if i == signalAt {
			s.sendSignal()
			break
		}
		s.step(i)
	}
	if s.signal == 0 {
		s.finish()
	}
	s.do("close standard input")
	_ = s.stdin.Close()
}

func (s *session) do(format string, args ...any) {
	s.story = append(s.story, fmt.Sprintf(format, args...))
}

func (s *session) step(i int) {
	switch s.rng.IntN(10) {
	default:
		s.request(fmt.Sprint(100 + i))
	case 6:
		s.cancel()
	case 7:
		s.write("garbage {\n")
		s.sent = append(s.sent, "null")
	case 8:
		s.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	case 9:
		s.await()
	}
}

// request sends a call or a ping, whole or in two pieces with something else in
// between that a client can do.
func (s *session) request(id string) {
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id)
	if s.rng.IntN(5) > 0 {
		tool := interleavedTools[s.rng.IntN(len(interleavedTools))]
		if s.rng.IntN(40) == 0 {
			tool = "stubborn"
		}
		line = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"s":0.%02d}}}`, id, tool, 3+s.rng.IntN(10))
	}
	if cut := s.rng.IntN(2 * len(line)); cut < len(line) {
		s.write(line[:cut])
		if s.rng.IntN(2) == 0 {
			s.await()
		}
		line = line[cut:]
	}
	s.write(line + "\n")
	s.sent = append(s.sent, id)
}

// cancel cancels something that was sent, answered or not, or something that
// never was.
func (s *session) cancel() {
	id := "999"
	if len(s.sent) > 0 && s.rng.IntN(5) > 0 {
		id = s.sent[s.rng.IntN(len(s.sent))]
	}
	if id == "null" {
		return
	}
	s.cancelled[id] = true
	s.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`+"\n", id))
}

// write fails only once the server has been told to end.
func (s *session) write(text string) {
	s.do("write %.200q", text)
	if _, err := io.WriteString(s.stdin, text); err != nil && s.signal == 0 {
		s.t.Fatalf("write: %v", err)
	}
}

// await waits for the answer to the latest request that was not cancelled.
func (s *session) await() {
	for _, id := range slices.Backward(s.sent) {
		if id == "null" || s.cancelled[id] {
			continue
		}
		s.do("wait for %s", id)
		if !s.eventually(func() bool { return slices.Contains(s.ids, id) }) {
			s.t.Fatalf("%s was not answered", id)
		}
		return
	}
}

// eventually waits until done holds, which is asked with mu held.
func (s *session) eventually(done func() bool) bool {
	end := time.Now().Add(harness.Deadline)
	timer := time.AfterFunc(harness.Deadline, s.changed.Broadcast)
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !done() && time.Now().Before(end) {
		s.changed.Wait()
	}
	return done()
}

func (s *session) sendSignal() {
	signals := []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGKILL}
	s.signal = signals[s.rng.IntN(len(signals))]
	to, what := s.cmd.Process.Pid, "process"
	if s.rng.IntN(2) == 0 {
		to, what = -to, "group"
	}
	// Before that the shell has no traps, and dies of whatever comes.
	s.do("wait until it serves, then send signal %d to the %s", s.signal, what)
	s.write(`{"jsonrpc":"2.0","id":"up","method":"ping"}` + "\n")
	s.sent = append(s.sent, `"up"`)
	s.cancelled[`"up"`] = true
	if s.rng.IntN(2) == 0 && !s.eventually(func() bool { return slices.Contains(s.ids, `"up"`) }) {
		s.t.Fatal("it does not serve")
	}
	if err := syscall.Kill(to, s.signal); err != nil {
		s.t.Fatal(err)
	}
}

// finish leaves the last line as it may be left.
func (s *session) finish() {
	switch s.rng.IntN(3) {
	case 0:
		s.write(`{"jsonrpc":"2.0","id":500,"method":"ping"}`)
		s.sent = append(s.sent, "500")
	case 1:
		s.write(`{"jsonrpc":"2.0","id":501,"meth`)
		// Answered as garbage or dropped, as a call ran then or did not.
		s.cancelled["null"] = true
	}
}

// judge wants everything answered that had to be, once and in order, the server
// ended as it should, and nothing left.
func (s *session) judge() {
	err := s.cmd.Wait()
	if !s.eventually(func() bool { return s.ended }) {
		s.t.Error("somebody still has the output open")
	}
	s.judgeEnd(err)
	s.mu.Lock()
	s.judgeAnswers()
	s.mu.Unlock()
	s.nothingLeft()
}

func (s *session) judgeEnd(err error) {
	var exit *exec.ExitError
	errors.As(err, &exit)
	switch {
	case s.signal == 0 && err != nil:
		s.t.Errorf("it ended with %v", err)
	case s.signal != 0 && (exit == nil || exit.Sys().(syscall.WaitStatus).Signal() != s.signal):
		s.t.Errorf("it ended with %v, not by signal %d", err, s.signal)
	}
	if s.torn != "" && s.signal != syscall.SIGKILL {
		s.t.Errorf("the output ends in the middle of a line: %.200q", s.torn)
	}
}

func (s *session) judgeAnswers() {
	at := 0
	for _, id := range s.ids {
		if id == "null" && s.cancelled["null"] && !slices.Contains(s.sent[at:], "null") {
			continue
		}
		found := slices.Index(s.sent[at:], id)
		if found < 0 {
			s.t.Errorf("%s is answered twice, out of order, or unasked", id)
			return
		}
		for _, skipped := range s.sent[at : at+found] {
			s.mayBeSilent(skipped)
		}
		at += found + 1
	}
	for _, skipped := range s.sent[at:] {
		s.mayBeSilent(skipped)
	}
}

func (s *session) mayBeSilent(id string) {
	if !s.cancelled[id] && s.signal == 0 {
		s.t.Errorf("%s is not answered", id)
	}
}

// nothingLeft waits until the processes and files of the session are gone.
func (s *session) nothingLeft() {
	for end := time.Now().Add(harness.Deadline); ; time.Sleep(5 * time.Millisecond) {
		left := append(s.processes(), s.files()...)
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			s.t.Errorf("these are left: %q", left)
			return
		}
	}
}

func (s *session) processes() (left []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		env, err := os.ReadFile(path)
		// A process that has ended shows none.
		if err == nil && bytes.Contains(env, []byte(s.marker+"\x00")) {
			cmdline, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			left = append(left, filepath.Base(filepath.Dir(path))+" "+string(cmdline))
		}
	}
	return left
}

func (s *session) files() (left []string) {
	for _, dir := range []string{s.tmp, s.run} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			left = append(left, filepath.Join(dir, e.Name()))
		}
	}
	return left
}
