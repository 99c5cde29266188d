package talk_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

// What is left while the server goes on is what it began with; the end of the
// test looks for what is left afterwards.
func TestAThousandMixedCallsLeaveNothing(t *testing.T) {
	kinds := []string{"plain", "emit", "fail", "ask", "sleep", "leave"}
	each(t, ways, func(t *testing.T, w way) {
		c, _ := parkingClient(t, w, "--max-parked=5", "--concurrency=4")
		c.answer = always(five)
		var all sync.WaitGroup
		for client := range 10 {
			all.Go(func() {
				for i := range 25 {
					kind := kinds[(client+i)%len(kinds)]
					a := ask{tool: "mixed", args: fmt.Sprintf(`{"kind":%q}`, kind), token: fmt.Sprint(client*1000 + i)}
					if kind == "sleep" {
						p := c.start(a)
						harness.Eventually(t, harness.Deadline, "the call begins", func() bool {
							c.mu.Lock()
							defer c.mu.Unlock()
							return len(p.told) > 0
						})
						p.cancel()
						continue
					}
					c.call(a)
				}
			})
		}
		all.Wait()
		c.call(ask{tool: "plain"}).wantSays(t, "plain")
		harness.Eventually(t, harness.Deadline, "nobody asks, and nothing lies about", func() bool { return asksNothing(c) })
	})
}
