package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/conch-mcp/conch/internal/message"
)

var eras = []struct{ name, meta, initialize string }{
	{"before initialize", "", ""},
	{"in 2024-11-05", "", message.Revision20241105},
	{"in 2025-11-25", "", message.Revision20251125},
	{"in 2026-07-28", modernMeta, ""},
}

func TestProgressTokensComeBackWithEveryDigit(t *testing.T) {
	tokens := []string{
		`1`, `0`, `-7`, `9007199254740993`, `-9007199254740993`, `123456789012345678901234567890`,
		`1` + strings.Repeat("0", 400), `1e400`, `1E+400`, `1.0`, `2.50`, `1e-7`,
		`"abc"`, `""`, `"1"`, `"9007199254740993"`, `"<&>"`, `"token-1"`, `"é\n"`,
	}
	for _, era := range eras {
		t.Run(era.name, func(t *testing.T) {
			c := connect(t, tools{}.server(), options())
			if era.initialize != "" {
				c.ask(initialize(era.initialize), `"protocolVersion":"`+era.initialize+`"`)
			}
			for i, token := range tokens {
				meta := `"progressToken":` + token
				if era.meta != "" {
					meta = joined(meta, era.meta)
				}
				c.send(call(fmt.Sprint(i), "progress", meta))
				requireToken(t, c.line(), token)
				if answer := c.line(); !strings.HasPrefix(answer, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":`, i)) {
					t.Errorf("then comes %s", answer)
				}
			}
			if lines, err := c.rest(); err != nil || len(lines) > 0 {
				t.Errorf("at the end: %v, %q", err, lines)
			}
		})
	}
}

func requireToken(t *testing.T, line, token string) {
	t.Helper()
	var n struct {
		Method string
		Params struct{ ProgressToken json.RawMessage }
	}
	if err := json.Unmarshal([]byte(line), &n); err != nil || n.Method != "notifications/progress" {
		t.Fatalf("the token %s is followed by %s", token, line)
	}
	got := string(n.Params.ProgressToken)
	if token[0] == '"' {
		requireSameJSON(t, token, got)
	} else if got != token {
		t.Errorf("the token %s comes back as %s", token, got)
	}
}

// Whatever stands in for numeric tokens inside must not be taken for a string
// token of the client's.
func TestATokenIsNeverThatOfAnotherRequest(t *testing.T) {
	gate := make(chan struct{})
	c := connect(t, tools{gate: gate}.server(), options())
	c.send(call("1", "progress", `"progressToken":5`))
	requireToken(t, c.line(), `5`)
	for i := range 9 {
		token := fmt.Sprintf(`"token-%d"`, i)
		c.send(call(fmt.Sprint(10+i), "progress", `"progressToken":`+token))
		requireToken(t, c.line(), token)
	}
	close(gate)
	if lines, err := c.rest(); err != nil || len(lines) != 10 {
		t.Errorf("at the end: %v, %d answers", err, len(lines))
	}
}

