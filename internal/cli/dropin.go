package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/conch-mcp/conch/internal/catalog/bashsdk"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/lib"
)

// dropInCommand is how the drop-in file lib/bash-mcp-sdk/mcpserver_core.sh asks
// conch for something. It is no subcommand: it has to be quick, and its
// arguments are between the two.
const dropInCommand = "__bash-mcp-sdk"

// dropIn answers one request of the drop-in file and returns the exit status.
// What is not in the request's name comes in fields on standard input, NUL
// behind each.
func dropIn(args []string) int {
	if len(args) != 1 {
		return 2
	}
	var err error
	switch what := args[0]; what {
	case "protocol":
		fmt.Println(lib.BashMCPSDKProtocol)
		return 0
	case "loop":
		err = attachedLoop()
	case "request", "call":
		err = withFields(func(fields []string) error { return attachedRequest(what, fields) })
	default:
		err = withFields(func(fields []string) error { return ask(what, fields, os.Stdout) })
	}
	var exit *exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintf(os.Stderr, "bash-mcp-sdk: %v\n", exit.err)
		}
		return exit.status
	}
	fmt.Fprintf(os.Stderr, "bash-mcp-sdk: %v\n", err)
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

// asks are the requests that need no fork of the shell, by name, with the
// number of their fields. They print what the shell's function prints.
var asks = map[string]struct {
	fields int
	answer func(f []string, out io.Writer) error
}{
	"response": {2, func(f []string, out io.Writer) error { return printResponse(out, f[0], []byte(f[1])) }},
	"error":    {4, printGivenError},
	"object":   {1, printObject},
	"initialize": {2, func(f []string, out io.Writer) error {
		return withDropInHost(func(d *dropInServer) error {
			result, err := d.host.Initialize(json.RawMessage(f[1]))
			return printOutcome(out, f[0], result, err)
		})
	}},
	"list": {1, func(f []string, out io.Writer) error {
		return withDropInHost(func(d *dropInServer) error {
			result, err := d.host.ListTools()
			return printOutcome(out, f[0], result, err)
		})
	}},
	"validate": {2, func(f []string, out io.Writer) error {
		return withDropInHost(func(d *dropInServer) error {
			diagnostic := d.host.Validate(f[0], json.RawMessage(f[1]))
			if diagnostic == "" {
				return nil
			}
			fmt.Fprint(out, diagnostic)
			return &exitError{status: 1}
		})
	}},
}

func ask(what string, fields []string, out io.Writer) error {
	known, ok := asks[what]
	if !ok || len(fields) != known.fields {
		return &exitError{2, fmt.Errorf("there is no request %q with %d fields", what, len(fields))}
	}
	return known.answer(fields, out)
}

func withDropInHost(f func(*dropInServer) error) error {
	d, err := newDropInServer()
	if err != nil {
		return err
	}
	return f(d)
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

// printObject prints a file that holds one JSON object.
func printObject(f []string, out io.Writer) error {
	object, err := bashsdk.ReadObject(f[0])
	if err != nil {
		newJournal().write("ERROR", err.Error())
		return &exitError{status: 1}
	}
	_, err = fmt.Fprintf(out, "%s\n", object)
	return err
}
