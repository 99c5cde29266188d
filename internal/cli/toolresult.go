package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/talkback"
)

// newToolResult makes the whole result.
func newToolResult() *cobra.Command {
	return &cobra.Command{
		Use:   "result success|error [JSON]",
		Short: `Make the result {"success":true,"result":JSON}, or false and "error"`,
		Long: `Result makes the call's whole result, in place of what it prints and emits: an
object with success, and result or error, as structured content and as a text.
JSON that is left out, or is -, is read from standard input.`,
		Args: takes(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "success" && args[0] != "error" {
				return fmt.Errorf("a result is success or error, not %q", args[0])
			}
			value, err := jsonArgument(cmd, args, 1)
			if err != nil {
				return &exitError{1, err}
			}
			return say(talkback.Result, map[string]any{"success": args[0] == "success", "value": string(value)})
		},
	}
}

// newToolError tells a model what went wrong.
func newToolError() *cobra.Command {
	var problem struct {
		Type    string `json:"type"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
		Data    string `json:"data,omitempty"`
	}
	cmd := &cobra.Command{
		Use:   "error TYPE MESSAGE",
		Short: "Make the result an error that a model can mend",
		Args:  takes(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			problem.Type, problem.Message = args[0], args[1]
			if problem.Data != "" && !json.Valid([]byte(problem.Data)) {
				return errors.New("--data must be JSON")
			}
			return say(talkback.Problem, problem)
		},
	}
	cmd.Flags().StringVar(&problem.Hint, "hint", "", "what to do about it")
	cmd.Flags().StringVar(&problem.Data, "data", "", "more of it, `JSON`")
	return cmd
}

// newToolFail ends the call with an error of the protocol. Its arguments are no
// flags, since codes are negative.
func newToolFail() *cobra.Command {
	return &cobra.Command{
		Use:                "fail CODE MESSAGE [DATA]",
		DisableFlagParsing: true,
		Short:              "Make the call an error of the protocol, DATA being JSON, and exit with 1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			if len(args) < 2 || len(args) > 3 {
				return errors.New("name the CODE and the MESSAGE of the error")
			}
			code, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || code == 0 {
				return fmt.Errorf("CODE must be an integer other than 0, not %q", args[0])
			}
			return sayFailure(code, args[1:])
		},
	}
}

// newToolFailInvalid is fail for the arguments of the call.
func newToolFailInvalid() *cobra.Command {
	return &cobra.Command{
		Use:   "fail-invalid-args MESSAGE [DATA]",
		Short: "The same with the code for arguments that cannot be used, -32602",
		Args:  takes(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			return sayFailure(message.CodeInvalidParams, args)
		},
	}
}

// sayFailure makes the call an error. args are its message and its data.
func sayFailure(code int64, args []string) error {
	failure := map[string]any{"code": code, "message": args[0]}
	if len(args) > 1 {
		if !json.Valid([]byte(args[1])) {
			return errors.New("DATA must be JSON")
		}
		failure["data"] = args[1]
	}
	if err := say(talkback.Fail, failure); err != nil {
		return err
	}
	return &exitError{status: 1}
}

func newToolUpdated() *cobra.Command {
	return &cobra.Command{
		Use:   "resource-updated URI",
		Short: "Tell clients who asked to hear of it that a resource is another",
		Args:  takes(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			sender, ok := talkback.Updates()
			if !ok {
				return nil
			}
			return tell(sender, talkback.Updated, map[string]any{"uri": args[0]})
		},
	}
}
