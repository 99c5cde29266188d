package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/conch-mcp/conch/internal/wire"
)

func newServe() *cobra.Command {
	var flags serverFlags
	var connection connectionFlags
	var network httpFlags
	http := pflag.NewFlagSet("http", pflag.ContinueOnError)
	network.register(http)
	http.VisitAll(func(f *pflag.Flag) { annotate(http, f.Name, FlagGroup, "Of HTTP, with `--http`") })
	cmd := &cobra.Command{
		Use:   "serve [flags] SCRIPT|FOLDER [[--] ARG...]",
		Short: "Serve a script's functions on standard input and output, or over HTTP",
		Long: `Serve answers one MCP client on standard input and output, or with --http any
number of them over HTTP.

SCRIPT is a Bash file in which a comment, # @cmd, stands above each function that
is a tool, and others below it say what it takes:

  # @cmd Show the last lines of a log that have a text in them
  # @option --file! <FILE>    Which log
  # @option --last=10 <INT>   How many lines at most
  search() { … "$argc_file" … "$argc_last" …; }

Or it defines a function tool_<name> for each tool, which then finds its arguments
as one JSON text in $1 and each by itself in $arg_<name>. Beside it stand
tools.json, {"tools":[…]}, which declares them, and config.json, which describes
the server ({} will do). Both may be edited while the server runs. SCRIPT is run
with every ARG; one that begins with - is a flag of conch's own unless it stands
behind --.

FOLDER holds scripts with such comments, and programs in other languages with
them, whose arguments come as JSON on standard input and as ARG_<NAME>.

Each call runs in a fork of the shell that sourced SCRIPT. What it prints is the
result, and a status other than 0 makes that an error.

Paths that are in scope for calls are below roots: those of the client, or what
--roots names, else the directory of SCRIPT.

Over HTTP, clients of every revision POST to one URL, http://127.0.0.1:3000/mcp
where --http has no address. An address that other machines can reach needs
--token-file, --oauth-issuer or --insecure. SIGTERM ends the server, once the
calls under way have ended or --drain is over.`,
		Example: `  conch serve server.sh
  conch serve tools/
  conch serve --timeout 30s --log-file server.log server.sh
  conch serve server.sh -- --verbose     gives --verbose to the script
  conch serve --http server.sh
  conch serve --http unix:/run/user/1000/conch.sock server.sh
  conch serve --http :8443 --tls-cert cert.pem --tls-key key.pem \
    --token-file tokens --allow-host mcp.example server.sh`,
		Args: atLeast(1, "name the SCRIPT or FOLDER to serve"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := connection.check(); err != nil {
				return err
			}
			if err := checkTransport(cmd.Flags(), http); err != nil {
				return err
			}
			if cmd.Flags().Changed("http") {
				return serveNetwork(args[0], args[1:], flags, connection, network)
			}
			return dieBySignal(func(ctx context.Context) error {
				return serve(ctx, args[0], args[1:], flags, connection)
			})
		},
	}
	flags.register(cmd)
	flags.length.register(cmd.Flags())
	connection.register(cmd)
	cmd.Flags().AddFlagSet(http)
	cmd.SetUsageFunc(func(cmd *cobra.Command) error { return serveUsage(cmd, http) })
	return cmd
}

// serveUsage is cobra's usage with the flags of HTTP under a heading of their own,
// in the order in which they were registered.
func serveUsage(cmd *cobra.Command, http *pflag.FlagSet) error {
	http.SortFlags = false
	others := pflag.NewFlagSet("others", pflag.ContinueOnError)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if http.Lookup(f.Name) == nil {
			others.AddFlag(f)
		}
	})
	_, err := fmt.Fprintf(cmd.OutOrStderr(), "Usage:\n  %s\n\nExamples:\n%s\n\nFlags:\n%s\nFlags of HTTP, with --http:\n%s",
		cmd.UseLine(), cmd.Example, others.FlagUsages(), http.FlagUsages())
	return err
}

// garbage is how much of it there may be, in percent of what is in use, before it
// is collected: calls make much, and little of it lives. With more, the resident memory
// that docs/performance.md has would be more than its budget.
const garbage = 320

// thrifty is how much memory a server on the network takes before it collects
// garbage more often. It may have more where it has more to keep.
const thrifty = 384 << 20

// serveNetwork serves clients over HTTP until a signal ends it, which is no
// failure: whoever runs servers ends them so.
func serveNetwork(script string, args []string, flags serverFlags, connection connectionFlags, network httpFlags) error {
	if err := network.check(); err != nil {
		return err
	}
	if _, err := os.Stat(script); network.address == defaultAddress && errors.Is(err, fs.ErrNotExist) {
		return &exitError{1, fmt.Errorf("there is no script %s (nor is it an address for --http: HOST:PORT, PORT, unix:PATH, systemd)", script)}
	}
	ctx, hurry, stop := untilSignal()
	defer stop()
	debug.SetGCPercent(garbage)
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(thrifty)
	}
	limitProcessors()
	s, err := startServer(ctx, script, args, flags)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	defer s.close()
	s.host.Look()
	changes := startChanges(s)
	defer changes.close()
	if err := serveHTTP(ctx, hurry, s, changes.hub, network, time.Duration(connection.drain)); err != nil {
		return &exitError{1, err}
	}
	return nil
}

func serve(ctx context.Context, script string, args []string, flags serverFlags, connection connectionFlags) error {
	debug.SetGCPercent(garbage)
	limitProcessors()
	// Undone last: whoever does not end in time may still wait for them.
	in, undo := pollableStdin()
	defer undo()
	out, undo := pollableStdout()
	defer undo()
	s, err := startServer(ctx, script, args, flags)
	if err != nil {
		return err
	}
	defer s.close()
	log := s.logs.logger()
	s.host.Look()
	log.Info("serving", "script", script, "version", buildVersion(), "bash", s.script.Bash)
	changes := startChanges(s)
	defer changes.close()
	// The calls are told why they end before they do.
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(ctx, func() {
		s.runner.Stopping()
		stop()
	})()
	err = wire.Serve(serving, s.host.Server(), in, out, wire.Options{
		MaxLine: int(connection.maxLine), Drain: time.Duration(connection.drain),
		Supported: s.host.Supported, CallTool: s.host.CallTool, Hub: changes.hub, Meet: s.host.Meet, Log: log,
	})
	if err != nil {
		return &exitError{1, err}
	}
	return nil
}

// limitProcessors leaves most of the machine to the shells. This process waits
// and passes things on; a thread of it on every processor would cost a sixth of
// all work in waking them.
func limitProcessors() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(1, runtime.NumCPU()/2))
	}
}
