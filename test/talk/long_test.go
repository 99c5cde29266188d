package talk_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

const long = `
# bytes N: so many, for want of better ones the letter a
bytes() { head -c "$1" /dev/zero | tr '\0' a; }
# in_file KIND BEFORE N AFTER: says N bytes between two texts
in_file() {
  { printf '%s' "$2"; bytes "$3"; printf '%s' "$4"; } >"$CONCH_TALK.long"
  printf '\036%s %s @long\n' "${MCP_CALL_TMPDIR##*/}" "$1" 1<>"$CONCH_TALK"
  while [[ -e $CONCH_TALK.long ]]; do sleep 0.01; done
}
tool_telling() {
  in_file log '{"level":"error","logger":"l","text":"' 2097000 '"}'
  in_file log '{"level":"error","logger":"l","text":"' 2097152 '"}'
  in_file progress '{"progress":1,"message":"' 65000 '"}'
  in_file progress '{"progress":2,"message":"' 65536 '"}'
  mcp_progress 3 three
  echo done
}
tool_wrong() { in_file problem '{"type":"t","message":"' 2097152 '"}'; echo printed; }
tool_emits() { in_file emit '{"type":"text","text":"' 67108864 '"}'; echo printed; }
tool_heap() {
  local i
  head -c 60000000 /dev/zero | tr '\0' ' ' >"$CONCH_TALK.heap"
  for ((i = 0; i < 1000; i++)); do
    ln "$CONCH_TALK.heap" "$CONCH_TALK.heap$i"
    printf '\036%s emit @heap%s\n' "${MCP_CALL_TMPDIR##*/}" "$i" 1<>"$CONCH_TALK"
    ((i != 20)) || : >"$arg_file"
  done
}
tool_short() { echo short; }
`

// Over HTTP a log message as long as this may give way to the next.
func TestWhatIsTooLongIsNotTold(t *testing.T) {
	each(t, ways[:2], func(t *testing.T, w way) {
		c := fixture{script: long}.serve(t, w)
		if !w.isModern() {
			c.send("logging/setLevel", `{"level":"error"}`, "").wait()
		}
		o := c.call(ask{tool: "telling", token: "1", level: "error"})
		o.wantSays(t, "done")
		if got := strings.Join(o.progress(), " "); got != "1 3" {
			t.Errorf("told is progress %s", got)
		}
		if logs := o.logs(); len(logs) != 1 || len(logs[0]) < 2097000 {
			t.Errorf("told are %d log messages", len(logs))
		}
		if n := strings.Count(c.server.Stderr(), "it is too long"); n != 2 {
			t.Errorf("the log tells %d times of what is too long", n)
		}
	})
}

func TestACallWhoseResultIsTooLongFails(t *testing.T) {
	c := fixture{script: long}.serve(t, ways[1])
	for tool, limit := range map[string]string{"wrong": "2097152", "emits": "67108864"} {
		if got, failed := c.call(ask{tool: tool}).says(); !failed || !strings.Contains(got, "in one piece is longer than "+limit+" bytes") {
			t.Errorf("%s: it says %.300q, failed: %v", tool, got, failed)
		}
	}
}

// What it still has to say would take minutes to read.
func TestTheEndOfACallIsNotHeldUpByWhatItSays(t *testing.T) {
	c := fixture{script: long, flags: []string{"--concurrency=1"}}.serve(t, ways[1])
	file := filepath.Join(t.TempDir(), "begun")
	p := c.start(ask{tool: "heap", args: `{"file":` + quote(file) + `}`})
	harness.Eventually(t, harness.Deadline, "the call says something", func() bool {
		_, err := os.Stat(file)
		return err == nil
	})
	began := time.Now()
	p.cancel()
	c.call(ask{tool: "short"}).wantSays(t, "short")
	took := time.Since(began)
	t.Logf("the next call had to wait for %v", took)
	if took > 10*time.Second {
		t.Errorf("the next call had to wait for %v", took)
	}
}
