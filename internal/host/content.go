package host

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/message"
)

// resultWith is a result of content items.
func (c toolCall) resultWith(items []json.RawMessage, structured json.RawMessage, isError bool) json.RawMessage {
	var f fields
	f.addRaw("content", joinArray(c.presented(items)))
	if structured != nil && hasStructured(c.modern, c.revision, isObject(structured)) {
		f.addRaw("structuredContent", structured)
	}
	f.add("isError", isError)
	if c.modern {
		f.addModern(c.host.serverInfo(c.host.configOrNone()))
	}
	return f.object()
}

// hasStructured reports whether a revision has structured content, objects or
// other: since 2025-06-18, and until 2026-07-28 objects alone.
func hasStructured(modern bool, revision string, isObject bool) bool {
	return modern || isObject && (revision == "" || revision >= message.Revision20250618)
}

// document is what a tool with an outputSchema has printed, if it is one JSON
// document.
func document(text string) json.RawMessage {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || !json.Valid([]byte(trimmed)) {
		return nil
	}
	return json.RawMessage(trimmed)
}

// isContent reports whether a tool's own JSON is an item of content: clients
// refuse a whole result over one that is none.
func isContent(item json.RawMessage) bool {
	if !isObject(item) || !isAnnotated(item) || !isTyped(item) {
		return false
	}
	switch message.Text(message.Member(item, "type")) {
	case "text":
		return haveText(item, "text")
	case "image", "audio":
		data := message.Text(message.Member(item, "data"))
		_, err := base64.StdEncoding.DecodeString(data)
		return err == nil && haveText(item, "data", "mimeType")
	case "resource_link":
		return haveText(item, "uri", "name")
	case "resource":
		resource := message.Member(item, "resource")
		return isObject(resource) && haveText(resource, "uri") && (haveText(resource, "text") || haveText(resource, "blob"))
	}
	return false
}

// isTyped reports whether the members that an item may have besides are of their
// types.
func isTyped(item json.RawMessage) bool {
	var result mcp.CallToolResult
	return json.Unmarshal(slices.Concat([]byte(`{"content":[`), item, []byte(`]}`)), &result) == nil
}

// haveText reports whether all these members of an object are strings.
func haveText(object json.RawMessage, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		value := message.Member(object, name)
		return len(value) == 0 || value[0] != '"'
	})
}

// isAnnotated reports whether an item's annotations, if it has any, are some.
func isAnnotated(item json.RawMessage) bool {
	raw := message.Member(item, "annotations")
	if raw == nil {
		return true
	}
	var a struct {
		Audience []string
		Priority float64
	}
	if !isObject(raw) || json.Unmarshal(raw, &a) != nil || a.Priority < 0 || a.Priority > 1 {
		return false
	}
	return !slices.ContainsFunc(a.Audience, func(who string) bool { return who != "user" && who != "assistant" })
}

// presented is content as the client gets it: no longer than it may be, and of
// types that its revision has.
func (c toolCall) presented(items []json.RawMessage) []json.RawMessage {
	all := make([]json.RawMessage, 0, len(items))
	for _, item := range items {
		all = append(all, c.shortened(item)...)
	}
	for i, item := range all {
		all[i] = c.known(item)
	}
	return all
}

// known is an item, or a text in its place where the client's revision does not
// know its type.
func (c toolCall) known(item json.RawMessage) json.RawMessage {
	if c.modern || c.revision == "" {
		return item
	}
	switch kind := message.Text(message.Member(item, "type")); {
	case kind == "audio" && c.revision < message.Revision20250326:
		return textItem(fmt.Sprintf("[a sound, %s]", message.Text(message.Member(item, "mimeType"))))
	case kind == "resource_link" && !c.knowsLinks():
		return textItem(message.Text(message.Member(item, "name")) + ": " + message.Text(message.Member(item, "uri")))
	}
	return item
}

// knowsLinks reports whether the client's revision has links to resources.
func (c toolCall) knowsLinks() bool {
	return c.modern || c.revision == "" || c.revision >= message.Revision20250618
}
