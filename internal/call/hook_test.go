package call

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/process"
	"github.com/conch-mcp/conch/internal/shell"
)

func TestHookEndTellsHowTheToolWasKeptFromRunning(t *testing.T) {
	said := []byte("no\n")
	tests := []struct {
		name   string
		answer *shell.Answer
		status int
		want   *HookEnd
	}{
		{"not at all", nil, 1, nil},
		{"by a status", &shell.Answer{Returned: true, Status: 3, Output: said}, 0, &HookEnd{HookRefused, 3, said}},
		{"by the end of the shell", &shell.Answer{Output: said}, 0, &HookEnd{HookExited, 0, said}},
		{"by its end with a status", &shell.Answer{Output: said}, 7, &HookEnd{HookExited, 7, said}},
		{"by the largest such status", &shell.Answer{Output: said}, 128, &HookEnd{HookExited, 128, said}},
		{"by a signal", &shell.Answer{Output: said}, 137, &HookEnd{HookKilled, 9, said}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := hookEnd(tt.answer, tt.status)
			if (got == nil) != (tt.want == nil) || got != nil && (got.How != tt.want.How || got.Status != tt.want.Status || string(got.Output) != string(tt.want.Output)) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// lines is a log that keeps the level and the text of each record.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) Enabled(context.Context, slog.Level) bool { return true }

func (l *lines) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, r.Level.String()+" "+r.Message)
	return nil
}

func (l *lines) WithAttrs([]slog.Attr) slog.Handler { return l }

func (l *lines) WithGroup(string) slog.Handler { return l }

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.all, "\n")
}

// newLoggedRunner is newRunner, with what it logs.
func newLoggedRunner(t *testing.T, script string, limits Limits) (*Runner, *lines) {
	t.Helper()
	r := newRunner(t, script, t.TempDir(), limits)
	log := &lines{}
	r.log = slog.New(log)
	return r, log
}

// askedTool says who has run, and in which options.
const askedTool = `
tool_t() { echo "tool <$arg_a> ${from_hook-} ${PWD##*/} $-"; trap -p EXIT; }
`

func TestAToolRunsWhenTheHookLetsIt(t *testing.T) {
	tests := []struct{ name, hook, want string }{
		{"silently", `return 0`, "tool <1>"},
		{"though it prints", `echo out; echo err >&2`, "tool <1>"},
		{"with its variables", `from_hook=set`, "tool <1> set"},
		{"in its directory", `mkdir "$MCP_CALL_TMPDIR/here"; cd "$MCP_CALL_TMPDIR/here"`, "tool <1>  here"},
		{"without its options", `set -exuf; shopt -s nullglob; set -o posix`, "tool <1>"},
		{"with nothing on PATH", `PATH=/nonexistent`, "tool <1>"},
		{"with its functions", `echo() { builtin echo "hook's $*"; }; printf() { exit 1; }; set() { exit 1; }; eval() { exit 1; }`, "hook's tool <1>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRunner(t, askedTool+"\nmcp_before_tool_call() { "+tt.hook+"\n}\n", t.TempDir(), Limits{})
			plain := newOptions(t, r)
			o, err := r.Run(t.Context(), Call{Function: "tool_t", Arguments: json.RawMessage(`{"a":1}`)})
			if err != nil || o.End != Returned || o.Status != 0 || o.Hook != nil {
				t.Fatalf("%v, %+v", err, o)
			}
			text := strings.TrimSpace(string(o.Output))
			if !strings.HasPrefix(text, tt.want) || !strings.HasSuffix(text, " "+plain) {
				t.Errorf("it prints %q; want %q in front and the options %q", text, tt.want, plain)
			}
		})
	}
}

// newOptions are the options of a tool that no hook was asked about: those of a
// shell like the one that calls are forked from.
func newOptions(t *testing.T, r *Runner) string {
	t.Helper()
	var out bytes.Buffer
	if err := r.runFunction(shell.Job{Function: "tool_t", Dir: t.TempDir()}, &out); err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(out.String())
	return words[len(words)-1]
}

