package wire

import (
	"fmt"
	"slices"
	"testing"
)

func half(id string) string { return ping(id)[:20] }

func other(id string) string { return ping(id)[20:] }

func TestAnEndedCallIsAnsweredThoughALineIsUnfinished(t *testing.T) {
	c := connectSDK(t, 1)
	c.begin("931", "slow")
	c.write(half("932"))
	c.end()
	if got := c.line(); got != empty("931") {
		t.Errorf("got %s", got)
	}
	c.logged(1, "INFO "+handedOver+"20 characters out of tools/call 931 (slow) to the read loop")
	c.send(other("932"))
	c.answers(empty("932"))
	c.logged(1, handedOver)
	c.logged(0, discarded)
	c.logged(0, closedInMid)
}

func TestALineIsHandedOverOnceHoweverManyCallsEnd(t *testing.T) {
	c := connectSDK(t, 1)
	c.begin("1001", "slow")
	c.send(call("1002", "slow", ""))
	c.write(half("1003"))
	c.end()
	c.awaitStart()
	c.write(other("1003")[:5])
	c.end()
	if got := c.line() + c.line(); got != empty("1001")+empty("1002") {
		t.Errorf("got %s", got)
	}
	c.send(other("1003")[5:])
	c.answers(empty("1003"))
	c.logged(1, handedOver)
	c.logged(1, "out of tools/call 1001 (slow)")
}

func TestEachUnfinishedLineIsHandedOver(t *testing.T) {
	c := connectSDK(t, 1)
	for i := range 3 {
		c.begin(fmt.Sprint(i), "slow")
		c.write(half(fmt.Sprint(10 + i)))
		c.end()
		c.line()
		c.send(other(fmt.Sprint(10 + i)))
		c.line()
		c.logged(i+1, handedOver)
	}
	c.answers()
}

func TestACancelledCallHandsTheLineOverToo(t *testing.T) {
	c := connectSDK(t, 1)
	c.begin(`"é"`, "slow")
	c.send(cancelled(`"é"`))
	c.write("é")
	poll(t, "the end of the call", func() bool { return c.journal.count("Cancelled tools/call") == 1 })
	c.ask(`x`, noJSON)
	c.answers()
	// The cancellation may have ended the call before the line began.
	if n := c.journal.count(handedOver); n > 1 || n == 1 && c.journal.count(handedOver+`1 characters out of tools/call "é" (slow)`) != 1 {
		t.Errorf("the journal:\n%s", c.journal)
	}
}

func TestACallThatDoesNotRunHandsNothingOver(t *testing.T) {
	c := connectSDK(t, 1)
	c.begin("1", "slow")
	c.send(call("2", "unknown", ""), ping("3"))
	c.queued(2)
	c.end()
	for range 3 {
		c.line()
	}
	c.write(half("4"))
	c.send(other("4"))
	c.answers(empty("4"))
	c.logged(0, handedOver)
}

