package host

import (
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/conch-mcp/conch/internal/message"
)

// fault tells why a question is one that no client could be put; "" for one that
// can be. A form is flat: each property is a string, a number, true or false, or a
// choice (MCP, "Elicitation", "Requested Schema").
func (q question) fault() string {
	if q.method != methodElicit {
		return ""
	}
	if message.Text(message.Member(q.params, "message")) == "" {
		return "the question has no text"
	}
	if message.Text(message.Member(q.params, "mode")) == "url" {
		return urlFault(message.Text(message.Member(q.params, "url")))
	}
	form := message.Member(q.params, "requestedSchema")
	properties := message.Member(form, "properties")
	if !isObject(form) || message.Text(message.Member(form, "type")) != "object" || !isObject(properties) {
		return `the form must be a schema with "type":"object" and "properties"`
	}
	fault := ""
	message.EachMember(properties, func(name string, schema json.RawMessage) {
		if fault == "" && !isFieldSchema(schema) {
			fault = fmt.Sprintf("the form's property %q is not of the kinds that there are: a string, a number, an integer, a boolean, or a choice of strings", message.Clip(name))
		}
	})
	return fault
}

func urlFault(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return fmt.Sprintf("the page must be an http or https URL, not %.100q", text)
	}
	return ""
}

func isFieldSchema(schema json.RawMessage) bool {
	if !isObject(schema) {
		return false
	}
	switch message.Text(message.Member(schema, "type")) {
	case "string", "number", "integer", "boolean":
		return true
	case "array":
		items := message.Member(schema, "items")
		return isObject(items) && (message.Member(items, "enum") != nil || message.Member(items, "anyOf") != nil)
	}
	return false
}

// inRevision is the question as a client of a revision can be put it; why tells
// that it cannot be. Before 2025-11-25 forms have no lists to choose several of,
// and choices are titled by enumNames.
func (q question) inRevision(revision string) (_ question, why string) {
	if q.method != methodElicit || revision == "" || revision >= message.Revision20251125 {
		return q, ""
	}
	form := message.Member(q.params, "requestedSchema")
	var properties fields
	message.EachMember(message.Member(form, "properties"), func(name string, schema json.RawMessage) {
		if message.Text(message.Member(schema, "type")) == "array" {
			why = "the client cannot be asked this: in its revision of the protocol, nobody can choose several things"
		}
		properties.addRaw(name, withEnumNames(schema))
	})
	q.params = message.ReplaceMember(q.params, "requestedSchema", message.ReplaceMember(form, "properties", properties.object()))
	return q, why
}

// withEnumNames is a field's schema with its titled choices as older revisions
// have them.
func withEnumNames(schema json.RawMessage) json.RawMessage {
	var choices []struct{ Const, Title string }
	if json.Unmarshal(message.Member(schema, "oneOf"), &choices) != nil || len(choices) == 0 {
		return schema
	}
	values, titles := []string{}, []string{}
	for _, c := range choices {
		values, titles = append(values, c.Const), append(titles, c.Title)
	}
	var f fields
	message.EachMember(schema, func(name string, value json.RawMessage) {
		if name != "oneOf" {
			f.addRaw(name, value)
		}
	})
	f.add("enum", values)
	f.add("enumNames", titles)
	return f.object()
}
