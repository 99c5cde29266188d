package talk_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// parking has tools that tell how often they were begun.
const parking = `
form='{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
begun() { echo x >>"$arg_dir/begun"; }
tool_ask() { begun; mcp_elicit --key n 'n?' "$form"; }
tool_three() { begun; for i in 1 2 3; do mcp_elicit --key "n$i" 'n?' "$form"; done; }
tool_plain() { echo plain; }
tool_killed() { begun; echo $BASHPID >"$arg_dir/pid"; mcp_elicit --key n 'n?' "$form"; }
tool_speaks() {
  begun
  (while :; do mcp_progress $((++i)) background; mcp_log_info background; sleep 0.01; done) &
  mcp_elicit --key n 'n?' "$form"
}
tool_mixed() {
  case $arg_kind in
    plain) echo plain ;;
    emit) mcp_emit_text "$(head -c 3000 /dev/zero | tr '\0' x)"; mcp_progress 1 x ;;
    fail) mcp_fail 5 five ;;
    ask) mcp_elicit --key n 'n?' "$form" >/dev/null; echo asked ;;
    sleep) mcp_progress 1 begun; sleep 1000 ;;
    leave) sleep 1000 & mcp_log_info left ;;
  esac
}
`

const five = `{"action":"accept","content":{"n":5}}`

func parkingClient(t *testing.T, w way, flags ...string) (c *client, dir string) {
	t.Helper()
	return fixture{script: parking, flags: flags, caps: `{"elicitation":{}}`}.serve(t, w), t.TempDir()
}

var modernWays = []way{ways[1], ways[3]}

func inDir(dir string) string { return fmt.Sprintf(`{"dir":%q}`, dir) }

// begun is how often a tool has been begun.
func begun(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "begun"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "x")
}

// asks makes the first round of a call, and returns the second, with its answer.
func (c *client) asks(tool, args string) ask {
	c.t.Helper()
	r := c.start(ask{tool: tool, args: args}).wait()
	if text(r.Result, "resultType") != "input_required" {
		c.t.Fatalf("it does not ask: %s", r.Raw)
	}
	answers := map[string]json.RawMessage{}
	for _, q := range questions(r.Result) {
		answers[q.key] = json.RawMessage(five)
	}
	return ask{tool: tool, args: args, state: text(r.Result, "requestState"), answers: answers}
}

func TestAParkedCallGoesOnWhereItWas(t *testing.T) {
	each(t, modernWays, func(t *testing.T, w way) {
		c, dir := parkingClient(t, w)
		c.call(c.asks("ask", inDir(dir))).wantSays(t, five)
		if n := begun(t, dir); n != 1 {
			t.Errorf("it was begun %d times", n)
		}
		c.answer = always(five)
		o := c.call(ask{tool: "three", args: inDir(dir)})
		o.wantSays(t, strings.Repeat(five+"\n", 2)+five)
		if n := begun(t, dir); n != 2 || o.rounds != 4 {
			t.Errorf("begun %d times, in %d rounds", n-1, o.rounds)
		}
	})
}

func TestTheTimeOfAParkedCallStandsStill(t *testing.T) {
	// Time enough to get as far as the question, and from there to the end.
	c, dir := parkingClient(t, ways[1], "--timeout=5s")
	again := c.asks("ask", inDir(dir))
	// There is nothing to await: what must not happen would happen now.
	time.Sleep(5500 * time.Millisecond)
	c.call(again).wantSays(t, five)
}

func TestWithoutRoomACallBeginsAnewWithTheAnswers(t *testing.T) {
	each(t, modernWays, func(t *testing.T, w way) {
		c, dir := parkingClient(t, w, "--max-parked=0")
		c.answer = always(five)
		o := c.call(ask{tool: "three", args: inDir(dir)})
		o.wantSays(t, strings.Repeat(five+"\n", 2)+five)
		if n := begun(t, dir); n != 4 || o.rounds != 4 {
			t.Errorf("begun %d times, in %d rounds", n, o.rounds)
		}
	})
}

func TestMoreMayAskThanMayBeParked(t *testing.T) {
	c, dir := parkingClient(t, ways[1], "--max-parked=3", "--concurrency=4")
	var again []ask
	for range 8 {
		again = append(again, c.asks("ask", inDir(dir)))
	}
	for _, a := range again {
		c.call(a).wantSays(t, five)
	}
	if n := begun(t, dir); n != 8+5 {
		t.Errorf("begun %d times", n)
	}
}

func TestACallIsNotParkedForEver(t *testing.T) {
	each(t, modernWays, func(t *testing.T, w way) {
		c, dir := parkingClient(t, w, "--park-timeout=200ms")
		again := c.asks("ask", inDir(dir))
		harness.Eventually(t, harness.Deadline, "the call is ended", func() bool { return strings.Contains(c.server.Stderr(), "--park-timeout") && asksNothing(c) })
		o := c.call(again)
		if o.Error == nil || o.Error.Code != -32602 || !strings.Contains(o.Error.Message, "expired") {
			t.Errorf("its state is still good: %s", o.Raw)
		}
		if n := begun(t, dir); n != 1 {
			t.Errorf("begun %d times", n)
		}
	})
}

