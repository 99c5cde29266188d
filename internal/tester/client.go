// Package tester is a client for testing: it calls tools, answers what it is
// asked as a case says, and keeps what it is told, to the byte.
//
// It knows both eras of the protocol. It knows nothing of transports, nor of what
// is expected of what it is told.
package tester

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/conch-mcp/conch/internal/casefile"
	"github.com/conch-mcp/conch/internal/message"
	"github.com/conch-mcp/conch/internal/trial"
)

// A Session is a connection to a server. Its calls may be made side by side.
type Session struct {
	opts   Options
	client *mcp.ClientSession
	modern bool // every request says what the client can be asked

	// Held by every call, and alone by one that could not be told from others.
	turn sync.RWMutex

	mu    sync.Mutex
	last  int
	calls map[string]*call // under way, by their progress tokens
	byID  map[jsonrpc.ID]*call
}

// Options say how to connect.
type Options struct {
	Version string // of this program
	// Cases are those that will be asked. A server of the older era is told at
	// once what the client can be asked, for all of them.
	Cases []casefile.Case
	// Explain words why there is no answer any more.
	Explain func(error) error
}

// Connect begins a session, in whatever era the server speaks.
func Connect(ctx context.Context, transport mcp.Transport, opts Options) (*Session, error) {
	s := &Session{opts: opts, calls: map[string]*call{}, byID: map[jsonrpc.ID]*call{}}
	client := mcp.NewClient(&mcp.Implementation{Name: "conch", Version: opts.Version}, &mcp.ClientOptions{
		Capabilities: declared(opts.Cases...), MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	client.AddReceivingMiddleware(s.answering)
	var err error
	if s.client, err = client.Connect(ctx, tap{transport, s}, nil); err != nil {
		return nil, err
	}
	begun := s.client.InitializeResult()
	s.modern = begun.ProtocolVersion >= message.Revision20260728
	//lint:ignore SA1019 the older era has no other way
	if !s.modern && begun.Capabilities != nil && begun.Capabilities.Logging != nil {
		// It is no fault of a case if the server does not want to.
		//lint:ignore SA1019 the older era has no other way
		_ = s.client.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "debug"})
	}
	return s, nil
}

// Close ends the session.
func (s *Session) Close() error { return s.client.Close() }

// declared is what a client can be asked that has the answers of these cases.
func declared(cases ...casefile.Case) *mcp.ClientCapabilities {
	c := &mcp.ClientCapabilities{}
	for _, one := range cases {
		if one.Answers.Elicit != nil {
			c.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}}
		}
		if one.Answers.Sample != nil {
			//lint:ignore SA1019 servers ask for it still
			c.Sampling = &mcp.SamplingCapabilities{}
		}
		if one.Answers.Roots != nil {
			//lint:ignore SA1019 there is no other way to declare them
			c.RootsV2 = &mcp.RootCapabilities{}
		}
	}
	return c
}

// capabilities are those as they go with a request. The SDK's own form has roots
// whether or not they are declared.
func capabilities(c *mcp.ClientCapabilities) any {
	own := struct {
		*mcp.ClientCapabilities
		Roots any `json:"roots,omitempty"`
	}{ClientCapabilities: c}
	//lint:ignore SA1019 nothing else tells
	if roots := c.RootsV2; roots != nil {
		own.Roots = roots
	}
	return own
}

// errLate ends a call that takes longer than its case allows.
var errLate = errors.New("late")

// Call implements [trial.Server].
func (s *Session) Call(ctx context.Context, c casefile.Case) trial.Outcome {
	if s.standsAlone(c) {
		s.turn.Lock()
		defer s.turn.Unlock()
	} else {
		s.turn.RLock()
		defer s.turn.RUnlock()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.Within, errLate)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	one := s.enter(c, stop)
	defer s.leave(one)
	start := time.Now()
	err := s.run(ctx, one)
	return one.outcome(s.why(ctx, one, err), time.Since(start))
}

// standsAlone reports whether a case needs that no other runs beside it: in the
// older era neither a question nor a log message says which call it is about.
func (s *Session) standsAlone(c casefile.Case) bool {
	return c.Expect.Logs != nil || !s.modern && !c.Answers.None()
}

// later is when a server is asked again that asks nothing.
const later = 100 * time.Millisecond

