// Package manner is what scripts of other frameworks, and their clients, expect
// of the protocol where they expect something else than it says, and do so on
// every transport.
//
// It judges messages. It knows no transport, and nothing of tools.
package manner

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/conch-mcp/conch/internal/message"
)

// ServerBashSDK is the manner of mcp-server-bash-sdk: a request that names no
// revision is told which there are, server/discover is answered whatever it
// names, and what has no id is never answered.
type ServerBashSDK struct{}

// Judge finds the message in a JSON document. It is as strict as Conch's own way,
// but for what is an object without an id: its sender waits for nothing, whatever
// is wrong with it.
func (ServerBashSDK) Judge(text []byte) (message.Message, *message.Error) {
	m, err := message.Parse(text)
	if err == nil {
		return m, nil
	}
	if e, isObject := message.ReadLoosely(text); isObject && !e.HasID {
		m.Kind = message.Notification
	}
	return m, err
}

// Methods of the framework, and of the older era.
var (
	statelessMethods = []string{"server/discover", "tools/list", "tools/call"}
	sessionMethods   = []string{"initialize", "ping", "tools/list", "tools/call"}
)

// IsMethod tells what may be a request from what never is.
func (ServerBashSDK) IsMethod(name string, modern bool) bool {
	if modern {
		return slices.Contains(statelessMethods, name)
	}
	return slices.Contains(sessionMethods, name)
}

// Gate reports what keeps a request from being served in its era. It looks at the
// revision alone: what else belongs in a request's metadata was never asked for.
func (ServerBashSDK) Gate(m message.Message, meta message.Meta, supported []string) *message.Error {
	switch {
	case m.Method == "server/discover":
		return nil
	case meta.Modern:
		if message.Modern(meta.Revision) && slices.Contains(supported, meta.Revision) {
			return nil
		}
		return message.Unsupported(m.ID, meta.Revision, supported)
	case slices.ContainsFunc(supported, func(r string) bool { return !message.Modern(r) }):
		return nil
	case m.Method == "initialize":
		return message.Unsupported(m.ID, message.Text(message.Member(m.Params, "protocolVersion")), supported)
	}
	return message.Unsupported(m.ID, "", supported)
}

// complete is params that lack nothing, for methods that take none.
var complete = json.RawMessage(`{"_meta":{"` + message.MetaProtocolVersion + `":"` + message.Revision20260728 + `","` +
	message.MetaClientCapabilities + `":{}}}`)

// Heeded is what the engine is to see in the place of a request's params.
func (ServerBashSDK) Heeded(method string, params json.RawMessage, modern bool) json.RawMessage {
	if !modern {
		return Heeded(method, params)
	}
	if method == "tools/call" {
		return params
	}
	return complete
}

// Heeded is what the engine is to see of the params of a request of the older
// era, where nobody has ever looked at the rest.
func Heeded(method string, params json.RawMessage) json.RawMessage {
	switch method {
	case "initialize":
		revision, _ := json.Marshal(message.Text(message.Member(params, "protocolVersion")))
		return fmt.Appendf(nil, `{"protocolVersion":%s,"capabilities":{},"clientInfo":{"name":"","version":""}}`, revision)
	case "ping", "tools/list":
		return nil
	}
	return params
}
