package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/catalog/bashsdk"
	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/host"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/process"
	"github.com/conch-mcp/conch/internal/shell"
	"github.com/conch-mcp/conch/internal/wire"
)

// protocolFD is where the drop-in file puts the protocol's output; standard
// output is where its shell reads what it is to do.
const protocolFD = 46

// idle is how long workers wait for a call before they are dismissed.
const idle = 2 * time.Second

// exitHandler is the function of the drop-in file that runs the script's EXIT
// trap.
const exitHandler = "_conch_exit_handler"

// dropInServer is the server that a script's shell has started with the
// drop-in file. It attaches to that shell when it is first needed.
type dropInServer struct {
	host       *host.Host
	journal    *journal
	limits     call.Limits
	connection connectionFlags
	workers    int
	orders     *os.File
	isLoop     bool        // it serves the script's client, and does not answer one request alone
	stop       func()      // ends all that goes on
	signal     unix.Signal // that has ended it, if one has

	mu       sync.Mutex // held while it attaches
	tried    bool
	failed   error
	lifeline *process.Lifeline
	shell    *shell.Server
	runner   *call.Runner
}

// newDropInServer reads what the drop-in file has put into the environment.
func newDropInServer() (*dropInServer, error) {
	d := &dropInServer{journal: newJournal(), orders: os.Stdout}
	if err := d.readFlags(); err != nil {
		return nil, &exitError{2, err}
	}
	list, described := os.Getenv("MCP_TOOLS_LIST_FILE"), os.Getenv("MCP_CONFIG_FILE")
	tools := bashsdk.NewVerbatimToolsFile(list, list)
	config := bashsdk.NewVerbatimConfigFile(described, described, message.Revisions())
	d.host = host.New(host.Options{
		Name: "mcp-server", BashSDK: true, Tools: tools.Read, Config: config.Read,
		Functions: func() []string { return nil }, Exists: d.exists,
		Run: d.run, Limits: d.limits, Log: d.log(),
	})
	return d, nil
}

// readFlags takes the flags that are not for conch's command line here, since
// that is the drop-in file's.
func (d *dropInServer) readFlags() error {
	var timeout duration
	maxOutput := size(10 << 20)
	d.connection = connectionFlags{maxLine: wire.DefaultMaxLine, drain: duration(math.MaxInt64)}
	flags := pflag.NewFlagSet("CONCH_FLAGS", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Var(&timeout, "timeout", "")
	flags.Var(&maxOutput, "max-output", "")
	flags.Var(&d.connection.maxLine, "max-line", "")
	flags.Var(&d.connection.drain, "drain", "")
	if err := flags.Parse(strings.Fields(os.Getenv("CONCH_FLAGS"))); err != nil {
		return fmt.Errorf("$CONCH_FLAGS: %w", err)
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("$CONCH_FLAGS: %q is no flag", flags.Arg(0))
	}
	if maxOutput < 1 {
		return errors.New("$CONCH_FLAGS: --max-output must be at least 1")
	}
	if err := d.connection.check(); err != nil {
		return fmt.Errorf("$CONCH_FLAGS: %w", err)
	}
	d.limits = call.Limits{Timeout: time.Duration(timeout), MaxOutput: int64(maxOutput)}
	concurrency := count(1)
	if text := os.Getenv("MCP_CONCURRENCY"); text != "" {
		if err := concurrency.Set(text); err != nil {
			return fmt.Errorf("$MCP_CONCURRENCY is %q; %w", text, err)
		}
	}
	d.workers = int(concurrency)
	return nil
}

func (d *dropInServer) log() *slog.Logger { return slog.New(d.journal) }

// attach makes the calling shell this server's root shell, the first time.
func (d *dropInServer) attach() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tried {
		return d.failed
	}
	d.tried = true
	d.failed = d.attachNow()
	return d.failed
}

func (d *dropInServer) attachNow() error {
	var dir string
	var err error
	if d.lifeline, _, dir, err = newLifeline(); err != nil {
		return err
	}
	d.shell, err = shell.Attach(context.Background(), shell.Attachment{
		Orders: d.orders, Dir: dir, Idle: idle, Lifeline: d.lifeline, Log: d.log(),
		// Two taking turns keep the fork off the path of calls that follow each
		// other.
		Workers: d.workers + 1,
	})
	if err != nil {
		return err
	}
	d.runner, err = call.NewRunner(d.shell, call.Options{
		Limits: d.limits, Tmp: os.TempDir(), Layout: call.Rooted, Lifeline: d.lifeline, Log: d.log(),
	})
	// Ends with the shell, or with this process.
	go func() {
		<-d.shell.RootGone()
		d.stop()
	}()
	return err
}

// exists reports whether the shell has a function for the tool. Where the shell
// cannot be asked, to run it will tell why.
func (d *dropInServer) exists(tool string) bool {
	return d.attach() != nil || d.shell.Script().Functions["tool_"+tool]
}

func (d *dropInServer) run(ctx context.Context, tool string, arguments json.RawMessage, trace shell.Trace) (call.Outcome, error) {
	if err := d.attach(); err != nil {
		return call.Outcome{}, err
	}
	outcome, err := d.runner.Run(ctx, tool, arguments, trace)
	if err == nil {
		return outcome, nil
	}
	select {
	case <-d.shell.RootGone():
		// The server is dead, and what it would answer is nobody's business.
		d.stop()
		<-ctx.Done()
		return call.Outcome{}, ctx.Err()
	default:
		return outcome, err
	}
}

