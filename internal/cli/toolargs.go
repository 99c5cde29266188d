package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/jq"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/talkback"
)

// newArguments are the commands that read what the call was given.
func newArguments() []*cobra.Command {
	var all []*cobra.Command
	for _, of := range []struct {
		name, text string
		what       given
	}{
		{"args", "the call's arguments", givenArguments},
		{"meta", "the request's _meta", givenMeta},
	} {
		all = append(all, &cobra.Command{
			Use:   of.name + "-raw",
			Short: "Print " + of.text + ", JSON",
			Args:  takes(0, 0),
			RunE: func(cmd *cobra.Command, _ []string) error {
				text, err := of.what.text()
				if err == nil {
					_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\n", text)
				}
				return err
			},
		}, &cobra.Command{
			Use:   of.name + "-get FILTER",
			Short: "Print what a jq filter makes of " + of.text + ", strings as text",
			Args:  takes(1, 1),
			RunE: func(cmd *cobra.Command, args []string) error {
				text, err := of.what.text()
				if err != nil {
					return err
				}
				return quietly(jq.Main(cmd.CommandPath(), []string{"-rc", "--", args[0]},
					jq.Streams{In: bytes.NewReader(text), Out: os.Stdout, Err: os.Stderr}))
			},
		})
	}
	return append(all, newArgsRequire(), newArgsBool(), newArgsInt())
}

// given is what a call was given: by its name on the channel, and by the variables
// that a test of a program sets, with the text or a file that has it.
type given struct{ of, variable, file string }

var (
	givenArguments = given{"arguments", "MCP_TOOL_ARGS_JSON", "MCP_TOOL_ARGS_FILE"}
	givenMeta      = given{"meta", "MCP_TOOL_META_JSON", "MCP_TOOL_META_FILE"}
)

// text is the JSON; {} where nobody has given any.
func (g given) text() ([]byte, error) {
	if sender, ok := talkback.Here(); ok {
		answer, err := sender.Ask(talkback.Given, map[string]any{"of": g.of})
		if err != nil {
			return nil, &exitError{1, err}
		}
		return message.Member(answer, "result"), nil
	}
	if name := os.Getenv(g.file); name != "" {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, &exitError{1, fmt.Errorf("read the file that %s names: %w", g.file, err)}
		}
		return text, nil
	}
	if text := os.Getenv(g.variable); text != "" {
		return []byte(text), nil
	}
	return []byte("{}"), nil
}

// newArgsRequire prints an argument that has to be there.
func newArgsRequire() *cobra.Command {
	return &cobra.Command{
		Use:   "args-require POINTER [MESSAGE]",
		Short: "Print an argument, or end the call with MESSAGE where there is none",
		Long: `Args-require prints the argument that POINTER leads to: its name, or a jq filter.
Where there is none, or it is null or empty, the call ends with the error -32602,
and the status is 1. The same goes for args-bool and args-int.`,
		Args: takes(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			value, err := argumentAt(args[0])
			switch {
			case err != nil:
				return err
			case value != "":
				return printLine(cmd, value)
			case len(args) > 1:
				return refuse("%s", args[1])
			}
			return refuse("%s is required", args[0])
		},
	}
}

func newArgsBool() *cobra.Command {
	var standard string
	cmd := &cobra.Command{
		Use:   "args-bool POINTER",
		Short: "Print an argument that has to be true or false",
		Args:  takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			value, err := argumentAt(args[0])
			if value == "" && cmd.Flags().Changed("default") {
				value = standard
			}
			switch {
			case err != nil:
				return err
			case value == "true" || value == "1":
				return printLine(cmd, "true")
			case value == "false" || value == "0":
				return printLine(cmd, "false")
			case value == "":
				return refuse("%s is required", args[0])
			}
			return refuse("%s must be true or false", args[0])
		},
	}
	cmd.Flags().StringVar(&standard, "default", "", "what it is where it is not given")
	return cmd
}

func newArgsInt() *cobra.Command {
	var least, most, standard int64
	cmd := &cobra.Command{
		Use:   "args-int POINTER",
		Short: "Print an argument that has to be an integer",
		Args:  takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			value, err := argumentAt(args[0])
			if err != nil {
				return err
			}
			n, ok := integer(value)
			switch {
			case value == "" && cmd.Flags().Changed("default"):
				n = standard
			case value == "":
				return refuse("%s is required", args[0])
			case !ok:
				return refuse("%s must be an integer", args[0])
			}
			if n < least {
				return refuse("%s must be >= %d", args[0], least)
			}
			if n > most {
				return refuse("%s must be <= %d", args[0], most)
			}
			return printLine(cmd, strconv.FormatInt(n, 10))
		},
	}
	cmd.Flags().Int64Var(&least, "min", math.MinInt64, "the least it may be")
	cmd.Flags().Int64Var(&most, "max", math.MaxInt64, "the most it may be")
	cmd.Flags().Int64Var(&standard, "default", 0, "what it is where it is not given")
	for _, name := range []string{"min", "max", "default"} {
		annotate(cmd.Flags(), name, FlagDefault, "none")
	}
	return cmd
}

// argumentAt is the argument that a pointer leads to, as text; "" where there is
// none.
func argumentAt(pointer string) (string, error) {
	text, err := givenArguments.text()
	if err != nil {
		return "", err
	}
	filter := pointer
	if isName(pointer) {
		filter = `.["` + pointer + `"]`
	}
	var out bytes.Buffer
	// A newline ends a comment of the filter.
	if jq.Main("", []string{"-rc", "--", "(" + filter + "\n) | values"}, jq.Streams{In: bytes.NewReader(text), Out: &out, Err: io.Discard}) != 0 {
		return "", nil
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// isName reports whether a pointer is the name of an argument: no filter begins
// with a letter, but for functions, which lead to none.
func isName(pointer string) bool {
	for i, c := range pointer {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789.:-", c)) {
			return false
		}
	}
	return pointer != "" && !strings.HasSuffix(pointer, ".")
}

// integer reads an integer of JSON, which has 2.0 and 2e0 for 2 as well.
func integer(text string) (int64, bool) {
	if whole, part, _ := strings.Cut(text, "."); strings.Trim(part, "0") == "" {
		if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
			return n, true
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	const exact = 1 << 53
	return int64(f), err == nil && f == math.Trunc(f) && math.Abs(f) <= exact
}

// refuse ends the call with what is wrong about its arguments.
func refuse(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if err := say(talkback.Fail, map[string]any{"code": message.CodeInvalidParams, "message": text}); err != nil {
		return err
	}
	return &exitError{1, errors.New(text)}
}

func printLine(cmd *cobra.Command, text string) error {
	_, err := fmt.Fprintln(cmd.OutOrStdout(), text)
	return err
}
