package bashsdk

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/conch-mcp/conch/internal/catalog"
)

// longest is more seconds than any call takes.
const longest = 365 * 24 * 60 * 60

// readLimits reads how long calls of a tool may take. A limit that is of no use
// is told of and takes no tool away: the server's own applies.
func readLimits(tool *catalog.Tool, fields map[string]json.RawMessage) (problem string) {
	var ok, okMost bool
	tool.Timeout, ok = seconds(fields["timeout"])
	tool.MaxTimeout, okMost = seconds(fields["maxTimeout"])
	switch {
	case !ok:
		tool.MaxTimeout = 0
		return "has a timeout that is no positive number of seconds; --timeout applies"
	case !okMost:
		return "has a maxTimeout that is no positive number of seconds; progress extends no call"
	case tool.MaxTimeout > 0 && tool.Timeout == 0:
		tool.MaxTimeout = 0
		return "has a maxTimeout and no timeout that could be extended; --timeout applies"
	case tool.MaxTimeout > 0 && tool.MaxTimeout < tool.Timeout:
		tool.MaxTimeout = 0
		return "has a maxTimeout that is less than its timeout; progress extends no call"
	}
	return ""
}

// seconds reads a number of seconds. Without one it is 0.
func seconds(raw json.RawMessage) (d time.Duration, ok bool) {
	if raw == nil {
		return 0, true
	}
	var n float64
	if raw[0] == '"' || raw[0] == 'n' || json.Unmarshal(raw, &n) != nil || n <= 0 || n > longest {
		return 0, false
	}
	return max(time.Duration(n*float64(time.Second)), 1), true
}

// together joins problems of one tool into one.
func together(problems ...string) string {
	var all []string
	for _, p := range problems {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, ", and ")
}