// What the input ends with, by when it came.
func TestTheEndOfTheInput(t *testing.T) {
	cut := ping("922")[:25]
	noTail := func(*sdkClient) {}
	inMid := func(tail string) func(*sdkClient) {
		return func(c *sdkClient) {
			c.begin("1", "slow")
			c.write(tail)
			c.endInput()
			c.end()
		}
	}
	carried := func(tail string, more ...string) func(*sdkClient) {
		return func(c *sdkClient) {
			c.begin("1", "slow")
			c.write(tail)
			c.end()
			c.await("the end of the call", c.conn.idle)
			for _, text := range more {
				c.write(text)
			}
			c.endInput()
		}
	}
	idle := func(tail string) func(*sdkClient) {
		return func(c *sdkClient) { c.write(tail) }
	}
	afterCall := func(tail string) func(*sdkClient) {
		return func(c *sdkClient) {
			c.begin("1", "slow")
			c.end()
			c.await("the end of the call", func() bool { return c.conn.idle() && c.conn.lastNumber == 1 })
			c.write(tail)
		}
	}
	tests := []struct {
		name                   string
		do                     func(*sdkClient)
		want                   []string
		handed, dropped, inMid bool
	}{
		{"nothing", noTail, nil, false, false, false},
		{"idle, half a line", idle(cut), []string{refused("null", -32700, noJSON)}, false, false, false},
		{"idle, a request", idle(ping("2")), []string{empty("2")}, false, false, false},
		{"idle, false", idle("false"), []string{refused("null", -32600, noObject)}, false, false, false},
		{"idle, blanks", idle("   "), []string{refused("null", -32700, noDocument)}, false, false, false},
		{"behind a call, half a line", afterCall(cut), []string{empty("1"), refused("null", -32700, noJSON)}, false, false, false},
		{"in mid-call, nothing", inMid(""), []string{empty("1")}, false, false, true},
		{"in mid-call, half a line", inMid(cut), []string{empty("1")}, false, true, true},
		{"in mid-call, a request", inMid(ping("2")), []string{empty("1"), empty("2")}, false, false, true},
		{"in mid-call, a request, and half a line", inMid(ping("2") + "\n" + cut), []string{empty("1"), empty("2")}, false, true, true},
		{"in mid-call, two calls, and half a line", inMid(call("3", "fast", "") + "\n" + call("4", "fast", "") + "\n" + cut), []string{empty("1"), empty("3"), empty("4")}, false, true, true},
		{"in mid-call, false", inMid("false"), []string{empty("1"), refused("null", -32600, noObject)}, false, false, true},
		{"in mid-call, blanks", inMid("  "), []string{empty("1"), refused("null", -32700, noDocument)}, false, false, true},
		{"in mid-call, two documents", inMid("{} {}"), []string{empty("1"), refused("null", -32700, noDocument)}, false, false, true},
		{"carried over, half a line", carried(cut), []string{empty("1")}, true, true, false},
		{"carried over, half a line that grew", carried(cut[:10], cut[10:]), []string{empty("1")}, true, true, false},
		{"carried over, a request", carried(ping("2")), []string{empty("1"), empty("2")}, true, false, false},
		{"carried over, a request that was completed", carried(half("2"), other("2")), []string{empty("1"), empty("2")}, true, false, false},
		{"carried over, false", carried("false"), []string{empty("1"), refused("null", -32600, noObject)}, true, false, false},
		{"carried over, blanks", carried("   "), []string{empty("1"), refused("null", -32700, noDocument)}, true, false, false},
		{"carried over, then a new line", carried(half("2"), other("2")+"\n"+cut), []string{empty("1"), empty("2"), refused("null", -32700, noJSON)}, true, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := connectSDK(t, 1)
			tt.do(c)
			c.answers(tt.want...)
			for part, want := range map[string]bool{handedOver: tt.handed, discarded: tt.dropped, closedInMid: tt.inMid} {
				times := 0
				if want {
					times = 1
				}
				c.logged(times, part)
			}
			during := ""
			if tt.inMid {
				during = " during tools/call 1 (slow)"
			}
			if tt.dropped {
				if want := fmt.Sprintf("WARN %s25 characters left by EOF%s", discarded, during); !slices.Contains(c.journal.lines, want) {
					t.Errorf("%q is not in the journal:\n%s", want, c.journal)
				}
				c.logged(0, "922")
			}
		})
	}
}

func TestAllAtOnceIsAnsweredLikeAConversation(t *testing.T) {
	input := call("1", "fast", "") + "\n" + ping("2") + "\n" + call("3", "fast", "") + "\n" + "nonsense\n" + ping("4")
	for range 50 {
		c := connectSDK(t, 1)
		c.write(input)
		c.answers(empty("1"), empty("2"), empty("3"), refused("null", -32700, noJSON), empty("4"))
	}
}

func TestCharactersAreCountedAcrossReads(t *testing.T) {
	text := "né✓\n\n😀é✓xü"
	for size := 1; size <= len(text); size++ {
		var got tail
		for i := 0; i < len(text); i += size {
			got.add([]byte(text[i:min(i+size, len(text))]))
		}
		if got.characters != 5 {
			t.Errorf("in pieces of %d bytes there are %d characters", size, got.characters)
		}
	}
}
