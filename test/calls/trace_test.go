package calls_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

const (
	traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

	// traced shows what a child of the tool finds of a trace.
	traced = `
tool_traced() { env | LC_ALL=C sort | grep -E '^(TRACEPARENT|TRACESTATE|BAGGAGE)=' || echo none; }
`
	modernMeta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
)

// traced calls the tool of that name with a _meta, members of an object.
func (s *server) traced(meta string) string {
	s.t.Helper()
	s.last++
	id := s.last
	s.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"traced","arguments":{},"_meta":{%s}}}`, id, meta))
	got := s.await(id)[id]
	if got.isError {
		s.t.Fatalf("it failed: %s", clip(got.text))
	}
	return got.text
}

func TestACallTakesPartInTheTraceOfItsRequest(t *testing.T) {
	// What the server itself was started under is no call's.
	t.Setenv("TRACEPARENT", strings.ReplaceAll(traceparent, "4b", "00"))
	t.Setenv("BAGGAGE", "server=1")
	s := serve(t, traced)
	parent := `"traceparent":"` + traceparent + `"`
	long := strings.Repeat("x", 8<<10)
	for _, c := range []struct{ name, meta, want string }{
		{"nothing", ``, "none"},
		{"all three", parent + `,"tracestate":"a=b,c=d","baggage":"user=x"`, "BAGGAGE=user=x\nTRACEPARENT=" + traceparent + "\nTRACESTATE=a=b,c=d"},
		{"all three, in the stateless era", modernMeta + `,` + parent + `,"tracestate":"a=b","baggage":"user=x"`, "BAGGAGE=user=x\nTRACEPARENT=" + traceparent + "\nTRACESTATE=a=b"},
		{"nothing after that", ``, "none"},
		{"nothing, in the stateless era", modernMeta, "none"},
		{"a progress token as well", `"progressToken":1,` + parent, "TRACEPARENT=" + traceparent},
		{"an invalid traceparent", `"traceparent":"00-0-0-01","tracestate":"a=b","baggage":"user=x"`, "BAGGAGE=user=x"},
		{"what a shell would act on", `"baggage":"$(exit 9);'\"\\ *"`, `BAGGAGE=$(exit 9);'"\ *`},
		{"a line of its own", parent + `,"baggage":"a\nTRACESTATE=b"`, "TRACEPARENT=" + traceparent},
		{"as long as may be", `"baggage":"` + long + `"`, "BAGGAGE=" + long},
		{"longer", `"baggage":"` + long + `x"`, "none"},
		{"nothing in the end", ``, "none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.t = t
			if got := strings.TrimSuffix(s.traced(c.meta), "\n"); got != c.want {
				t.Errorf("got %s, want %s", clip(got), clip(c.want))
			}
		})
	}
	s.t = t
	s.ends()
}

func TestTheServerKeepsItsOwnTrace(t *testing.T) {
	t.Setenv("TRACEPARENT", traceparent)
	s := serve(t, traced+`tool_start() { echo "$seen"; }
seen=$(env | grep ^TRACEPARENT=)
`)
	if got := s.ok("start", `{}`); got != "TRACEPARENT="+traceparent {
		t.Errorf("the script has seen %q", got)
	}
	if got := s.traced(``); got != "none" {
		t.Errorf("a call has %q", got)
	}
	s.ends()
}

func TestAVariableOfTheScriptsIsNoClientsToSet(t *testing.T) {
	s := serve(t, `BAGGAGE=/srv/claims
tool_traced() { echo "$BAGGAGE $TRACEPARENT"; }
`)
	if got := s.traced(`"baggage":"/etc","traceparent":"` + traceparent + `"`); got != "/srv/claims "+traceparent {
		t.Errorf("got %q", got)
	}
	s.ends()
}

func TestAHeaderThatNoClientCanSendIsToldAtTheStart(t *testing.T) {
	path := harness.Script(t, "tool_x() { :; }\n", `{"tools":[{"name":"x","inputSchema":{"type":"object","properties":{"n":{"type":"number","x-mcp-header":"N"}}}}]}`, "{}")
	s := harness.Serve(t, path)
	cleanUp(t, s)
	harness.Eventually(t, harness.Deadline, "the header in the log", func() bool {
		return strings.Contains(s.Stderr(), "x-mcp-header at /properties/n needs a")
	})
	s.Rest()
	s.Wait()
}
