package stdio_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// mostDepth is how many levels a message may nest.
const mostDepth = 1000

// nested is a JSON value of so many levels.
func nested(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

func nestedObjects(levels int) string {
	return strings.Repeat(`{"a":`, levels-1) + `{}` + strings.Repeat("}", levels-1)
}

func TestAMessageOfAThousandLevelsIsServed(t *testing.T) {
	c := fixture(t)
	// Message, params, arguments: three levels above the innermost value.
	for _, value := range []string{nested(mostDepth - 3), nestedObjects(mostDepth - 3)} {
		arguments := `{"deep":` + value + `}`
		wantText(t, c.ask(request("1", "tools/call", `{"name":"echo","arguments":`+arguments+`}`)), "1", arguments)
	}
	wantResult(t, c.ask(`{"jsonrpc":"2.0","id":2,"method":"ping","unknown":`+nested(mostDepth-1)+`}`), "2", `{}`)
	wantResult(t, c.ask(request("3", "ping", nestedObjects(mostDepth-1))), "3", `{}`)
}

func TestBracketsInsideStringsAreNoLevels(t *testing.T) {
	c := fixture(t)
	arguments := `{"text":"\"` + strings.Repeat(`[{\\`, 5000) + `"}`
	wantText(t, c.ask(request("1", "tools/call", `{"name":"echo","arguments":`+arguments+`}`)), "1", arguments)
}

func TestAMessageThatNestsDeeperIsRefusedWithItsID(t *testing.T) {
	for _, levels := range []int{mostDepth + 1, mostDepth + 2, 10001, 100000, 1000000} {
		for name, line := range map[string]string{
			"in arguments":             request(`"d"`, "tools/call", `{"name":"echo","arguments":{"deep":`+nested(levels-3)+`}}`),
			"in objects":               request(`"d"`, "tools/call", `{"name":"echo","arguments":{"deep":`+nestedObjects(levels-3)+`}}`),
			"in metadata":              request(`"d"`, "ping", `{"_meta":{"deep":`+nested(levels-3)+`}}`),
			"in params":                request(`"d"`, "ping", nestedObjects(levels-1)),
			"in a member of no use":    `{"jsonrpc":"2.0","id":"d","method":"ping","unknown":` + nested(levels-1) + `}`,
			"before the id":            `{"params":{"deep":` + nested(levels-2) + `},"method":"ping","id":"d","jsonrpc":"2.0"}`,
			"in a modern request":      modernRequest(`"d"`, "tools/call", `"name":"echo","arguments":{"deep":`+nested(levels-3)+`}`),
			"with an unknown method":   request(`"d"`, "no/such", `{"deep":`+nested(levels-2)+`}`),
			"with a handshake":         request(`"d"`, "initialize", `{"deep":`+nested(levels-2)+`}`),
			"with much behind":         request(`"d"`, "ping", `{"deep":`+nested(levels-2)+`,"tail":"`+strings.Repeat("x", 100000)+`"}`),
			"with brackets in strings": request(`"d"`, "ping", `{"s":"]]]]]","deep":`+nested(levels-2)+`}`),
		} {
			t.Run(fmt.Sprintf("%d levels %s", levels, name), func(t *testing.T) {
				c := fixture(t)
				c.guard()
				wantError(t, c.ask(line), `"d"`, -32602)
				c.works()
			})
		}
	}
}

func TestADeepArrayIsNoRequest(t *testing.T) {
	for _, levels := range []int{mostDepth, mostDepth + 1, 100000} {
		c := fixture(t)
		c.guard()
		wantError(t, c.ask(nested(levels)), "", -32600)
		c.works()
	}
}

// What nests too deep for a JSON library to look at may still be no JSON.
func TestDeepLinesThatAreNotJSONAreAnsweredAndTheServerGoesOn(t *testing.T) {
	deep := strings.Repeat("[", mostDepth+1)
	call := callNamed("7", "touch", "unparsed")
	tests := []struct{ name, line string }{
		{"opening brackets", deep},
		{"100000 opening brackets", strings.Repeat("[", 100000)},
		{"opening objects", strings.Repeat(`{"a":`, mostDepth+1)},
		{"100000 opening objects", strings.Repeat(`{"a":`, 100000)},
		{"100000 closing brackets", strings.Repeat("]", 100000)},
		{"brackets that do not match", deep + strings.Repeat("}", mostDepth+1)},
		{"a brace in an array", "[}" + deep},
		{"a comma in an array", "[," + deep + nested(1)},
		{"a colon in an array", "[1:" + nested(mostDepth+1) + "]"},
		{"a cut array that begins with a request", "[" + call + "," + deep},
		{"an array that begins with a request and ends in a word", "[" + call + "," + nested(mostDepth+1) + " please]"},
		{"two arrays", nested(mostDepth+1) + nested(mostDepth+1)},
		{"a request and an array", ping7 + nested(mostDepth+1)},
		{"an array and a request", nested(mostDepth+1) + ping7},
		{"a request with a cut array", request("7", "ping", `{"a":`+deep)},
		{"a BOM and an array", bom + nested(mostDepth+1)},
	}
	for _, revision := range []string{"", "2025-03-26", newestLegacy} {
		for _, test := range tests {
			t.Run(test.name+" after "+revision, func(t *testing.T) {
				c := fixture(t)
				c.guard()
				if revision != "" {
					c.initialize(revision)
				}
				wantError(t, c.ask(test.line), "", -32700)
				c.works()
				c.absent("unparsed.touched")
			})
		}
	}
}

// guard kills the server before it takes the machine's memory, should a line
// make it grow without end.
func (c *client) guard() {
	c.t.Helper()
	done := make(chan struct{})
	process := c.server.Cmd.Process
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
			}
			statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", process.Pid))
			if err != nil {
				return
			}
			var pages, resident int
			_, _ = fmt.Fscan(bytes.NewReader(statm), &pages, &resident)
			if resident*os.Getpagesize() > 1<<30 {
				_ = process.Kill()
				return
			}
		}
	}()
	c.t.Cleanup(func() { close(done) })
}
