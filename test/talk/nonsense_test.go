package talk_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

const nonsense = `
# lines N TEXT CHANNEL: so many messages of the call's
lines() {
  local text
  printf -v text '\036%s' "$2"
  for ((i = 0; i < $1; i++)); do printf '%s\n' "$text"; done 1<>"$3"
}
tool_form() { lines 5000 "${MCP_CALL_TMPDIR##*/} emit {" "$CONCH_TALK"; echo done; }
tool_kind() { lines 5000 "${MCP_CALL_TMPDIR##*/} loud {}" "$CONCH_TALK"; echo done; }
tool_value() { lines 5000 "${MCP_CALL_TMPDIR##*/} result {\"success\":false,\"value\":\"{\"}" "$CONCH_TALK"; echo done; }
tool_updates() { lines 5000 'server loud {}' "$CONCH_UPDATES"; lines 5000 'server updated {' "$CONCH_UPDATES"; echo done; }
`

func TestAFloodOfNonsenseIsNoFloodInTheLog(t *testing.T) {
	for tool, want := range map[string][2]string{
		"form":  {"it is not a kind and a JSON document", `"ignored more of what a call said" times=4980`},
		"kind":  {"it makes no sense", `"more of what a call said makes no sense" times=4980`},
		"value": {"is not JSON", `"more of what a call said makes no sense" times=4980`},
	} {
		c := fixture{script: nonsense}.serve(t, ways[1])
		for n := range 2 {
			c.call(ask{tool: tool})
			log := c.server.Stderr()
			if few, more := strings.Count(log, want[0]), strings.Count(log, want[1]); few != 20*(n+1) || more != n+1 {
				t.Errorf("%s: after %d calls the log has %d warnings, and tells %d times of more", tool, n+1, few, more)
			}
		}
	}
}

func TestAFloodOutsideOfCallsIsNoFloodInTheLog(t *testing.T) {
	c := fixture{script: nonsense}.serve(t, ways[1])
	c.call(ask{tool: "updates"}).wantSays(t, "done")
	of := func(what string) int { return strings.Count(c.server.Stderr(), what) }
	harness.Eventually(t, harness.Deadline, "the log tells of it", func() bool {
		return of("it makes no sense") >= 20 && of("it is not a kind and a JSON document") >= 20
	})
	c.end()
	if sense, form := of("it makes no sense"), of("it is not a kind"); sense != 20 || form != 20 {
		t.Errorf("the log has %d and %d warnings", sense, form)
	}
	// The last of it may not have been read.
	if of(`"ignored more of what a call said" times=`) != 1 {
		t.Error("the log does not tell how much was ignored")
	}
}

func TestManyRootsThatCannotBeUsedAreNoFloodInTheLog(t *testing.T) {
	c := fixture{script: `tool_roots() { mcp_roots_count; }`, caps: `{"roots":{}}`}.serve(t, ways[1])
	var all []string
	for n := range 500 {
		all = append(all, fmt.Sprintf(`{"uri":"http://%d"}`, n))
	}
	c.answer = func(question) reply { return reply{result: `{"roots":[` + strings.Join(all, ",") + `]}`} }
	c.call(ask{tool: "roots"}).wantSays(t, "0")
	log := c.server.Stderr()
	if few, more := strings.Count(log, "does not begin with file://"), strings.Count(log, "times=480"); few != 20 || more != 1 {
		t.Errorf("the log has %d warnings, and tells %d times of more", few, more)
	}
}
