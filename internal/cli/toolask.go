package cli

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

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
It fails with status 1 when the client cannot ask, or nobody answered.

KIND                   ARG
  form                 the schema of the form, a JSON object
  string               the name of the field (value)
  confirm
  choice               the values to choose from
  multi-choice         the same
  titled-choice        VALUE:TITLE, what to choose from and how it is shown
  titled-multi-choice  the same
  url                  the page that the user is to visit`,
		Args: atLeast(2, "name the KIND and the MESSAGE"),
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
		Args:  cobra.ExactArgs(1),
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
			content := message.Member(result, "content")
			if message.Text(message.Member(content, "type")) == "text" {
				fmt.Fprintln(cmd.OutOrStdout(), message.Text(message.Member(content, "text")))
				return nil
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n", content)
			return nil
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "the name of the question, where the client is to tell it apart")
	cmd.Flags().StringVar(&system, "system", "", "what the model is told beforehand")
	cmd.Flags().IntVar(&maxTokens, "max-tokens", 1000, "how long the answer may be")
	return cmd
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
	question := map[string]any{"method": method, "params": params}
	if key != "" {
		question["key"] = key
	}
	answer, err := sender.Ask(question)
	if err != nil {
		return nil, &exitError{1, err}
	}
	if message.Member(answer, "result") != nil {
		return answer, nil
	}
	return nil, &exitError{1, errors.New(message.Text(message.Member(answer, "error")))}
}

func newToolEmit() *cobra.Command {
	var audience []string
	var priority float64
	cmd := &cobra.Command{
		Use:   "emit image|audio FILE [MIME] | emit resource URI [FILE] [MIME]",
		Short: "Add an image, a sound or a resource to the result",
		Args:  atLeast(2, "name what to add"),
		RunE: func(cmd *cobra.Command, args []string) error {
			item, err := contentItem(args[0], args[1:])
			if err != nil {
				return &exitError{1, err}
			}
			annotations := map[string]any{}
			if len(audience) > 0 {
				annotations["audience"] = audience
			}
			if cmd.Flags().Changed("priority") {
				annotations["priority"] = priority
			}
			if len(annotations) > 0 {
				item["annotations"] = annotations
			}
			return say(talkback.Emit, item)
		},
	}
	cmd.Flags().StringSliceVar(&audience, "audience", nil, "whom it is for: user, assistant or both")
	cmd.Flags().Float64Var(&priority, "priority", 0, "how much it matters, from 0 to 1")
	return cmd
}

// say sends a message, if anybody hears it.
func say(kind string, payload any) error {
	sender, ok := talkback.Here()
	if !ok {
		return nil
	}
	text, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	if err := sender.Say(kind, text); err != nil {
		return &exitError{1, err}
	}
	return nil
}

// contentItem makes a content item of a file.
func contentItem(kind string, args []string) (map[string]any, error) {
	switch kind {
	case "image", "audio":
		data, err := os.ReadFile(args[0])
		if err != nil {
			return nil, err
		}
		return map[string]any{"type": kind, "data": base64.StdEncoding.EncodeToString(data), "mimeType": mimeOf(args[0], data, args[1:])}, nil
	case "resource":
		return resourceItem(args)
	}
	return nil, fmt.Errorf("there is nothing called %q to emit; there is image, audio and resource", kind)
}

// resourceItem embeds a file, or what comes on standard input where none or - is
// named.
func resourceItem(args []string) (map[string]any, error) {
	file := "/dev/stdin"
	if len(args) > 1 && args[1] != "-" {
		file = args[1]
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var given []string
	if len(args) > 2 {
		given = args[2:]
	}
	resource := map[string]any{"uri": args[0], "mimeType": mimeOf(file, data, given)}
	if utf8.Valid(data) {
		resource["text"] = string(data)
	} else {
		resource["blob"] = base64.StdEncoding.EncodeToString(data)
	}
	return map[string]any{"type": "resource", "resource": resource}, nil
}

// mimeOf is the media type that was given, or that the name or the bytes tell.
func mimeOf(file string, data []byte, given []string) string {
	if len(given) > 0 {
		return given[0]
	}
	kind := mime.TypeByExtension(filepath.Ext(file))
	if kind == "" {
		kind = http.DetectContentType(data)
	}
	if kind == "audio/x-wav" || kind == "audio/wave" || kind == "audio/vnd.wave" {
		return "audio/wav"
	}
	kind, _, _ = strings.Cut(kind, ";")
	return kind
}
