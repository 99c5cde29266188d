package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/process"
)

// greeted is what a shell does that is attached to, as a drop-in file would
// have it. It tells how the loop ended by its status.
const greeted = `
exec 47<&0 </dev/null
IFS=' ' read -r -u 47 word _conch_dir
[[ $word == attached ]] || exit 99
_conch_root=$_conch_dir/root _conch_traps=''
. "$_conch_dir/runtime.bash"
_conch_enter "$-"
_conch_serve
exit
`

// clientShell is a shell that waits for orders, with conch's end of their pipe.
type clientShell struct {
	cmd    *exec.Cmd
	orders *os.File
	ended  <-chan struct{}
}

// startClient starts a shell that runs script.
func startClient(t *testing.T, l *process.Lifeline, script string) *clientShell {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	t.Cleanup(func() { w.Close() })
	c := &clientShell{cmd: exec.Command("bash", "--norc", "-c", script), orders: w}
	c.cmd.Stdin = r
	c.cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	if c.ended, err = l.Start(c.cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		<-c.ended
	})
	return c
}

func newTestLifeline(t *testing.T) (l *process.Lifeline, control string) {
	t.Helper()
	control = filepath.Join(t.TempDir(), "control")
	l, err := process.NewLifeline(control, []string{os.Args[0], roleSentinel})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l, control
}

// attach attaches to a new shell with some functions. Workers that no call has
// go after idle.
func attach(t *testing.T, functions string, workers int, idle time.Duration) (*Server, *clientShell) {
	t.Helper()
	l, control := newTestLifeline(t)
	c := startClient(t, l, functions+greeted)
	s, err := Attach(t.Context(), Attachment{
		Orders: c.orders, Dir: control, Workers: workers, Idle: idle, Lifeline: l, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, c
}

func awaitClosed(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("not within %v: %s", patience, what)
	}
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// children counts the processes that a shell has forked and not waited for.
func children(t *testing.T, pid int) int {
	t.Helper()
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(pid)).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Skipf("there is no pgrep: %v", err)
	}
	return len(strings.Fields(string(out)))
}

// runOn runs a function in a worker and returns its status and output.
func runOn(t *testing.T, w *Worker, job Job) (status int, output string) {
	t.Helper()
	if err := w.Start(job); err != nil {
		t.Fatal(err)
	}
	status, err := wait(w)
	if err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	if err := w.Drain(&printed); err != nil {
		t.Fatal(err)
	}
	return status, printed.String()
}

func TestAnAttachedShellRunsCallsWithWhatItHasSetUp(t *testing.T) {
	s, c := attach(t, `greeting=hello; tool_greet() { echo "$greeting $arg_name $1 $$"; return 3; }`, 2, time.Hour)
	if !s.Script().Functions["tool_greet"] {
		t.Errorf("its functions are %v", s.Script().Functions)
	}
	for range 3 {
		status, output := run(t, s, "greet", `{"name":"Ada"}`)
		if want := "hello Ada {\"name\":\"Ada\"} " + strconv.Itoa(c.cmd.Process.Pid) + "\n"; status != 3 || output != want {
			t.Errorf("status %d, output %q; want %q", status, output, want)
		}
	}
}