// close ends what was started, and lets the shell go on. Whether there was an
// error is what the shell's function fails by.
func (d *dropInServer) close(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.runner != nil {
		d.runner.Close()
		d.runExitHandler()
	}
	if d.shell != nil {
		d.shell.Close()
	}
	if d.lifeline != nil {
		d.lifeline.Close()
	}
	word := "end"
	switch {
	case err != nil:
		word = "failed"
	case d.signal != 0:
		// The shell has got it too, and may have been told of it too early.
		word += " " + strings.TrimPrefix(unix.SignalName(d.signal), "SIG")
	}
	if d.shell != nil {
		d.shell.Detach(word)
		return
	}
	_, _ = d.orders.WriteString(word + "\n")
}

// runExitHandler runs the script's EXIT trap when all else is over.
func (d *dropInServer) runExitHandler() {
	if !d.isLoop || !d.shell.Script().Functions[exitHandler] {
		return
	}
	d.shell.Last()
	d.runner.RunHook("Chained caller EXIT trap", "failed", shell.Job{Function: exitHandler}, os.Stderr)
}

// attachedRequest answers one request: a line, or the id and the params of a
// tools/call.
func attachedRequest(what string, fields []string) (err error) {
	d, err := newDropInServer()
	if err != nil {
		return err
	}
	defer func() { d.close(err) }()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	// Caught for good: what a signal does is the script's to say, and the call is
	// not cut short.
	catchSignals()
	d.stop = stop
	out := os.NewFile(protocolFD, "protocol")
	if what == "call" && len(fields) == 2 {
		return d.answerCall(ctx, fields[0], json.RawMessage(fields[1]), out)
	}
	return d.serve(ctx, strings.NewReader(strings.Join(fields, "\x00")), out, true)
}

// answerCall answers tools/call from its params, which need not be JSON.
func (d *dropInServer) answerCall(ctx context.Context, id string, params json.RawMessage, out io.Writer) error {
	params = bytes.TrimSpace(params)
	if !json.Valid(params) || params[0] != '{' {
		d.journal.write("ERROR", "tools/call params is not a JSON object")
		return printError(out, id, message.CodeInvalidParams, "Invalid params: expected an object", nil)
	}
	result, err := d.host.CallTool(ctx, engine.ToolCall{
		Params: params, Trace: message.ReadTrace(params),
		Notify: func(string, json.RawMessage) {}, Queued: func() {},
	})
	if ctx.Err() != nil {
		return nil
	}
	return printOutcome(out, id, result, err)
}

// serve answers what comes in.
func (d *dropInServer) serve(ctx context.Context, in io.Reader, out io.Writer, one bool) error {
	return wire.Serve(ctx, d.host.Server(), in, out, wire.Options{
		MaxLine: int(d.connection.maxLine), Drain: time.Duration(d.connection.drain),
		Supported: d.host.Supported, CallTool: d.host.CallTool, Log: slog.New(slog.DiscardHandler),
		InOrder: d.workers, BashSDK: &wire.BashSDK{Log: d.journal.write, AlwaysAnswerLast: one},
	})
}

// attachedLoop serves the client of a script that has called run_mcp_server.
func attachedLoop() (err error) {
	signals := catchSignals()
	debug.SetGCPercent(400)
	limitProcessors()
	d, err := newDropInServer()
	if err != nil {
		return err
	}
	d.isLoop = true
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	// Before there is a shell whose end it could be called for.
	d.stop = cancel
	defer func() { d.close(err) }()
	if err := d.attach(); err != nil {
		return err
	}
	d.journal.write("INFO", "MCP Server starting...")
	defer d.journal.write("INFO", "MCP Server shutting down")
	in, restore := pollableStdin()
	defer restore()
	client := newInterruptible(in)
	end := d.watchEnd(signals, cancel, client.interrupt)
	defer end()
	err = d.serve(ctx, client, os.NewFile(protocolFD, "protocol"), false)
	if errors.Is(err, errInterrupted) {
		return nil
	}
	return err
}

// catchSignals takes the signals that end a server, for as long as this process
// lives: a second one is not to cut short what the first has begun. Those that
// were ignored at the start stay so.
func catchSignals() <-chan os.Signal {
	signals := make(chan os.Signal, 4)
	for _, sig := range []os.Signal{unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGPIPE} {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	return signals
}

// watchEnd waits for what ends the server early. A signal that this process
// gets was sent to the whole group, the script's shell included: stop ends the
// calls too. One that only the shell has got ends the reading, and the server
// once the call under way has ended. When the shell is gone nothing may go on.
func (d *dropInServer) watchEnd(signals <-chan os.Signal, stop, endReading func()) (end func()) {
	over := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		said := d.shell.Said()
		for {
			select {
			case <-said:
				said = nil
				endReading()
			case sig := <-signals:
				d.signal = sig.(unix.Signal)
				d.runner.Stopping()
				stop()
				return
			case <-d.shell.RootGone():
				stop()
				return
			case <-over:
				return
			}
		}
	}()
	return func() {
		close(over)
		<-done
	}
}
