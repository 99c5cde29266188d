// Package httpd is MCP over HTTP: one endpoint for clients of every revision
// (MCP, "Transports", "Streamable HTTP").
//
// A request of the stateless era stands for itself. Older clients begin with
// initialize and have a session, whose answers they can come back for when a
// connection breaks. What a method means is the engine's to know, as in package
// wire; who may speak at all is decided by package access.
package httpd

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/subscription"
)

// Options say what is served and within which bounds.
type Options struct {
	Path      string // of the endpoint
	Server    *mcp.Server
	Supported func() []string // the protocol revisions served now, newest first
	CallTool  engine.CallTool
	Meet      engine.Meet // is told of clients that can be asked; nil for nobody
	// CheckParams tells where the Mcp-Param-… headers of a call of a tool differ
	// from its arguments; "" is nowhere.
	CheckParams func(tool string, arguments json.RawMessage, header http.Header) string
	// Admit tells who sends a request, or why it may not be sent. Nil asks nobody.
	Admit func(r *http.Request) (Sender, *Denial)
	// ServerBashSDK has the endpoint behave as scripts written for
	// mcp-server-bash-sdk, and their clients, expect it.
	ServerBashSDK bool
	// Hub tells clients of changes; nil tells them of nothing.
	Hub *subscription.Hub
	// Legacy has older clients served too, in sessions.
	Legacy bool

	MaxRequests    int           // that are answered at once
	MaxBody        int64         // bytes of one body
	MaxBodies      int64         // bytes of all bodies at once
	MaxAnswers     int64         // bytes of all answers that are not yet read
	KeepAlive      time.Duration // between comments on a stream
	SessionTimeout time.Duration // for a session that nobody uses
	MaxSessions    int

	Log *slog.Logger
}

// A Handler serves the endpoint.
type Handler struct {
	opts     Options
	how      how
	modern   *engine.Client
	sessions *sessions
	bodies   budget
	answers  budget
	ctx      context.Context // ends when nothing may go on any more
	cancel   context.CancelFunc
	slots    atomic.Int64 // requests being answered
	draining atomic.Bool
	listens  atomic.Int64  // requests that listen
	ending   chan struct{} // closed when nothing may begin any more
	endOnce  sync.Once
}

// New returns a Handler. It works until it is closed.
func New(opts Options) (*Handler, error) {
	h := &Handler{opts: opts, how: plain{}, ending: make(chan struct{})}
	if opts.ServerBashSDK {
		h.how = serverBashSDK{}
	}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.bodies.left.Store(opts.MaxBodies)
	h.answers.left.Store(opts.MaxAnswers)
	h.sessions = newSessions(h)
	var err error
	h.modern, err = engine.NewClient(h.ctx, opts.Server, false, notifyStream)
	return h, err
}

// Drain lets no request begin any more, and waits for those at work until ctx
// ends. It reports whether all have ended.
func (h *Handler) Drain(ctx context.Context) bool {
	h.stopTaking()
	return h.sessions.wait(ctx)
}

// Close ends what is at work, and every session.
func (h *Handler) Close() {
	h.stopTaking()
	h.cancel()
	h.sessions.close()
	h.modern.End()
}

func (h *Handler) stopTaking() {
	h.draining.Store(true)
	h.endOnce.Do(func() { close(h.ending) })
}

// Sessions is how many sessions there are.
func (h *Handler) Sessions() int { return h.sessions.count() }

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !h.how.asksOfHTTP() && !h.takes(r):
		h.refuseMethod(w, r)
	case r.URL.Path != h.opts.Path:
		h.refuse(w, r, refused(http.StatusNotFound, "There is nothing here; the endpoint is %s", h.opts.Path))
	case r.Method == http.MethodPost:
		h.admitted(w, r, h.post)
	case h.inSession(r) && r.Method != http.MethodPost && r.ContentLength != 0:
		h.refuse(w, r, refused(http.StatusBadRequest, "%s has no body here", message.Clip(r.Method)))
	case h.inSession(r) && r.Method == http.MethodGet:
		h.admitted(w, r, h.get)
	case h.inSession(r) && r.Method == http.MethodDelete:
		h.admitted(w, r, h.delete)
	default:
		h.refuseMethod(w, r)
	}
}

