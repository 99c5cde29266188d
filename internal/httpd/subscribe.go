package httpd

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/subscription"
)

// maxHeard is how many bytes a stream of news keeps once they have been written.
const maxHeard = 16 << 10

// askModern has a request of the stateless era answered. One that listens is
// answered beside the engine, for as long as its client stays.
func (h *Handler) askModern(ctx context.Context, m message.Message, st *stream) (status int, reply []byte) {
	if m.Method != subscription.MethodListen || h.opts.Hub == nil {
		return h.ask(ctx, h.modern, m, st)
	}
	if int(h.listens.Add(1)) > h.opts.MaxSessions {
		h.listens.Add(-1)
		return h.response(m, nil, &jsonrpc.Error{Code: message.CodeInternalError, Message: "As many requests listen already as may (--max-sessions); try again later"})
	}
	defer h.listens.Add(-1)
	// It waits, and keeps nobody else from being answered.
	h.giveSlot()
	defer h.slots.Add(1)
	result, err := h.opts.Hub.Listen(ctx, subscription.Listening{ID: m.ID, Params: m.Params, End: h.ending, Tell: func(method string, params json.RawMessage) {
		st.tell(message.NotificationText(method, params))
		st.shed(st.kept() - maxHeard)
	}})
	return h.response(m, result, err)
}

// ask has a request answered; what subscribes to changes, beside the engine.
func (s *session) ask(ctx context.Context, m message.Message, st *stream) (status int, reply []byte) {
	if s.hearing == nil || !s.handler.opts.Hub.Serves(m.Method) {
		return s.handler.ask(ctx, s.client, m, st)
	}
	result, err := s.hearing.Answer(m.Method, m.Params)
	return s.handler.response(m, result, err)
}

// join has the session's client hear of what it subscribes to.
func (s *session) join() *subscription.Session {
	if s.handler.opts.Hub == nil {
		return nil
	}
	return s.handler.opts.Hub.Join(s.ctx, func(method string, params json.RawMessage) {
		s.unasked.tell(message.NotificationText(method, params))
		s.trim()
	})
}

// initialized takes up a notification: a client that has been initialized is told
// of changes to lists.
func (s *session) initialized(method string) {
	if s.hearing != nil && method == "notifications/initialized" {
		s.hearing.Ready()
	}
}
