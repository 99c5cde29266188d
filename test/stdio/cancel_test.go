package stdio_test

import (
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

func TestACancelledCallIsStoppedAndNeverAnswered(t *testing.T) {
	tests := []struct{ name, id, cancel string }{
		{"by its number", `7`, cancel(`7`)},
		{"by its number with a fraction of zero", `7`, cancel(`7.0`)},
		{"by its number with an exponent", `70`, cancel(`7e1`)},
		{"by a number beyond the floats", `9007199254740993`, cancel(`9007199254740993`)},
		{"by its string", `"a"`, cancel(`"a"`)},
		{"by its string in escapes", `"a"`, cancel(`"\u0061"`)},
		{"by the empty string", `""`, cancel(`""`)},
		{"with a reason", `7`, notification("notifications/cancelled", `{"requestId":7,"reason":"`+canary+`"}`)},
		{"with a reason that is none", `7`, notification("notifications/cancelled", `{"reason":{"a":[1]},"requestId":7}`)},
		{"with metadata", `7`, notification("notifications/cancelled", `{"_meta":`+modernMeta+`,"requestId":7}`)},
		{"twice", `7`, cancel(`7`) + "\n" + cancel(`7`)},
	}
	for _, test := range tests {
		for era, call := range map[string]string{
			"legacy": callNamed(test.id, "stay", "call"),
			"modern": modernRequest(test.id, "tools/call", `"name":"stay","arguments":{"name":"call"}`),
		} {
			t.Run(test.name+", "+era, func(t *testing.T) {
				c := fixture(t)
				c.send(call)
				pid := c.pid("call")
				c.send(test.cancel)
				c.dies(pid)
				c.works()
			})
		}
	}
}

func TestACancelledCallThatIsDeafIsKilledAndNeverAnswered(t *testing.T) {
	c := fixture(t)
	c.send(callNamed("7", "stubborn", "call"))
	pid := c.pid("call")
	c.send(cancel("7"))
	c.works()
	c.dies(pid)
	c.works()
}

func TestACancelledCallThatWaitsForItsTurnNeverRuns(t *testing.T) {
	c := fixture(t, "--concurrency=1")
	gate := c.gate()
	c.send(callNamed("1", "gate", "first"))
	c.awaitFile("first.began")
	c.send(callNamed("2", "touch", "second"))
	c.send(callNamed("3", "echo", "third"))
	c.send(cancel("2"))
	// Once this is answered the cancellation has been read.
	c.send(`{"jsonrpc":"2.0","id":"read","method":"ping"}`)
	c.reply()
	pass(t, gate, 1)
	wantText(t, c.reply(), "1", "through first")
	wantText(t, c.reply(), "3", `{"name":"third"}`)
	c.works()
	c.absent("second.touched")
}

func TestOnlyTheCallThatIsMeantIsCancelled(t *testing.T) {
	bystanders := []struct{ name, id, cancel string }{
		{"a string for a number", `7`, cancel(`"7"`)},
		{"a number for a string", `"7"`, cancel(`7`)},
		{"another number", `7`, cancel(`8`)},
		{"a neighbour beyond the floats", `9007199254740993`, cancel(`9007199254740992`)},
		{"a string in another case", `"a"`, cancel(`"A"`)},
		{"null", `7`, cancel(`null`)},
		{"true", `1`, cancel(`true`)},
		{"a fraction", `7`, cancel(`7.5`)},
		{"an array", `7`, cancel(`[7]`)},
		{"an object", `7`, cancel(`{"id":7}`)},
		{"no requestId", `7`, notification("notifications/cancelled", `{}`)},
		{"a reason alone", `7`, notification("notifications/cancelled", `{"reason":"7"}`)},
		{"a key in another case", `7`, notification("notifications/cancelled", `{"requestID":7}`)},
		{"the member of another notification", `7`, notification("notifications/cancelled", `{"id":7}`)},
		{"no params", `7`, `{"jsonrpc":"2.0","method":"notifications/cancelled"}`},
		{"params of null", `7`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":null}`},
		{"a method in another case", `7`, notification("notifications/Cancelled", `{"requestId":7}`)},
	}
	for _, test := range bystanders {
		t.Run(test.name, func(t *testing.T) {
			c := fixture(t)
			gate := c.gate()
			c.send(callNamed(test.id, "gate", "call"))
			c.awaitFile("call.began")
			c.silent(test.cancel)
			pass(t, gate, 1)
			wantText(t, c.reply(), test.id, "through call")
		})
	}
}

func TestACancellationOfNothingInFlightIsNothing(t *testing.T) {
	c := fixture(t)
	c.silent(cancel(`"unknown"`))
	wantText(t, c.ask(callNamed("7", "echo", "a")), "7", `{"name":"a"}`)
	c.silent(cancel(`7`))
	wantText(t, c.ask(callNamed("7", "echo", "b")), "7", `{"name":"b"}`)
	c.works()
}

func TestACancellationOfOneCallLeavesTheOthers(t *testing.T) {
	c := fixture(t, "--concurrency=4")
	gate := c.gate()
	c.send(callNamed("1", "gate", "one"))
	c.send(callNamed("2", "stay", "two"))
	c.send(modernRequest(`"2"`, "tools/call", `"name":"gate","arguments":{"name":"three"}`))
	pid := c.pid("two")
	c.awaitFile("one.began")
	c.awaitFile("three.began")
	c.send(cancel("2"))
	c.dies(pid)
	pass(t, gate, 2)
	byID := c.replies(2)
	wantText(t, byID["1"], "1", "through one")
	wantText(t, byID[`"2"`], `"2"`, "through three")
}

func TestTheIDOfACancelledCallCanBeUsedAgainOnceItHasEnded(t *testing.T) {
	c := fixture(t)
	c.send(callNamed("7", "stay", "call"))
	pid := c.pid("call")
	c.send(cancel("7"))
	c.dies(pid)
	delete(c.asked, "7")
	// Nothing tells the client when the id is free; till then it is refused.
	harness.Eventually(t, harness.Deadline, "the id is free", func() bool {
		r := c.ask(request("7", "ping", `{}`))
		if r.Error != nil {
			wantError(t, r, "", -32600)
		}
		return r.Error == nil || t.Failed()
	})
	wantText(t, c.ask(callNamed("7", "echo", "again")), "7", `{"name":"again"}`)
}