// takes reports whether there is anything that a request's method may ask for.
func (h *Handler) takes(r *http.Request) bool {
	return r.Method == http.MethodPost || h.inSession(r) && (r.Method == http.MethodGet || r.Method == http.MethodDelete)
}

func (h *Handler) refuseMethod(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Allow", h.allowed())
	h.refuse(w, r, refused(http.StatusMethodNotAllowed, "%s is not allowed here", message.Clip(r.Method)))
}

// admitted has a request answered, if its sender may send one.
func (h *Handler) admitted(w http.ResponseWriter, r *http.Request, serve http.HandlerFunc) {
	if h.opts.Admit != nil {
		sender, why := h.opts.Admit(r)
		if why != nil {
			h.Deny(w, r, why)
			return
		}
		requestOf(r.Context()).sender = sender
	}
	serve(w, r)
}

// inSession reports whether a request may belong to a session. Those of the
// stateless era have none, whatever they say.
func (h *Handler) inSession(r *http.Request) bool {
	return h.servesLegacy() && r.Header.Get(headerSession) != "" && !saysModern(r.Header)
}

func (h *Handler) servesLegacy() bool {
	return h.opts.Legacy && slices.ContainsFunc(h.opts.Supported(), func(r string) bool { return !message.Modern(r) })
}

func (h *Handler) allowed() string {
	if h.servesLegacy() {
		return "GET, POST, DELETE"
	}
	return "POST"
}

// post takes up a POST, whose body is one message, or in a session of revision
// 2025-03-26 a batch of them.
func (h *Handler) post(w http.ResponseWriter, r *http.Request) {
	if why := h.checkPost(r); why != nil {
		h.refuse(w, r, why)
		return
	}
	body, release, why := h.readBody(w, r)
	if why != nil {
		h.refuse(w, r, why)
		return
	}
	if !h.takeSlot() {
		release()
		h.refuse(w, r, busy("The server has as many requests as it takes at once (--max-requests)"))
		return
	}
	work := newWork(func() {
		release()
		h.giveSlot()
	})
	defer work.done()
	taken(r)
	if err := message.Check(body); err != nil {
		err.Message = strings.ReplaceAll(err.Message, "JSON document per line", "JSON document in the body")
		h.fail(w, r, http.StatusBadRequest, err)
		return
	}
	m, err := h.how.judge(body)
	if err != nil && m.Kind == message.Notification && h.opts.ServerBashSDK {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if err != nil {
		if h.takeBatch(w, r, body, work) {
			return
		}
		h.fail(w, r, http.StatusBadRequest, err)
		return
	}
	if why := h.take(r, m); why != nil {
		h.refuse(w, r, why.of(m))
		return
	}
	h.message(w, r, m, work)
}

// take notes which message a request has brought, and tells why it may not be
// sent.
func (h *Handler) take(r *http.Request, m message.Message) *refusal {
	note(r.Context(), m)
	tool, permit := toolName(m), requestOf(r.Context()).sender.Permit
	if tool == "" || permit == nil {
		return nil
	}
	if why := permit(tool); why != nil {
		return why.refusal()
	}
	return nil
}

func (h *Handler) takeSlot() bool {
	if int(h.slots.Add(1)) <= h.opts.MaxRequests {
		return true
	}
	h.giveSlot()
	return false
}

func (h *Handler) giveSlot() { h.slots.Add(-1) }

// checkPost tells why a POST is not even read.
func (h *Handler) checkPost(r *http.Request) *refusal {
	switch {
	case h.draining.Load():
		return shuttingDown()
	case !h.how.asksOfHTTP():
		return nil
	case !isJSON(r.Header):
		return refused(http.StatusUnsupportedMediaType, "Content-Type must be application/json")
	case isEncoded(r.Header):
		return refused(http.StatusUnsupportedMediaType, "No Content-Encoding is taken; send the JSON as it is")
	case !accepts(r.Header, "application/json") || !accepts(r.Header, "text/event-stream"):
		return refused(http.StatusNotAcceptable, "Accept must have both application/json and text/event-stream")
	}
	return nil
}

// message takes up one message.
func (h *Handler) message(w http.ResponseWriter, r *http.Request, m message.Message, work *work) {
	meta := message.ReadMeta(m.Params)
	if h.isModern(r.Header, m, meta) {
		h.serveModern(w, r, m, meta)
		return
	}
	h.serveLegacy(w, r, m, work)
}

// isModern tells the era of a message. Without older clients there is one alone.
func (h *Handler) isModern(header http.Header, m message.Message, meta message.Meta) bool {
	return meta.Modern || saysModern(header) || m.Method == "server/discover" || !h.servesLegacy()
}

// fail answers with an error of the protocol's.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, status int, err *message.Error) {
	writeJSON(w, status, message.ErrorReply(err, h.how.nullIDs(r.Header)))
}

