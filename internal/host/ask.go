package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/schema"
	"github.com/conch-mcp/conch/internal/talkback"
)

// A question is what a call wants to know of its client: one of the requests
// that servers make (MCP, "Elicitation", "Sampling", "Roots").
type question struct {
	key    string
	method string
	params json.RawMessage
	reply  func(answer json.RawMessage) error
}

// parseQuestion reads a question. Its key is the same when the call is run again,
// also where it names none and several are asked at once.
func (t *talk) parseQuestion(m talkback.Message) (q question, ok bool) {
	var asked struct {
		Key, Method, Asker string
		Params             json.RawMessage
	}
	if json.Unmarshal(m.Payload, &asked) != nil || capabilityFor(asked.Method, nil) == "" || !isObject(asked.Params) {
		return q, false
	}
	delete(t.askers, asked.Asker)
	q = question{key: asked.Key, method: asked.Method, params: asked.Params}
	q.reply = func(answer json.RawMessage) error {
		t.mu.Lock()
		t.open--
		t.mu.Unlock()
		return m.Reply.Send(t.asking, answer)
	}
	t.open++
	if q.key == "" {
		sum := sha256.Sum256([]byte(q.method + "\x00" + string(q.params)))
		q.key = "q-" + hex.EncodeToString(sum[:6])
	}
	q.key = t.freeKey(q.key)
	return q, true
}

// freeKey is a key that no question has had: who asks again is to be answered
// again.
func (t *talk) freeKey(key string) string {
	if t.asked == nil {
		t.asked = map[string]int{}
	}
	free := key
	for t.asked[free] > 0 {
		t.asked[key]++
		free = fmt.Sprintf("%s-%d", key, t.asked[key])
	}
	t.asked[free]++
	return free
}

// answer gives the asker what the client has said.
func (t *talk) answerWith(q question, result json.RawMessage) {
	t.background(func() { t.replyTo(q, json.RawMessage(`{"result":`+string(result)+`}`)) })
}

// refuse tells the asker that there is no answer, and why.
func (t *talk) refuse(q question, why string) {
	text, _ := json.Marshal(map[string]string{"error": why})
	t.replyTo(q, text)
}

// Statuses with which whoever asks ends, where it is not for want of an answer.
const (
	statusFaulty = 2 // the question is none
	statusUnable = 4 // the client is none that can be asked it; 3 says that there is no such resource
)

// unable tells the asker that the client cannot be asked, and why.
func unable(why string) json.RawMessage {
	return marshal(map[string]any{"error": why, "status": statusUnable})
}

// faulty tells the asker that its question is none, which is the author's fault
// and no client's.
func faulty(fault string) json.RawMessage {
	return marshal(map[string]any{"error": fault, "status": statusFaulty})
}

func (t *talk) replyTo(q question, answer json.RawMessage) {
	if err := q.reply(answer); err != nil && t.asking.Err() == nil {
		t.call.host.opts.Log.Warn("cannot hand an answer to the call", "tool", t.call.tool.Name, "err", err)
	}
}

// attempts is how often a client is asked that answers what was not asked.
const attempts = 3

// ask asks the client, or has it asked; t.mu is held.
func (t *talk) ask(m talkback.Message) bool {
	q, ok := t.parseQuestion(m)
	if !ok {
		return false
	}
	c := t.call
	q, why := q.inRevision(c.revision)
	if lacking := c.cannotAsk(q); lacking != "" {
		why = "the client cannot be asked this: " + lacking
	}
	switch fault := q.fault(); {
	case t.open > maxQuestions:
		t.answering.Go(func() { t.refuse(q, fmt.Sprintf("the call has %d questions open already", maxQuestions)) })
	case fault != "":
		t.answering.Go(func() { t.replyTo(q, faulty(fault)) })
	case why != "":
		t.answering.Go(func() { t.replyTo(q, unable(why)) })
	case q.method == methodRoots && c.life != nil:
		t.askRoots(q)
	case c.life != nil:
		c.life.ask(q)
	case c.ask != nil:
		t.answering.Go(func() { t.askNow(q) })
	default:
		t.answering.Go(func() { t.replyTo(q, unable("the client cannot be asked on this connection")) })
	}
	return true
}

