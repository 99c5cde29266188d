package stdio_test

import (
	"strings"
	"testing"
	"time"

	"github.com/conch-mcp/conch/test/harness"
)

// Nothing that the server does for a request may rest on its having been busy before:
// the clock that ends a pattern runs in a goroutine, which somebody has to let run.
func TestAPatternEndsByItsLimitOnAnIdleServer(t *testing.T) {
	script := harness.Script(t, listScript("match"),
		`{"tools":[{"name":"match","inputSchema":{"type":"object","properties":{"text":{"type":"string","pattern":"^(a+)+$"}}}}]}`, `{}`)
	s := harness.ServeWith(t, []string{"env", "GOMAXPROCS=1"}, script)
	s.Ask(request("1", "ping", `{}`))
	for range 3 {
		begun := time.Now()
		s.Ask(request("2", "tools/call", `{"name":"match","arguments":{"text":"`+strings.Repeat("a", 40)+`!"}}`))
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("the answer took %v", took)
		}
	}
}