func TestAToolDoesNotRunWhenTheHookStopsIt(t *testing.T) {
	tests := []struct {
		name, hook string
		want       HookEnd
	}{
		{"by a status", `echo no; echo never >&2; return 3`, HookEnd{HookRefused, 3, []byte("no\nnever\n")}},
		{"by its last command", `false`, HookEnd{HookRefused, 1, nil}},
		{"by exit", `echo bye; exit 4`, HookEnd{HookExited, 4, []byte("bye\n")}},
		{"by exit with 0", `exit 0`, HookEnd{HookExited, 0, nil}},
		{"by exec", `exec true`, HookEnd{HookExited, 0, nil}},
		{"by a signal", `echo bye; kill -KILL "$BASHPID"`, HookEnd{HookKilled, 9, []byte("bye\n")}},
		{"by a status, without a command to be found", `PATH=/nonexistent; return 5`, HookEnd{HookRefused, 5, nil}},
		{"by a variable that is not there", `set -u; echo "$nothing"`, HookEnd{HookExited, 1, nil}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mark := filepath.Join(t.TempDir(), "mark")
			r := newRunner(t, "tool_t() { : >'"+mark+"'; }\nmcp_before_tool_call() { "+tt.hook+"\n}\n", t.TempDir(), Limits{})
			for range 2 {
				o, err := r.Run(t.Context(), Call{Function: "tool_t", Arguments: json.RawMessage(`{}`)})
				if err != nil || o.End != Returned || o.Hook == nil {
					t.Fatalf("%v, %+v", err, o)
				}
				if o.Hook.How != tt.want.How || o.Hook.Status != tt.want.Status {
					t.Errorf("the hook's end is %+v, want %+v", *o.Hook, tt.want)
				}
				// Bash has words of its own for what is not set.
				if tt.want.Output != nil && !bytes.Equal(o.Hook.Output, tt.want.Output) {
					t.Errorf("it has printed %q, want %q", o.Hook.Output, tt.want.Output)
				}
				if len(o.Output) > 0 {
					t.Errorf("the tool's output is %q", o.Output)
				}
			}
			if _, err := os.Stat(mark); err == nil {
				t.Error("the tool has run")
			}
		})
	}
}

func TestTheHookOfOneCallIsNotTheNextOnes(t *testing.T) {
	r := newRunner(t, `
tool_t() { echo ran; }
mcp_before_tool_call() { case $2 in *no*) echo refused; return 1 ;; esac; }
`, t.TempDir(), Limits{})
	// As many as it takes for every worker to have had both.
	for i := range 12 {
		arguments := `{"a":"yes"}`
		if i%2 == 0 {
			arguments = `{"a":"no"}`
		}
		o, err := r.Run(t.Context(), Call{Function: "tool_t", Arguments: json.RawMessage(arguments)})
		if err != nil || (o.Hook != nil) != (i%2 == 0) || (string(o.Output) == "ran\n") != (i%2 == 1) {
			t.Fatalf("call %d: %v, %+v", i, err, o)
		}
	}
}

func TestAHookThatTakesTooLongIsACallThatDoes(t *testing.T) {
	r := newRunner(t, `
tool_t() { :; }
mcp_before_tool_call() { echo waiting; sleep 1000; }
`, t.TempDir(), Limits{Timeout: 300 * time.Millisecond})
	o, err := r.Run(t.Context(), Call{Function: "tool_t", Arguments: json.RawMessage(`{}`)})
	if err != nil || o.End != TimedOut || o.Hook != nil {
		t.Errorf("%v, %+v", err, o)
	}
}

// cancelScript has tools whose cancel hooks write down what they are given.
func cancelScript(dir string) string {
	return strings.ReplaceAll(`
tool_t() { echo begun; : >%here%/begun; exec sleep 1000; }
tool_t_cancel() { echo unheard; printf '<%s> %s' "$1" "$(cd "$MCP_CALL_TMPDIR" && pwd)" >%here%/hook; kill -0 -- "-$(<%here%/group)" && : >%here%/alive; }
tool_bad() { : >%here%/begun; exec sleep 1000; }
tool_bad_cancel() { exit 7; }
tool_slow() { : >%here%/begun; exec sleep 1000; }
tool_slow_cancel() { sleep 1000 & echo $! >%here%/child; trap '' TERM; while :; do wait; sleep 1; done; }
tool_much() { while :; do echo y; done; }
tool_much_cancel() { : >%here%/hook; }
tool_ends() { :; }
tool_ends_cancel() { : >%here%/hook; }
`, "%here%", dir)
}

