package cli

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/talkback"
)

// errNoCall ends what makes no sense outside of calls.
var errNoCall = errors.New("this is no call of a tool's: there is nobody to ask")

// newToolElicit asks the user.
func newToolElicit() *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use:   "elicit KIND MESSAGE [ARG...]",
		Short: "Ask the user, and print the answer as JSON",
		Long: `Elicit has the client ask its user, waits, and prints {"action":…,"content":…}.
It fails with status 4 when the client cannot ask such a thing, with 1 when nobody
answered, and with 2 when the question is none.

KIND                   ARG
  form                 the schema of the form, a JSON object
  string               the name of the field (value)
  confirm
  choice               the values to choose from
  multi-choice         the same
  titled-choice        VALUE:TITLE, what to choose from and how it is shown
  titled-multi-choice  the same
  url                  the page that the user is to visit`,
		Args: takes(2, maxWords),
		RunE: func(cmd *cobra.Command, args []string) error {
			params, err := elicitation(args[0], args[1], args[2:])
			if err != nil {
				return err
			}
			return askClient(cmd, key, "elicitation/create", params)
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the name of the question, where the client is to tell it apart")
	return cmd
}

// elicitation makes the params of elicitation/create.
func elicitation(kind, text string, args []string) (any, error) {
	form := func(schema any) any { return map[string]any{"message": text, "requestedSchema": schema} }
	value := func(schema any) any {
		return form(map[string]any{"type": "object", "properties": map[string]any{"value": schema}, "required": []string{"value"}})
	}
	switch kind {
	case "form":
		if len(args) != 1 || !json.Valid([]byte(args[0])) {
			return nil, errors.New("a form has one SCHEMA, a JSON object")
		}
		return form(json.RawMessage(args[0])), nil
	case "string":
		name := "value"
		if len(args) > 0 {
			name = args[0]
		}
		return form(map[string]any{"type": "object", "properties": map[string]any{name: map[string]any{"type": "string"}}, "required": []string{name}}), nil
	case "confirm":
		return form(map[string]any{"type": "object", "properties": map[string]any{"confirmed": map[string]any{"type": "boolean"}}, "required": []string{"confirmed"}}), nil
	case "choice":
		return value(map[string]any{"type": "string", "enum": args}), needSome(args)
	case "multi-choice":
		return value(map[string]any{"type": "array", "items": map[string]any{"type": "string", "enum": args}}), needSome(args)
	case "titled-choice":
		return value(map[string]any{"type": "string", "oneOf": titled(args)}), needSome(args)
	case "titled-multi-choice":
		return value(map[string]any{"type": "array", "items": map[string]any{"anyOf": titled(args)}}), needSome(args)
	case "url":
		if len(args) != 1 {
			return nil, errors.New("name the URL that the user is to visit")
		}
		return map[string]any{"mode": "url", "message": text, "url": args[0], "elicitationId": elicitationID(args[0])}, nil
	}
	return nil, fmt.Errorf("there is no kind %q; see conch tool elicit --help", kind)
}

func needSome(options []string) error {
	if len(options) == 0 {
		return errors.New("name what there is to choose from")
	}
	return nil
}

// titled are options of the form VALUE:TITLE.
func titled(options []string) []map[string]string {
	var all []map[string]string
	for _, option := range options {
		value, title, ok := strings.Cut(option, ":")
		if !ok {
			title = value
		}
		all = append(all, map[string]string{"const": value, "title": title})
	}
	return all
}

// elicitationID is the same when a call is run again.
func elicitationID(url string) string { return base64.RawURLEncoding.EncodeToString([]byte(url)) }

func newToolSample() *cobra.Command {
	var key, system string
	var maxTokens int
	cmd := &cobra.Command{
		Use:   "sample PROMPT",
		Short: "Ask the client's model, and print what it answers",
		Args:  takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			params := map[string]any{
				"messages":  []any{map[string]any{"role": "user", "content": map[string]string{"type": "text", "text": args[0]}}},
				"maxTokens": maxTokens,
			}
			if system != "" {
				params["systemPrompt"] = system
			}
			result, err := ask(key, "sampling/createMessage", params)
			if err != nil {
				return err
			}
			return printLine(cmd, modelText(message.Member(result, "content")))
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the name of the question, where the client is to tell it apart")
	cmd.Flags().StringVar(&system, "system", "", "what the model is told beforehand")
	cmd.Flags().IntVar(&maxTokens, "max-tokens", 1000, "how long the answer may be")
	return cmd
}

// modelText is the text of what a model answered, or, where it is not all text, its
// JSON.
func modelText(content json.RawMessage) string {
	blocks, many := message.Elements(content)
	if !many {
		blocks = []json.RawMessage{content}
	}
	text := ""
	for _, block := range blocks {
		if message.Text(message.Member(block, "type")) != "text" {
			return string(content)
		}
		text += message.Text(message.Member(block, "text"))
	}
	return text
}

func askClient(cmd *cobra.Command, key, method string, params any) error {
	result, err := ask(key, method, params)
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%s\n", result)
	return nil
}

// ask has the client asked, and returns its result.
func ask(key, method string, params any) (json.RawMessage, error) {
	answer, err := askFully(key, method, params)
	return message.Member(answer, "result"), err
}

// askFully has the client asked, and returns its result and what comes with it.
func askFully(key, method string, params any) (json.RawMessage, error) {
	sender, ok := talkback.Here()
	if !ok {
		return nil, &exitError{1, errNoCall}
	}
	question := map[string]any{"method": method, "params": params, "asker": os.Getenv("CONCH_ASKER")}
	if key != "" {
		question["key"] = key
	}
	answer, err := sender.Ask(talkback.Ask, question)
	if err != nil {
		return nil, &exitError{1, err}
	}
	if message.Member(answer, "result") != nil {
		return answer, nil
	}
	status, err := strconv.Atoi(string(message.Member(answer, "status")))
	if err != nil {
		status = 1
	}
	return nil, &exitError{status, errors.New(message.Text(message.Member(answer, "error")))}
}
