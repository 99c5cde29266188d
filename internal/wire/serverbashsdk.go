package wire

import (
	"encoding/json"
	"slices"

	"github.com/conch-mcp/conch/internal/message"
)

// ServerBashSDK has a connection behave as scripts written for
// mcp-server-bash-sdk, and their clients, expect it: a request that names no
// revision is told which there are, server/discover is answered whatever it
// names, what has no id is never answered, and every error has one, null where
// none can be told.
type ServerBashSDK struct {
	// OneRequest says that the input is the text of one request, not a stream.
	OneRequest bool
}

func (*ServerBashSDK) judgeText(text []byte) verdict { return plain{}.judgeText(text) }

// judge is as strict as Conch's own, but for what is an object without an id: its
// sender waits for nothing, whatever is wrong with it.
func (*ServerBashSDK) judge(text []byte) verdict {
	v := plain{}.judge(text)
	if v.err == nil {
		return v
	}
	if e, isObject := message.ReadLoosely(text); isObject && !e.HasID {
		v.message.Kind = message.Notification
	}
	return v
}

func (*ServerBashSDK) isBlank(text []byte) bool { return plain{}.isBlank(text) }
func (s *ServerBashSDK) isOneRequest() bool     { return s.OneRequest }
func (*ServerBashSDK) answersLast() bool        { return true }
func (*ServerBashSDK) nullIDs(string) bool      { return true }

// Methods of the framework, and of the older era.
var (
	statelessMethods = []string{"server/discover", "tools/list", "tools/call"}
	sessionMethods   = []string{"initialize", "ping", "tools/list", "tools/call"}
)

func (*ServerBashSDK) isMethod(name string, modern bool) bool {
	if modern {
		return slices.Contains(statelessMethods, name)
	}
	return slices.Contains(sessionMethods, name)
}

// gate looks at the revision alone: what else belongs in a request's metadata was
// never asked for.
func (*ServerBashSDK) gate(m message.Message, meta message.Meta, supported []string) *message.Error {
	switch {
	case m.Method == "server/discover":
		return nil
	case meta.Modern:
		if message.Modern(meta.Revision) && slices.Contains(supported, meta.Revision) {
			return nil
		}
		return message.Unsupported(m.ID, meta.Revision, supported)
	case hasLegacy(supported):
		return nil
	case m.Method == "initialize":
		return message.Unsupported(m.ID, askedAtInitialize(m), supported)
	}
	return message.Unsupported(m.ID, "", supported)
}

// complete is params that lack nothing, for methods that take none.
var complete = json.RawMessage(`{"_meta":{"` + message.MetaProtocolVersion + `":"` + message.Revision20260728 + `","` +
	message.MetaClientCapabilities + `":{}}}`)

func (*ServerBashSDK) heeds(method string, params json.RawMessage, modern bool) (json.RawMessage, bool) {
	if modern {
		return complete, method != "tools/call"
	}
	return heeded(method, params), true
}
