package wire

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/conch-mcp/conch/internal/message"
)

const fuzzMaxLine = 8 << 10

// FuzzServe feeds any bytes to a server. It must end with its input, and all it
// says must be JSON-RPC that fits what was asked.
func FuzzServe(f *testing.F) {
	deep := strings.Repeat("[", message.MaxDepth+1)
	for _, lines := range [][]string{
		{initialize(message.Revision20251125), `{"jsonrpc":"2.0","method":"notifications/initialized"}`, call("1", "echo", ""), call("2", "progress", `"progressToken":9007199254740993`)},
		{initialize(message.Revision20250326), "[" + call("1", "echo", "") + "," + call("2", "echo", "") + ",5]", "[]", "[[]]"},
		{call("1", "echo", modernMeta), `{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{"_meta":{` + modernMeta + `}}}`},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1e3,"method":"logging/setLevel","params":{"level":"x"}}`},
		{`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{},"_meta":{` + modernMeta + `}}}`},
		{`{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled","params":{"requestId":1,"_meta":{` + modernMeta + `}}}`, `{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`},
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"_meta":{` + modernMeta + `}}}`, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`},
		{call("1", "wait", ""), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, call("1", "wait", "")},
		{"nonsense", "\xff", "{}\x00", "null", `{"jsonrpc":"2.0","id":null,"method":"x"}`, strings.Repeat("x", fuzzMaxLine+1), "", " "},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":` + deep + strings.Repeat("]", message.MaxDepth+1) + `}}`},
		{`{"jsonrpc":"2.0","id":1x,"method":"x","params":{"a":` + deep + strings.Repeat("]", message.MaxDepth+1) + `}}`},
		{"[}" + deep + "["},
		{`{"jsonrpc":"2.0","method":"x","params":{"a":` + deep + strings.Repeat("]", message.MaxDepth+1) + `}}`, `{"jsonrpc":"2.0","method":"x","params":[]}`, " [1]"},
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`},
	} {
		f.Add([]byte(strings.Join(lines, "\n")))
		f.Add([]byte(strings.Join(lines, "\n") + "\n"))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		var out safeBuffer
		opts := options()
		opts.MaxLine, opts.Drain = fuzzMaxLine, 50*time.Millisecond
		guard(t, func() {
			if err := Serve(t.Context(), tools{}.server(), bytes.NewReader(input), &out, opts); err != nil {
				t.Errorf("Serve: %v", err)
			}
		})
		requireConversation(t, input, out.String())
	})
}

// guard runs f and ends the test binary when f fills memory or takes for ever:
// what does not end by itself cannot be ended in any other way.
func guard(t testing.TB, f func()) {
	t.Helper()
	const mostMemory, mostTime = 1 << 30, 60 * time.Second
	done := make(chan struct{})
	go func() {
		end := time.Now().Add(mostTime)
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
			var m runtime.MemStats
			if runtime.ReadMemStats(&m); m.HeapAlloc > mostMemory || time.Now().After(end) {
				panic(t.Name() + " does not end, or fills memory")
			}
		}
	}()
	f()
	close(done)
}

type safeBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// requireConversation checks what a server has said against what it was told:
// nothing but JSON-RPC, no more answers to an id than it was asked, and as many
// answers as there were questions.
func requireConversation(t *testing.T, input []byte, output string) {
	asked, questions, exact := count(input)
	answers := 0
	for line := range strings.Lines(output) {
		if !strings.HasSuffix(line, "\n") || !json.Valid([]byte(line)) {
			t.Errorf("no line of JSON: %q", line)
			continue
		}
		replies := []json.RawMessage{json.RawMessage(line)}
		if line[0] == '[' {
			_ = json.Unmarshal([]byte(line), &replies)
		}
		for _, reply := range replies {
			id, isAnswer := requireReply(t, reply)
			if isAnswer {
				answers++
			}
			if id == "" {
				continue
			}
			if asked[id]--; asked[id] < 0 {
				t.Errorf("there are more answers to %q than questions: %s", id, reply)
			}
		}
	}
	if exact && answers != questions {
		t.Errorf("%d questions, %d answers:\n%s", questions, answers, output)
	}
}

// requireReply checks one message of the server's and returns the key of its
// id, if it is an answer that has one.
func requireReply(t *testing.T, reply json.RawMessage) (id string, isAnswer bool) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(reply, &m); err != nil || string(m["jsonrpc"]) != `"2.0"` {
		t.Errorf("no message of JSON-RPC: %s", reply)
		return "", false
	}
	if m["method"] != nil {
		if m["id"] != nil || m["params"] == nil {
			t.Errorf("no notification: %s", reply)
		}
		return "", false
	}
	if (m["result"] == nil) == (m["error"] == nil) {
		t.Errorf("neither a result nor an error, or both: %s", reply)
	}
	if m["id"] == nil || string(m["id"]) == "null" {
		return "", true
	}
	key, ok := message.ParseID(m["id"])
	if !ok {
		t.Errorf("no id: %s", reply)
	}
	return key.Key(), true
}

// count counts the questions in an input, in all and by id. exact is false
// when cancellations and batches make the number of answers hard to tell.
func count(input []byte) (asked map[string]int, questions int, exact bool) {
	asked = map[string]int{}
	exact = !bytes.Contains(input, []byte("cancel")) && !bytes.Contains(input, []byte(`\u`)) && !bytes.Contains(input, []byte(message.Revision20250326))
	for rest := input; len(rest) > 0; {
		line, after, hasNewline := bytes.Cut(rest, []byte{'\n'})
		rest = after
		if len(bytes.Trim(line, " \t\r")) == 0 && len(line) <= fuzzMaxLine {
			continue
		}
		if err := message.Check(line); err != nil || len(line) > fuzzMaxLine {
			if hasNewline || len(line) > fuzzMaxLine {
				questions++
			}
			continue
		}
		questions++
		texts, isArray := message.Elements(line)
		if !isArray {
			texts = []json.RawMessage{line}
		}
		for _, text := range texts {
			m, err := message.Parse(text)
			switch {
			// Never answered, whatever else is wrong with it.
			case m.Kind != message.Request:
				if !isArray {
					questions--
				}
			case err != nil && !err.ID.IsZero():
				asked[err.ID.Key()]++
			case err == nil:
				asked[m.ID.Key()]++
			}
		}
	}
	return asked, questions, exact
}
