package subscription

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/conch-mcp/conch/internal/message"
)

// MethodListen opens a stream of news in the stateless era.
const MethodListen = "subscriptions/listen"

const metaSubscriptionID = "io.modelcontextprotocol/subscriptionId"

// A Listening is a request to listen.
type Listening struct {
	ID     message.ID
	Params json.RawMessage
	Tell   Tell
	End    <-chan struct{} // closed when the server ends it
}

// Listen answers a request to listen: it acknowledges what the client gets to
// hear, and tells it until ctx ends, which the client has done, or the server
// ends it. The result is for the latter. An error is one that engine.Fault takes.
func (h *Hub) Listen(ctx context.Context, r Listening) (json.RawMessage, error) {
	f, err := readFilter(r.Params)
	if err != nil {
		return nil, err
	}
	l, reading := newListener(), h.reading()
	honoured, err := h.honour(ctx, l, f)
	if err != nil {
		return nil, err
	}
	meta := fmt.Sprintf(`{"%s":%s}`, metaSubscriptionID, r.ID.Raw())
	h.enter(l, reading)
	defer h.leave(l)
	r.Tell("notifications/subscriptions/acknowledged", fmt.Appendf(nil, `{"_meta":%s,"notifications":%s}`, meta, honoured))
	h.deliver(ctx, l, r.End, func(n news) { r.Tell(n.method, n.params(meta)) })
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return fmt.Appendf(nil, `{"resultType":"complete","_meta":{"%s":%s,"%s":%s}}`,
		message.MetaServerInfo, h.opts.ServerInfo(), metaSubscriptionID, r.ID.Raw()), nil
}

// params are those of a notification, with metadata unless it is "".
func (n news) params(meta string) json.RawMessage {
	var members []string
	if meta != "" {
		members = append(members, `"_meta":`+meta)
	}
	if n.uri != "" {
		uri, _ := json.Marshal(n.uri)
		members = append(members, `"uri":`+string(uri))
	}
	return json.RawMessage("{" + strings.Join(members, ",") + "}")
}

// filter is what a client wants to hear of.
type filter struct {
	lists []string
	uris  []string
}

// lists by the members of a filter that stand for them, in the order in which
// they are acknowledged.
var members = []struct{ member, list string }{
	{"toolsListChanged", Tools}, {"promptsListChanged", Prompts}, {"resourcesListChanged", Resources},
}

const memberURIs = "resourceSubscriptions"

func readFilter(params json.RawMessage) (f filter, err error) {
	wanted := message.Member(params, "notifications")
	if len(wanted) == 0 || wanted[0] != '{' {
		return f, invalidParams("notifications must be an object")
	}
	for _, m := range members {
		switch raw := message.Member(wanted, m.member); string(raw) {
		case "true":
			f.lists = append(f.lists, m.list)
		case "", "null", "false":
		default:
			return f, invalidParams("notifications.%s must be true or false", m.member)
		}
	}
	raw := message.Member(wanted, memberURIs)
	if raw == nil || string(raw) == "null" {
		return f, nil
	}
	elements, ok := message.Elements(raw)
	for _, e := range elements {
		ok = ok && e[0] == '"'
		f.uris = append(f.uris, message.Text(e))
	}
	switch {
	case !ok:
		return f, invalidParams("notifications.%s must be an array of strings", memberURIs)
	case len(f.uris) > mostURIs:
		return f, invalidParams("notifications.%s has more than %d elements", memberURIs, mostURIs)
	}
	return f, checkURIs(f.uris)
}

// checkURIs holds the URIs of one request to their bounds.
func checkURIs(uris []string) error {
	all := 0
	for _, uri := range uris {
		if len(uri) > longestURI {
			return invalidParams("a URI to subscribe to is longer than %d bytes", longestURI)
		}
		all += len(uri)
	}
	if all > mostBytes {
		return invalidParams("the URIs to subscribe to are more than %d bytes in all; listen in several requests", mostBytes)
	}
	return nil
}

// honour has a listener hear of what it wants and there is, and returns that as
// a filter. It ends early when ctx does: a client that has left wants nothing.
func (h *Hub) honour(ctx context.Context, l *listener, f filter) (json.RawMessage, error) {
	var honoured []string
	for _, m := range members {
		if slices.Contains(f.lists, m.list) && h.opts.Tells(m.list) {
			l.lists[m.list] = true
			honoured = append(honoured, `"`+m.member+`":true`)
		}
	}
	uris, err := h.find(ctx, l, f.uris)
	if err != nil {
		return nil, err
	}
	if len(uris) > 0 {
		text, _ := json.Marshal(uris)
		honoured = append(honoured, fmt.Sprintf("%q:%s", memberURIs, text))
	}
	return json.RawMessage("{" + strings.Join(honoured, ",") + "}"), nil
}

// find has a listener hear of those resources that there are, and returns them.
func (h *Hub) find(ctx context.Context, l *listener, wanted []string) (uris []string, err error) {
	if len(wanted) == 0 || !h.opts.Subscribes() {
		return nil, nil
	}
	for _, uri := range wanted {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if l.has(uri) {
			continue
		}
		if file, ok := h.opts.Find(uri); ok {
			l.uris[uri] = file
			uris = append(uris, uri)
		}
	}
	return uris, nil
}

func invalidParams(format string, args ...any) error {
	return &jsonrpc.Error{Code: message.CodeInvalidParams, Message: "Invalid params: " + fmt.Sprintf(format, args...)}
}
