package stdio_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

func TestTheEndOfTheInputEndsTheServer(t *testing.T) {
	tests := map[string]string{
		"at once":                   "",
		"after a blank line":        "\n",
		"after spaces":              "  \t ",
		"after a notification":      notification("notifications/initialized", `{}`) + "\n",
		"in the middle of a line":   `{"jsonrpc":"2.0","id":7,"meth`,
		"after the opening bracket": `[`,
		"in the middle of a word":   `pin`,
		"in the middle of a rune":   `{"jsonrpc":"2.0","id":"` + "\xe2\x82",
		"after a response":          `{"jsonrpc":"2.0","id":7,"result":{}}`,
	}
	for name, input := range tests {
		t.Run(name, func(t *testing.T) {
			c := fixture(t)
			c.write(input)
			c.end()
		})
	}
}

func TestALastLineWithoutNewlineIsTakenIfItParses(t *testing.T) {
	tests := map[string]struct{ line, id string }{
		"a request":                       {request("7", "tools/call", `{"name":"echo"}`), "7"},
		"a modern request":                {modernRequest("7", "tools/call", `"name":"echo"`), "7"},
		"a request and spaces":            {request("7", "tools/call", `{"name":"echo"}`) + "  ", "7"},
		"a request and a carriage return": {request("7", "tools/call", `{"name":"echo"}`) + "\r", "7"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := fixture(t)
			c.write(test.line)
			c.wantRest(1, func(r harness.Reply) { wantText(t, r, test.id, `{}`) })
			c.exits()
		})
	}
	t.Run("no request", func(t *testing.T) {
		c := fixture(t)
		c.write(`{"jsonrpc":"1.0","id":7,"method":"ping"}`)
		c.wantRest(1, func(r harness.Reply) { wantError(t, r, "7", -32600) })
		c.exits()
	})
}

func TestAllThatWasPipedInIsAnsweredBeforeTheEnd(t *testing.T) {
	c := fixture(t, "--concurrency=2")
	var text strings.Builder
	text.WriteString(initialize(`"init"`, "2025-06-18") + "\n" + notification("notifications/initialized", `{}`) + "\n")
	const n = 60
	for i := range n {
		text.WriteString(request(fmt.Sprint(i), "tools/call", `{"name":"echo"}`) + "\n")
	}
	text.WriteString(request(`"last"`, "tools/list", `{}`))
	c.write(text.String())
	seen := map[string]bool{}
	c.wantRest(n+2, func(r harness.Reply) {
		if r.Error != nil || seen[string(r.ID)] {
			t.Errorf("an error, or a second answer: %.500s", r.Raw)
		}
		seen[string(r.ID)] = true
	})
	c.exits()
}

func TestCallsInFlightAreAnsweredAfterTheEndOfTheInput(t *testing.T) {
	c := fixture(t, "--concurrency=2")
	gate := c.gate()
	for i := range 4 {
		c.send(callNamed(fmt.Sprint(i), "gate", fmt.Sprintf("call%d", i)))
	}
	c.send(modernRequest(`"m"`, "tools/call", `"name":"echo"`))
	c.awaitFile("call0.began")
	c.server.CloseInput()
	pass(t, gate, 4)
	c.wantRest(5, func(r harness.Reply) {
		if text, isError := r.ToolText(t); isError || text != `{}` && !strings.HasPrefix(text, "through call") {
			t.Errorf("not what the tool printed: %s", r.Raw)
		}
	})
	c.exits()
}

// A call that is made to end has 2 seconds for it before it is killed. The rest
// is for a machine with other things to do.
const stopped = 2*time.Second + 5*time.Second

func TestCallsThatOutlastTheDrainAreToldSoAndStopped(t *testing.T) {
	for _, drain := range []time.Duration{0, 300 * time.Millisecond} {
		t.Run(drain.String(), func(t *testing.T) {
			c := fixture(t, "--drain="+drain.String())
			c.send(callNamed("7", "stay", "legacy"))
			c.send(modernRequest(`"m"`, "tools/call", `"name":"stay","arguments":{"name":"modern"}`))
			c.send(callNamed("8", "stubborn", "deaf"))
			pids := []int{c.pid("legacy"), c.pid("modern"), c.pid("deaf")}
			seen, start := map[string]bool{}, time.Now()
			c.wantRest(3, func(r harness.Reply) {
				id := string(r.ID)
				if wantError(t, r, id, -32603); t.Failed() || !strings.Contains(r.Error.Message, "--drain") || seen[id] {
					t.Errorf("not a word about --drain, or a second one: %s", r.Raw)
				}
				seen[id] = true
			})
			c.exits()
			if took := time.Since(start); took > drain+stopped {
				t.Errorf("the server took %v to end", took)
			}
			for _, pid := range pids {
				c.dies(pid)
			}
			if !seen["7"] || !seen[`"m"`] || !seen["8"] {
				t.Errorf("not every call has been answered: %v", seen)
			}
		})
	}
}

func TestACancelledCallStaysSilentAtTheEndOfTheInput(t *testing.T) {
	for _, flags := range [][]string{nil, {"--drain=0s"}} {
		c := fixture(t, flags...)
		c.send(callNamed("7", "stubborn", "call"))
		pid := c.pid("call")
		c.send(cancel("7"))
		start := time.Now()
		c.end()
		if took := time.Since(start); took > stopped {
			t.Errorf("the server took %v to end", took)
		}
		c.dies(pid)
	}
}

func TestACallMayBeCancelledByTheLastLine(t *testing.T) {
	c := fixture(t)
	c.send(callNamed("7", "stay", "call"))
	pid := c.pid("call")
	c.write(cancel("7"))
	c.end()
	c.dies(pid)
}

// wantRest closes the input and holds every line still to come to want.
func (c *client) wantRest(n int, want func(harness.Reply)) {
	c.t.Helper()
	lines := c.rest()
	if len(lines) != n {
		c.t.Errorf("want %d lines, got %d: %.2000q", n, len(lines), lines)
	}
	for _, line := range lines {
		want(harness.ParseReply(c.t, line))
	}
}
