package host

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/engine"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/roots"
	"github.com/conch-mcp/conch/internal/shell"
)

// keepers know the roots of the sessions whose clients have some. The zero value
// is ready.
type keepers struct {
	mu        sync.Mutex
	bySession map[*mcp.ServerSession]*roots.Keeper
}

func (k *keepers) of(session *mcp.ServerSession) *roots.Keeper {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.bySession[session]
}

func (k *keepers) enter(session *mcp.ServerSession, keeper *roots.Keeper) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.bySession == nil {
		k.bySession = map[*mcp.ServerSession]*roots.Keeper{}
	}
	k.bySession[session] = keeper
}

func (k *keepers) leave(session *mcp.ServerSession) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.bySession, session)
}

// Meet asks clients that have roots for them: an [engine.Meet].
func (h *Host) Meet(session *mcp.ServerSession, ask engine.Ask) engine.Visit {
	capabilities := capabilitiesOf(session)
	if !declares(capabilities, methodRoots, nil) {
		return engine.Visit{}
	}
	listChanged := message.Member(message.Member(capabilities, "roots"), "listChanged")
	keeper := roots.NewKeeper(roots.Options{
		Fallback: h.opts.Roots, Supported: true, ListChanged: string(listChanged) == "true", Log: h.opts.Log,
		Ask: func(ctx context.Context) ([]roots.ClientRoot, error) {
			result, err := ask(ctx, methodRoots, json.RawMessage(`{}`))
			if err != nil {
				return nil, err
			}
			return parseRoots(result)
		},
	})
	h.keepers.enter(session, keeper)
	return engine.Visit{Notified: func(method string) { tellKeeper(keeper, method) }, End: func() {
		h.keepers.leave(session)
		keeper.Close()
	}}
}

func tellKeeper(keeper *roots.Keeper, method string) {
	switch method {
	case "notifications/initialized":
		keeper.Start()
	case "notifications/roots/list_changed":
		keeper.Changed()
	}
}

// parseRoots reads what a client has answered roots/list with.
func parseRoots(result json.RawMessage) ([]roots.ClientRoot, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(message.Member(result, "roots"), &list); err != nil || list == nil {
		return nil, errors.New("the client's answer has no list of roots")
	}
	named := make([]roots.ClientRoot, len(list))
	for i, root := range list {
		if !isObject(root) {
			return nil, errors.New("in the client's list of roots there is what is no object")
		}
		named[i] = roots.ClientRoot{URI: message.Text(message.Member(root, "uri")), Name: message.Text(message.Member(root, "name"))}
	}
	return named, nil
}

// rootsAsked is what a call of the stateless era knows of its client's roots. The
// client is asked once for each call.
type rootsAsked struct {
	answer  json.RawMessage // for whoever asks; nil as long as there is none
	waiting []question
}

// askRoots has a client of the stateless era asked, unless it has answered; t.mu
// is held.
func (t *talk) askRoots(q question) {
	if answer := t.roots.answer; answer != nil {
		t.answering.Go(func() { t.replyTo(q, answer) })
		return
	}
	t.roots.waiting = append(t.roots.waiting, q)
	if len(t.roots.waiting) == 1 {
		t.call.life.ask(question{key: q.key, method: methodRoots, params: q.params, reply: t.hearRoots})
	}
}

// hearRoots takes an answer, and hands it on to all who wait for it: the client's
// own, and what it comes to.
func (t *talk) hearRoots(answer json.RawMessage) error {
	if result := message.Member(answer, "result"); result != nil {
		answer = t.judgeRoots(result)
	}
	t.mu.Lock()
	waiting := t.roots.waiting
	t.roots.waiting = nil
	if message.Member(answer, "result") != nil {
		t.roots.answer = answer
	}
	t.mu.Unlock()
	for _, q := range waiting {
		t.replyTo(q, answer)
	}
	return nil
}

func (t *talk) judgeRoots(result json.RawMessage) json.RawMessage {
	// Whether it can be read has been looked at: defect.
	named, _ := parseRoots(result)
	set, problems := roots.FromClient(named)
	roots.Warn(t.call.host.opts.Log, problems)
	var f fields
	f.addRaw("result", result)
	f.addRaw("roots", json.RawMessage(set.JSON()))
	return f.object()
}

// inScope tells which roots the call is told of. A client of an older revision
// has been asked already; one of the stateless era is when the tool requires it,
// and else by the tool itself.
func (c toolCall) inScope(ctx context.Context) (shell.Roots, error) {
	switch {
	case c.keeper != nil:
		set := c.keeper.Now(ctx)
		return c.told(set), ctx.Err()
	case c.life == nil || !declares(c.declared(), methodRoots, nil):
		return shell.Roots{}, nil
	case slices.Contains(c.tool.Requires, "roots"):
		set, err := c.askBeforehand(ctx)
		return c.told(set), err
	}
	return shell.Roots{Ask: true}, nil
}

// told is a set as the call gets it. Those of the server's side are there
// already.
func (c toolCall) told(set roots.Set) shell.Roots {
	if set.JSON() == c.host.opts.Roots.JSON() {
		return shell.Roots{}
	}
	return shell.Roots{JSON: set.JSON(), Paths: set.Paths(), Count: set.Count()}
}

// askBeforehand asks a client of the stateless era before the tool begins.
func (c toolCall) askBeforehand(ctx context.Context) (roots.Set, error) {
	answers := make(chan json.RawMessage, 1)
	c.talk.mu.Lock()
	c.talk.askRoots(question{key: "roots", method: methodRoots, params: json.RawMessage(`{}`), reply: func(answer json.RawMessage) error {
		answers <- answer
		return nil
	}})
	c.talk.mu.Unlock()
	select {
	case answer := <-answers:
		if known := message.Member(answer, "roots"); known != nil {
			return roots.FromJSON(string(known))
		}
		return roots.Set{}, errors.New(message.Text(message.Member(answer, "error")))
	case <-ctx.Done():
		return roots.Set{}, ctx.Err()
	}
}
