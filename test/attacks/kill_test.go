package attacks_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// killedWithin is how long what a killed server ran may outlive it.
const killedWithin = 3 * time.Second

// waiting has a call stay until its file is removed. Its answer comes on the
// channel, and is empty when there is none.
func (e *target) waiting(header map[string]string) (file string, shell int, answer <-chan got) {
	e.t.Helper()
	file = filepath.Join(e.t.TempDir(), "f")
	answers := make(chan got, 1)
	arguments := fmt.Sprintf(`{"file":%q}`, file)
	body := harness.Call(1, "wait", arguments)
	if header == nil {
		header, body = harness.ModernRequest("1", "tools/call", `"name":"wait","arguments":`+arguments)
	}
	go func() {
		answer, _ := e.try(context.Background(), "POST", body, header)
		answers <- answer
	}()
	harness.Eventually(e.t, harness.Deadline, "the call runs", func() bool {
		text, err := os.ReadFile(file)
		shell, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	})
	return file, shell, answers
}

func parent(t testing.TB, pid int) int {
	t.Helper()
	for _, p := range harness.Processes() {
		if p.PID == pid {
			return p.Parent
		}
	}
	t.Fatalf("no process %d", pid)
	return 0
}

// Of a worker that is killed only the call is lost, and that is said.
func TestKilledWorkersLoseTheirCallsAlone(t *testing.T) {
	t.Parallel()
	e := serve(t, "--concurrency", "6")
	e.withstands(bound, func() {
		for i := range 4 {
			var header map[string]string
			if i%2 == 0 {
				header = e.session(harness.NewestLegacy)
			}
			file, _, spared := e.waiting(nil)
			_, shell, lost := e.waiting(header)
			harness.Kill(t, parent(t, shell))
			if answer := <-lost; answer.status != 200 || !strings.Contains(answer.body, `"isError":true`) {
				t.Errorf("the call of a killed worker: %+v", answer)
			}
			if err := os.Remove(file); err != nil {
				t.Error(err)
			}
			if answer := <-spared; !strings.Contains(answer.body, "waited") {
				t.Errorf("the call beside it: %+v", answer)
			}
		}
	})
	e.Terminate()
}

func TestAKilledRootShellIsReplaced(t *testing.T) {
	t.Parallel()
	e := serve(t, "--concurrency", "4")
	e.withstands(bound, func() {
		file, _, spared := e.waiting(nil)
		harness.Kill(t, e.RootShell())
		if err := e.echo("meanwhile"); err != nil {
			t.Error(err)
		}
		if err := os.Remove(file); err != nil {
			t.Error(err)
		}
		if answer := <-spared; answer.status != 200 {
			t.Errorf("a call under way: %+v", answer)
		}
	})
	e.Terminate()
}

// under has a server be busy: calls of both eras at work, streams open, requests
// half sent, more calls than may run.
func under(e *target) {
	header := e.session(harness.NewestLegacy)
	e.listen(header)
	e.waiting(header)
	e.waiting(nil)
	for i := range 20 {
		ctx, cancel := context.WithTimeout(context.Background(), harness.Deadline)
		e.t.Cleanup(cancel)
		go func() { _, _ = e.try(ctx, "POST", harness.Call(100+i, "sleep", `{"v":1000}`), header) }()
		_ = write(e.dial(), e.head("Content-Length: 100"))
	}
}

func TestTheEndUnderLoadLeavesNothing(t *testing.T) {
	t.Parallel()
	send := func(signals ...syscall.Signal) func(*target) {
		return func(e *target) {
			for _, signal := range signals {
				_ = e.Cmd.Process.Signal(signal)
			}
		}
	}
	for _, a := range []struct {
		name   string
		end    func(*target)
		within time.Duration
		clean  bool // an orderly end, with status 0
	}{
		{"SIGKILL", send(syscall.SIGKILL), killedWithin, false},
		{"SIGTERM", send(syscall.SIGTERM), soon, true},
		{"SIGINT", send(syscall.SIGINT), soon, true},
		{"SIGHUP", send(syscall.SIGHUP), soon, true},
		{"SIGTERM twice", send(syscall.SIGTERM, syscall.SIGTERM), soon, true},
		{"SIGTERM, SIGINT and SIGHUP", send(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP), soon, true},
		{"SIGTERM and SIGKILL", send(syscall.SIGTERM, syscall.SIGKILL), killedWithin, false},
		{"SIGKILL for its group", func(e *target) { _ = syscall.Kill(-e.Cmd.Process.Pid, syscall.SIGKILL) }, killedWithin, false},
	} {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, "--concurrency", "3", "--drain", "500ms")
			under(e)
			a.end(e)
			state := e.Wait()
			if a.clean != (state.ExitCode() == 0) {
				t.Errorf("ended with %v", state)
			}
			e.LeavesNothing(a.within)
		})
	}
}

// Requests that come while the server ends are answered, or refused at once.
func TestRequestsAtTheEndAreNotLeftWaiting(t *testing.T) {
	t.Parallel()
	e := serve(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for {
				start := time.Now()
				err := e.echo("x")
				if took := time.Since(start); took > soon {
					t.Errorf("a request waited for %v: %v", took, err)
				}
				if err != nil {
					return
				}
			}
		})
	}
	for range 10 {
		if err := e.echo("y"); err != nil {
			t.Error(err)
		}
	}
	_ = e.Cmd.Process.Signal(syscall.SIGTERM)
	all.Wait()
	if state := e.Wait(); state.ExitCode() != 0 {
		t.Errorf("ended with %v", state)
	}
	e.LeavesNothing(soon)
}

// Who asks a second time does not want to wait.
func TestASecondSignalDoesNotWaitForCalls(t *testing.T) {
	t.Parallel()
	e := serve(t, "--drain", "10m")
	e.waiting(e.session(harness.NewestLegacy))
	_ = e.Cmd.Process.Signal(syscall.SIGTERM)
	harness.Eventually(t, harness.Deadline, "no request is taken any more", func() bool { return e.echo("x") != nil })
	_ = e.Cmd.Process.Signal(syscall.SIGTERM)
	if state := e.Wait(); state.ExitCode() != 0 {
		t.Errorf("ended with %v", state)
	}
	e.LeavesNothing(soon)
}
