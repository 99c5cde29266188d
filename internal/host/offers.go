package host

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/catalog"
	"github.com/conch-mcp/conch/internal/folder"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/talkback"
)

// offered finds what answers a request about resources and prompts; nil stands
// for what is not served, which is all that no capability speaks of.
func (h *Host) offered(req mcp.Request) func(context.Context) (json.RawMessage, error) {
	if h.opts.Manner.isVerbatim() {
		return nil
	}
	if read, ok := req.(*mcp.ReadResourceRequest); ok && read.Params != nil {
		if kept := h.kept(read.Params.URI, isModern(read.Params.Meta)); kept != nil {
			return func(context.Context) (json.RawMessage, error) { return kept, nil }
		}
	}
	capability, answer := h.answerTo(req)
	if answer == nil || !h.has(capability) {
		return nil
	}
	return answer
}

func (h *Host) answerTo(req mcp.Request) (capability string, answer func(context.Context) (json.RawMessage, error)) {
	switch req := req.(type) {
	case *mcp.ListResourcesRequest:
		return "resources", func(context.Context) (json.RawMessage, error) { return h.listResources(req.Params) }
	case *mcp.ListResourceTemplatesRequest:
		return "resources", func(context.Context) (json.RawMessage, error) { return h.listTemplates(req.Params) }
	case *mcp.ReadResourceRequest:
		return "resources", func(ctx context.Context) (json.RawMessage, error) { return h.readResource(ctx, req.Params) }
	case *mcp.ListPromptsRequest:
		return "prompts", func(context.Context) (json.RawMessage, error) { return h.listPrompts(req.Params) }
	case *mcp.GetPromptRequest:
		return "prompts", func(ctx context.Context) (json.RawMessage, error) { return h.getPrompt(ctx, req.Params) }
	case *mcp.CompleteRequest:
		return "completions", func(ctx context.Context) (json.RawMessage, error) { return h.complete(ctx, req.Params) }
	}
	return "", nil
}

// has reports whether the server says that it has a capability.
func (h *Host) has(capability string) bool {
	return message.Member(h.capabilities(h.configOrNone()), capability) != nil
}

// Notify has the server say that it tells clients of changes, which is for those
// to see to who serve clients.
func (h *Host) Notify() { h.notifies.Store(true) }

// Hear takes what a process of the server's says outside of calls: that a resource
// is another.
func (h *Host) Hear(m talkback.Message) {
	uri := message.Text(message.Member(m.Payload, "uri"))
	if m.Kind != talkback.Updated || uri == "" {
		h.unheard.Warn("ignored what the script said: it makes no sense", "kind", message.Clip(m.Kind))
		return
	}
	if tell := h.updated.Load(); tell != nil {
		(*tell)(uri)
	}
}

// OnUpdated has tell called for each resource of which the script says that it is
// another now. It must not wait.
func (h *Host) OnUpdated(tell func(uri string)) { h.updated.Store(&tell) }

// Tells reports whether clients are told of changes to "tools", "prompts" or
// "resources".
func (h *Host) Tells(list string) bool { return h.says(list, "listChanged") }

// Subscribes reports whether clients may subscribe to resources.
func (h *Host) Subscribes() bool { return h.says("resources", "subscribe") }

func (h *Host) says(capability, member string) bool {
	if !h.notifies.Load() || h.opts.Manner.isVerbatim() {
		return false
	}
	own := message.Member(h.capabilities(h.configOrNone()), capability)
	return string(message.Member(own, member)) == "true"
}

// ownCapabilities are those of a server that says nothing of its own.
func (h *Host) ownCapabilities() json.RawMessage {
	changes := map[string]any{}
	if h.notifies.Load() {
		changes["listChanged"] = true
	}
	var f fields
	f.add("logging", struct{}{})
	f.add("tools", changes)
	resources, err := h.resourcesNow()
	switch {
	case err != nil || !resources.Absent:
		subscribe := map[string]any{}
		if h.notifies.Load() {
			subscribe = map[string]any{"listChanged": true, "subscribe": true}
		}
		f.add("resources", subscribe)
	case h.opts.Long.Keeper != nil:
		// Results may have links to what is kept, and clients read nothing of a
		// server that does not say that it has resources.
		f.add("resources", struct{}{})
	}
	prompts, promptsErr := h.promptsNow()
	if promptsErr != nil || !prompts.Absent {
		f.add("prompts", changes)
	}
	if err == nil && h.completesTemplates(resources) || promptsErr == nil && h.completesPrompts(prompts) {
		f.add("completions", struct{}{})
	}
	return f.object()
}

func (h *Host) resourcesNow() (*catalog.Resources, error) {
	resources, err := h.opts.Resources()
	h.note("resources list", err)
	if err == nil {
		h.tellProblems("resources list", resources, func() []string { return h.resourceProblems(resources) })
	}
	return resources, err
}

func (h *Host) promptsNow() (*catalog.Prompts, error) {
	prompts, err := h.opts.Prompts()
	h.note("prompts list", err)
	if err == nil {
		h.tellProblems("prompts list", prompts, func() []string { return h.promptProblems(prompts) })
	}
	return prompts, err
}

// otherProblems tells what is wrong with the lists besides that of the tools.
func (h *Host) otherProblems() (problems []string) {
	if resources, err := h.opts.Resources(); err != nil {
		problems = append(problems, err.Error())
	} else {
		problems = append(problems, h.resourceProblems(resources)...)
	}
	if prompts, err := h.opts.Prompts(); err != nil {
		problems = append(problems, err.Error())
	} else {
		problems = append(problems, h.promptProblems(prompts)...)
	}
	return problems
}

func (h *Host) resourceProblems(resources *catalog.Resources) []string {
	problems := append([]string{}, resources.Problems...)
	for _, r := range resources.List {
		problems = append(problems, h.sourceProblem("resources", r.URI, r.Source, true)...)
	}
	for _, t := range resources.Templates {
		problems = append(problems, h.sourceProblem("resource templates", t.URITemplate(), t.Source, false)...)
	}
	return problems
}

func (h *Host) promptProblems(prompts *catalog.Prompts) []string {
	problems := append([]string{}, prompts.Problems...)
	for _, p := range prompts.List {
		problems = append(problems, h.sourceProblem("prompts", p.Name, p.Source, true)...)
	}
	return problems
}

// sourceProblem tells what keeps an entry from being served. The file of a
// template is known only with its variables.
func (h *Host) sourceProblem(list, key string, s catalog.Source, fixed bool) []string {
	switch {
	case s.File == "" && !h.opts.Defined(s.Function):
		return []string{fmt.Sprintf("the %s list declares %s, but there is no function %s; it is not served", list, key, s.Function)}
	case s.File != "" && fixed:
		if _, err := folder.Read(h.opts.Folder, s.File, h.mostBytes()); err != nil {
			return []string{fmt.Sprintf("the %s list declares %s with the file %s, which cannot be read: %v", list, key, s.File, err)}
		}
	}
	return nil
}

// isServed reports whether there is what an entry's content comes from. A file
// may come and go.
func (h *Host) isServed(s catalog.Source) bool { return s.File != "" || h.opts.Defined(s.Function) }
