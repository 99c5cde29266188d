package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/talkback"
)

// newTool is what programs of a call use, in whatever language, to say more than
// they print.
func newTool() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tool",
		Short: "Say more than a tool prints, from within a call",
		Long: `Tool is for programs that a tool runs: each of its commands does what the shell
function of the same name does (mcp_progress, mcp_elicit, …), in any language.
Outside of a call what is said goes nowhere, and what is asked fails.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("there is no conch tool %s; see conch tool --help", args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newToolProgress(), newToolLog(), newToolEmit(), newToolElicit(), newToolSample(), newToolRoots(), newToolCancelled())
	cmd.AddCommand(newToolResult(), newToolError(), newToolFail(), newToolFailInvalid(), newToolUpdated())
	cmd.AddCommand(newIsValidJSON(), newJSONTruncate(), newJSONEscape(), newJSONObj(), newJSONArr())
	cmd.AddCommand(newArguments()...)
	return cmd
}

func newToolProgress() *cobra.Command {
	return &cobra.Command{
		Use:   "progress CURRENT [MESSAGE [TOTAL]]",
		Short: "Tell the client how far the call is",
		Args:  takes(1, 3),
		RunE: func(_ *cobra.Command, args []string) error {
			progress := map[string]any{"progress": json.RawMessage(args[0])}
			if len(args) > 1 {
				progress["message"] = args[1]
			}
			if len(args) > 2 {
				progress["total"] = json.RawMessage(args[2])
			}
			if _, err := json.Marshal(progress); err != nil {
				return errors.New("CURRENT and TOTAL must be numbers")
			}
			return say(talkback.Progress, progress)
		},
	}
}

// logLevels are those of MCP ("Logging").
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

func newToolLog() *cobra.Command {
	return &cobra.Command{
		Use:   "log LEVEL LOGGER JSON",
		Short: "Log, and tell a client that wants to hear of it",
		Args:  takes(3, 3),
		RunE: func(_ *cobra.Command, args []string) error {
			if !json.Valid([]byte(args[2])) {
				return errors.New("what is logged must be JSON")
			}
			level := args[0]
			if level == "warn" {
				level = "warning"
			}
			if !slices.Contains(logLevels, level) {
				return fmt.Errorf("there is no level %q; there are %s", args[0], strings.Join(logLevels, ", "))
			}
			return say(talkback.Log, map[string]string{"level": level, "logger": args[1], "json": args[2]})
		},
	}
}

func newToolCancelled() *cobra.Command {
	return &cobra.Command{
		Use:   "is-cancelled",
		Short: "Exit with 0 once the call is being made to end, else with 1",
		Args:  takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			if sender, ok := talkback.Here(); ok && sender.IsCancelled() {
				return nil
			}
			return &exitError{status: 1}
		},
	}
}

// say sends a message, if anybody hears it.
func say(kind string, payload any) error {
	sender, ok := talkback.Here()
	if !ok {
		return nil
	}
	return tell(sender, kind, payload)
}

func tell(sender talkback.Sender, kind string, payload any) error {
	text, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	if err := sender.Say(kind, text); err != nil {
		return &exitError{1, err}
	}
	return nil
}
