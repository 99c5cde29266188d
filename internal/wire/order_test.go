package wire

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/internal/message"
)

func TestEverythingIsAnsweredInTheOrderInWhichItCame(t *testing.T) {
	c := connectSDK(t, 1)
	c.begin("1", "slow")
	c.send(ping("2"), "", "nonsense", call("3", "slow", ""), `{"jsonrpc":"2.0","method":"x"}`, "[]", ping("4"), call("5", "fast", ""), `{"jsonrpc":"2.0","id":6,"method":"no/such"}`)
	c.queued(8)
	c.logged(1, "INFO Received: ")
	c.end()
	c.awaitStart()
	c.logged(4, "INFO Received: ")
	c.end()
	c.answers(empty("1"), empty("2"), refused("null", -32700, noJSON), empty("3"), refused("null", -32600, noObject), empty("4"), empty("5"), refused("6", -32601, "Method not found: no/such"))
}

func TestOrderHoldsWithConchsOwnMannersToo(t *testing.T) {
	ts := newSDKTools()
	opts := options()
	opts.InOrder, opts.CallTool = 1, ts.call
	c := &sdkClient{connect(t, tools{}.server(), opts), ts, &journal{}}
	c.begin("1", "slow")
	c.send(ping("2"), " ", "nonsense", call("3", "slow", ""), ping("4"))
	c.queued(4)
	c.send(cancelled("3"))
	c.queued(3)
	c.end()
	c.answers(empty("1"), empty("2"), `{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error: expected exactly one JSON document per line"}}`, empty("4"))
}

func TestWhatInitializeNegotiatesCountsForTheLineBehindIt(t *testing.T) {
	c := connectSDK(t, 1)
	c.begin("1", "slow")
	c.send(initialize(message.Revision20250326), "["+ping("2")+"]")
	c.queued(2)
	c.end()
	lines, err := c.rest()
	if err != nil || len(lines) != 3 || lines[2] != "["+empty("2")+"]" {
		t.Errorf("Serve: %v; it says\n%s", err, strings.Join(lines, "\n"))
	}
}

func TestTheCallsOfABatchAreServedOneByOne(t *testing.T) {
	c := connectSDK(t, 1)
	c.ask(initialize(message.Revision20250326), `"2025-03-26"`)
	c.send("[" + call("1", "slow", "") + "," + call("2", "slow", "") + "," + ping("3") + "]")
	for range 2 {
		c.awaitStart()
		if len(c.started) > 0 {
			t.Error("two run at once")
		}
		c.end()
	}
	c.answers("[" + empty("1") + "," + empty("2") + "," + empty("3") + "]")
}

func TestACancellationReachesTheCallInFlightPastAllThatWaits(t *testing.T) {
	for _, tt := range []struct{ id, cancelledAs string }{{"41", "41"}, {`"a"`, `"\u0061"`}, {"7", "7.0"}, {"1e400", "10e399"}} {
		c := connectSDK(t, 1)
		c.begin(tt.id, "slow")
		c.send(ping("2"), call("3", "fast", ""), cancelled(tt.cancelledAs))
		c.answers(empty("2"), empty("3"))
		c.logged(1, "INFO Cancelling in-flight tools/call "+tt.id+" (slow)")
		c.logged(1, "INFO Cancelled tools/call "+tt.id+" (slow)")
	}
}

