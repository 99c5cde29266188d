package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
)

func newTools() *cobra.Command {
	var flags serverFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tools [flags] SCRIPT\n  conch tools [flags] -- COMMAND [ARG...]",
		Short: "Show the tools a server offers",
		Long: `Tools starts a server and shows the tools it offers, in its own order.

The server is SCRIPT, a folder of tools, or any MCP server that COMMAND starts on
its standard input and output. Of a script or folder it also tells what keeps
tools from being served, or from working.`,
		Example: `  conch tools server.sh
  conch tools --json server.sh
  conch tools -- npx some-server`,
		Args: atLeast(1, "name the SCRIPT whose tools to show"),
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := newTarget(cmd, args, flags)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return fmt.Errorf("what is %q for? conch tools takes one script", rest[0])
			}
			return status2(dieBySignal(func(ctx context.Context) error {
				tools, problems, err := target.tools(ctx)
				if err != nil {
					return err
				}
				if asJSON {
					return json.NewEncoder(os.Stdout).Encode(struct {
						Tools    []json.RawMessage `json:"tools"`
						Problems []string          `json:"problems"`
					}{tools, append([]string{}, problems...)})
				}
				return printTools(os.Stdout, tools, problems)
			}))
		},
	}
	flags.register(cmd)
	flags.log.setDefault(cmd, "error")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the tools as the protocol has them, and the problems")
	return cmd
}

// tools asks the target for its tools, as the protocol has them, and for what
// is wrong with them.
func (t target) tools(ctx context.Context) (tools []json.RawMessage, problems []string, err error) {
	var list json.RawMessage
	if t.command != nil {
		tools, err := t.listCommand(ctx)
		return tools, nil, err
	}
	err = t.withScript(ctx, func(s *server) (err error) {
		if problems, err = s.host.Problems(); err != nil {
			return err
		}
		list, err = s.ask(ctx, "tools/list", json.RawMessage(`{}`))
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	tools, err = toolsOf(list)
	return tools, problems, err
}

// toolsOf takes the tools out of a tools/list result, each as it was sent.
func toolsOf(result json.RawMessage) ([]json.RawMessage, error) {
	var list struct{ Tools []json.RawMessage }
	if err := json.Unmarshal(result, &list); err != nil {
		return nil, fmt.Errorf("read the list of tools: %w", err)
	}
	return list.Tools, nil
}

// listCommand follows the pages of a command's list.
func (t target) listCommand(ctx context.Context) (tools []json.RawMessage, err error) {
	err = t.withCommand(ctx, func(c *mcp.ClientSession, last func() json.RawMessage) error {
		params := &mcp.ListToolsParams{}
		for {
			page, err := c.ListTools(ctx, params)
			if err != nil {
				return err
			}
			raw, err := toolsOf(last())
			if err != nil {
				return err
			}
			tools = append(tools, raw...)
			if page.NextCursor == "" {
				return nil
			}
			params.Cursor = page.NextCursor
		}
	})
	return tools, err
}

func printTools(out io.Writer, tools []json.RawMessage, problems []string) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "TOOL\tPARAMETERS\tDESCRIPTION")
	for _, raw := range tools {
		var t struct {
			Name, Description string
			InputSchema       struct {
				Properties json.RawMessage
				Required   []string
			}
		}
		// A schema may hold anything; what does not fit is not shown.
		_ = json.Unmarshal(raw, &t)
		fmt.Fprintf(w, "%s\t%s\t%s\n", printable(t.Name), parameters(t.InputSchema.Properties, t.InputSchema.Required), firstLine(t.Description))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for i, p := range problems {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "problem: %s\n", printable(p))
	}
	return nil
}

// parameters lists a schema's properties in its order, optional ones in
// brackets.
func parameters(properties json.RawMessage, required []string) string {
	var names []string
	for _, name := range keys(properties) {
		names = append(names, bracketed(name, required))
	}
	if len(names) == 0 {
		return "-"
	}
	return printable(strings.Join(names, " "))
}

// keys are those of a JSON object, in its order; none of anything else.
func keys(object json.RawMessage) (names []string) {
	dec := json.NewDecoder(strings.NewReader(string(object)))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			break
		}
		name, _ := key.(string)
		names = append(names, name)
	}
	return names
}

func bracketed(name string, required []string) string {
	for _, r := range required {
		if r == name {
			return name
		}
	}
	return "[" + name + "]"
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return printable(line)
}

// printable keeps control characters of a list away from a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, s)
}
