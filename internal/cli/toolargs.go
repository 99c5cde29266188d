package cli

import (
	"bytes"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/jq"
)

// newArguments are the commands that read what the call was given.
func newArguments() []*cobra.Command {
	var all []*cobra.Command
	for _, of := range []struct{ name, text, variable, file string }{
		{"args", "the call's arguments", "MCP_TOOL_ARGS_JSON", "MCP_TOOL_ARGS_FILE"},
		{"meta", "the request's _meta", "MCP_TOOL_META_JSON", "MCP_TOOL_META_FILE"},
	} {
		all = append(all, &cobra.Command{
			Use:   of.name + "-raw",
			Short: "Print " + of.text + ", JSON",
			Args:  cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				text, err := callText(of.variable, of.file)
				if err == nil {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
				}
				return err
			},
		}, &cobra.Command{
			Use:   of.name + "-get FILTER",
			Short: "Print what a jq filter makes of " + of.text + ", strings as text",
			Args:  cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				text, err := callText(of.variable, of.file)
				if err != nil {
					return err
				}
				return quietly(jq.Main(cmd.CommandPath(), []string{"-rc", "--", args[0]},
					jq.Streams{In: bytes.NewReader(text), Out: os.Stdout, Err: os.Stderr}))
			},
		})
	}
	return all
}