func TestCallsMayKeepStandardErrorApart(t *testing.T) {
	l, control := newTestLifeline(t)
	said := filepath.Join(t.TempDir(), "said")
	tool := `exec 2>"` + said + `"; tool_both() { echo out; echo aside >&2; [[ -e /dev/fd/46 ]] && echo "46 is open"; }`
	c := startClient(t, l, tool+greeted)
	s, err := Attach(t.Context(), Attachment{
		Orders: c.orders, Dir: control, Workers: 1, Idle: time.Hour, StderrApart: true, Lifeline: l, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for range 2 {
		if _, output := run(t, s, "both", `{}`); output != "out\n" {
			t.Errorf("the output is %q", output)
		}
	}
	if text, err := os.ReadFile(said); err != nil || string(text) != "aside\naside\n" {
		t.Errorf("standard error has %q, %v", text, err)
	}
}

func TestAnAttachedShellHasNoWorkersWithoutCalls(t *testing.T) {
	s, c := attach(t, `tool_x() { :; }`, 2, time.Millisecond)
	if n := children(t, c.cmd.Process.Pid); n != 0 {
		t.Errorf("before the first call it has %d children", n)
	}
	for range 2 {
		w := acquire(t, s)
		if n := children(t, c.cmd.Process.Pid); n != 1 {
			t.Errorf("with a call it has %d children", n)
		}
		s.Release(w)
		eventually(t, "the worker goes", func() bool { return children(t, c.cmd.Process.Pid) == 0 })
		if left, err := filepath.Glob(s.dir + "/*.job"); err != nil || len(left) > 0 {
			t.Errorf("it leaves %v, %v", left, err)
		}
	}
}

func TestWorkersStayWhileACallIsUnderWay(t *testing.T) {
	s, c := attach(t, `tool_x() { :; }`, 2, time.Millisecond)
	busy := acquire(t, s)
	s.Release(acquire(t, s))
	if status, _ := runOn(t, busy, Job{Function: "tool_x", Dir: "/"}); status != 0 {
		t.Errorf("status %d", status)
	}
	if n := children(t, c.cmd.Process.Pid); n != 2 {
		t.Errorf("it has %d children", n)
	}
	s.Release(busy)
	eventually(t, "the workers go", func() bool { return children(t, c.cmd.Process.Pid) == 0 })
}

func TestExtraWorkersRunWhileAllOthersAreBusy(t *testing.T) {
	s, _ := attach(t, `tool_x_cancel() { echo "hook <$1>"; }`, 1, time.Hour)
	busy := acquire(t, s)
	defer s.Release(busy)
	for range 3 {
		w, err := extra(t, s)
		if err != nil {
			t.Fatal(err)
		}
		if status, output := runOn(t, w, Job{Function: "tool_x_cancel", Dir: "/"}); status != 0 || output != "hook <>\n" {
			t.Errorf("status %d, output %q", status, output)
		}
		if w.slot == busy.slot {
			t.Error("it is on record where the busy worker is")
		}
		s.Drop(w)
	}
}

func extra(t *testing.T, s *Server) (*Worker, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	return s.Extra(ctx)
}

func TestThereAreAsManyExtraWorkersAsOthers(t *testing.T) {
	s, _ := attach(t, ``, 2, time.Hour)
	var all []*Worker
	for range 2 {
		w, err := extra(t, s)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
	}
	if w, err := extra(t, s); err == nil {
		s.Drop(w)
		t.Error("there is a third")
	}
	s.Drop(all[0])
	w, err := extra(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if w.slot == all[1].slot {
		t.Error("two are on record in one place")
	}
	s.Drop(w)
	s.Drop(all[1])
}

func TestADroppedWorkerEndsWithWhatItRuns(t *testing.T) {
	s, _ := attach(t, `tool_stay() { trap '' TERM; while :; do sleep 1000; done; }`, 1, time.Hour)
	w, err := extra(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Start(Job{Function: "tool_stay", Dir: "/"}); err != nil {
		t.Fatal(err)
	}
	shell, group := w.shell, w.group
	s.Drop(w)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if !group.Wait(ctx) || !shell.Wait(ctx) {
		t.Error("something of it runs on")
	}
}

func TestAnAttachedShellThatIsGoneIsNotStartedAgain(t *testing.T) {
	s, c := attach(t, `tool_x() { :; }`, 1, time.Hour)
	s.Release(acquire(t, s))
	select {
	case <-s.RootGone():
		t.Fatal("the shell is there, and counts as gone")
	default:
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	awaitClosed(t, "that the shell is gone is known", s.RootGone())
	if w, err := extra(t, s); !errors.Is(err, errRootGone) {
		t.Errorf("an extra worker: %v, %v", w, err)
	}
	// Each failure must give its place back.
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		w, err := s.Acquire(ctx)
		if err == nil {
			// The worker of before may still be there.
			s.Lose(w)
		} else if !errors.Is(err, errRootGone) {
			t.Errorf("a worker: %v", err)
		}
		cancel()
	}
}

func TestASignalThatTheShellTellsOfIsHeardOnce(t *testing.T) {
	s, _ := attach(t, ``, 1, time.Hour)
	select {
	case <-s.Said():
		t.Fatal("it has said nothing")
	default:
	}
	for range 3 {
		f, err := os.OpenFile(filepath.Join(s.dir, "root.said"), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.WriteString(f, "signal TERM\n")
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	awaitClosed(t, "what it said is heard", s.Said())
}

func TestADetachedShellGoesOn(t *testing.T) {
	s, c := attach(t, `tool_x() { :; }`, 2, time.Hour)
	s.Release(acquire(t, s))
	s.Close()
	eventually(t, "the worker goes", func() bool { return children(t, c.cmd.Process.Pid) == 0 })
	select {
	case <-c.ended:
		t.Fatal("Close has ended it")
	default:
	}
	s.Detach("end")
	awaitClosed(t, "the loop ends", c.ended)
	if w, err := s.Acquire(t.Context()); err == nil {
		t.Errorf("there is a worker: %v", w)
	}
}

func TestAttachTellsWhenTheShellEndsInsteadOfReporting(t *testing.T) {
	for name, script := range map[string]string{
		"at once":          `exit 0`,
		"when it is told":  `IFS=' ' read -r word dir; exit 0`,
		"with half a word": `IFS=' ' read -r word dir; printf 'ready\0' >"$dir/root.report"; exit 0`,
		"with nonsense":    `IFS=' ' read -r word dir; printf 'nonsense\0' >"$dir/root.report"; read -r`,
	} {
		t.Run(name, func(t *testing.T) {
			l, control := newTestLifeline(t)
			c := startClient(t, l, script)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			s, err := Attach(ctx, Attachment{
				Orders: c.orders, Dir: control, Workers: 1, Idle: time.Hour, Lifeline: l, Log: slog.New(slog.DiscardHandler),
			})
			if err == nil || ctx.Err() != nil {
				t.Errorf("Attach: %v, %v", s, err)
			}
		})
	}
}

// watchedPipe is a pipe and the watch of its reader's end.
func watchedPipe(t *testing.T) (r, w *os.File, watch *readerWatch, gone chan struct{}) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	gone = make(chan struct{})
	if watch, err = watchReader(w, gone); err != nil {
		t.Fatal(err)
	}
	return r, w, watch, gone
}

func TestTheEndOfAPipesReaderIsNoticed(t *testing.T) {
	r, w, watch, gone := watchedPipe(t)
	// What the reader has not read yet is not its end.
	if _, err := w.WriteString("order\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
		t.Fatal("the reader is there, and counts as gone")
	default:
	}
	r.Close()
	awaitClosed(t, "the reader's end", gone)
	watch.stop()
}

func TestAWatchThatIsStoppedNoticesNothing(t *testing.T) {
	r, _, watch, gone := watchedPipe(t)
	watch.stop()
	r.Close()
	select {
	case <-gone:
		t.Error("it has noticed something")
	default:
	}
}

// FuzzWorkerEvents has a worker say anything. Whoever runs in a call can write
// to where its events come from.
func FuzzWorkerEvents(f *testing.F) {
	for _, text := range []string{
		"w 10\nr 11 0\nd 0\n", "r 11 1\nd 137\nr 12 0\n", "d", "\n\n", "r x y\n", "w -1\n", "r 99999999999999999999 1\n", "d 1 2 3 4\n", strings.Repeat("x", maxEvents+1),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		w := Worker{server: &Server{}}
		w.read = bytes.Clone(text)
		var said int
		for {
			before := len(w.read)
			kind, number, ok := w.cutEvent()
			if !ok {
				break
			}
			if len(w.read) >= before {
				t.Fatalf("an event of %q takes nothing away", text)
			}
			w.note(kind, number)
			said++
		}
		if n := bytes.Count(text, []byte{'\n'}); said != n || bytes.IndexByte(w.read, '\n') >= 0 {
			t.Errorf("of %d lines %d are taken, and %q is left", n, said, w.read)
		}
		if w.side != 0 && w.side != 1 {
			t.Errorf("the output is number %d", w.side)
		}
	})
}
