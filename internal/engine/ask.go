package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/message"
)

// An AnswerError is what a client has answered a request with that it does not
// grant.
type AnswerError struct{ Answer json.RawMessage }

func (e *AnswerError) Error() string {
	return "the client refused: " + message.Clip(message.Text(message.Member(e.Answer, "message")))
}

// Ask sends a client a request, and waits for its result.
type Ask func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)

// Meet tells of a client that has initialized a session, and can be sent requests
// in it. Whoever has told it tells the [Visit] what comes of it.
type Meet func(session *mcp.ServerSession, ask Ask) Visit

// A Visit is a client's session, of which is told that a notification has come
// and that it has ended. End waits for what asks the client. The zero value is of
// a client in whom nobody takes an interest.
type Visit struct {
	Notified func(method string)
	End      func()
}

// ErrGone is that a client will not answer any more.
var ErrGone = errors.New("the client is gone")

// Asked are the requests that a server has sent to one client, in a revision in
// which servers do that, and waits to be answered. It is safe for concurrent
// use; the zero value is ready.
type Asked struct {
	mu      sync.Mutex
	last    int
	waiting map[string]chan message.Message
	ended   bool
}

// Ask sends a request, which send does with its text, and waits for the answer.
// When ctx ends first, the client is told.
func (a *Asked) Ask(ctx context.Context, method string, params json.RawMessage, send func(text []byte)) (json.RawMessage, error) {
	answers := make(chan message.Message, 1)
	id, ok := a.enter(answers)
	if !ok {
		return nil, ErrGone
	}
	defer a.leave(id)
	send(message.RequestText(id, method, params))
	select {
	case m, ok := <-answers:
		switch {
		case !ok:
			return nil, ErrGone
		case m.Result == nil:
			return nil, &AnswerError{m.Error}
		}
		return m.Result, nil
	case <-ctx.Done():
		send(message.NotificationText("notifications/cancelled", fmt.Appendf(nil, `{"requestId":%q}`, id)))
		return nil, ctx.Err()
	}
}

func (a *Asked) enter(answers chan message.Message) (id string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return "", false
	}
	if a.waiting == nil {
		a.waiting = map[string]chan message.Message{}
	}
	a.last++
	id = "conch-" + strconv.Itoa(a.last)
	a.waiting[id] = answers
	return id, true
}

func (a *Asked) leave(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, id)
}

// Answer takes a client's response; false when it answers nothing that was
// asked.
func (a *Asked) Answer(m message.Message) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	id := message.Text(json.RawMessage(m.ID.Raw()))
	answers := a.waiting[id]
	if answers == nil {
		return false
	}
	delete(a.waiting, id)
	answers <- m
	return true
}

// End has all that waits be told that no answer comes any more.
func (a *Asked) End() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	for id, answers := range a.waiting {
		delete(a.waiting, id)
		close(answers)
	}
}
