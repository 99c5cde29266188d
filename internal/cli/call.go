package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

func newCall() *cobra.Command {
	var flags serverFlags
	var arguments string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "call [flags] SCRIPT TOOL [NAME=TEXT | NAME:=JSON ...]\n  conch call [flags] TOOL [NAME=TEXT | NAME:=JSON ...] -- COMMAND [ARG...]",
		Short: "Call one tool and print what it says",
		Long: `Call starts a server, calls one of its tools and prints the text that comes back.

The server is SCRIPT, a folder of tools in its place, or any MCP server that
COMMAND starts on its standard input and output. Arguments are NAME=TEXT for strings and NAME:=JSON for
anything else; --args takes all of them as one JSON object.

The exit status is 0, or 1 when the tool says that it failed, or 2 when there
was no result: an unknown tool, say, or a script that does not start.`,
		Example: `  conch call server.sh greet name=Ada
  conch call server.sh resize width:=640 tags:='["a","b"]'
  conch call server.sh greet --args '{"name":"Ada"}' --json
  conch call greet name=Ada -- ssh host conch serve server.sh`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && cmd.ArgsLenAtDash() < 0 {
				return fmt.Errorf("name the TOOL to call; conch tools %s lists what there is", args[0])
			}
			return atLeast(2, "name the SCRIPT and the TOOL to call")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := newTarget(cmd, args, flags)
			if err != nil {
				return err
			}
			if len(rest) == 0 {
				return errors.New("name the tool to call")
			}
			var whole *string
			if cmd.Flags().Changed("args") {
				whole = &arguments
			}
			object, err := parseArguments(whole, rest[1:])
			if err != nil {
				return err
			}
			return status2(dieBySignal(func(ctx context.Context) error {
				stop := startSpinner(os.Stderr, func() string { return rest[0] })
				result, err := target.call(ctx, rest[0], object)
				stop()
				if err != nil {
					return err
				}
				failed := printResult(os.Stdout, result, asJSON)
				if whole == nil {
					hintAtTypes(os.Stderr, result)
				}
				return failed
			}))
		},
	}
	cmd.ValidArgsFunction = completeCall(&flags)
	flags.register(cmd)
	flags.log.setDefault(cmd, "error")
	cmd.Flags().StringVar(&arguments, "args", "", "all arguments, as one JSON object")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the whole result as JSON")
	return cmd
}

// status2 makes 2 the status of every failure that has not another.
func status2(err error) error {
	var exit *exitError
	if errors.As(err, &exit) && exit.err != nil {
		return &exitError{2, exit.err}
	}
	return err
}

// parseArguments makes the arguments' object from --args, if it was given, or
// from pairs.
func parseArguments(object *string, pairs []string) (json.RawMessage, error) {
	if object != nil {
		var members map[string]json.RawMessage
		if json.Unmarshal([]byte(*object), &members) != nil || members == nil {
			return nil, fmt.Errorf("--args must be one JSON object, and %q is none", *object)
		}
		if len(pairs) > 0 {
			return nil, fmt.Errorf("give arguments with --args or as %s, not both", pairs[0])
		}
		return json.RawMessage(*object), nil
	}
	// Not a map: the tool gets them in the order in which they were typed.
	var b bytes.Buffer
	seen := map[string]bool{}
	for _, pair := range pairs {
		name, value, err := parsePair(pair)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, fmt.Errorf("%s is given twice; several values are one array, %s:='[…, …]'", name, name)
		}
		seen[name] = true
		key, err := encode(name)
		if err != nil {
			return nil, err
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s:%s", key, value)
	}
	return json.RawMessage("{" + b.String() + "}"), nil
}

// encode is json.Marshal without the escapes for web pages, so that a tool
// sees its arguments as they were typed.
func encode(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSpace(b.Bytes()), err
}

func parsePair(pair string) (name string, value json.RawMessage, err error) {
	name, text, ok := strings.Cut(pair, "=")
	isJSON := strings.HasSuffix(name, ":")
	name = strings.TrimSuffix(name, ":")
	if !ok || name == "" {
		return "", nil, fmt.Errorf("%q is no argument; write name=text or name:=json", pair)
	}
	if !isJSON {
		value, err = encode(text)
		return name, value, err
	}
	if !json.Valid([]byte(text)) {
		return "", nil, fmt.Errorf("%s:= takes JSON, and %q is none; write %s=… for plain text", name, text, name)
	}
	return name, json.RawMessage(text), nil
}

// toolResult is what is printed of a tool's result.
type toolResult struct {
	Content []struct {
		Type, Text, MIMEType, Data, URI string
		Resource                        struct{ URI, Text string }
	}
	IsError bool
}

// printResult prints a tool's result and tells by the error whether the tool
// failed.
func printResult(out io.Writer, result json.RawMessage, asJSON bool) error {
	var r toolResult
	if err := json.Unmarshal(result, &r); err != nil {
		return &exitError{2, fmt.Errorf("read the result: %w", err)}
	}
	if asJSON {
		fmt.Fprintf(out, "%s\n", result)
	} else {
		printContent(out, r)
	}
	if r.IsError {
		return &exitError{1, nil}
	}
	return nil
}

func printContent(out io.Writer, r toolResult) {
	for _, c := range r.Content {
		switch c.Type {
		case "text":
			fmt.Fprintln(out, c.Text)
		case "resource_link":
			fmt.Fprintln(out, c.URI)
		case "resource":
			fmt.Fprintf(out, "[resource %s]\n%s\n", c.Resource.URI, c.Resource.Text)
		default:
			fmt.Fprintf(out, "[%s, %s, %d bytes of base64]\n", c.Type, c.MIMEType, len(c.Data))
		}
	}
}

// hintAtTypes tells how to pass what is no string, where a result complains of
// one. It is no failure of its own: the status is the tool's.
func hintAtTypes(out io.Writer, result json.RawMessage) {
	var r toolResult
	if json.Unmarshal(result, &r) != nil || !r.IsError || len(r.Content) == 0 {
		return
	}
	if text := r.Content[0].Text; strings.HasPrefix(text, "Invalid type(s): ") && strings.Contains(text, ", got string (") {
		fmt.Fprintln(out, "conch: name=text passes a string; write name:=json for anything else")
	}
}
