package wire

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// errBroken is what reading fails with, for whatever reason, a signal included.
var errBroken = errors.New("the input broke off")

// breakOff breaks the input off, and returns once the server knows.
func (c *sdkClient) breakOff() {
	c.t.Helper()
	c.in.CloseWithError(errBroken)
	c.await("the end of the queue", func() bool { return c.conn.queue.closed })
}

// says expects the server to say this, and to tell that its input broke off.
func (c *sdkClient) says(want ...string) {
	c.t.Helper()
	lines, err := c.rest()
	if !errors.Is(err, errBroken) || strings.Join(lines, "\n") != strings.Join(want, "\n") {
		c.t.Errorf("Serve: %v; it says\n%s\nand should\n%s", err, strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
}

func TestBehindAnInputThatBreaksOffNothingMoreBegins(t *testing.T) {
	tests := []struct {
		name   string
		behind []string // what has come in behind the call
		part   string   // and a line that was not at its end yet
	}{
		{"with nothing behind the call", nil, ""},
		{"with requests that wait for their turn", []string{call("2", "slow", ""), call("3", "fast", ""), ping("4")}, ""},
		{"with lines that are none", []string{"nonsense", "[]"}, ""},
		{"with a request that lacks its newline", nil, ping("5")},
		{"with half a line", []string{ping("6")}, half("7")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := connectSDK(t, 1)
			c.begin("1", "slow")
			c.send(tt.behind...)
			c.queued(len(tt.behind))
			c.write(tt.part)
			c.breakOff()
			c.end()
			c.says(empty("1"))
			// It is not the client that has ended it.
			c.logged(0, discarded)
			c.logged(0, closedInMid)
		})
	}
}

func TestAnInputThatBreaksOffEndsAnIdleConnection(t *testing.T) {
	c := connectSDK(t, 1)
	c.ask(ping("1"), empty("1"))
	c.breakOff()
	c.says()
}

func TestCallsThatHaveBegunEndBehindAnInputThatBreaksOff(t *testing.T) {
	c := connectSDK(t, 4)
	c.begin("1", "slow")
	c.begin("2", "slow")
	c.breakOff()
	c.end()
	c.end()
	if lines, err := c.rest(); !errors.Is(err, errBroken) || len(lines) != 2 {
		t.Errorf("Serve: %v; it says %q", err, lines)
	}
}

// A client that has stopped reading must not keep a server from ending.
func TestRepliesThatNobodyReadsDoNotHoldUpTheEnd(t *testing.T) {
	c := connectSDK(t, 1)
	// More than the client of these tests takes without being asked.
	for i := range cap(c.lines) + 100 {
		c.send(ping(fmt.Sprint(i)))
	}
	c.breakOff()
	select {
	case err := <-c.ended:
		if !errors.Is(err, errBroken) {
			t.Errorf("Serve: %v", err)
		}
	case <-time.After(deadline):
		t.Error("it does not end")
	}
}

func TestCancellationsOfNothingLeaveRoomForOneOfSomething(t *testing.T) {
	c := connectSDK(t, 1)
	c.begin("1", "slow")
	for range 2 * maxInFlight {
		c.send(cancelled("99"))
	}
	c.send(cancelled("1"), ping("2"))
	c.answers(empty("2"))
}