func TestWhatIsNoCancellationOfTheCallLeavesItAlone(t *testing.T) {
	c := connectSDK(t, 1)
	c.begin("7", "slow")
	for _, line := range []string{
		cancelled(`"7"`), cancelled("8"), cancelled("null"), cancelled("{}"),
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}`,
		cancelled("7") + cancelled("7"),
		"[" + cancelled("7") + "]",
		`{"jsonrpc":"2.0","id":472,"method":"notifications/cancelled","params":{"requestId":7}}`,
		`{"method":"notifications/cancelled","params":{"requestId":7}}`,
	} {
		c.send(line)
	}
	c.queued(10)
	c.end()
	c.answers(empty("7"), refused("null", -32700, noDocument), refused("null", -32600, noObject),
		refused("472", -32601, "Method not found: notifications/cancelled"), refused("null", -32600, noVersion))
	c.logged(6, "INFO Cancellation received with nothing in flight; dropped")
	c.logged(0, "Cancelling")
}

func TestARequestThatIsCancelledInTheQueueNeverBegins(t *testing.T) {
	c := connectSDK(t, 1)
	c.begin("1", "slow")
	c.send(call("2", "slow", ""), ping("3"), call("4", "fast", ""), cancelled("2"), cancelled("3"), cancelled("3"))
	c.queued(2) // 4 and the second cancellation
	c.logged(1, "INFO Cancelled tools/call 2 (slow) before it began")
	c.logged(1, "INFO Cancelled ping 3 before it began")
	c.end()
	c.answers(empty("1"), empty("4"))
	c.logged(1, "nothing in flight; dropped")
	c.logged(0, `Received: {"jsonrpc":"2.0","id":2`)
}

func TestACancellationThatIsEarlierThanItsRequestIsDropped(t *testing.T) {
	c := connectSDK(t, 1)
	c.begin("1", "slow")
	c.send(cancelled("2"), call("2", "fast", ""))
	c.queued(2)
	c.end()
	c.answers(empty("1"), empty("2"))
}

func TestAnIDMayBeUsedAgainWhileItsFirstRequestRuns(t *testing.T) {
	c := connectSDK(t, 1)
	c.begin("1", "slow")
	c.send(call("1", "fast", ""), ping("1"))
	c.queued(2)
	c.end()
	c.answers(empty("1"), empty("1"), empty("1"))
}

func TestACancelledCallIsOverWhenItHasEnded(t *testing.T) {
	c := connectSDK(t, 1)
	c.begin("1", "stubborn")
	c.send(cancelled("1"), ping("2"))
	c.queued(1)
	c.logged(1, "INFO Cancelling in-flight tools/call 1 (stubborn)")
	c.logged(0, "Cancelled")
	c.send(cancelled("1"))
	c.queued(2)
	c.end()
	c.answers(empty("2"))
	c.logged(1, "INFO Cancelled tools/call 1 (stubborn)")
	c.logged(1, "Cancelling")
}

func TestARequestThatIsCancelledWhileItIsTakenUpIsNotAnswered(t *testing.T) {
	for _, line := range []string{call("1", "fast", ""), ping("1"), `{"jsonrpc":"2.0","id":1,"method":"no/such"}`} {
		ts, j, taking, goOn := newSDKTools(), &journal{}, make(chan struct{}), make(chan struct{})
		opts := options()
		opts.CallTool, opts.Manner = ts.call, &BashSDK{Log: j.log}
		opts.Supported = func() []string {
			taking <- struct{}{}
			<-goOn
			return message.Revisions()
		}
		c := &sdkClient{connect(t, tools{}.server(), opts), ts, j}
		c.send(line)
		<-taking
		c.send(cancelled("1"), cancelled("1"))
		c.queued(1)
		close(goOn)
		c.answers()
		c.logged(1, "INFO Cancelled ")
		c.logged(1, "nothing in flight; dropped")
	}
}

func TestARequestThatIsCancelledJustBeforeItBeginsIsForgotten(t *testing.T) {
	c := connectSDK(t, 1)
	m := message.Message{Kind: message.Request, Method: "tools/call", Params: []byte(`{"name":"slow"}`)}
	m.ID, _ = message.ParseID([]byte("1"))
	r := c.conn.newRequest(m, nil, 10)
	if admitted, err := c.conn.admit(r, &m, message.Meta{}); !admitted {
		t.Fatal(err)
	}
	if !c.conn.cancelAhead(c.conn.parse([]byte(cancelled("1")), false)) {
		t.Fatal("it is not there to be cancelled")
	}
	c.logged(1, "INFO Cancelling in-flight tools/call 1 (slow)")
	s, err := c.conn.session(m.Method, false)
	if err != nil {
		t.Fatal(err)
	}
	if c.conn.begin(r, s, nil) {
		t.Error("it begins")
	}
	c.logged(1, "INFO Cancelled tools/call 1 (slow)")
	c.answers()
}

// A cancellation may come at any moment of a request's life: while it waits,
// while it is taken up, while it runs, and behind its end.
func TestACancelledCallIsNeverAnsweredWheneverTheCancellationComes(t *testing.T) {
	c := connectSDK(t, 1)
	for i := range 300 {
		id := fmt.Sprint(i)
		c.send(call(id, "slow", ""))
		for range i {
			runtime.Gosched()
		}
		c.send(cancelled(id))
	}
	c.answers()
	c.logged(300, "INFO Cancelled tools/call ")
}

func TestSeveralCallsRunAtOnceAndNoMore(t *testing.T) {
	c := connectSDK(t, 2)
	for i := range 4 {
		c.send(call(fmt.Sprint(i), "slow", ""))
	}
	c.awaitStart()
	c.awaitStart()
	c.ask(ping("10"), empty("10")) // it waits for no call
	c.ask("nonsense", noJSON)
	c.queued(2)
	if len(c.started) > 0 {
		t.Error("more than two run")
	}
	c.send(cancelled("2"))
	c.queued(1)
	c.end()
	c.awaitStart()
	c.end()
	c.end()
	lines, err := c.rest()
	if err != nil || len(lines) != 3 {
		t.Errorf("Serve: %v; it says\n%s", err, strings.Join(lines, "\n"))
	}
	for _, id := range []string{"0", "1", "3"} {
		if !strings.Contains(strings.Join(lines, "\n"), empty(id)) {
			t.Errorf("%s is not answered", id)
		}
	}
}

func TestReadingPausesWhenTheQueueIsFull(t *testing.T) {
	const most = 10 * maxInFlight
	c := connectSDK(t, 1)
	c.begin(`"first"`, "slow")
	written := make(chan struct{})
	go func() {
		defer close(written)
		for i := range most {
			_, _ = io.WriteString(c.in, ping(fmt.Sprint(i))+"\n")
		}
	}()
	c.queued(maxInFlight)
	select {
	case <-written:
		t.Error("all is read")
	default:
	}
	c.end()
	if got := c.line(); got != empty(`"first"`) {
		t.Fatalf("got %s", got)
	}
	for i := range most {
		if got := c.line(); got != empty(fmt.Sprint(i)) {
			t.Fatalf("got %s, want the answer to %d", got, i)
		}
	}
	<-written
	c.answers()
}

func TestCallsThatOutlastTheDrainAreAnsweredAndSoIsWhatWaits(t *testing.T) {
	ts, j := newSDKTools(), &journal{}
	opts := options()
	opts.Drain, opts.CallTool, opts.Manner = 100*time.Millisecond, ts.call, &BashSDK{Log: j.log}
	c := &sdkClient{connect(t, tools{}.server(), opts), ts, j}
	c.begin("1", "slow")
	c.send(call("2", "slow", ""), ping("3"))
	c.queued(2)
	lines, err := c.rest()
	slices.Sort(lines)
	want := []string{refused("1", -32603, "The input has ended and the request took longer than 100ms (--drain)"),
		refused("2", -32603, "The server is shutting down"), refused("3", -32603, "The server is shutting down")}
	if err != nil || !slices.Equal(lines, want) {
		t.Errorf("Serve: %v; it says\n%s", err, strings.Join(lines, "\n"))
	}
}