// run calls the tool and, in the newer era, again with the answers to what it asks.
func (s *Session) run(ctx context.Context, one *call) error {
	params := &mcp.CallToolParams{Name: one.Case.Tool, Arguments: one.Case.Args, Meta: s.meta(one)}
	asked := map[string]bool{}
	for {
		if _, err := s.client.CallTool(context.WithValue(ctx, callKey{}, one), params); err != nil {
			return err
		}
		questions, state := questionsIn(one.latest())
		if questions == nil {
			return nil
		}
		if len(questions) == 0 {
			// The server has much to do, and asks to be asked later.
			select {
			case <-time.After(later):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		answers := mcp.InputResponseMap{}
		for _, q := range questions {
			if asked[q.key] {
				return &unansweredError{q, true}
			}
			answer, err := one.answer(q)
			if err != nil {
				return err
			}
			asked[q.key], answers[q.key] = true, answer
		}
		params.InputResponses, params.RequestState = answers, state
	}
}

// meta is what goes with a call: where to tell its progress, and in the newer era
// what is wanted of logs and what the client can be asked.
func (s *Session) meta(one *call) mcp.Meta {
	meta := mcp.Meta{"progressToken": one.token}
	if s.modern {
		meta[message.MetaLogLevel] = "debug"
		meta[message.MetaClientCapabilities] = capabilities(declared(one.Case))
	}
	return meta
}

// why says what kept a call from an answer; nil where there is one.
func (s *Session) why(ctx context.Context, one *call, err error) error {
	var unanswered *unansweredError
	cause := context.Cause(ctx)
	switch {
	case err == nil, one.isAnswered():
		return nil
	case errors.As(err, &unanswered):
		return unanswered
	case errors.As(cause, &unanswered):
		return unanswered
	case errors.Is(cause, errLate):
		return fmt.Errorf("no result came within %v", one.Case.Within)
	case cause != nil:
		return cause
	}
	return s.opts.Explain(err)
}

func (s *Session) enter(c casefile.Case, stop context.CancelCauseFunc) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	one := &call{Case: c, token: "case-" + strconv.Itoa(s.last), stop: stop, used: map[casefile.Question]bool{}}
	s.calls[one.token] = one
	return one
}

func (s *Session) leave(one *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, one.token)
	for id, other := range s.byID {
		if other == one {
			delete(s.byID, id)
		}
	}
}

// only is the call that is under way alone; nil where there is none, or more.
func (s *Session) only() *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.calls) != 1 {
		return nil
	}
	for _, one := range s.calls {
		return one
	}
	return nil
}

// roots are those of the call that is under way, or of the first that has any: in
// the older era a server may ask for them before there is a call.
func (s *Session) roots() []string {
	if one := s.only(); one != nil && one.Case.Answers.Roots != nil {
		return one.Case.Answers.Roots
	}
	for _, c := range s.opts.Cases {
		if c.Answers.Roots != nil {
			return c.Answers.Roots
		}
	}
	return nil
}

// call is one case under way.
type call struct {
	casefile.Case
	token string
	stop  context.CancelCauseFunc

	mu       sync.Mutex
	result   json.RawMessage
	refusal  *trial.Refusal
	progress []json.RawMessage
	logs     []json.RawMessage
	used     map[casefile.Question]bool // whose answers were given
}

// respond keeps a response of the server's.
func (c *call) respond(r *jsonrpc.Response) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var refused *jsonrpc.Error
	switch {
	case r.Error == nil:
		c.result = r.Result
	case errors.As(r.Error, &refused):
		c.refusal = &trial.Refusal{Code: refused.Code, Message: refused.Message}
	default:
		c.refusal = &trial.Refusal{Code: message.CodeInternalError, Message: r.Error.Error()}
	}
}

func (c *call) tell(what *[]json.RawMessage, params json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*what = append(*what, params)
}

func (c *call) latest() json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.result
}

// isAnswered reports whether there is an answer, though the SDK may have made
// nothing of it: one that asks is none.
func (c *call) isAnswered() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked, _ := questionsIn(c.result)
	return c.refusal != nil || c.result != nil && asked == nil
}

// outcome is what became of the call. An answer of the case's that nothing asked
// for is a fault: whoever wrote it expects the question.
func (c *call) outcome(err error, took time.Duration) trial.Outcome {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := trial.Outcome{Result: c.result, Refusal: c.refusal, Err: err, Progress: c.progress, Logs: c.logs, Took: took}
	if err != nil {
		return o
	}
	for _, q := range c.Answers.Questions() {
		if !c.used[q] {
			o.Faults = append(o.Faults, trial.Problem{Line: q.Line, Text: "nothing was asked that this answers"})
		}
	}
	return o
}
