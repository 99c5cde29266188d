package engine

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/message"
)

// A Client asks a session and waits for what it answers, for a transport whose
// requests wait each by itself. It is safe for concurrent use.
type Client struct {
	session *Session
	notify  func(ctx context.Context, method string, params json.RawMessage)

	mu      sync.Mutex
	last    int64
	pending map[int64]chan<- answer
}

type answer struct {
	result json.RawMessage
	err    error
}

// ErrEnded is what requests fail with whose session has ended.
var ErrEnded = errors.New("the session has ended")

// NewClient opens a session; see [Connect]. notify gets its notifications, as
// [Peer.Notify] would.
func NewClient(ctx context.Context, server *mcp.Server, initialized bool, notify func(ctx context.Context, method string, params json.RawMessage)) (*Client, error) {
	c := &Client{notify: notify, pending: map[int64]chan<- answer{}}
	var err error
	c.session, err = Connect(ctx, server, (*clientPeer)(c), initialized)
	return c, err
}

// Do has the engine answer a request. When ctx ends first the request is
// cancelled. An error is one that [Fault] takes.
func (c *Client) Do(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	answers := make(chan answer, 1)
	c.mu.Lock()
	c.last++
	number := c.last
	c.pending[number] = answers
	c.mu.Unlock()
	defer c.forget(number)
	c.session.Request(number, method, params)
	select {
	case a := <-answers:
		return message.Unshield(a.result), a.err
	case <-ctx.Done():
		c.session.Cancel(number)
		return nil, ctx.Err()
	case <-c.session.closed:
		return nil, ErrEnded
	}
}

func (c *Client) forget(number int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pending, number)
}

// Notify hands a notification to the engine.
func (c *Client) Notify(method string, params json.RawMessage) { c.session.Notify(method, params) }

// Engine is the session as the engine's server has it.
func (c *Client) Engine() *mcp.ServerSession { return c.session.Engine() }

// End ends the session.
func (c *Client) End() { c.session.End() }

// clientPeer is a Client as its session sees it.
type clientPeer Client

// Answer implements [Peer].
func (c *clientPeer) Answer(number int64, result json.RawMessage, err error) {
	c.mu.Lock()
	answers := c.pending[number]
	delete(c.pending, number)
	c.mu.Unlock()
	if answers != nil {
		answers <- answer{result, err}
	}
}

// Notify implements [Peer].
func (c *clientPeer) Notify(ctx context.Context, method string, params json.RawMessage) {
	c.notify(ctx, method, params)
}
