package stdio_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

// batcher is a server that takes batches.
func batcher(t testing.TB, flags ...string) *client {
	t.Helper()
	c := fixture(t, flags...)
	c.initialize("2025-03-26")
	return c
}

func batchOf(messages ...string) string { return "[" + strings.Join(messages, ",") + "]" }

// batch reads the answer to a batch: its replies by their ids, those without
// one by "", "#2" and so on.
func (c *client) batch(n int) map[string]harness.Reply {
	c.t.Helper()
	line := c.line()
	var replies []json.RawMessage
	if err := json.Unmarshal([]byte(line), &replies); err != nil || len(replies) != n {
		c.t.Fatalf("want a batch of %d replies: %.2000s", n, line)
	}
	byID := map[string]harness.Reply{}
	for i, raw := range replies {
		r := harness.ParseReply(c.t, string(raw))
		id := strings.TrimPrefix(string(r.ID), "null")
		if _, taken := byID[id]; taken {
			id = fmt.Sprintf("%s#%d", id, i+1)
		}
		byID[id] = r
	}
	return byID
}

func TestABatchIsAnsweredByOneLine(t *testing.T) {
	c := batcher(t)
	c.send(batchOf(request("1", "ping", `{}`), request(`"2"`, "tools/call", `{"name":"echo"}`), request("3", "tools/list", `{}`), request("4", "no/such", `{}`)))
	byID := c.batch(4)
	wantResult(t, byID["1"], "1", `{}`)
	wantText(t, byID[`"2"`], `"2"`, `{}`)
	wantError(t, byID["4"], "4", -32601)
	if !strings.Contains(byID["3"].Raw, `"name":"echo"`) {
		t.Errorf("no list: %s", byID["3"].Raw)
	}
	c.works()
	c.send(" [ " + request("1", "ping", `{}`) + " ] ")
	wantResult(t, c.batch(1)["1"], "1", `{}`)
}

func TestABatchIsAnsweredOnceItsLastCallHasEnded(t *testing.T) {
	c := batcher(t)
	gate := c.gate()
	c.send(batchOf(callNamed("1", "gate", "one"), callNamed("2", "echo", "two"), callNamed("3", "gate", "three")))
	c.awaitFile("one.began")
	c.awaitFile("three.began")
	c.works()
	pass(t, gate, 2)
	byID := c.batch(3)
	wantText(t, byID["1"], "1", "through one")
	wantText(t, byID["2"], "2", `{"name":"two"}`)
	wantText(t, byID["3"], "3", "through three")
}

func TestAnEmptyBatchIsNoRequest(t *testing.T) {
	c := batcher(t)
	for _, line := range []string{`[]`, ` [ ] `} {
		wantError(t, c.ask(line), "", -32600)
	}
	c.works()
}

func TestNothingAnswersABatchThatAsksNothing(t *testing.T) {
	c := batcher(t)
	initialized := notification("notifications/initialized", `{}`)
	for _, line := range []string{
		batchOf(initialized),
		batchOf(initialized, notification("no/such", `{}`), cancel("99")),
		batchOf(`{"jsonrpc":"2.0","id":1,"result":{}}`),
		batchOf(`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a"}}`, initialized),
		batchOf(notification("tools/call", `{"name":"touch","arguments":{"name":"notified"}}`)),
	} {
		c.silent(line)
	}
	c.works()
	c.absent("notified.touched")
}

func TestElementsOfABatchThatAreNoRequestsAreAnsweredEach(t *testing.T) {
	c := batcher(t)
	for _, element := range []string{
		`1`, `null`, `"a"`, `true`, `[]`, `{}`, `[` + ping7 + `]`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
		`{"jsonrpc":"2.0","method":7}`,
		`{"jsonrpc":"2.0","id":8,"id":9,"method":"ping"}`,
	} {
		c.send(batchOf(element))
		wantError(t, c.batch(1)[""], "", -32600)
		c.send(batchOf(request("1", "ping", `{}`), element, notification("no/such", `{}`), request("2", "ping", `{}`)))
		byID := c.batch(3)
		wantResult(t, byID["1"], "1", `{}`)
		wantResult(t, byID["2"], "2", `{}`)
		wantError(t, byID[""], "", -32600)
		if t.Failed() {
			t.Fatalf("that was %s", element)
		}
	}
	c.send(batchOf(`1`, `2`, `3`))
	for _, r := range c.batch(3) {
		wantError(t, r, "", -32600)
	}
	c.send(batchOf(`{"id":7,"method":"ping"}`, `{"jsonrpc":"2.0","id":8,"Method":"ping"}`))
	byID := c.batch(2)
	wantError(t, byID["7"], "7", -32600)
	wantError(t, byID["8"], "8", -32600)
	c.works()
}

func TestABatchThatIsNotJSONIsNotAnsweredInPart(t *testing.T) {
	c := batcher(t)
	for _, line := range []string{
		batchOf(callNamed("1", "touch", "parted"), `{"jsonrpc":"2.0"`),
		batchOf(callNamed("1", "touch", "parted"), ``),
		"[" + callNamed("1", "touch", "parted"),
		batchOf(callNamed("1", "touch", "parted")) + batchOf(ping7),
		batchOf(callNamed("1", "touch", "parted"), `"`+"\xff"+`"`),
	} {
		wantError(t, c.ask(line), "", -32700)
	}
	c.works()
	c.absent("parted.touched")
}