func TestStateThatIsNotTheServersIsAnError(t *testing.T) {
	each(t, modernWays, func(t *testing.T, w way) {
		c, dir := parkingClient(t, w)
		again := c.asks("ask", inDir(dir))
		other, _ := parkingClient(t, w)
		foreign := other.asks("ask", inDir(dir))
		tampered, elsewhere, different, empty := again, again, again, again
		tampered.state = again.state[:len(again.state)-5] + "AAAAA"
		elsewhere.tool = "three"
		different.args = inDir(dir + "/x")
		empty.state = "x"
		foreign.answers = again.answers
		for name, a := range map[string]ask{"tampered": tampered, "of another tool": elsewhere, "of other arguments": different, "none": empty, "of another server": foreign} {
			if o := c.call(a); o.Error == nil || o.Error.Code != -32602 {
				t.Errorf("%s: %s", name, o.Raw)
			}
		}
		// The call is none the worse for it.
		c.call(again).wantSays(t, five)
		if n := begun(t, dir); n != 2 {
			t.Errorf("begun %d times", n)
		}
	})
}

func TestTheSameStateTwiceAtOnce(t *testing.T) {
	each(t, modernWays, func(t *testing.T, w way) {
		c, dir := parkingClient(t, w)
		again := c.asks("ask", inDir(dir))
		both := []*pending{c.start(again), c.start(again)}
		for _, p := range both {
			outcome{Reply: p.wait()}.wantSays(t, five)
		}
		c.call(again).wantSays(t, five)
		if n := begun(t, dir); n != 3 {
			t.Errorf("begun %d times", n)
		}
	})
}

func key(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestServersWithOneKeyAnswerForEachOther(t *testing.T) {
	each(t, modernWays, func(t *testing.T, w way) {
		f := fixture{script: parking, flags: []string{"--state-key", key(t)}, caps: `{"elicitation":{}}`}
		dir := t.TempDir()
		servers := []*client{f.serve(t, w), f.serve(t, w)}
		a := ask{tool: "three", args: inDir(dir)}
		for round := range 4 {
			c := servers[round%2]
			r := c.start(a).wait()
			if round == 3 {
				outcome{Reply: r}.wantSays(t, strings.Repeat(five+"\n", 2)+five)
				break
			}
			c.answer = always(five)
			a.state, a.answers = text(r.Result, "requestState"), c.answers(r.Result)
		}
	})
}

func TestAServerKilledBetweenQuestionAndAnswer(t *testing.T) {
	each(t, modernWays, func(t *testing.T, w way) {
		f := fixture{script: parking, flags: []string{"--state-key", key(t)}, caps: `{"elicitation":{}}`}
		dir := t.TempDir()
		c := f.serve(t, w)
		again := c.asks("ask", inDir(dir))
		if err := c.server.Cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		c.server.Wait()
		c.ended = true
		c.server.Left(t)
		f.serve(t, w).call(again).wantSays(t, five)
		if n := begun(t, dir); n != 2 {
			t.Errorf("begun %d times", n)
		}
	})
}

func TestAToolThatIsKilledWhileItIsParked(t *testing.T) {
	each(t, modernWays, func(t *testing.T, w way) {
		c, dir := parkingClient(t, w)
		again := c.asks("killed", inDir(dir))
		text, err := os.ReadFile(filepath.Join(dir, "pid"))
		if err != nil {
			t.Fatal(err)
		}
		var pid int
		if _, err := fmt.Sscan(string(text), &pid); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		harness.Eventually(t, harness.Deadline, "it is dead", func() bool { return !harness.Alive(pid) })
		if said, failed := c.call(again).says(); !failed || !strings.HasPrefix(said, "Error executing killed: ") {
			t.Errorf("it says %q", said)
		}
		c.call(ask{tool: "plain"}).wantSays(t, "plain")
	})
}

// The client fails the test for what is told of a request that is over.
func TestACallThatIsParkedSaysNothing(t *testing.T) {
	each(t, modernWays, func(t *testing.T, w way) {
		c, dir := parkingClient(t, w, "--heartbeat=30ms")
		first := ask{tool: "speaks", args: inDir(dir), token: `"first"`, level: "debug"}
		p := c.start(first)
		r := p.wait()
		c.mu.Lock()
		told := len(p.told)
		c.mu.Unlock()
		time.Sleep(200 * time.Millisecond)
		c.mu.Lock()
		if len(p.told) != told {
			t.Errorf("it tells %s", p.told[told:])
		}
		c.mu.Unlock()
		first.state, first.token = text(r.Result, "requestState"), `"second"`
		first.answers = map[string]json.RawMessage{"n": json.RawMessage(five)}
		c.call(first).wantSays(t, five)
	})
}

func TestAHundredParkedCallsAtOnce(t *testing.T) {
	each(t, modernWays[:1], func(t *testing.T, w way) {
		c, dir := parkingClient(t, w, "--concurrency=4")
		const n = 100
		again := make([]ask, n)
		var all sync.WaitGroup
		// In waves, since each starts a program: the last one would wait for all.
		for i := range n {
			all.Go(func() { again[i] = c.asks("ask", inDir(dir)) })
			if i%10 == 9 {
				all.Wait()
			}
		}
		c.call(ask{tool: "plain"}).wantSays(t, "plain")
		for i := range n {
			all.Go(func() { c.call(again[i]).wantSays(t, five) })
		}
		all.Wait()
		if n := begun(t, dir); n != 100 {
			t.Errorf("begun %d times", n)
		}
	})
}

func TestParkedCallsAreNotInTheWayOfOthers(t *testing.T) {
	each(t, modernWays[1:], func(t *testing.T, w way) {
		c, dir := parkingClient(t, w, "--concurrency=2")
		for range 50 {
			c.asks("ask", inDir(dir))
		}
		for range 20 {
			c.call(ask{tool: "plain"}).wantSays(t, "plain")
		}
		// They are ended with the server, which leaves nothing.
	})
}
