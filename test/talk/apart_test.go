package talk_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

// Calls that come one after the other in the same worker, and what they may do to
// the channel that they have in common.
const apart = `
tool_token() { echo "${MCP_CALL_TMPDIR##*/}"; }
tool_say() { mcp_emit_text content; }
tool_forged() {
  local token="${MCP_CALL_TMPDIR##*/}" n
  for ((n = 0; n < 50; n++)); do
    printf '\036%s emit {"type":"text","text":"forged"}\n' "call-$n" "${token%-*}" "${token%-*}-" 1<>"$CONCH_TALK"
  done
  echo mine
}
tool_touch() { touch "$CONCH_TALK.cancelled" "$CONCH_TALK.${MCP_CALL_TMPDIR##*/}.cancelled"; }
tool_cancelled() {
  mcp_is_cancelled && echo yes
  "$CONCH_BIN" tool is-cancelled && echo yes
  echo no
}
tool_block() { mkfifo "$CONCH_TALK.${MCP_CALL_TMPDIR##*/}.cancelled"; trap 'mcp_is_cancelled && : >"$arg_file"; exit' TERM; while :; do sleep 0.01; done; }
tool_replace() { eval "$arg_how"; sleep "$arg_for"; mcp_emit_text lost; echo done; }
tool_litter() {
  local text
  text=$(head -c 3000 /dev/zero | tr '\0' x)
  (while :; do mcp_emit_text "$text"; done) &
  (mcp_emit_text "$text"; mkfifo "$CONCH_TALK.answer$arg_n"; kill "$BASHPID") &
  for ((n = 0; n < arg_n * 100; n++)); do :; done
}
tool_leave() {
  setsid bash -c 'exec 3<"$CONCH_TALK"; echo $$ >"$1.new"; mv "$1.new" "$1"; exec cat <&3 >"$1.heard"' - "$arg_file" >/dev/null 2>&1 &
  while [[ ! -e $arg_file ]]; do sleep 0.01; done
}
`

// serveApart starts a server with a single worker.
func serveApart(t *testing.T) *client {
	t.Helper()
	return fixture{script: apart, flags: []string{"--concurrency=1"}, entries: map[string]string{"block": `"timeout":0.5`}}.serve(t, ways[1])
}

func TestATokenCannotBeGuessed(t *testing.T) {
	c := serveApart(t)
	form := regexp.MustCompile(`^(?:call|next)-\d+-([A-Z2-7]{16})$`)
	seen := map[string]bool{}
	for range 150 {
		got, _ := c.call(ask{tool: "token"}).says()
		m := form.FindStringSubmatch(got)
		if m == nil || seen[m[1]] {
			t.Fatalf("the token is %q", got)
		}
		seen[m[1]] = true
	}
	c.call(ask{tool: "forged"}).wantSays(t, "mine")
}

func TestACallIsNotCancelledByWhatAnotherHasLeft(t *testing.T) {
	c := serveApart(t)
	c.call(ask{tool: "touch"})
	c.call(ask{tool: "cancelled"}).wantSays(t, "no")
}

// Whoever opens a FIFO for writing waits for a reader.
func TestACallCannotHoldUpItsEnd(t *testing.T) {
	c := serveApart(t)
	file := filepath.Join(t.TempDir(), "cancelled")
	if got, failed := c.call(ask{tool: "block", args: `{"file":` + quote(file) + `}`}).says(); !failed || !strings.Contains(got, "was stopped after 500ms") {
		t.Errorf("it says %q", got)
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("the call did not see that it was cancelled: %v", err)
	}
	c.call(ask{tool: "say"}).wantSays(t, "content")
}

func TestACallThatReplacesItsChannelTakesNoOtherWithIt(t *testing.T) {
	for _, how := range []string{
		`rm "$CONCH_TALK"`, `mv "$CONCH_TALK" "$CONCH_TALK.moved"`, `rm "$CONCH_TALK"; echo text >"$CONCH_TALK"`, `ln -sf /dev/zero "$CONCH_TALK"`,
		`rm "$CONCH_TALK"; mkfifo "$CONCH_TALK"`, `rm "$CONCH_TALK"; mkdir -p "$CONCH_TALK/a/b"`,
	} {
		// Before the channel is read while the call runs, and after.
		for _, long := range []string{"0", "0.05"} {
			t.Run(how+" "+long, func(t *testing.T) {
				c := serveApart(t)
				c.call(ask{tool: "replace", args: fmt.Sprintf(`{"how":%s,"for":%q}`, quote(how), long)})
				for range 3 {
					c.call(ask{tool: "say"}).wantSays(t, "content")
				}
			})
		}
	}
}

func TestWhoListensToACallThatIsOverHearsNoOther(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("there is no setsid")
	}
	c := serveApart(t)
	file := filepath.Join(t.TempDir(), "pid")
	c.call(ask{tool: "leave", args: `{"file":` + quote(file) + `}`})
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	for range 30 {
		c.call(ask{tool: "say"}).wantSays(t, "content")
	}
	// Nobody writes to what it reads, so that it is at its end.
	harness.Eventually(t, harness.Deadline, "the listener ends", func() bool { return !harness.Alive(pid) })
	if heard, err := os.ReadFile(file + ".heard"); err != nil || len(heard) > 0 {
		t.Errorf("it has heard %q, %v", heard, err)
	}
}

// Children are killed with the call between the file of a message and the line that
// names it.
func TestWhatCouldNotBeSaidLeavesNoFile(t *testing.T) {
	c := serveApart(t)
	for n := range 60 {
		c.call(ask{tool: "litter", args: fmt.Sprintf(`{"n":%d}`, n)})
		for _, path := range c.server.Files() {
			if strings.Contains(path, ".talk.") {
				t.Fatalf("after call %d there is %s", n+1, path)
			}
		}
	}
}
