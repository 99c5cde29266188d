package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/roots"
	"github.com/conch-mcp/conch/internal/talkback"
)

func newToolRoots() *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:   "roots",
		Short: "Tell which directories are in scope",
		Long: `Roots are the files and directories that are in scope for a client. Its commands
tell them, and judge paths. They use what the call has in MCP_ROOTS_JSON, or ask
the client where it has not been asked yet.

Without a command, the client is asked in any case, and its own answer is
printed as JSON.`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return askClient(cmd, key, "roots/list", map[string]any{})
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the name of the question, where the client is to tell it apart")
	cmd.AddCommand(newRootsList(), newRootsCount(), newRootsContains(), newRootsRequire())
	return cmd
}

func newRootsList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Print the paths of the roots, a line each",
		Args:  takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := rootsHere()
			switch {
			case err != nil:
				return err
			case asJSON:
				fmt.Fprintln(cmd.OutOrStdout(), set.JSON())
			case set.Count() > 0:
				fmt.Fprintln(cmd.OutOrStdout(), set.Paths())
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print an array of objects with uri, name and path")
	return cmd
}

func newRootsCount() *cobra.Command {
	return &cobra.Command{
		Use:   "count",
		Short: "Print how many roots there are",
		Args:  takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := rootsHere()
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), strconv.Itoa(set.Count()))
			return nil
		},
	}
}

func newRootsContains() *cobra.Command {
	return &cobra.Command{
		Use:   "contains PATH",
		Short: "Exit with 0 if a path leads into a root, else with 1",
		Args:  takes(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			set, err := rootsHere()
			if err != nil {
				return err
			}
			path, err := fromHere(args[0])
			if err == nil && set.Contains(path) {
				return nil
			}
			return &exitError{status: 1}
		},
	}
}

func newRootsRequire() *cobra.Command {
	var r requirement
	cmd := &cobra.Command{
		Use:   "require KEY",
		Short: "Print where the path in an argument leads, or end the call",
		Long: `Require reads the call's arguments, a JSON object, from standard input, or takes
those of the call where that has none, and prints where the path leads that is in
KEY. Where that is in no root, or there is no
path, it fails with status 1, and the call gets the error -32602.`,
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			arguments, err := io.ReadAll(cmd.InOrStdin())
			if err != nil {
				return &exitError{1, fmt.Errorf("read the call's arguments: %w", err)}
			}
			if len(arguments) == 0 {
				if arguments, err = givenArguments.text(); err != nil {
					return err
				}
			}
			set, err := rootsHere()
			if err != nil {
				return err
			}
			r.key, r.set = args[0], set
			path, err := r.path(arguments)
			if err != nil {
				return failInvalid(err)
			}
			if path != "" {
				fmt.Fprintln(cmd.OutOrStdout(), path)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&r.single, "default-to-single-root", false, "without a path, take the root, if there is exactly one")
	cmd.Flags().BoolVar(&r.empty, "allow-empty", false, "without a path, print nothing")
	return cmd
}

// requirement is what the path in an argument must be.
type requirement struct {
	key           string
	set           roots.Set
	single, empty bool
}

// path returns where the path leads that is in an object of arguments; "" for no
// path, where there need not be one.
func (r requirement) path(arguments json.RawMessage) (string, error) {
	value := r.argument(arguments)
	if value != nil && string(value) != "null" && value[0] != '"' {
		return "", fmt.Errorf("%s must be a path, which is a string", r.key)
	}
	given := message.Text(value)
	if given == "" {
		return r.without()
	}
	path, err := fromHere(given)
	if err != nil {
		return "", fmt.Errorf("%s: %w", r.key, err)
	}
	place, ok := r.set.Place(path)
	switch {
	case r.set.Count() == 0:
		return "", fmt.Errorf("%s: %.200q cannot be used: there are no roots, so nothing is in scope", r.key, given)
	case !ok:
		return "", fmt.Errorf("%s: %.200q is in none of the roots that are in scope", r.key, given)
	case strings.HasSuffix(place, "\n"):
		// A shell takes that off what it reads, and would have another path.
		return "", fmt.Errorf("%s: %.200q ends with a line break", r.key, given)
	}
	return place, nil
}

// argument finds the member that the key names; "/path" and ".path" are "path".
func (r requirement) argument(arguments json.RawMessage) json.RawMessage {
	if value := message.Member(arguments, r.key); value != nil {
		return value
	}
	return message.Member(arguments, strings.TrimLeft(r.key, "./"))
}

// without is the path where none is given.
func (r requirement) without() (string, error) {
	if root, ok := r.set.Single(); ok && r.single {
		return root, nil
	}
	switch {
	case r.empty:
		return "", nil
	case r.single:
		return "", fmt.Errorf("%s is missing: name a path, since there are %d roots and not one", r.key, r.set.Count())
	}
	return "", fmt.Errorf("%s is missing: name a path", r.key)
}

// failInvalid ends the call with an error about its arguments.
func failInvalid(err error) error {
	if err := say(talkback.Fail, map[string]any{"code": message.CodeInvalidParams, "message": "Invalid params: " + err.Error()}); err != nil {
		return err
	}
	return &exitError{1, err}
}

// fromHere makes a path absolute, by text alone: ".." may come behind a link.
func fromHere(path string) (string, error) {
	if path == "" || filepath.IsAbs(path) {
		return path, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the working directory: %w", err)
	}
	return dir + "/" + path, nil
}

// askRootsVariable is set where the client has roots that it has not been asked
// for.
const askRootsVariable = "CONCH_ASK_ROOTS"

// rootsHere are the roots that are in scope for the call that this is part of.
func rootsHere() (roots.Set, error) {
	text := os.Getenv("MCP_ROOTS_JSON")
	if os.Getenv(askRootsVariable) != "" {
		answer, err := askFully("", "roots/list", map[string]any{})
		if err != nil {
			return roots.Set{}, err
		}
		text = string(message.Member(answer, "roots"))
	}
	if text == "" {
		return roots.Set{}, &exitError{1, errors.New("MCP_ROOTS_JSON does not say which roots there are; is this a call of conch's?")}
	}
	set, err := roots.FromJSON(text)
	if err != nil {
		return roots.Set{}, &exitError{1, fmt.Errorf("MCP_ROOTS_JSON cannot be used: %w", err)}
	}
	return set, nil
}
