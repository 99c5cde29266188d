package batstest

import (
	"fmt"
	"strings"
)

// A need says how often a line is to be answered.
type need int

const (
	must  need = iota // once
	may               // once, or not at all
	never             // not at all
)

// A line is one that the client sends, and what must come of it.
type line struct {
	n    int    // tells the lines of a plan apart; a call has it among its arguments
	text string // without its newline
	need need
	id   string // JSON; "" where nothing has an id that tells it from all others
	// What a response to it begins with, and what it goes on with where that is
	// not "".
	start, rest string

	tool      string // that is run, "" if none is
	end       int    // where it ends in the stream of all that is sent
	endless   bool   // the call ends only when it is made to
	cancelEnd int    // where the line that cancels it ends, 0 if there is none
	awaited   bool   // the client waits for the response at some time
	begun     bool   // the client waits, at some time, until it has begun
}

func (l *line) String() string { return fmt.Sprintf("line %d, %s", l.n, l.text) }

func (l *line) cancelled() bool { return l.cancelEnd > 0 }

// matches reports whether response, a line with its newline, is one to l.
func (l *line) matches(response string) bool {
	if l.start == "" || !strings.HasPrefix(response, l.start) {
		return false
	}
	return l.rest == "" || response[len(l.start):] == l.rest+"\n"
}

// idOf is the id of line n; some are strings.
func idOf(n int) string {
	if n%3 == 0 {
		return fmt.Sprintf(`"%d"`, n)
	}
	return fmt.Sprint(n)
}

// otherIDOf is the id of line n in the type that it does not have.
func otherIDOf(n int) string {
	if n%3 == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf(`"%d"`, n)
}

// newRequest is a request. params may be empty; rest is what its response goes
// on with behind the id.
func newRequest(n int, method, params, rest string) *line {
	id := idOf(n)
	if params != "" {
		params = `,"params":` + params
	}
	return &line{
		n: n, id: id, rest: rest,
		text:  fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q%s}`, id, method, params),
		start: fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,`, id),
	}
}

func newPing(n int) *line { return newRequest(n, "ping", "", `"result":{}}`) }

// newCall is a tools/call. more are arguments beside n; text is what the result
// is to hold, as JSON has it.
func newCall(n int, tool, more, text string, isError bool) *line {
	params := fmt.Sprintf(`{"name":%q,"arguments":{"n":%d%s}}`, tool, n, more)
	return newRequest(n, "tools/call", params, fmt.Sprintf(`"result":%s}`, toolResult(text, isError)))
}

func toolResult(text string, isError bool) string {
	return fmt.Sprintf(`{"content":[{"type":"text","text":"%s"}],"isError":%t}`, text, isError)
}

// newToolCall is a call of one of the tools that always print the same.
func newToolCall(n int, tool string) *line {
	text := fmt.Sprintf("%s %d", tool, n)
	switch tool {
	case "big":
		text = fmt.Sprintf("%0200000d", n)
	case "nested":
		inner := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":%s}`, toolResult(fmt.Sprintf("quick %d", n), false))
		text = strings.ReplaceAll(inner, `"`, `\"`)
	}
	l := newCall(n, tool, "", text, false)
	l.tool = tool
	return l
}

// newLastingCall is a call that takes a number of seconds, for ever if that is
// more than anybody waits.
func newLastingCall(n int, tool string, seconds float64) *line {
	l := newCall(n, tool, fmt.Sprintf(`,"seconds":%g`, seconds), fmt.Sprintf("%s %d", tool, n), false)
	l.tool = tool
	return l
}

// newRefused is one of the requests that run no tool.
func newRefused(n, which int) *line {
	calls := []func() *line{
		func() *line {
			return newCall(n, "quick", `,"refuse":true`, fmt.Sprintf("Error executing quick: refused %d", n), true)
		},
		func() *line {
			return newRequest(n, "tools/call", `{"name":"missing"}`, `"error":{"code":-32601,"message":"Tool not found: missing"}}`)
		},
		func() *line {
			return newRequest(n, "tools/call", `{"name":"quick","arguments":{"n":"x"}}`,
				`"result":`+toolResult(`Invalid type(s): n expected integer, got string (\"x\").`, true)+`}`)
		},
		func() *line {
			return newRequest(n, "no/method", "", `"error":{"code":-32601,"message":"Method not found: no/method"}}`)
		},
		// With an id it cancels nothing.
		func() *line {
			return newRequest(n, "notifications/cancelled", fmt.Sprintf(`{"requestId":%s}`, idOf(n-1)),
				`"error":{"code":-32601,"message":"Method not found: notifications/cancelled"}}`)
		},
	}
	return calls[which%len(calls)]()
}

// newNotification is one of the lines that are never answered.
func newNotification(n, which int) *line {
	texts := []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"ping"}`,
		fmt.Sprintf(`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"quick","arguments":{"n":%d}}}`, n),
		``,
	}
	return &line{n: n, text: texts[which%len(texts)], need: never}
}

func newCancellation(n int, id string) *line {
	return &line{n: n, need: never, text: fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id)}
}

// What the answers to text that is no request begin with.
const (
	parseError     = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`
	invalidRequest = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,`
)

// newGarbage is one of the lines that are answered without an id.
func newGarbage(n, which int) *line {
	kinds := []struct{ text, start string }{
		{`garbage`, parseError},
		{`{"jsonrpc":"2.0","id":1,"method":`, parseError},
		{`{} {}`, parseError},
		{`   `, parseError},
		{`[1,2]`, invalidRequest},
		{`false`, invalidRequest},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, invalidRequest},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, invalidRequest},
	}
	k := kinds[which%len(kinds)]
	return &line{n: n, text: k.text, start: k.start}
}

// cutShort makes l a line that the input ends in. Whether it is answered
// depends on whether a call runs just then.
func (l *line) cutShort(length int) {
	l.text, l.start, l.rest, l.need, l.id, l.tool = l.text[:length], parseError, "", may, "", ""
}
