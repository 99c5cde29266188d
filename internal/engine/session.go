// Package engine is a session of the protocol engine, a go-sdk server, as
// Conch's transports see it: requests go in under numbers of the transport's
// own, answers and notifications come out.
//
// The engine's own transports round ids and progress tokens, end at input that
// is no message, and say things that are not for clients. This package keeps
// all of that away; what a method means is between the engine and its server.
package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/message"
)

// A Peer is who a session talks to: a transport's connection. Its methods are
// called from goroutines of the engine's, and must not wait for them.
type Peer interface {
	// Answer is what became of the request of that number.
	Answer(number int64, result json.RawMessage, err error)
	// Notify is a notification. ctx is the one it was made under: it has the
	// values of the context that the request it belongs to came with, if that
	// request did not come through the engine.
	Notify(ctx context.Context, method string, params json.RawMessage)
}

// A Session is one session of the engine.
type Session struct {
	peer   Peer
	engine *mcp.ServerSession
	in     chan jsonrpc.Message

	once   sync.Once
	closed chan struct{}
}

// Connect opens a session. One that is not to begin with initialize has been
// initialized, as far as the engine knows: people pipe single requests into
// servers. ctx gives values alone; [Session.End] ends the session.
func Connect(ctx context.Context, server *mcp.Server, peer Peer, initialized bool) (*Session, error) {
	var opts mcp.ServerSessionOptions
	if initialized {
		opts.State = &mcp.ServerSessionState{
			InitializeParams:  &mcp.InitializeParams{ProtocolVersion: message.Revision20251125, Capabilities: &mcp.ClientCapabilities{}, ClientInfo: &mcp.Implementation{}},
			InitializedParams: &mcp.InitializedParams{},
		}
	}
	s := &Session{peer: peer, in: make(chan jsonrpc.Message, 16), closed: make(chan struct{})}
	var err error
	if s.engine, err = server.Connect(context.WithoutCancel(ctx), transport{s}, &opts); err != nil {
		return nil, fmt.Errorf("open a session of the protocol engine: %w", err)
	}
	return s, nil
}

// Engine is the session as the engine's server has it.
func (s *Session) Engine() *mcp.ServerSession { return s.engine }

// Request hands a request to the engine, which answers under the same number.
func (s *Session) Request(number int64, method string, params json.RawMessage) {
	id, _ := jsonrpc.MakeID(float64(number))
	s.send(&jsonrpc.Request{ID: id, Method: method, Params: params})
}

// Notify hands a notification to the engine.
func (s *Session) Notify(method string, params json.RawMessage) {
	s.send(&jsonrpc.Request{Method: method, Params: params})
}

// Cancel has the engine end the request of that number.
func (s *Session) Cancel(number int64) {
	s.Notify("notifications/cancelled", fmt.Appendf(nil, `{"requestId":%d}`, number))
}

// End makes the engine see the end of its input. A nil session has none.
func (s *Session) End() {
	if s != nil {
		s.once.Do(func() { close(s.closed) })
	}
}

func (s *Session) send(m jsonrpc.Message) {
	select {
	case s.in <- m:
	case <-s.closed:
	}
}

// transport is a session as the engine sees it.
type transport struct{ *Session }

// Connect implements [mcp.Transport].
func (t transport) Connect(context.Context) (mcp.Connection, error) { return t, nil }

// SessionID implements [mcp.Connection].
func (t transport) SessionID() string { return "" }

// Close implements [mcp.Connection].
func (t transport) Close() error {
	t.End()
	return nil
}

// Read implements [mcp.Connection].
func (t transport) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-t.in:
		return m, nil
	case <-t.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements [mcp.Connection].
func (t transport) Write(ctx context.Context, m jsonrpc.Message) error {
	switch m := m.(type) {
	case *jsonrpc.Response:
		number, _ := m.ID.Raw().(int64)
		t.peer.Answer(number, m.Result, m.Error)
	case *jsonrpc.Request:
		t.peer.Notify(ctx, m.Method, m.Params)
	}
	return nil
}
