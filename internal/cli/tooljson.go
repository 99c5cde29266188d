package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/jq"
)

func newIsValidJSON() *cobra.Command {
	return &cobra.Command{
		Use:   "is-valid-json",
		Short: "Exit with 0 if standard input is one JSON value in UTF-8, or else 1",
		Args:  takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := readInput(cmd)
			if err == nil && !jq.Valid(text) {
				return &exitError{1, nil}
			}
			return err
		},
	}
}

// maxTruncated is how long the text of mcp_json_truncate may be where nobody
// says.
const maxTruncated = 10 << 20

func newJSONTruncate() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:                   "json-truncate [--array-path PATH] [MAX] <JSON",
		DisableFlagsInUseLine: true,
		Short:                 "Take items from the end of an array until all of the JSON has MAX bytes",
		Long: `Json-truncate reads JSON from standard input and prints an object: result, the
JSON with as many items as fit into MAX bytes (10485760); truncated, whether any
were taken; kept and total, how many items there are and were; error, with type and
message, instead of a result.

The array is the JSON itself or its member results, or what PATH leads to, such as
.data or .hits.items.`,
		Args: takes(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			limit := maxTruncated
			if len(args) > 0 {
				n, err := strconv.Atoi(args[0])
				if err != nil || n < 0 {
					return fmt.Errorf("MAX must be a number of bytes, not %q", args[0])
				}
				limit = n
			}
			text, err := readInput(cmd)
			if err != nil {
				return err
			}
			e := json.NewEncoder(cmd.OutOrStdout())
			e.SetEscapeHTML(false)
			return e.Encode(jq.Truncate(text, limit, path))
		},
	}
	cmd.Flags().StringVar(&path, "array-path", "", "where the array is")
	return cmd
}

func newJSONEscape() *cobra.Command {
	return literal("json-escape [TEXT]", "Print TEXT, or standard input, as a JSON string", func(cmd *cobra.Command, args []string) (string, error) {
		if len(args) > 0 {
			return jq.String(args[0]), nil
		}
		text, err := readInput(cmd)
		return jq.String(string(text)), err
	})
}

func newJSONObj() *cobra.Command {
	return literal("json-obj [NAME TEXT]...", "Print a JSON object of strings", func(_ *cobra.Command, args []string) (string, error) {
		if len(args)%2 != 0 {
			return "", errors.New("conch tool json-obj takes names and texts in turns, and the last name has no text")
		}
		return jq.Object(args), nil
	})
}

func newJSONArr() *cobra.Command {
	return literal("json-arr [TEXT]...", "Print a JSON array of strings", func(_ *cobra.Command, args []string) (string, error) {
		return jq.Array(args), nil
	})
}

// literal is a command that makes JSON of its arguments, which are no flags
// whatever they look like.
func literal(use, short string, f func(cmd *cobra.Command, args []string) (string, error)) *cobra.Command {
	return &cobra.Command{
		Use:                use,
		Short:              short,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			text, err := f(cmd, args)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
			return err
		},
	}
}

func readInput(cmd *cobra.Command) ([]byte, error) {
	text, err := readAtMost(cmd.InOrStdin(), "standard input")
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	return text, nil
}