// askNow sends the client a request, and hands its answer to the call.
func (t *talk) askNow(q question) {
	t.beginWaiting()
	result, why := t.askClient(q)
	// Whoever has its answer goes on, and needs room for that.
	t.endWaiting()
	if why != "" {
		t.refuse(q, why)
		return
	}
	t.answerWith(q, result)
}

// askClient asks until the client has answered what was asked, or tells why it
// has not.
func (t *talk) askClient(q question) (result json.RawMessage, why string) {
	ctx, cancel := t.asking, context.CancelFunc(func() {})
	if limit := t.call.host.opts.Asking.Timeout; limit > 0 {
		ctx, cancel = context.WithTimeout(ctx, limit)
	}
	defer cancel()
	defect := ""
	for range attempts {
		result, err := t.call.ask(ctx, q.method, q.params)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return nil, fmt.Sprintf("the client has not answered within %v (--park-timeout)", t.call.host.opts.Asking.Timeout)
		case err != nil:
			return nil, err.Error()
		}
		if defect = q.defect(result); defect == "" {
			return result, ""
		}
	}
	return nil, t.wrongly(defect)
}

// wrongly tells of a client that has answered wrong as often as it may.
func (t *talk) wrongly(defect string) string {
	t.host.opts.Log.Warn("a client has answered wrong each time it was asked: "+defect, "tool", t.call.tool.Name, "times", attempts)
	return fmt.Sprintf("the client has answered %d times what was not asked; the last time: %s", attempts, defect)
}

// beginWaiting notes a question that the call waits for. Whoever waits for a
// person is not to be in the way of other calls.
func (t *talk) beginWaiting() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting++
	if t.waiting == 1 {
		t.clock.Hold()
		t.slot.Park()
	}
}

// endWaiting notes that a question has been answered, or will not be.
func (t *talk) endWaiting() {
	t.mu.Lock()
	t.waiting--
	last := t.waiting == 0
	t.mu.Unlock()
	if !last {
		return
	}
	_ = t.slot.Resume(t.asking)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waiting > 0 {
		// It has asked again meanwhile.
		t.slot.Park()
		return
	}
	t.clock.GoOn()
}

// defect tells why a client's answer is none; "" when it is one: for a form that
// was accepted, content of the kind that the form asks for.
func (q question) defect(result json.RawMessage) string {
	if !isObject(result) {
		return "it is no object"
	}
	switch q.method {
	case methodRoots:
		if _, err := parseRoots(result); err != nil {
			return err.Error()
		}
		return ""
	case methodSample:
		if !isObject(message.Member(result, "content")) && len(contentBlocks(result)) == 0 {
			return "it has no content"
		}
		return ""
	}
	switch action := message.Text(message.Member(result, "action")); action {
	case "decline", "cancel":
		return ""
	case "accept":
		return q.formDefect(message.Member(result, "content"))
	default:
		return fmt.Sprintf("its action is none of accept, decline and cancel: %.100q", action)
	}
}

// contentBlocks are those of a model's answer that has several.
func contentBlocks(result json.RawMessage) []json.RawMessage {
	var blocks []json.RawMessage
	_ = json.Unmarshal(message.Member(result, "content"), &blocks)
	return blocks
}

// formDefect tells why content is not what a form asks for.
func (q question) formDefect(content json.RawMessage) string {
	form := message.Member(q.params, "requestedSchema")
	if form == nil {
		return ""
	}
	s, err := schema.Compile(form)
	switch {
	case err != nil:
		return ""
	case content == nil:
		return "it has no content"
	}
	return ofResult.Replace(s.Check(content))
}

