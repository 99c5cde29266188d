package httpd

import (
	"context"
	"net/http"

	"github.com/conch-mcp/conch/internal/message"
)

// serveModern answers a message of the stateless era. Whoever leaves before it
// is answered has it cancelled.
func (h *Handler) serveModern(w http.ResponseWriter, r *http.Request, m message.Message, meta message.Meta) {
	if err := h.checkModern(r, m, meta); err != nil {
		h.fail(w, r, h.how.status(err.Code), err)
		return
	}
	if m.Kind == message.Notification {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if !h.sessions.begin(nil) {
		h.refuse(w, r, shuttingDown().of(m))
		return
	}
	defer h.sessions.done(nil)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.ctx, cancel)()
	st := newStream(&h.answers, 0, 1)
	st.header, st.owner = r.Header, ownerOf(r)
	defer st.free()
	asked := m
	asked.Params = h.how.heeded(m, true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		status, reply := h.askModern(ctx, asked, st)
		h.reply(st, status, asked, reply)
	}()
	how := answer{w: w, stream: st, patience: h.opts.KeepAlive, keepAlive: h.opts.KeepAlive}.write(ctx)
	if how == nothing && h.ctx.Err() != nil {
		// Who has left does not get it.
		h.refuse(w, r, shuttingDown().of(m))
	}
	cancel()
	<-done
}

// checkModern tells what is wrong with a message before it is answered.
func (h *Handler) checkModern(r *http.Request, m message.Message, meta message.Meta) *message.Error {
	switch m.Kind {
	case message.Response:
		return &message.Error{Code: message.CodeInvalidRequest, Message: "Invalid Request: nothing was asked that this could answer", ID: m.ID}
	case message.Notification:
		return checkHeaders(r.Header, m, r.Header.Get(headerVersion))
	}
	if err := h.how.gate(r.Header, m, meta, h.opts.Supported()); err != nil {
		return err
	}
	if tool := toolName(m); tool != "" {
		if reason := h.opts.CheckParams(tool, arguments(m), r.Header); reason != "" {
			return mismatch(m.ID, "%s", reason)
		}
	}
	return nil
}
