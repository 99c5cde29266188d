package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/host"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/shell"
	"github.com/conch-mcp/conch/internal/wire"
	"github.com/conch-mcp/conch/lib"
)

// framework is what is particular to the drop-in files of one format.
type framework struct {
	name    string // the format's
	journal func() *journal
	// The defaults of what the environment may say otherwise.
	concurrency count
	drain       duration
	// inOrder has calls begin only when there is room for them to run, and a
	// worker more than may run, so that forks are off the path of those that
	// follow each other.
	inOrder     bool
	layout      call.Layout
	stderrApart bool // what tools say on standard error is no part of their results
	// endsAtOnce has a signal that only the script's shell has got end what is
	// under way, and not just what comes next.
	endsAtOnce bool
	overHTTP   bool // its scripts serve HTTP too
	// host makes the server's options of what is the same for all formats.
	host func(host.Options) host.Options
	// manner is that of the connection, or of a text that is one request.
	manner func(j *journal, oneRequest bool) wire.Manner
	// call makes params of the fields of a request for one call.
	call func(fields []string) (params json.RawMessage, err error)
	asks map[string]asked
}

// frameworkOf finds the framework whose drop-in files use a command. It is no
// subcommand: it has to be quick, and its arguments are between the two.
func frameworkOf(command string) (framework, bool) {
	switch command {
	case "__" + lib.BashMCPSDK:
		return bashMCPSDK(), true
	case "__" + lib.MCPServerBashSDK:
		return mcpServerBashSDK(), true
	}
	return framework{}, false
}

// dropIn answers one request of a drop-in file and returns the exit status. What
// is not in the request's name comes in fields on standard input, NUL behind
// each.
func dropIn(f framework, args []string) int {
	if len(args) == 2 && args[0] == "code" && args[1] == strconv.Itoa(lib.Protocol) {
		fmt.Printf("# conch: protocol %d\n%s", lib.Protocol, shell.AttachedText())
		return 0
	}
	if len(args) != 1 {
		return 2
	}
	var err error
	switch what := args[0]; what {
	case "protocol":
		fmt.Println(lib.Protocol)
		return 0
	case "loop":
		err = attachedServer(f, (*dropInServer).serveStdio)
	case "http":
		err = attachedServer(f, (*dropInServer).serveHTTP)
	case "connection":
		err = attachedRequest(f, (*dropInServer).answerConnection)
	case "request", "call":
		err = withFields(func(fields []string) error {
			return attachedRequest(f, func(d *dropInServer, ctx context.Context) error { return d.answer(ctx, what, fields) })
		})
	default:
		err = withFields(func(fields []string) error { return f.ask(what, fields, os.Stdout) })
	}
	var exit *exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", f.name, exit.err)
		}
		return exit.status
	}
	fmt.Fprintf(os.Stderr, "%s: %v\n", f.name, err)
	return 1
}

func withFields(f func([]string) error) error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	var fields []string
	for field := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte{0}), []byte{0}) {
		fields = append(fields, string(field))
	}
	return f(fields)
}

// asked is a request that needs no fork of the shell: it prints what the shell's
// function prints.
type asked struct {
	fields int // how many it has
	answer func(fields []string, out io.Writer) error
}

func (f framework) ask(what string, fields []string, out io.Writer) error {
	known, ok := f.asks[what]
	if !ok || len(fields) != known.fields {
		return &exitError{2, fmt.Errorf("there is no request %q with %d fields", what, len(fields))}
	}
	return known.answer(fields, out)
}

// askHost is a request for what a host says. f is a function, since a framework
// is made of its requests.
func askHost(f func() framework, fields int, answer func(h *host.Host, fields []string, out io.Writer) error) asked {
	return asked{fields, func(fields []string, out io.Writer) error {
		d, err := newDropInServer(f())
		if err != nil {
			return err
		}
		return answer(d.host, fields, out)
	}}
}

// printOutcome prints the response to a request with the given id, JSON.
func printOutcome(out io.Writer, id string, result json.RawMessage, err error) error {
	if err == nil {
		return printResponse(out, id, result)
	}
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) {
		rpc = &jsonrpc.Error{Code: message.CodeInternalError, Message: "Internal error"}
	}
	return printError(out, id, rpc.Code, rpc.Message, rpc.Data)
}

func printResponse(out io.Writer, id string, result json.RawMessage) error {
	return printEnvelope(out, id, `"result":`, result)
}

func printGivenError(f []string, out io.Writer) error {
	code, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil {
		return fmt.Errorf("the code of an error must be an integer, not %q", f[1])
	}
	return printError(out, f[0], code, f[2], json.RawMessage(f[3]))
}

// printError prints an error response; empty data is none.
func printError(out io.Writer, id string, code int64, text string, data json.RawMessage) error {
	quoted, err := encode(text)
	if err != nil {
		return err
	}
	body := fmt.Appendf(nil, `{"code":%d,"message":%s`, code, quoted)
	if len(data) > 0 {
		if !json.Valid(data) {
			return errors.New("the data of an error must be JSON")
		}
		body = append(append(body, `,"data":`...), data...)
	}
	return printEnvelope(out, id, `"error":`, append(body, '}'))
}

func printEnvelope(out io.Writer, id, member string, value json.RawMessage) error {
	var line bytes.Buffer
	line.WriteString(`{"jsonrpc":"2.0","id":`)
	if err := json.Compact(&line, []byte(id)); err != nil {
		return fmt.Errorf("the id of a response must be JSON, not %q", message.Clip(id))
	}
	line.WriteString("," + member)
	if err := json.Compact(&line, value); err != nil {
		return errors.New("the result of a response must be JSON")
	}
	line.WriteString("}\n")
	_, err := out.Write(line.Bytes())
	return err
}
