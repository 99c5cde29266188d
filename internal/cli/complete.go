package cli

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/invocation"
)

// completionTime is how long somebody may wait behind the Tab key.
const completionTime = 3 * time.Second

// completeCall completes what stands behind conch call: a tool of the script, its
// parameters, and their values. Nothing is printed that the shell would show.
func completeCall(flags *serverFlags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
		// Cobra adds a dash behind all of them.
		if dash := cmd.ArgsLenAtDash(); len(args) == 0 || dash >= 0 && dash < len(args) {
			return nil, cobra.ShellCompDirectiveDefault
		}
		ctx, cancel := context.WithTimeout(context.Background(), completionTime)
		defer cancel()
		s, err := startQuietly(ctx, args[0], *flags)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer s.close()
		tools, err := s.lists.readTools()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if len(args) == 1 {
			return toolNames(tools), cobra.ShellCompDirectiveNoFileComp
		}
		tool := tools.Lookup(args[1])
		if tool == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return s.completeArgument(ctx, tool, args[2:], word)
	}
}

// startQuietly starts a server that prints nothing, whatever its script does.
func startQuietly(ctx context.Context, script string, flags serverFlags) (*server, error) {
	if err := checkTarget(script); err != nil {
		return nil, err
	}
	p, err := newPlace()
	if err != nil {
		return nil, err
	}
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		p.lifeline.Close()
		return nil, err
	}
	defer nowhere.Close()
	p.stderr = nowhere
	return p.start(ctx, script, nil, flags)
}

func toolNames(tools *catalog.Tools) (names []cobra.Completion) {
	for _, tool := range tools.List {
		names = append(names, cobra.CompletionWithDesc(tool.Name, firstLine(tool.Description)))
	}
	return names
}

// property is what completion knows of a parameter.
type property struct {
	Type        json.RawMessage
	Description string
	Enum        []json.RawMessage
}

// completeArgument completes NAME=TEXT and NAME:=JSON.
func (s *server) completeArgument(ctx context.Context, tool *catalog.Tool, given []string, word string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var schema struct{ Properties json.RawMessage }
	_ = json.Unmarshal(tool.InputSchema, &schema)
	var properties map[string]property
	_ = json.Unmarshal(schema.Properties, &properties)
	name, _, hasValue := strings.Cut(word, "=")
	if !hasValue {
		return parameterNames(schema.Properties, properties, given), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	values := s.choices(ctx, tool, strings.TrimSuffix(name, ":"))
	for _, value := range properties[strings.TrimSuffix(name, ":")].Enum {
		values = append(values, valueText(value, strings.HasSuffix(name, ":")))
	}
	if len(values) == 0 {
		// It may be a path.
		return nil, cobra.ShellCompDirectiveDefault
	}
	for i := range values {
		values[i] = name + "=" + values[i]
	}
	return values, cobra.ShellCompDirectiveNoFileComp
}

// parameterNames are those that are not given yet, with what parts them from their
// values.
func parameterNames(schema json.RawMessage, properties map[string]property, given []string) (names []cobra.Completion) {
	for _, name := range keys(schema) {
		isGiven := slices.ContainsFunc(given, func(arg string) bool {
			return strings.HasPrefix(arg, name+"=") || strings.HasPrefix(arg, name+":=")
		})
		if isGiven {
			continue
		}
		p := properties[name]
		sign := ":="
		if kind := string(p.Type); kind == `"string"` || kind == "" {
			sign = "="
		}
		names = append(names, cobra.CompletionWithDesc(printable(name)+sign, firstLine(p.Description)))
	}
	return names
}

func valueText(value json.RawMessage, asJSON bool) string {
	if asJSON {
		return printable(string(value))
	}
	return printable(invocation.TextOf(value))
}

// choices are the values that a function of the script's prints for a parameter, a
// line each.
func (s *server) choices(ctx context.Context, tool *catalog.Tool, parameter string) (values []string) {
	if tool.Suggest == nil {
		return nil
	}
	v := tool.Suggest(parameter)
	if v == nil {
		return nil
	}
	outcome, err := s.runner.Run(ctx, call.Call{Function: "complete_" + tool.Name, Arguments: json.RawMessage(`{}`), Invocation: v})
	if err != nil || outcome.End != call.Returned || outcome.Status != 0 {
		return nil
	}
	for line := range strings.Lines(string(outcome.Output)) {
		if line = strings.TrimRight(line, "\n"); line != "" {
			values = append(values, printable(line))
		}
	}
	return values
}
