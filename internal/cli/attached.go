package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/call"
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

// dropInServer is the server that a script's shell has started with a drop-in
// file. It attaches to that shell when it is first needed.
type dropInServer struct {
	framework  framework
	host       *host.Host
	journal    *journal
	limits     call.Limits
	connection connectionFlags
	http       httpFlags
	workers    int
	orders     *os.File
	isLoop     bool // it serves the script's clients, and does not answer one request alone
	signals    <-chan os.Signal
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
func newDropInServer(f framework) (*dropInServer, error) {
	d := &dropInServer{framework: f, journal: f.journal(), orders: os.Stdout}
	if err := d.readFlags(); err != nil {
		return nil, &exitError{2, err}
	}
	tools, config := verbatimFiles()
	d.host = host.New(f.host(host.Options{
		Tools: tools.Read, Config: config.Read,
		Functions: func() []string { return nil }, Exists: d.exists,
		Run: d.run, Limits: d.limits, Log: d.log(),
	}))
	return d, nil
}

// readFlags takes the flags that are not for conch's command line here, since
// that is the drop-in file's.
func (d *dropInServer) readFlags() error {
	var timeout duration
	maxOutput := size(10 << 20)
	d.connection = connectionFlags{maxLine: wire.DefaultMaxLine, drain: d.framework.drain}
	flags := d.flagSet(&timeout, &maxOutput)
	if err := flags.Parse(strings.Fields(os.Getenv("CONCH_FLAGS"))); err != nil {
		return fmt.Errorf("$CONCH_FLAGS: %w", conchFlagsError(flags, err))
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("$CONCH_FLAGS: %q is no flag; %s", flags.Arg(0), known(flags))
	}
	if maxOutput < 1 {
		return errors.New("$CONCH_FLAGS: --max-output must be at least 1")
	}
	if err := d.checkFlags(); err != nil {
		return fmt.Errorf("$CONCH_FLAGS: %w", err)
	}
	d.limits = call.Limits{Timeout: time.Duration(timeout), MaxOutput: int64(maxOutput)}
	concurrency := d.framework.concurrency
	if text := os.Getenv("MCP_CONCURRENCY"); text != "" {
		if err := concurrency.Set(text); err != nil {
			return fmt.Errorf("$MCP_CONCURRENCY is %q; %w", text, err)
		}
	}
	d.workers = int(concurrency)
	return nil
}

func (d *dropInServer) flagSet(timeout *duration, maxOutput *size) *pflag.FlagSet {
	flags := pflag.NewFlagSet("CONCH_FLAGS", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.SortFlags = false
	flags.Var(timeout, "timeout", "")
	flags.Var(maxOutput, "max-output", "")
	flags.Var(&d.connection.maxLine, "max-line", "")
	flags.Var(&d.connection.drain, "drain", "")
	if d.framework.overHTTP {
		d.http.registerTokens(flags)
		d.http.registerLimits(flags)
	}
	return flags
}

func (d *dropInServer) checkFlags() error {
	if err := d.connection.check(); err != nil || !d.framework.overHTTP {
		return err
	}
	return d.http.checkValues()
}

// known tells which flags there are.
func known(flags *pflag.FlagSet) string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	last := len(names) - 1
	return fmt.Sprintf("there are %s and %s", strings.Join(names[:last], ", "), names[last])
}

// conchFlagsError adds what to write instead to an error of a flag that is not
// for a server of the drop-in file.
func conchFlagsError(flags *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return errors.New(known(flags))
	case !errors.As(err, &unknown):
		return valueError(err)
	}
	instead := map[string]string{
		"concurrency": "MCP_CONCURRENCY", "tools": "MCP_TOOLS_LIST_FILE", "config": "MCP_CONFIG_FILE", "log-file": "MCP_LOG_FILE",
	}
	if flags.Lookup("max-body") != nil {
		maps.Copy(instead, map[string]string{"http": "MCP_HTTP_PORT", "path": "MCP_HTTP_PATH", "allow-origin": "MCP_ALLOWED_ORIGINS"})
	}
	if variable := instead[unknown.GetSpecifiedName()]; variable != "" {
		return fmt.Errorf("%w; the variable %s is for that; %s", err, variable, known(flags))
	}
	return fmt.Errorf("%w; %s", err, known(flags))
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
	var self, dir string
	var err error
	if d.lifeline, self, dir, err = newLifeline(); err != nil {
		return err
	}
	// Before the shell hears of the directory, where it looks for the folder.
	if _, err := jqFor(os.Getenv("PATH"), self, dir); err != nil {
		return err
	}
	workers := d.workers
	if d.framework.inOrder {
		workers++
	}
	d.shell, err = shell.Attach(context.Background(), shell.Attachment{
		Orders: d.orders, Dir: dir, Idle: idle, Lifeline: d.lifeline, Log: d.log(),
		Workers: workers, StderrApart: d.framework.stderrApart,
	})
	if err != nil {
		return err
	}
	d.runner, err = call.NewRunner(d.shell, call.Options{
		Limits: d.limits, Tmp: os.TempDir(), Layout: d.framework.layout, Lifeline: d.lifeline, Log: d.log(),
		Astray: true,
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

func (d *dropInServer) run(ctx context.Context, c call.Call) (call.Outcome, error) {
	if err := d.attach(); err != nil {
		return call.Outcome{}, err
	}
	outcome, err := d.runner.Run(ctx, c)
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
	case d.isLoop && err != nil && !isMisuse(err):
		word = "failed 1"
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

// isMisuse reports whether what the server was told makes no sense.
func isMisuse(err error) bool {
	var exit *exitError
	return errors.As(err, &exit) && exit.status == 2
}

// runExitHandler runs the script's EXIT trap when all else is over.
func (d *dropInServer) runExitHandler() {
	if !d.isLoop || !d.shell.Script().Functions[exitHandler] {
		return
	}
	d.shell.Last()
	d.runner.RunHook("Chained caller EXIT trap", "failed", shell.Job{Function: exitHandler}, os.Stderr)
}

// attachedRequest answers one request of the script's.
func attachedRequest(f framework, answer func(*dropInServer, context.Context) error) (err error) {
	d, err := newDropInServer(f)
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
	return answer(d, ctx)
}

// answer answers a line, or one tools/call.
func (d *dropInServer) answer(ctx context.Context, what string, fields []string) error {
	out := protocol()
	if what == "call" && len(fields) > 1 {
		return d.answerCall(ctx, fields, out)
	}
	return d.serve(ctx, strings.NewReader(strings.Join(fields, "\x00")), out, true)
}

// protocol is where answers go.
func protocol() *os.File { return os.NewFile(protocolFD, "protocol") }

// answerCall answers tools/call under the id that is the first of the fields.
func (d *dropInServer) answerCall(ctx context.Context, fields []string, out io.Writer) error {
	params, err := d.framework.call(fields)
	var result json.RawMessage
	if err == nil {
		result, err = d.host.CallTool(ctx, engine.ToolCall{
			Params: params, Trace: message.ReadTrace(params),
			Notify: func(string, json.RawMessage) {}, Queued: func() {},
		})
	}
	var exit *exitError
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.As(err, &exit):
		return err
	}
	return printOutcome(out, fields[0], result, err)
}

func invalidParams(text string) error {
	return &jsonrpc.Error{Code: message.CodeInvalidParams, Message: text}
}

func trimSpace(text string) []byte { return bytes.TrimSpace([]byte(text)) }

// serve answers what comes in.
func (d *dropInServer) serve(ctx context.Context, in io.Reader, out io.Writer, one bool) error {
	opts := wire.Options{
		MaxLine: int(d.connection.maxLine), Drain: time.Duration(d.connection.drain),
		Supported: d.host.Supported, CallTool: d.host.CallTool, Log: slog.New(slog.DiscardHandler),
		Manner: d.framework.manner(d.journal, one),
	}
	if d.framework.inOrder {
		opts.InOrder = d.workers
	} else {
		opts.Log = d.log()
	}
	return wire.Serve(ctx, d.host.Server(), in, out, opts)
}

// attachedServer serves the clients of a script that has called run_mcp_server or
// run_mcp_http_server.
func attachedServer(f framework, serve func(*dropInServer, context.Context) error) (err error) {
	signals := catchSignals()
	debug.SetGCPercent(garbage)
	limitProcessors()
	d, err := newDropInServer(f)
	if err != nil {
		return err
	}
	d.isLoop, d.signals = true, signals
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
	return serve(d, ctx)
}

// serveStdio serves the client on standard input and output.
func (d *dropInServer) serveStdio(ctx context.Context) error {
	in, restore := pollableStdin()
	defer restore()
	out, restore := pollable(protocol(), protocolFD, os.O_WRONLY)
	defer restore()
	client := newInterruptible(in)
	end := d.watchEnd(client.interrupt)
	defer end()
	err := d.serve(ctx, client, out, false)
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
// once the call under way has ended, unless the framework ends at once. When the
// shell is gone nothing may go on.
func (d *dropInServer) watchEnd(endReading func()) (end func()) {
	over := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		said := d.shell.Said()
		for {
			select {
			case <-said:
				said = nil
				if d.framework.endsAtOnce {
					d.runner.Stopping()
					d.stop()
					return
				}
				endReading()
			case sig := <-d.signals:
				d.signal = sig.(unix.Signal)
				d.runner.Stopping()
				d.stop()
				return
			case <-d.shell.RootGone():
				d.stop()
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
