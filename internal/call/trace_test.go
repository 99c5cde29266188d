package call

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/internal/shell"
)

// traced shows what of a trace the shell of a call has, and what a child of it.
const traced = `
show() { printf '%s|%s|%s\n' "${TRACEPARENT-unset}" "${TRACESTATE-unset}" "${BAGGAGE-unset}"; }
tool_shell() { show; }
tool_child() { env | LC_ALL=C sort | grep -E '^(TRACEPARENT|TRACESTATE|BAGGAGE)=' || echo none; }
`

var someTrace = shell.Trace{Traceparent: "parent", Tracestate: "a=b,c=d e", Baggage: "$(x)=\\y"}

func (r *Runner) tracedText(t *testing.T, tool, arguments string, trace shell.Trace) string {
	t.Helper()
	o, err := r.Run(t.Context(), Call{Function: "tool_" + tool, Arguments: json.RawMessage(arguments), Trace: trace})
	if err != nil || o.End != Returned || o.Status != 0 {
		t.Fatalf("%s: %v, %+v", tool, err, o)
	}
	return strings.TrimSuffix(string(o.Output), "\n")
}

func TestACallHasTheTraceOfItsRequest(t *testing.T) {
	for _, name := range []string{"TRACEPARENT", "TRACESTATE", "BAGGAGE"} {
		t.Setenv(name, "the server's own")
	}
	long := strings.Repeat("x", 8<<10)
	for name, extra := range map[string]string{
		"a plain script":                         "",
		"with unset variables an error":          "set -u\n",
		"with a function like a builtin":         "read() { echo mine; }\nexport() { echo mine; }\n",
		"with a name that only looks alike":      "MY_BAGGAGE=1 BAGGAGE_MAX=2\n",
		"with attributes of arguments":           "declare -i arg_n=5\n",
		"that exports one of its own":            "export BAGGAGE=mine TRACESTATE=mine\n",
		"that tells upper case not from another": "shopt -s nocasematch\nbaggage=mine\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t, extra+traced, t.TempDir(), Limits{MaxOutput: 100000})
			for _, c := range []struct {
				trace        shell.Trace
				shell, child string
			}{
				{shell.Trace{}, "unset|unset|unset", "none"},
				{someTrace, `parent|a=b,c=d e|$(x)=\y`, "BAGGAGE=$(x)=\\y\nTRACEPARENT=parent\nTRACESTATE=a=b,c=d e"},
				{shell.Trace{Traceparent: "parent"}, "parent|unset|unset", "TRACEPARENT=parent"},
				{shell.Trace{Baggage: long}, "unset|unset|" + long, "BAGGAGE=" + long},
				{shell.Trace{}, "unset|unset|unset", "none"},
			} {
				for _, arguments := range []string{`{}`, `{"n":1,"more":["a","b"]}`} {
					if got := r.tracedText(t, "shell", arguments, c.trace); got != c.shell {
						t.Errorf("the shell has %.200q, want %.200q", got, c.shell)
					}
					if got := r.tracedText(t, "child", arguments, c.trace); got != c.child {
						t.Errorf("a child has %.200q, want %.200q", got, c.child)
					}
				}
			}
		})
	}
}

// What a script has made for itself no client may change.
func TestATraceLeavesAVariableOfTheScriptsAlone(t *testing.T) {
	for name, script := range map[string]string{
		"a variable":             "BAGGAGE=mine\n",
		"one that is readonly":   "readonly BAGGAGE=mine\n",
		"readonly and exported":  "declare -rx BAGGAGE=mine\n",
		"an array":               "BAGGAGE=(mine yours)\n",
		"with more declarations": "BAGGAGE=mine\ndeclare -i arg_n=5\n",
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t, script+traced, t.TempDir(), Limits{MaxOutput: 100000})
			trace := someTrace
			for _, trace.Baggage = range []string{"theirs", strings.Repeat("x", 8<<10), ""} {
				if got := r.tracedText(t, "shell", `{"n":1}`, trace); got != "parent|a=b,c=d e|mine" {
					t.Errorf("the shell has %.200q", got)
				}
			}
			if got := r.tracedText(t, "shell", `{}`, shell.Trace{}); got != "unset|unset|mine" {
				t.Errorf("without a trace the shell has %q", got)
			}
		})
	}
}

func TestHooksHaveTheTraceOfTheCall(t *testing.T) {
	hook := filepath.Join(t.TempDir(), "hook")
	r := newRunner(t, `
mcp_before_tool_call() { before=$(env | grep ^TRACEPARENT=); }
tool_before() { echo "$before"; }
tool_long() { sleep 1000; }
tool_long_cancel() { env | grep ^TRACEPARENT= >'`+hook+`'; }
`, t.TempDir(), Limits{Timeout: 300 * time.Millisecond})
	if got := r.tracedText(t, "before", `{}`, someTrace); got != "TRACEPARENT=parent" {
		t.Errorf("mcp_before_tool_call has %q", got)
	}
	if o, err := r.Run(t.Context(), Call{Function: "tool_long", Arguments: json.RawMessage(`{}`), Trace: someTrace}); err != nil || o.End != TimedOut {
		t.Fatalf("%v, %+v", err, o)
	}
	if got, err := os.ReadFile(hook); err != nil || string(got) != "TRACEPARENT=parent\n" {
		t.Errorf("the cancel hook has %q, %v", got, err)
	}
}