func TestAHandshakeInABatchIsRefused(t *testing.T) {
	c := batcher(t)
	c.send(batchOf(request("1", "ping", `{}`), initialize("2", "2024-11-05"), request("3", "ping", `{}`)))
	byID := c.batch(3)
	wantError(t, byID["2"], "2", -32600)
	wantResult(t, byID["1"], "1", `{}`)
	wantResult(t, byID["3"], "3", `{}`)
	c.send(batchOf(initialize("2", "2024-11-05")))
	wantError(t, c.batch(1)["2"], "2", -32600)
	// The revision is the old one, or there would be no batches.
	c.send(batchOf(request("1", "ping", `{}`)))
	c.batch(1)
}

func TestACancelledCallIsMissingFromTheAnswerToItsBatch(t *testing.T) {
	c := batcher(t)
	gate := c.gate()
	c.send(batchOf(callNamed("1", "stay", "one"), callNamed("2", "gate", "two")))
	pid := c.pid("one")
	c.awaitFile("two.began")
	c.silent(cancel("1"))
	c.dies(pid)
	pass(t, gate, 1)
	wantText(t, c.batch(1)["2"], "2", "through two")

	c.send(batchOf(callNamed("3", "stay", "three")))
	pid = c.pid("three")
	c.silent(batchOf(cancel("3")))
	c.dies(pid)
	c.works()
}

func TestABatchMayCancelWhatItAsks(t *testing.T) {
	c := batcher(t, "--concurrency=1")
	gate := c.gate()
	c.send(callNamed("1", "gate", "one"))
	c.awaitFile("one.began")
	c.send(batchOf(callNamed("2", "touch", "two"), cancel("2"), request("3", "ping", `{}`)))
	wantResult(t, c.batch(1)["3"], "3", `{}`)
	pass(t, gate, 1)
	wantText(t, c.reply(), "1", "through one")
	c.works()
	c.absent("two.touched")
}

func TestAnIDTwiceInABatchIsRefusedTheSecondTime(t *testing.T) {
	c := batcher(t)
	gate := c.gate()
	c.send(batchOf(callNamed("7", "gate", "first"), callNamed("7", "touch", "second"), request("7.0", "ping", `{}`)))
	c.awaitFile("first.began")
	wantError(t, c.ask(callNamed("7", "touch", "second")), "", -32600)
	pass(t, gate, 1)
	byID := c.batch(3)
	wantText(t, byID["7"], "7", "through first")
	wantError(t, byID[""], "", -32600)
	c.works()
	c.absent("second.touched")
}

func TestABatchMayHoldBothEras(t *testing.T) {
	c := batcher(t)
	c.send(batchOf(request("1", "tools/call", `{"name":"echo"}`), modernRequest("2", "tools/call", `"name":"echo"`), modernRequest("3", "server/discover", "")))
	byID := c.batch(3)
	wantText(t, byID["1"], "1", `{}`)
	wantText(t, byID["2"], "2", `{}`)
	wantResult(t, byID["3"], "3", discoverResult)
}

func TestABatchIsAnsweredAfterTheEndOfTheInput(t *testing.T) {
	c := batcher(t)
	gate := c.gate()
	c.write(batchOf(callNamed("1", "gate", "one"), request("2", "ping", `{}`)))
	c.server.CloseInput()
	c.awaitFile("one.began")
	pass(t, gate, 1)
	wantText(t, c.batch(2)["1"], "1", "through one")
	c.end()
}

func TestABatchThatOutlastsTheDrainIsAnswered(t *testing.T) {
	c := batcher(t, "--drain=100ms")
	c.send(batchOf(callNamed("1", "stay", "one"), request("2", "ping", `{}`)))
	pid := c.pid("one")
	c.server.CloseInput()
	byID := c.batch(2)
	wantError(t, byID["1"], "1", -32603)
	wantResult(t, byID["2"], "2", `{}`)
	c.end()
	c.dies(pid)
}

func TestABatchMayBeLong(t *testing.T) {
	c := batcher(t)
	const n = 3000
	pings := make([]string, n)
	for i := range pings {
		pings[i] = request(fmt.Sprint(i), "ping", `{}`)
	}
	c.send(batchOf(pings...))
	for id, r := range c.batch(n) {
		wantResult(t, r, id, `{}`)
	}
	c.works()
}

func TestABatchIsNoRequestInAnyOtherRevision(t *testing.T) {
	for _, state := range states {
		t.Run(state.name, func(t *testing.T) {
			c := fixture(t)
			state.reach(c)
			if c.negotiated == "2025-03-26" {
				c.initialize("2025-06-18")
			}
			for _, line := range []string{
				batchOf(callNamed("1", "touch", "batched")),
				batchOf(modernRequest("1", "tools/call", `"name":"touch","arguments":{"name":"batched"}`)),
				batchOf(notification("notifications/initialized", `{}`)),
				batchOf(initialize("1", "2025-03-26")),
			} {
				wantError(t, c.ask(line), "", -32600)
			}
			c.works()
			c.absent("batched.touched")
		})
	}
}