// cancelled runs a tool and cancels it once it has begun.
func cancelled(t *testing.T, r *Runner, dir, tool, arguments string) Outcome {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := make(chan struct{})
	go func() {
		defer close(began)
		eventually(t, "the tool begins", func() bool { _, err := os.Stat(dir + "/begun"); return err == nil })
		cancel()
	}()
	o, err := r.Run(ctx, Call{Function: "tool_" + tool, Arguments: json.RawMessage(arguments)})
	<-began
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestTheCancelHookRunsBeforeTheToolIsTouched(t *testing.T) {
	dir := t.TempDir()
	script := strings.Replace(cancelScript(dir), "tool_t() {", "tool_t() { echo $BASHPID >"+dir+"/group;", 1)
	r, log := newLoggedRunner(t, script, Limits{})
	o := cancelled(t, r, dir, "t", `{"a": [1, 2]}`)
	if o.End != Cancelled || string(o.Output) != "begun\n" {
		t.Errorf("end %d, output %q", o.End, o.Output)
	}
	text, err := os.ReadFile(dir + "/hook")
	if err != nil || !strings.HasPrefix(string(text), `<{"a":[1,2]}> `+r.dirs.base) {
		t.Errorf("the hook got %q, %v", text, err)
	}
	if _, err := os.Stat(dir + "/alive"); err != nil {
		t.Error("the tool was gone by then")
	}
	if log.String() != "" {
		t.Errorf("logged is %s", log)
	}
}

func TestTheCancelHookGetsNothingWhenTheServerEnds(t *testing.T) {
	dir := t.TempDir()
	r, log := newLoggedRunner(t, strings.Replace(cancelScript(dir), "tool_t() {", "tool_t() { echo $BASHPID >"+dir+"/group;", 1), Limits{})
	r.Stopping()
	cancelled(t, r, dir, "t", `{"a":1}`)
	if text, err := os.ReadFile(dir + "/hook"); err != nil || !strings.HasPrefix(string(text), "<> ") {
		t.Errorf("the hook got %q, %v", text, err)
	}
	group, _ := os.ReadFile(dir + "/group")
	if want := fmt.Sprintf("INFO Stopped in-flight tool t (group %s) on shutdown", strings.TrimSpace(string(group))); log.String() != want {
		t.Errorf("logged is %s, want %s", log, want)
	}
}

func TestTheCancelHookRunsForEveryForcedEndAndForNoOther(t *testing.T) {
	tests := []struct {
		name, tool string
		limits     Limits
		end        End
		hooked     bool
	}{
		{"too much output", "much", Limits{MaxOutput: 10}, Overflowed, true},
		{"too much time", "t", Limits{Timeout: 300 * time.Millisecond}, TimedOut, true},
		{"an end of its own", "ends", Limits{}, Returned, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			r := newRunner(t, cancelScript(dir), t.TempDir(), tt.limits)
			o, err := r.Run(t.Context(), Call{Function: "tool_" + tt.tool, Arguments: json.RawMessage(`{}`)})
			if err != nil || o.End != tt.end {
				t.Fatalf("%v, end %d", err, o.End)
			}
			if _, err := os.Stat(dir + "/hook"); (err == nil) != tt.hooked {
				t.Errorf("the hook has run: %v", err == nil)
			}
		})
	}
}

func TestACancelHookThatFailsIsLoggedAndMeansNothing(t *testing.T) {
	dir := t.TempDir()
	r, log := newLoggedRunner(t, cancelScript(dir), Limits{})
	if o := cancelled(t, r, dir, "bad", `{}`); o.End != Cancelled {
		t.Errorf("end %d", o.End)
	}
	if want := "WARN Cancel hook tool_bad_cancel for bad exited with status 7"; log.String() != want {
		t.Errorf("logged is %s, want %s", log, want)
	}
}

func TestACancelHookThatTakesTooLongIsKilledWithItsChildren(t *testing.T) {
	dir := t.TempDir()
	r, log := newLoggedRunner(t, cancelScript(dir), Limits{})
	if o := cancelled(t, r, dir, "slow", `{}`); o.End != Cancelled {
		t.Errorf("end %d", o.End)
	}
	if want := "WARN Cancel hook tool_slow_cancel for slow did not finish within 2s; killed"; log.String() != want {
		t.Errorf("logged is %s, want %s", log, want)
	}
	text, err := os.ReadFile(dir + "/child")
	must(t, err)
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the hook's child ends", func() bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) })
}

func TestAToolThatIgnoresSIGTERMIsLogged(t *testing.T) {
	dir := t.TempDir()
	r, log := newLoggedRunner(t, `tool_t() { trap '' TERM; : >`+dir+`/begun; while :; do sleep 1; done; }`, Limits{})
	start := time.Now()
	if o := cancelled(t, r, dir, "t", `{}`); o.End != Cancelled || time.Since(start) < process.Grace {
		t.Errorf("end %d after %v", o.End, time.Since(start))
	}
	if want := "WARN Tool t ignored SIGTERM; process group killed"; log.String() != want {
		t.Errorf("logged is %s, want %s", log, want)
	}
}

func TestAFunctionBesideTheCallsIsHeard(t *testing.T) {
	r, log := newLoggedRunner(t, `
good() { echo out; echo err >&2; read -r line || echo "no input"; }
bad() { echo said; exit 9; }
`, Limits{})
	tests := []struct{ function, output, logged string }{
		{"good", "out\nerr\nno input\n", ""},
		{"bad", "said\n", "WARN It failed with status 9"},
	}
	for _, tt := range tests {
		t.Run(tt.function, func(t *testing.T) {
			log.all = nil
			var out bytes.Buffer
			r.RunHook("It", "failed", shell.Job{Function: tt.function}, &out)
			if out.String() != tt.output || log.String() != tt.logged {
				t.Errorf("it prints %q, logged is %q", out.String(), log)
			}
		})
	}
}

// What a function leaves open must not delay anybody.
func TestAFunctionBesideTheCallsEndsWithItsShell(t *testing.T) {
	dir := t.TempDir()
	r, log := newLoggedRunner(t, `leave() { sleep 1000 & echo $! >`+dir+`/child; }`, Limits{})
	var out bytes.Buffer
	r.RunHook("It", "failed", shell.Job{Function: "leave"}, &out)
	var pid int
	text, err := os.ReadFile(dir + "/child")
	must(t, err)
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		t.Fatal(err)
	}
	if log.String() != "" {
		t.Errorf("logged is %s", log)
	}
	eventually(t, "its child ends", func() bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) })
}
