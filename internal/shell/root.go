package shell

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/process"
)

//go:embed runtime.bash
var runtimeText string

//go:embed start.bash
var startText string

// What scripts may call, in files that are sourced in this order, and what stands
// for it until it is called.
var (
	//go:embed talk.bash
	talkText string
	//go:embed tools.bash
	toolsText string
	//go:embed running.bash
	runningText string
	//go:embed roots.bash
	rootsText string
	//go:embed lazy.bash
	lazyText string
	//go:embed command.bash
	commandText string
)

// Names of them in the control directory.
const (
	runtimeFile   = "runtime.bash"
	startFile     = "start.bash"
	talkFile      = "talk.bash"
	functionsFile = "functions.bash"
	commandFile   = "command.bash"
	wantedFile    = "wanted.bash"
	nothingFile   = "nothing.bash"
)

// rootStop is how long the root shell's EXIT trap may take at the end.
const rootStop = 2 * time.Second

// root is one run of the root shell.
type root struct {
	group   process.Group
	session int // 0 where it is not of this process's making
	orders  *os.File
	done    <-chan struct{} // closed when the shell has ended and was waited for
}

// slowLine is a line of the runtime that a fast worker does without.
var slowLine = regexp.MustCompile(`(?m)^.*# slow\b.*\n`)

// withFastWorker adds the copy of a function of the runtime that its comments
// promise.
func withFastWorker(text string) string {
	_, worker, _ := strings.Cut(text, "\n_conch_worker() {")
	worker, _, _ = strings.Cut(worker, "\n}\n")
	_, turn, _ := strings.Cut(text, "\n_conch_turn() {")
	turn, _, _ = strings.Cut(turn, "\n}\n")
	fast := strings.Replace(worker, "\n      _conch_turn", turn, 1)
	fast = strings.ReplaceAll(slowLine.ReplaceAllString(fast, ""), "builtin ", "")
	before, after, _ := strings.Cut(text, worker)
	return before + worker + "\n}\n\n_conch_fast_worker() {" + fast + after
}

// writeRuntime puts the Bash files where the root shell finds them.
func (s *Server) writeRuntime() error {
	files := map[string]string{runtimeFile: withFastWorker(runtimeText), startFile: startText}
	if s.opts.Talk {
		files[talkFile], files[functionsFile] = withLazyFunctions(lazyText, strings.Join([]string{talkText, toolsText, runningText, rootsText}, "\n"))
	}
	files[commandFile] = commandText
	if s.sourcesNothing {
		// What calls source may call the functions, and is not to load them each time.
		files[nothingFile] = "_conch_load\n"
	}
	if s.opts.Commands {
		files[wantedFile] = "_conch_wanted=(" + strings.Join(s.opts.Wanted, " ") + ")\n"
	}
	for name, text := range files {
		if err := replaceFile(filepath.Join(s.dir, name), text); err != nil {
			return fmt.Errorf("write the shell runtime: %w", err)
		}
	}
	return nil
}