const (
	methodElicit = "elicitation/create"
	methodSample = "sampling/createMessage"
	methodRoots  = "roots/list"
)

// capabilityFor is what a client must declare to be asked by a method; "" for a
// method that asks nothing.
func capabilityFor(method string, params json.RawMessage) string {
	switch method {
	case methodElicit:
		if message.Text(message.Member(params, "mode")) == "url" {
			return "elicitation.url"
		}
		return "elicitation"
	case methodSample:
		return "sampling"
	case methodRoots:
		return "roots"
	}
	return ""
}

// cannotAsk tells what of the client keeps it from being asked something; "" for
// nothing.
func (c toolCall) cannotAsk(q question) string {
	switch name := capabilityFor(q.method, q.params); {
	case !c.revisionHas(name):
		return "its revision of the protocol has no " + name
	case !declares(c.declared(), q.method, q.params):
		return "it declares no " + name
	}
	return ""
}

// since are the revisions with which capabilities came that were not always there.
var since = map[string]string{"elicitation": message.Revision20250618, "elicitation.url": message.Revision20251125}

// revisionHas reports whether a capability is one in the client's revision.
// Clients declare what they can do before it is settled what is spoken.
func (c toolCall) revisionHas(capability string) bool {
	return c.modern || c.revision == "" || c.revision >= since[capability]
}

// declares reports whether capabilities allow a question. An elicitation that
// names no mode means forms.
func declares(capabilities json.RawMessage, method string, params json.RawMessage) bool {
	switch name := capabilityFor(method, params); name {
	case "elicitation.url":
		return message.Member(message.Member(capabilities, "elicitation"), "url") != nil
	case "elicitation":
		elicitation := message.Member(capabilities, "elicitation")
		return elicitation != nil && (message.Member(elicitation, "form") != nil || message.Member(elicitation, "url") == nil)
	default:
		return message.Member(capabilities, name) != nil
	}
}

// declared is what the client can do, a JSON object.
func (c toolCall) declared() json.RawMessage {
	if c.session != nil {
		return capabilitiesOf(c.session)
	}
	return c.capabilities
}

// capabilitiesOf is what the client of a session has declared.
func capabilitiesOf(session *mcp.ServerSession) json.RawMessage {
	if session == nil || session.InitializeParams() == nil || session.InitializeParams().Capabilities == nil {
		return json.RawMessage(`{}`)
	}
	declared := session.InitializeParams().Capabilities
	// Its own form has roots whether or not they are declared.
	capabilities := struct {
		*mcp.ClientCapabilities
		Roots any `json:"roots,omitempty"`
	}{ClientCapabilities: declared}
	//lint:ignore SA1019 nothing else tells
	if roots := declared.RootsV2; roots != nil {
		capabilities.Roots = roots
	}
	text, err := json.Marshal(capabilities)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return text
}

// codeMissingCapability answers a request that needs what the client does not
// declare.
const codeMissingCapability = -32021

// lacks tells what a tool requires of its client that it does not declare, or
// cannot in its revision: an error of the protocol's in the stateless era, nil when
// nothing is.
func (c toolCall) lacks() error {
	if len(c.tool.Requires) == 0 {
		return nil
	}
	missing, declared := map[string]struct{}{}, c.declared()
	for _, name := range c.tool.Requires {
		if message.Member(declared, name) == nil || !c.revisionHas(name) {
			missing[name] = struct{}{}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	data, _ := json.Marshal(map[string]any{"requiredCapabilities": missing})
	code := int64(codeMissingCapability)
	if !c.modern {
		// The code came with that era.
		code = message.CodeInvalidRequest
	}
	return &jsonrpc.Error{Code: code, Message: "The tool needs what the client does not declare: " + strings.Join(slices.Sorted(maps.Keys(missing)), ", "), Data: data}
}
