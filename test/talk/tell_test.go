package talk_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
	"github.com/conch-mcp/conch/test/judge"
)

const telling = `
tool_steps() {
  mcp_progress 0 start 10
  mcp_progress 2.50 'half "way"' 10
  mcp_progress 2.5 again
  mcp_progress 1 back
  mcp_progress -- nonsense 2>/dev/null
  mcp_progress 1e1
  echo done
}
tool_late() { (until [[ -e $arg_file ]]; do sleep 0.02; done; mcp_progress 5 late) & mcp_progress 1 early; echo done; }
tool_busy() { (i=1; while :; do mcp_progress $((++i)) more; done) & mcp_progress 1 first; echo done; }
tool_logs() {
  mcp_log debug unit '{"a":[1,
    2]}'
  mcp_log_info 'plain "text"'
  mcp_log notice n null
  mcp_log_warn logger careful
  mcp_log_error 'no logger'
  mcp_log critical c 1; mcp_log alert a true; mcp_log emergency e '"x"'
  mcp_log loud l 1 2>/dev/null
  mcp_log emergency broken '{'
  printf '%s log {"level":"info"}\n' "${MCP_CALL_TMPDIR##*/}" 1<>"$CONCH_TALK"
  echo done
}
tool_flood() { for ((i = 0; i < 3000; i++)); do mcp_log_info "$i"; mcp_progress "$i" many 3000; done; echo done; }
`

func TestProgressIsToldToWhoGaveATokenForIt(t *testing.T) {
	each(t, everyWay(), func(t *testing.T, w way) {
		c := fixture{script: telling}.serve(t, w)
		for _, token := range []string{`"a"`, `7`, `12345678901234567890123`, `"12345678901234567890123"`, `1.0`} {
			if strings.Contains(token, ".") || len(token) > 22 && token[0] != '"' {
				// What no client of this transport's library could send.
				if w.transport == "http" {
					continue
				}
			}
			o := c.call(ask{tool: "steps", token: token})
			o.wantSays(t, "done")
			if got := o.progress(); !slices.Equal(got, []string{"0", "2.50", "1e1"}) {
				t.Errorf("token %s: the progress is %q", token, got)
			}
			if got := text(o.told[1], "params", "message"); got != `half "way"` {
				t.Errorf("the message is %q", got)
			}
			if got := string(member(o.told[1], "params", "total")); got != "10" {
				t.Errorf("the total is %q", got)
			}
		}
		if o := c.call(ask{tool: "steps"}); len(o.told) > 0 {
			t.Errorf("without a token there is %s", o.told)
		}
	})
}

// The client fails the test for progress after the answer.
func TestNothingIsToldAfterTheAnswer(t *testing.T) {
	each(t, ways, func(t *testing.T, w way) {
		c := fixture{script: telling}.serve(t, w)
		for i := range 3 {
			file := filepath.Join(t.TempDir(), "answered")
			o := c.call(ask{tool: "late", args: fmt.Sprintf(`{"file":%q}`, file), token: fmt.Sprint(i)})
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := o.progress(); !slices.Equal(got, []string{"1"}) {
				t.Errorf("the progress is %q", got)
			}
			c.call(ask{tool: "busy", token: fmt.Sprintf("%d00", i+1)}).wantSays(t, "done")
		}
		c.call(ask{tool: "steps"}).wantSays(t, "done")
	})
}

func TestLogMessagesGoToWhoAskedForTheirLevel(t *testing.T) {
	all := []string{
		`debug unit {"a":[1,2]}`, `info script "plain \"text\""`, `notice n null`, `warning logger "careful"`,
		`error script "no logger"`, `critical c 1`, `alert a true`, `emergency e "x"`,
		`emergency broken "{"`,
	}
	each(t, everyWay(), func(t *testing.T, w way) {
		c := fixture{script: telling}.serve(t, w)
		for level, want := range map[string][]string{"debug": all, "info": all[1:], "warning": all[3:], "emergency": all[7:]} {
			if !w.isModern() {
				c.send("logging/setLevel", fmt.Sprintf(`{"level":%q}`, level), "").wait()
			}
			o := c.call(ask{tool: "logs", level: level})
			o.wantSays(t, "done")
			got := o.logs()
			for i, line := range got {
				got[i] = strings.ReplaceAll(line, " 2]", "2]")
				got[i] = strings.Join(strings.Fields(got[i]), " ")
			}
			if !slices.Equal(got, want) {
				t.Errorf("at %s it tells %q, want %q", level, got, want)
			}
		}
		if o := c.call(ask{tool: "logs"}); w.isModern() && len(o.told) > 0 {
			t.Errorf("nobody asked for %s", o.told)
		}
		if !strings.Contains(c.server.Stderr(), "ignored what a call said") {
			t.Error("the log does not tell of the message that is none")
		}
	})
}

func TestAFloodIsHeldBackAndTheLastOfItIsTold(t *testing.T) {
	each(t, ways, func(t *testing.T, w way) {
		c := fixture{script: telling}.serve(t, w)
		if !w.isModern() {
			c.send("logging/setLevel", `{"level":"debug"}`, "").wait()
		}
		o := c.call(ask{tool: "flood", token: "1", level: "debug"})
		o.wantSays(t, "done")
		progress, logs := o.progress(), o.logs()
		if n := len(progress); n < 100 || n > 2500 || progress[n-1] != "2999" {
			t.Errorf("%d of 3000 are told, the last is %q", n, progress[n-1:])
		}
		if n := len(logs); n < 100 || n > 2500 {
			t.Errorf("%d of 3000 log messages are told", n)
		}
		if !strings.Contains(c.server.Stderr(), "said more than clients are told") {
			t.Error("the log does not tell of what was let go")
		}
	})
}

