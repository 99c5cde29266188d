package httpd

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/conch-mcp/conch/internal/message"
)

// A refusal is why an HTTP request is not taken up.
type refusal struct {
	status    int
	code      int           // of the JSON-RPC error in the body
	text      string        // what was wrong, and what to do
	retry     time.Duration // when to try again; 0 says nothing
	challenge string        // how to authenticate; "" says nothing
	id        message.ID    // of the request that is refused, where it has been read
}

// of says which request is refused.
func (why *refusal) of(m message.Message) *refusal {
	if m.Kind == message.Request {
		why.id = m.ID
	}
	return why
}

func refused(status int, format string, args ...any) *refusal {
	return &refusal{status: status, code: message.CodeInvalidRequest, text: fmt.Sprintf(format, args...)}
}

// busy refuses what may be taken up a moment later.
func busy(text string) *refusal {
	return &refusal{status: http.StatusServiceUnavailable, code: message.CodeInternalError, text: text, retry: time.Second}
}

func shuttingDown() *refusal { return busy("The server is shutting down") }

// A Denial is why a request is not for its sender to make.
type Denial struct {
	Status     int
	Message    string
	Challenge  string        // the WWW-Authenticate header; "" is none
	RetryAfter time.Duration // 0 says nothing
}

func (d *Denial) refusal() *refusal {
	return &refusal{status: d.Status, code: message.CodeInvalidRequest, text: d.Message, retry: d.RetryAfter, challenge: d.Challenge}
}

// Deny answers a request that is not for its sender to make.
func (h *Handler) Deny(w http.ResponseWriter, r *http.Request, why *Denial) {
	h.refuse(w, r, why.refusal())
}

// refuse answers what is not taken up. The body is one of the protocol's: older
// clients take any other for the sign of a server older than themselves.
func (h *Handler) refuse(w http.ResponseWriter, r *http.Request, why *refusal) {
	if why.retry > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((why.retry+time.Second-1)/time.Second)))
	}
	if why.challenge != "" {
		w.Header().Set("WWW-Authenticate", why.challenge)
	}
	h.fail(w, r, why.status, &message.Error{Code: why.code, Message: why.text, ID: why.id})
}