func TestIDsComeBackAsTheyWereWritten(t *testing.T) {
	ids := []string{
		`1`, `0`, `-7`, `9007199254740993`, `123456789012345678901234567890`, `1` + strings.Repeat("0", 400), `1e400`, `1E+2`, `7.0`, `1e999999999`,
		`"abc"`, `""`, `"1"`, `"\u0041"`, `"\u003c"`, `"<&>"`, `"é"`, `"\/"`,
	}
	for _, era := range eras {
		t.Run(era.name, func(t *testing.T) {
			c := connect(t, tools{}.server(), options())
			if era.initialize != "" {
				c.ask(initialize(era.initialize), `"id":"init","result"`)
			}
			for _, id := range ids {
				c.ask(call(id, "echo", era.meta), `{"jsonrpc":"2.0","id":`+id+`,"result":{`)
				c.ask(call(id, "no such tool", era.meta), `{"jsonrpc":"2.0","id":`+id+`,"error":{`)
				c.ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"no/such","params":{"_meta":{%s}}}`, id, era.meta), `"id":`+id+`,"error":{"code":-32601`)
			}
		})
	}
}

func TestAnIDInFlightIsRefusedAndTheFirstCallGoesOn(t *testing.T) {
	gate := make(chan struct{})
	c := connect(t, tools{gate: gate}.server(), options())
	c.send(call("7", "progress", `"progressToken":1`))
	requireToken(t, c.line(), "1")
	for _, same := range []string{"7", "7.0", "70e-1"} {
		c.ask(call(same, "echo", ""), `{"jsonrpc":"2.0","error":{"code":-32600`)
	}
	c.ask(call(`"7"`, "echo", ""), `"id":"7","result"`)
	close(gate)
	if line := c.line(); !strings.HasPrefix(line, `{"jsonrpc":"2.0","id":7,"result"`) {
		t.Errorf("the first call is answered by %s", line)
	}
	c.ask(call("7", "echo", ""), `"id":7,"result"`)
}

func TestACancelledRequestIsNeverAnswered(t *testing.T) {
	ts := tools{started: make(chan struct{})}
	c := connect(t, ts.server(), options())
	for i, id := range []string{`1`, `"a"`, `1e400`} {
		c.send(call(id, "wait", ""))
		<-ts.started
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
		// Its id is free once the call has ended; until then another serves.
		c.ask(call(fmt.Sprint(100+i), "echo", ""), fmt.Sprintf(`"id":%d,"result"`, 100+i))
	}
	for _, params := range []string{`{}`, `{"requestId":null}`, `{"requestId":99}`, `{"requestId":{}}`, `{"requestId":1.5}`, `null`} {
		c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":` + params + `}`)
	}
	if lines, err := c.rest(); err != nil || len(lines) > 0 {
		t.Errorf("at the end: %v, %q", err, lines)
	}
}

func TestACallThatOutlastsTheDrainIsAnsweredOnce(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"alone", call("1", "wait", ""), `{"jsonrpc":"2.0","id":1,"error":{"code":-32603`},
		{"in a batch", "[" + call("1", "wait", "") + "]", `[{"jsonrpc":"2.0","id":1,"error":{"code":-32603`},
		{"in a batch with one that was quick", "[" + call("2", "echo", "") + "," + call("1", "wait", "") + "]", `[{"jsonrpc":"2.0","id":2,"result"`},
		{"in a batch with another", "[" + call("1", "wait", "") + "," + call("2", "wait", "") + "]", `[{"jsonrpc":"2.0","id":`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ts := tools{started: make(chan struct{}, 9)}
			opts := options()
			opts.Drain = 300 * time.Millisecond
			c := connect(t, ts.server(), opts)
			c.ask(initialize(message.Revision20250326), `"2025-03-26"`)
			c.send(tt.text)
			<-ts.started
			start := time.Now()
			lines, err := c.rest()
			requireSwift(t, start)
			if err != nil || len(lines) != 1 || !strings.HasPrefix(lines[0], tt.want) {
				t.Errorf("Serve: %v; %d lines:\n%s", err, len(lines), strings.Join(lines, "\n"))
			}
		})
	}
}

func TestBatchesAreOfOneRevisionOnly(t *testing.T) {
	batch := "[" + call("1", "echo", "") + `,{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":2,"method":"no/such"},5,` + initialize(message.Revision20250326) + "]"
	for _, revision := range message.Revisions()[1:] {
		t.Run(revision, func(t *testing.T) {
			c := connect(t, tools{}.server(), options())
			c.ask(initialize(revision), revision)
			c.send(batch)
			line := c.line()
			if revision != message.Revision20250326 {
				if !strings.Contains(line, `"error":{"code":-32600`) || strings.HasPrefix(line, "[") {
					t.Errorf("the batch is answered by %s", line)
				}
				return
			}
			var replies []struct {
				ID     json.RawMessage
				Result json.RawMessage
				Error  struct{ Code int }
			}
			if err := json.Unmarshal([]byte(line), &replies); err != nil || len(replies) != 4 {
				t.Fatalf("%v: %s", err, line)
			}
			got := map[string]int{}
			for _, r := range replies {
				got[string(r.ID)] = r.Error.Code
			}
			if want := (map[string]int{`1`: 0, `2`: -32601, `null`: -32600, `"init"`: -32600}); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("got %v, want %v", got, want)
			}
			c.ask("[]", `"error":{"code":-32600`)
		})
	}
}

// Two peers that answered each other's responses would go on for ever.
func TestResponsesAndNotificationsAreNeverAnswered(t *testing.T) {
	deep := strings.Repeat("[", message.MaxDepth) + strings.Repeat("]", message.MaxDepth)
	silent := []struct{ name, text string }{
		{"a notification", `{"jsonrpc":"2.0","method":"m"}`},
		{"a notification with params that are no object", `{"jsonrpc":"2.0","method":"m","params":[]}`},
		{"a notification that nests too deep", `{"jsonrpc":"2.0","method":"m","params":{"a":` + deep + `}}`},
		{"a response", `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"an error response", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`},
		{"an error response with an id that is null", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}`},
		{"a response that nests too deep", `{"jsonrpc":"2.0","id":1,"result":{"a":` + deep + `}}`},
	}
	for _, tt := range silent {
		for name, text := range map[string]string{" alone": tt.text, " in a batch": "[" + tt.text + "]"} {
			t.Run(tt.name+name, func(t *testing.T) {
				c := connect(t, tools{}.server(), options())
				c.ask(initialize(message.Revision20250326), `"2025-03-26"`)
				c.send(text)
				if lines, err := c.rest(); err != nil || len(lines) > 0 {
					t.Errorf("at the end: %v, %.200q", err, lines)
				}
			})
		}
	}
}

func TestALastLineWithoutNewlineIsTakenIfItParses(t *testing.T) {
	for text, want := range map[string]int{call("1", "echo", ""): 1, call("1", "echo", "")[:40]: 0, `{"jsonrpc":"2.0","id":1}`: 1, "  ": 0} {
		c := connect(t, tools{}.server(), options())
		if _, err := io.WriteString(c.in, text); err != nil {
			t.Fatal(err)
		}
		if lines, err := c.rest(); err != nil || len(lines) != want {
			t.Errorf("%q gives %v, %q", text, err, lines)
		}
	}
}

func TestServeTellsOfAnInputThatBreaks(t *testing.T) {
	broken := errors.New("broken")
	var out strings.Builder
	err := Serve(t.Context(), tools{}.server(), iotest.ErrReader(broken), &out, options())
	if !errors.Is(err, broken) || out.Len() > 0 {
		t.Errorf("Serve: %v; it wrote %q", err, out.String())
	}
}

func TestServeEndsWhenTheClientCannotBeWrittenTo(t *testing.T) {
	broken := errors.New("broken")
	in, w := io.Pipe()
	defer w.Close()
	go func() { _, _ = io.WriteString(w, "nonsense\n") }()
	ended := make(chan error, 1)
	go func() { ended <- Serve(t.Context(), tools{}.server(), in, brokenWriter{broken}, options()) }()
	select {
	case err := <-ended:
		if !errors.Is(err, broken) {
			t.Errorf("Serve: %v", err)
		}
	case <-time.After(deadline):
		t.Error("Serve goes on")
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestServeStopsCallsWhenItsContextEndsThoughItsInputDoesNot(t *testing.T) {
	ts := tools{started: make(chan struct{})}
	in, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	var out strings.Builder
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, ts.server(), in, &out, options()) }()
	go func() { _, _ = io.WriteString(w, call("1", "wait", "")+"\n") }()
	<-ts.started
	start := time.Now()
	cancel()
	select {
	case err := <-ended:
		requireSwift(t, start)
		if err != nil || out.Len() > 0 {
			t.Errorf("Serve: %v; it wrote %q", err, out.String())
		}
	case <-time.After(deadline):
		t.Error("Serve goes on")
	}
}

// requireSwift fails when Serve went on although its calls had ended at once.
// Calls may take 2 seconds to be stopped; more than twice that is waiting in vain.
func requireSwift(t *testing.T, start time.Time) {
	t.Helper()
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("Serve took %v to return", took)
	}
}

func TestServeReturnsOnlyOnceTheLastAnswerIsWritten(t *testing.T) {
	w := &slowWriter{served: make(chan struct{})}
	in := strings.NewReader(call("1", "echo", "") + "\n")
	err := Serve(t.Context(), tools{}.server(), in, w, options())
	close(w.served)
	if err != nil || w.late.Load() || w.written.Load() == 0 {
		t.Errorf("Serve: %v; written before it returned: %v", err, !w.late.Load() && w.written.Load() > 0)
	}
}

// slowWriter takes its time for a write, as a client does that reads slowly.
type slowWriter struct {
	served  chan struct{}
	written atomic.Int64
	late    atomic.Bool
}

func (w *slowWriter) Write(p []byte) (int, error) {
	select {
	case <-w.served:
		w.late.Store(true)
	case <-time.After(300 * time.Millisecond):
	}
	w.written.Add(int64(len(p)))
	return len(p), nil
}
