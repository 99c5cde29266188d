package host

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/call"
	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/message"
)

// mostCompletions is how many values a client gets (MCP, "Completion").
const mostCompletions = 100

// completion is what may complete one argument.
type completion struct {
	function string   // that is asked, if it is there
	values   []string // what the list says
}

// complete answers completion/complete.
func (h *Host) complete(ctx context.Context, params *mcp.CompleteParams) (json.RawMessage, error) {
	if params.Ref == nil {
		return nil, invalidParams("there is no ref")
	}
	c, err := h.completionOf(params.Ref, params.Argument.Name)
	if err != nil {
		return nil, err
	}
	values := withPrefix(c.values, params.Argument.Value)
	if h.opts.Defined(c.function) {
		arguments := map[string]any{}
		if params.Context != nil {
			for name, value := range params.Context.Arguments {
				arguments[name] = value
			}
		}
		arguments["value"] = params.Argument.Value
		data, err := h.completed(ctx, call.Call{Function: c.function, Arguments: object(arguments), Trace: traceIn(params.Meta)})
		if err != nil {
			return nil, err
		}
		values = lines(clean(data))
	}
	var f fields
	f.addRaw("completion", completionResult(values))
	h.addEra(&f, isModern(params.Meta), false)
	return f.object(), nil
}

// completed is what a function prints that completes. Status 1 is that of a search
// which finds nothing, and of a loop whose last test has failed.
func (h *Host) completed(ctx context.Context, c call.Call) ([]byte, error) {
	data, err := h.output(ctx, "Cannot complete", c)
	var failed *statusError
	switch {
	case isNothing(err):
		return nil, nil
	case errors.As(err, &failed) && failed.status == 1:
		return failed.printed, nil
	}
	return data, err
}

func completionResult(values []string) json.RawMessage {
	var f fields
	f.add("values", append([]string{}, values[:min(len(values), mostCompletions)]...))
	f.add("total", len(values))
	f.add("hasMore", len(values) > mostCompletions)
	return f.object()
}

// completionOf finds the argument that is to be completed.
func (h *Host) completionOf(ref *mcp.CompleteReference, argument string) (completion, error) {
	if ref.Type == "ref/prompt" {
		p, err := h.prompt(ref.Name)
		if err != nil {
			return completion{}, err
		}
		for _, a := range p.Arguments {
			if a.Name == argument {
				return promptCompletion(p, a), nil
			}
		}
		return completion{}, invalidParams("the prompt %q has no argument %q", message.Clip(ref.Name), message.Clip(argument))
	}
	resources, err := h.resourcesNow()
	if err != nil {
		return completion{}, h.fileError(err)
	}
	t := resources.LookupTemplate(ref.URI)
	if t == nil || !h.isServed(t.Source) {
		return completion{}, invalidParams("unknown resource template %q", message.Clip(ref.URI))
	}
	if !slices.Contains(t.Variables(), argument) {
		return completion{}, invalidParams("the template %q has no variable %q", message.Clip(ref.URI), message.Clip(argument))
	}
	return templateCompletion(t, argument), nil
}

func promptCompletion(p *catalog.Prompt, a catalog.Argument) completion {
	return completion{"complete_prompt_" + catalog.Identifier(p.Name) + "_" + catalog.Identifier(a.Name), a.Complete}
}

func templateCompletion(t *catalog.Template, variable string) completion {
	return completion{"complete_resource_" + catalog.Identifier(t.Name) + "_" + catalog.Identifier(variable), t.Complete[variable]}
}

// isThere reports whether anything can complete the argument.
func (h *Host) isThere(c completion) bool { return c.values != nil || h.opts.Defined(c.function) }

func (h *Host) completesPrompts(prompts *catalog.Prompts) bool {
	return slices.ContainsFunc(prompts.List, func(p *catalog.Prompt) bool {
		return slices.ContainsFunc(p.Arguments, func(a catalog.Argument) bool { return h.isThere(promptCompletion(p, a)) })
	})
}

func (h *Host) completesTemplates(resources *catalog.Resources) bool {
	return slices.ContainsFunc(resources.Templates, func(t *catalog.Template) bool {
		return slices.ContainsFunc(t.Variables(), func(name string) bool { return h.isThere(templateCompletion(t, name)) })
	})
}

func withPrefix(values []string, prefix string) (found []string) {
	for _, v := range values {
		if strings.HasPrefix(v, prefix) {
			found = append(found, v)
		}
	}
	return found
}

// lines are those of a text that are not empty.
func lines(text string) (found []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			found = append(found, line)
		}
	}
	return found
}
