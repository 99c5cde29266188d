package httpd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/conch-mcp/conch/internal/message"
)

// patience is how long the answer to a request in a session may take before it
// becomes a stream, which its client can come back for.
const patience = 200 * time.Millisecond

// maxBatch is how many messages one batch may have.
const maxBatch = 4096

// serveLegacy takes up a message of a client that has a session, or wants one.
func (h *Handler) serveLegacy(w http.ResponseWriter, r *http.Request, m message.Message, work *work) {
	if m.Method == "initialize" && m.Kind == message.Request {
		h.initialize(w, r, m)
		return
	}
	s, why := h.sessionOf(r)
	if why != nil {
		h.refuse(w, r, why.of(m))
		return
	}
	defer s.release()
	if m.Kind != message.Request {
		s.notified(m)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	st := s.newStream(r)
	s.start(st, m, work)
	s.answer(w, r, st, m, false)
}

// takeBatch takes up a batch, if the request is of a session that knows what
// that is. Batches came with revision 2025-03-26 and went with the next.
func (h *Handler) takeBatch(w http.ResponseWriter, r *http.Request, body []byte, work *work) bool {
	isArray := bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte{'['})
	if !isArray || !h.servesLegacy() || saysModern(r.Header) {
		return false
	}
	s, why := h.sessionOf(r)
	if why != nil {
		h.refuse(w, r, why)
		return true
	}
	defer s.release()
	if s.revision != message.Revision20250326 {
		return false
	}
	// Not before: there may be millions of them.
	elements, _ := message.Elements(body)
	if len(elements) == 0 || len(elements) > maxBatch {
		h.fail(w, r, http.StatusBadRequest, &message.Error{
			Code: message.CodeInvalidRequest, Message: fmt.Sprintf("Invalid Request: a batch has 1 to %d messages", maxBatch),
		})
		return true
	}
	h.batch(w, r, s, elements, work)
	return true
}

func (h *Handler) batch(w http.ResponseWriter, r *http.Request, s *session, elements []json.RawMessage, work *work) {
	// One reply more keeps the stream open until all have been started.
	st := s.newStream(r)
	requests := 0
	for _, element := range elements {
		m, err := message.Parse(element)
		if err == nil && m.Method == "initialize" {
			err = &message.Error{Code: message.CodeInvalidRequest, Message: "Invalid Request: initialize must not be part of a batch", ID: m.ID}
		}
		switch {
		case err != nil && m.Kind != message.Request:
		case err != nil:
			requests++
			st.expect()
			st.reply(http.StatusBadRequest, message.ErrorReply(err, true))
		case m.Kind != message.Request:
			s.notified(m)
		default:
			requests++
			st.expect()
			h.startPermitted(r, s, st, m, work)
		}
	}
	st.reply(0, nil)
	if requests == 0 {
		s.forget(st)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	s.answer(w, r, st, message.Message{}, true)
}

// startPermitted starts one request of a batch, if it may be sent.
func (h *Handler) startPermitted(r *http.Request, s *session, st *stream, m message.Message, work *work) {
	if why := h.take(r, m); why != nil {
		st.reply(why.status, message.ErrorReply(&message.Error{Code: why.code, Message: why.text, ID: m.ID}, true))
		return
	}
	s.start(st, m, work)
}

// initialize opens a session, which there is no more than one answer to.
func (h *Handler) initialize(w http.ResponseWriter, r *http.Request, m message.Message) {
	s, why := h.sessions.open(ownerOf(r))
	if why != nil {
		h.refuse(w, r, why.of(m))
		return
	}
	defer s.release()
	m.Params = h.how.heeded(m, false)
	status, reply := h.ask(r.Context(), s.client, m, s.unasked)
	result := message.Member(reply, "result")
	if result == nil {
		h.sessions.abandon(s)
		writeJSON(w, status, reply)
		return
	}
	s.revision = message.Text(message.Member(result, "protocolVersion"))
	s.meet()
	h.sessions.admit(s)
	w.Header().Set(headerSession, s.id)
	writeJSON(w, http.StatusOK, reply)
}

// sessionOf finds the session of a request, which is in use until it is
// released.
func (h *Handler) sessionOf(r *http.Request) (*session, *refusal) {
	if revision, ok := versionOf(r.Header); ok && !slices.Contains(h.opts.Supported(), revision) {
		return nil, refused(http.StatusBadRequest, "MCP-Protocol-Version %q is not served", message.Clip(revision))
	}
	ids := r.Header.Values(headerSession)
	if len(ids) != 1 {
		return nil, refused(http.StatusBadRequest, "There must be one Mcp-Session-Id; initialize gives one; or, since 2026-07-28, a request says its revision in _meta and MCP-Protocol-Version")
	}
	s := h.sessions.find(ids[0], ownerOf(r))
	if s == nil {
		return nil, h.noSession()
	}
	return s, nil
}

// noSession is why nothing is asked in a session that has ended.
func (h *Handler) noSession() *refusal {
	if h.draining.Load() {
		return shuttingDown()
	}
	return refused(http.StatusNotFound, "There is no such session any more; initialize begins a new one")
}

// get reads what a session says unasked, or goes on with a stream that broke
// off.
func (h *Handler) get(w http.ResponseWriter, r *http.Request) {
	if !accepts(r.Header, "text/event-stream") {
		h.refuse(w, r, refused(http.StatusNotAcceptable, "Accept must have text/event-stream"))
		return
	}
	s, why := h.sessionOf(r)
	if why != nil {
		h.refuse(w, r, why)
		return
	}
	defer s.release()
	taken(r)
	st, from, why := s.resume(r.Header.Values(headerEventID))
	if why != nil {
		h.refuse(w, r, why)
		return
	}
	if st == s.unasked {
		defer h.sessions.listen(s)()
	}
	ctx, cancel := s.while(r.Context())
	defer cancel()
	if st == s.unasked {
		defer s.listens()()
	}
	answer{w: w, stream: st, keepAlive: h.opts.KeepAlive, resumable: true, prime: s.primes()}.events(ctx, from)
}

// delete ends a session, and what is at work in it.
func (h *Handler) delete(w http.ResponseWriter, r *http.Request) {
	s, why := h.sessionOf(r)
	if why != nil {
		h.refuse(w, r, why)
		return
	}
	defer s.release()
	h.sessions.end(s)
	w.WriteHeader(http.StatusNoContent)
}