// ask has a request answered, and returns the response and the status that goes
// with it.
func (h *Handler) ask(ctx context.Context, client *engine.Client, m message.Message, st *stream) (status int, reply []byte) {
	var result json.RawMessage
	var err error
	ctx = withStream(ctx, st)
	if engine.IsCall(m.Method) {
		result, err = h.opts.CallTool(ctx, engine.ToolCall{
			Method: m.Method, Session: client.Engine(), Params: m.Params, Meta: message.Member(m.Params, "_meta"), Revision: st.revision, Trace: traceOf(st.header, m.Params), Queued: func() {},
			Notify: func(method string, params json.RawMessage) { notifyStream(ctx, method, params) },
			Ask:    st.asks(), Owner: st.owner,
		})
	} else {
		result, err = client.Do(ctx, m.Method, m.Params)
	}
	return h.response(m, result, err)
}

// response is what came of a request, and the status that goes with it.
func (h *Handler) response(m message.Message, result json.RawMessage, err error) (status int, reply []byte) {
	if errors.Is(err, context.Canceled) && h.ctx.Err() != nil {
		// It was ended with the server, and that may be known before the connection is.
		why := shuttingDown().of(m)
		return why.status, message.ErrorReply(&message.Error{Code: why.code, Message: why.text, ID: m.ID}, false)
	}
	if err != nil {
		fault := engine.Fault(m.Method, m.ID, err)
		return h.how.status(fault.Code), message.ErrorReply(fault, false)
	}
	return http.StatusOK, message.Reply(m.ID, result)
}

// reply puts the response to a request on a stream, or where there is no room
// for it, why there is none.
func (h *Handler) reply(st *stream, status int, m message.Message, reply []byte) {
	if h.answers.has(len(reply)) {
		st.reply(status, reply)
		return
	}
	h.opts.Log.Warn("an answer was let go of, since clients do not read theirs", "method", message.Clip(m.Method), "bytes", len(reply))
	fault := &message.Error{Code: message.CodeInternalError, Message: "The server holds too many answers that nobody has read; try again", ID: m.ID}
	st.reply(http.StatusServiceUnavailable, message.ErrorReply(fault, false))
}

type streamKey struct{}

// withStream has what is said about a request go to its stream.
func withStream(ctx context.Context, st *stream) context.Context {
	return context.WithValue(ctx, streamKey{}, st)
}

// notifyStream sends a notification on the stream of the request that it is
// about; one about none goes nowhere.
func notifyStream(ctx context.Context, method string, params json.RawMessage) {
	if st, ok := ctx.Value(streamKey{}).(*stream); ok {
		st.tell(message.NotificationText(method, params))
	}
}