// replaceFile writes a file that calls may be reading, all at once.
func replaceFile(path, text string) error {
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// publicFunction is where a function begins that scripts may call.
var publicFunction = regexp.MustCompile(`(?m)^mcp_(\w+)\(\) `)

// withLazyFunctions adds the stubs to lazy that its comments promise, and gives the
// functions the names that the stubs call.
func withLazyFunctions(lazy, functions string) (stubs, renamed string) {
	var text strings.Builder
	text.WriteString(lazy)
	for _, name := range publicFunction.FindAllStringSubmatch(functions, -1) {
		fmt.Fprintf(&text, "mcp_%s() { _conch_do %[1]s \"$@\"; }\n", name[1])
	}
	return text.String(), publicFunction.ReplaceAllString(functions, "_conch_do_$1() ")
}

// startRoot runs the script in a new root shell. s.mu is held.
func (s *Server) startRoot(ctx context.Context) error {
	// Anew each time: somebody may have cleaned up there.
	if err := s.writeRuntime(); err != nil {
		return err
	}
	report, err := s.launchRoot("root-" + s.nextName())
	if err != nil {
		return err
	}
	defer report.close()
	script, err := s.sourced(ctx, report)
	if err != nil {
		// It may be in the middle of something that never ends.
		release := s.root.group.Terminate()
		s.giveUpRoot()
		release()
		return err
	}
	// What the script has left running is there for every call.
	s.lifeline.SpareOrphans()
	s.script.Store(script)
	return nil
}

// launchRoot starts a root shell, puts it on record and lets it begin. What it
// has to tell comes in the report.
func (s *Server) launchRoot(name string) (_ *report, err error) {
	orders, err := makeFIFO(filepath.Join(s.dir, name+".orders"), unix.O_RDWR)
	if err != nil {
		return nil, err
	}
	report, err := newReport(filepath.Join(s.dir, name+".report"))
	if err != nil {
		orders.remove()
		return nil, err
	}
	defer func() {
		if err != nil {
			report.close()
		}
	}()
	cmd := s.command(name)
	done, begin, err := s.startGated(cmd)
	if err != nil {
		orders.remove()
		return nil, fmt.Errorf("start a shell: %w", err)
	}
	s.generation.Add(1)
	s.sessions = append(s.sessions, cmd.Process.Pid)
	s.root = &root{
		group: process.Group(cmd.Process.Pid), session: cmd.Process.Pid, done: done,
		orders: os.NewFile(uintptr(orders.fd), orders.path),
	}
	if err = s.lifeline.Record(rootSlot, s.root.group); err == nil {
		err = begin()
	}
	if err != nil {
		s.giveUpRoot()
	}
	return report, err
}

// giveUpRoot ends a root shell that has no workers yet, and all it has started.
func (s *Server) giveUpRoot() {
	s.stopRoot()
	process.KillSession(s.root.session)
}

// startGated starts a command that reads a line before it does anything, and
// ends without it. begin writes the line: when the group is on record.
func (s *Server) startGated(cmd *exec.Cmd) (done <-chan struct{}, begin func() error, err error) {
	gate, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer gate.Close()
	cmd.Stdin = gate
	if done, err = s.lifeline.Start(cmd); err != nil {
		w.Close()
		return nil, nil, err
	}
	return done, func() error {
		defer w.Close()
		_, err := w.WriteString("\n")
		return err
	}, nil
}

// command is the root shell. A plain shell stands between it and this process,
// so that a tool which kills its $PPID does not kill the server.
func (s *Server) command(name string) *exec.Cmd {
	args := append([]string{
		"-c", `read -r go || exit; "$@" </dev/null; exit "$?"`, "sh",
		s.opts.Bash, "--norc", "--noprofile", "-c", `. "$CONCH_CONTROL/` + startFile + `"`, s.opts.Script,
	}, s.opts.Args...)
	cmd := exec.Command("/bin/sh", args...)
	cmd.Env = append(append(environment(), s.opts.Env...), "CONCH_CONTROL="+s.dir, "CONCH_ROOT="+name)
	// What a script prints is never the protocol's standard output.
	cmd.Stdout, cmd.Stderr = s.opts.Output, s.opts.Output
	// A session of its own: no terminal, and no signals meant for this process.
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	return cmd
}

// sourced waits for the root shell's report.
func (s *Server) sourced(ctx context.Context, report *report) (*Script, error) {
	script, err := report.read(ctx, s.root.done)
	if err == nil {
		return script, nil
	}
	var failed *failure
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s was still being sourced: %w", s.opts.Script, ctx.Err())
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s ended the shell while it was sourced", s.opts.Script)
	case errors.As(err, &failed):
		return nil, fmt.Errorf("%s: %w%s", s.opts.Script, failed, s.lineEnds())
	}
	return nil, fmt.Errorf("source %s: %w", s.opts.Script, err)
}

// environment is this process's, without what a tool would take for arguments
// that were checked.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return strings.HasPrefix(entry, "arg_") || strings.HasPrefix(entry, "argc_")
	})
}

// lineEnds is a hint for scripts that were written on another system.
func (s *Server) lineEnds() string {
	text, err := os.ReadFile(s.opts.Script)
	if err != nil || !bytes.Contains(text, []byte("\r\n")) {
		return ""
	}
	return "; it has CRLF line ends, which Bash takes for part of the commands"
}

// stopRoot ends the root shell, by force when its EXIT trap takes too long, and
// what the script left in its group. Its workers go on.
// s.mu is held.
func (s *Server) stopRoot() {
	// In this order: where a subshell of the script's has served, the script's own
	// shell looks whether there are orders as soon as their end is seen.
	os.Remove(s.root.orders.Name())
	s.root.orders.Close()
	select {
	case <-s.root.done:
	case <-time.After(rootStop):
	}
	s.root.group.Kill()
	<-s.root.done
	_ = s.lifeline.Record(rootSlot, 0)
}

// rootGone reports whether the root shell has ended. What broke with it may
// have been noticed a moment earlier.
func (s *Server) rootGone() bool {
	select {
	case <-s.root.done:
		return true
	case <-time.After(100 * time.Millisecond):
		return false
	}
}

// reviveRoot starts the root shell again if it is gone.
func (s *Server) reviveRoot(ctx context.Context) error {
	select {
	case <-s.root.done:
	default:
		return nil
	}
	if s.attached {
		return errRootGone
	}
	s.opts.Log.Warn("the script's shell is gone; starting it again", "script", s.opts.Script)
	s.stopRoot()
	return s.startRoot(ctx)
}
