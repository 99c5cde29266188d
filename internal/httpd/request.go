package httpd

import (
	"context"
	"net/http"

	"github.com/conch-mcp/conch/internal/message"
)

// A request is what becomes known of an HTTP request while it is answered, for
// those that stand before the endpoint.
type request struct {
	sender Sender
	method string // of the protocol
	tool   string // that is called
	taken  func() // called once its body is there, for it is at work then
}

type requestKey struct{}

func withRequest(ctx context.Context, req *request) context.Context {
	return context.WithValue(ctx, requestKey{}, req)
}

// requestOf returns what is known of a request; of one that nobody stands before
// nothing is.
func requestOf(ctx context.Context) *request {
	if req, ok := ctx.Value(requestKey{}).(*request); ok {
		return req
	}
	return &request{}
}

// A Sender is who sends a request.
type Sender struct {
	Name string // "" is anybody; a session is for one name alone
	// Permit tells why a tool may not be called; nil permits all.
	Permit func(tool string) *Denial
}

func ownerOf(r *http.Request) string { return requestOf(r.Context()).sender.Name }

// taken tells that nothing more of a request is to come.
func taken(r *http.Request) {
	if f := requestOf(r.Context()).taken; f != nil {
		f()
	}
}

// note tells which message a request has brought.
func note(ctx context.Context, m message.Message) {
	req := requestOf(ctx)
	req.method, req.tool = message.Clip(m.Method), message.Clip(toolName(m))
}
