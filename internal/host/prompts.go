package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/folder"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/shell"
)

// listPrompts answers prompts/list.
func (h *Host) listPrompts(params *mcp.ListPromptsParams) (json.RawMessage, error) {
	params = cmp.Or(params, &mcp.ListPromptsParams{})
	prompts, err := h.promptsNow()
	if err != nil {
		return nil, h.fileError(err)
	}
	var all []listed
	for _, p := range prompts.List {
		if h.isServed(p.Source) {
			all = append(all, listed{p.Name, p.Entry})
		}
	}
	return h.listing("prompts", all, params.Cursor, isModern(params.Meta))
}

// prompt returns a prompt that is served.
func (h *Host) prompt(name string) (*catalog.Prompt, error) {
	prompts, err := h.promptsNow()
	if err != nil {
		return nil, h.fileError(err)
	}
	p := prompts.Lookup(name)
	if p == nil || !h.isServed(p.Source) {
		return nil, invalidParams("unknown prompt %q", message.Clip(name))
	}
	return p, nil
}

// getPrompt answers prompts/get for the engine.
func (h *Host) getPrompt(ctx context.Context, params *mcp.GetPromptParams) (json.RawMessage, error) {
	c := toolCall{host: h, modern: isModern(params.Meta), trace: traceIn(params.Meta)}
	return h.makePrompt(ctx, c, params.Name, params.Arguments)
}

// promptCall returns how a prompts/get is answered that can say and ask things.
func (h *Host) promptCall(params json.RawMessage) (runFunc, error) {
	if !h.has("prompts") {
		return nil, notServed("prompts/get")
	}
	var asked struct {
		Name      string
		Arguments map[string]string
	}
	if json.Unmarshal(params, &asked) != nil {
		return nil, invalidParams("arguments must be an object of strings")
	}
	return func(ctx context.Context, c toolCall) (json.RawMessage, error) {
		return h.makePrompt(ctx, c, asked.Name, asked.Arguments)
	}, nil
}

// makePrompt makes a prompt of what its function says and prints, or of its file.
func (h *Host) makePrompt(ctx context.Context, c toolCall, name string, given map[string]string) (json.RawMessage, error) {
	p, err := h.prompt(name)
	if err != nil {
		return nil, err
	}
	arguments, err := promptArguments(p, given)
	if err != nil {
		return nil, err
	}
	if err := c.begin(ctx, name); err != nil {
		return nil, err
	}
	text, err := h.promptText(ctx, c, p, arguments)
	if fault := c.conclude("Cannot make the prompt"); fault != nil {
		return nil, fault
	}
	if err != nil {
		return nil, err
	}
	var messages []json.RawMessage
	for _, item := range c.emitted() {
		messages = append(messages, userMessage(item))
	}
	if text != "" || len(messages) == 0 {
		messages = append(messages, userMessage(textItem(text)))
	}
	var f fields
	f.addUnlessEmpty("description", p.Description)
	f.addRaw("messages", joinArray(messages))
	h.addEra(&f, c.modern, false)
	return f.object(), nil
}

// emitted are the items that a function has said are its result, as its client's
// revision knows them.
func (c toolCall) emitted() (items []json.RawMessage) {
	if c.talk == nil {
		return nil
	}
	if v := c.talk.verdict; v != nil {
		items = append(items, textItem(string(v.structured)))
	}
	for _, item := range c.talk.items {
		items = append(items, c.known(item))
	}
	return items
}

// promptArguments are the arguments given that a prompt takes.
func promptArguments(p *catalog.Prompt, given map[string]string) (map[string]any, error) {
	arguments := map[string]any{}
	for _, a := range p.Arguments {
		value, ok := given[a.Name]
		switch {
		case ok:
			arguments[a.Name] = value
		case a.Required:
			return nil, invalidParams("the prompt %q needs the argument %q", message.Clip(p.Name), message.Clip(a.Name))
		}
	}
	return arguments, nil
}

func (h *Host) promptText(ctx context.Context, c toolCall, p *catalog.Prompt, arguments map[string]any) (string, error) {
	const what = "Cannot make the prompt"
	data, err := h.contentOf(ctx, what, p.Source, c.function(p.Function, object(arguments)))
	switch {
	case errors.Is(err, shell.ErrNUL):
		return "", invalidParams("%v", err)
	case errors.Is(err, errNothing):
		return "", invalidParams("the prompt %q has nothing for these arguments", message.Clip(p.Name))
	case errors.Is(err, folder.ErrAbsent):
		return "", cannot(what, "its file is not there")
	case err != nil:
		return "", err
	case p.File == "":
		return clean(data), nil
	}
	text, ok := fill(clean(data), p, arguments, h.mostBytes())
	if !ok {
		return "", cannot(what, fmt.Sprintf("with these arguments it is larger than %d bytes, the limit set by --max-output", h.mostBytes()))
	}
	return text, nil
}

// placeholder is the place of an argument in the file of a prompt.
var placeholder = regexp.MustCompile(`\{\{[ \t]*([^{}\s]+)[ \t]*\}\}`)

// fill puts arguments into a text, whose values are left as they are. What no
// argument has the name of stays, and one that is not given is empty. ok is false
// when that is more than so many bytes: a place costs little, and its value may be
// large.
func fill(text string, p *catalog.Prompt, arguments map[string]any, most int64) (filled string, ok bool) {
	var b strings.Builder
	from := 0
	for _, at := range placeholder.FindAllStringSubmatchIndex(text, -1) {
		value, known := valueOf(p, arguments, text[at[2]:at[3]])
		if !known {
			continue
		}
		b.WriteString(text[from:at[0]])
		if from = at[1]; int64(b.Len()+len(value)) > most {
			return "", false
		}
		b.WriteString(value)
	}
	b.WriteString(text[from:])
	return b.String(), int64(b.Len()) <= most
}

// valueOf is what was given for an argument, "" for nothing; known is false when a
// prompt takes none of that name.
func valueOf(p *catalog.Prompt, arguments map[string]any, name string) (value string, known bool) {
	value, _ = arguments[name].(string)
	return value, slices.ContainsFunc(p.Arguments, func(a catalog.Argument) bool { return a.Name == name })
}

// userMessage is a message of the user's with a content item.
func userMessage(content json.RawMessage) json.RawMessage {
	var f fields
	f.add("role", "user")
	f.addRaw("content", content)
	return f.object()
}
