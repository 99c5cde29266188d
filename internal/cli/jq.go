package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/jq"
)

func newJQ() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "jq [flags] FILTER [FILE...]",
		Short: "Run a filter over JSON, as jq does",
		// Some of its flags take two values.
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			return quietly(jq.Main("conch jq", args, processStreams()))
		},
	}
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { fmt.Fprint(cmd.OutOrStdout(), jq.Help) })
	return cmd
}

func processStreams() jq.Streams { return jq.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr} }

// quietly ends conch with a status whose reason has been told.
func quietly(status int) error {
	if status == 0 {
		return nil
	}
	return &exitError{status, nil}
}