func TestASilentCallIsToldToGoOn(t *testing.T) {
	script := `
tool_silent() { while [[ ! -e $arg_file ]]; do sleep 0.02; done; mcp_progress 0 zero; mcp_progress 1 one; echo done; }
tool_between() { mcp_progress 3 three; while [[ ! -e $arg_file ]]; do sleep 0.02; done; mcp_progress 4 four; echo done; }
`
	each(t, ways, func(t *testing.T, w way) {
		c := fixture{script: script, flags: []string{"--heartbeat=50ms"}}.serve(t, w)
		for _, tool := range []string{"silent", "between"} {
			file := filepath.Join(t.TempDir(), "go")
			p := c.start(ask{tool: tool, args: fmt.Sprintf(`{"file":%q}`, file), token: quote(tool)})
			harness.Eventually(t, harness.Deadline, "the server tells of the call", func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return len(p.told) >= 4
			})
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			o := outcome{Reply: p.wait(), told: p.told}
			o.wantSays(t, "done")
			// All of it was more each time, or the client would have complained.
			progress := o.progress()
			for _, want := range map[string][]string{"silent": {"0", "1"}, "between": {"3", "4"}}[tool] {
				if !slices.Contains(progress, want) {
					t.Errorf("%s, which the tool told, is not in %q", want, progress)
				}
			}
			if message := text(o.told[2], "params", "message"); !strings.HasSuffix(message, " s elapsed") {
				t.Errorf("the message is %q", message)
			}
		}
		if !strings.Contains(c.server.Stderr(), "DATA RACE") {
			return
		}
		t.Error("a data race")
	})
}

func TestWithoutAHeartbeatSilenceIsSilence(t *testing.T) {
	c := fixture{script: `tool_silent() { sleep 0.3; echo done; }`, flags: []string{"--heartbeat=0s"}}.serve(t, ways[0])
	if o := c.call(ask{tool: "silent", token: "1"}); len(o.told) > 0 {
		t.Errorf("it tells %s", o.told)
	}
}

func TestAToolHasItsOwnTimeAndProgressExtendsIt(t *testing.T) {
	script := `
tool_short() { sleep 1000; }
tool_speaks() { echo begun; sleep 1000; }
tool_steps() { for i in {1..14}; do mcp_progress "$i" step; sleep 0.25; done; echo done; }
tool_endless() { for ((i = 0; ; i++)); do mcp_progress "$i" step; sleep 0.1; done; }
tool_server() { sleep 1000; }
tool_whole() { sleep 1; echo done; }
`
	c := fixture{
		script: script, flags: []string{"--timeout=600ms"},
		entries: map[string]string{
			"short": `"timeout":0.3`, "speaks": `"timeout":3`, "steps": `"timeout":3,"maxTimeout":60`, "endless": `"timeout":0.5,"maxTimeout":1.5`,
			"whole": `"timeout":30`,
		},
	}.serve(t, way{"stdio", judge.NewestLegacy})
	tests := []struct{ tool, want string }{
		{"short", "Error executing short: it was stopped after 300ms, the limit set by its timeout"},
		{"speaks", "Error executing speaks: it was stopped after 3s, the limit set by its timeout. It had printed:\nbegun"},
		{"endless", "Error executing endless: it was stopped after 500ms without progress, or 1.5s in all, the limits set by its timeout and maxTimeout"},
		{"server", "Error executing server: it was stopped after 600ms, the limit set by --timeout"},
	}
	for _, tt := range tests {
		o := c.call(ask{tool: tt.tool})
		if got, failed := o.says(); got != tt.want || !failed {
			t.Errorf("%s says %q", tt.tool, got)
		}
	}
	c.call(ask{tool: "steps"}).wantSays(t, "done")
	c.call(ask{tool: "whole"}).wantSays(t, "done")
}

// Beyond the greatest number there is none, and behind a negative one comes more.
func TestABeatIsANumberThatIsMore(t *testing.T) {
	script := `
tool_most() { mcp_progress 1.7976931348623157e308; while [[ ! -e $arg_file ]]; do sleep 0.02; done; echo done; }
tool_negative() { mcp_progress -5; while [[ ! -e $arg_file ]]; do sleep 0.02; done; mcp_progress -4; echo done; }
`
	each(t, ways, func(t *testing.T, w way) {
		c := fixture{script: script, flags: []string{"--heartbeat=30ms"}}.serve(t, w)
		for tool, last := range map[string]string{"most": "1.7976931348623157e308", "negative": "-4"} {
			file := filepath.Join(t.TempDir(), "go")
			p := c.start(ask{tool: tool, args: fmt.Sprintf(`{"file":%q}`, file), token: quote(tool)})
			harness.Eventually(t, harness.Deadline, "the server tells of the call", func() bool {
				c.mu.Lock()
				defer c.mu.Unlock()
				return len(p.told) >= 1
			})
			time.Sleep(100 * time.Millisecond) // some beats
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			o := outcome{Reply: p.wait(), told: p.told}
			o.wantSays(t, "done")
			if got := o.progress(); !slices.Contains(got, last) {
				t.Errorf("%s, which the tool told, is not in %q", last, got)
			}
		}
	})
}
