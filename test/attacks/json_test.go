package attacks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

// JSON that is meant to cost much is refused soon, or served as what it is.
func TestHostileJSON(t *testing.T) {
	t.Parallel()
	e := serve(t, "--concurrency", "4")
	// A body may have the first size. Bash takes its time to read the second.
	const size, large = 4<<20 - 1000, 512 << 10
	call := func(arguments string) string {
		_, body := harness.ModernRequest("1", "tools/call", `"name":"echo","arguments":`+arguments)
		return body
	}
	header, _ := harness.ModernRequest("1", "tools/call", `"name":"echo"`)
	nested := func(open, inner, end string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	members := func(n int, member string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, member, i)
		}
		return "{" + strings.TrimSuffix(b.String(), ",") + "}"
	}
	tests := []struct {
		name, body string
		status     int
	}{
		{"4 MiB of [", strings.Repeat("[", size), 400},
		{"4 MiB of {", strings.Repeat(`{"a":`, size/5), 400},
		{"4 MiB of quotes", strings.Repeat(`"`, size), 400},
		{"4 MiB of backslashes", `"` + strings.Repeat(`\`, size), 400},
		{"4 MiB of blanks", strings.Repeat(" ", size), 400},
		{"4 MiB of digits", strings.Repeat("9", size), 400},
		{"deep arrays", call(nested("[", "", "]", size/2)), 400},
		{"deep objects", call(nested(`{"a":`, "1", "}", size/6)), 400},
		{"deep in the envelope", nested(`{"params":`, "1", "}", size/11), 400},
		{"many elements that are no message", "[" + strings.Repeat("1,", size/2-1) + "1]", 400},
		{"the same member ever again", strings.TrimSuffix(`{"jsonrpc":"2.0"`+strings.Repeat(`,"id":1`, size/7), ",") + "}", 400},
		{"an argument ever again", call("{" + strings.Repeat(`"v":1,`, large/6) + `"v":"last"}`), 200},
		{"many arguments", call(members(10000, `"a%d":1,`)), 200},
		{"a number of many digits", call(`{"v":` + strings.Repeat("9", large) + "}"), 200},
		{"a number beyond all", call(`{"v":1e999999999}`), 200},
		{"a number next to nothing", call(`{"v":-1e-999999999}`), 200},
		{"an id of 4 MiB", strings.Replace(call("{}"), `"id":1`, `"id":"`+strings.Repeat("x", size-1000)+`"`, 1), 200},
		{"an id of many digits", strings.Replace(call("{}"), `"id":1`, `"id":`+strings.Repeat("9", 1<<20), 1), 200},
		{"a method of 4 MiB", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", size-1000) + `"}`, 400},
		{"a name of 4 MiB", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + strings.Repeat("x", size-1000) + `"}}`, 400},
		{"escapes", call(`{"v":"` + strings.Repeat(`\u0041`, large/6) + `"}`), 200},
		{"half surrogates", call(`{"v":"` + strings.Repeat(`\ud800`, large/6) + `"}`), 200},
	}
	e.withstands(2*bound, func() {
		each(len(tests), 2, func(i int) {
			a := tests[i]
			answer, err := e.try(t.Context(), "POST", a.body, header)
			if err != nil || answer.status != a.status {
				t.Errorf("%s: %d %.200s %v", a.name, answer.status, answer.body, err)
			}
		})
	})
	e.Terminate()
}

// A batch is many requests, of which a session has only so many at work.
func TestBatchesOfCalls(t *testing.T) {
	t.Parallel()
	e := serve(t, "--concurrency", "4")
	header := e.session("2025-03-26")
	batch := func(n int) string {
		calls := make([]string, n)
		for i := range calls {
			calls[i] = harness.Call(i, "echo", `{"v":"x"}`)
		}
		return "[" + strings.Join(calls, ",") + "]"
	}
	e.withstands(bound, func() {
		answer := e.post(batch(4096), header)
		if n := strings.Count(answer.body, `"jsonrpc"`); answer.status != 200 || n != 4096 {
			t.Errorf("%d answers: %d %.300s", n, answer.status, answer.body)
		}
		if answer := e.post(batch(4097), header); answer.status != 400 {
			t.Errorf("a batch of 4,097: %d %.300s", answer.status, answer.body)
		}
		same := "[" + strings.TrimSuffix(strings.Repeat(harness.Call(1, "sleep", `{"v":1}`)+",", 1000), ",") + "]"
		if answer := e.post(same, header); strings.Count(answer.body, "slept") != 1 || strings.Count(answer.body, `"error"`) != 999 {
			t.Errorf("the same id 1,000 times: %d %.300s", answer.status, answer.body)
		}
	})
	e.Terminate()
}

// An id is that of one request at a time, however many ask.
func TestTheSameIDInManyPOSTs(t *testing.T) {
	t.Parallel()
	e := serve(t)
	header := e.session(harness.NewestLegacy)
	e.withstands(bound, func() {
		each(300, 30, func(int) {
			answer, err := e.try(t.Context(), "POST", harness.Call(1, "sleep", `{"v":0.05}`), header)
			refused := strings.Contains(answer.body, "in flight") && !strings.Contains(answer.body, "slept")
			done := strings.Contains(answer.body, "slept") && !strings.Contains(answer.body, "error")
			if err != nil || refused == done {
				t.Errorf("%+v, %v", answer, err)
			}
		})
	})
	e.Terminate()
}
