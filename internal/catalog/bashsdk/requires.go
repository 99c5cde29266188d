package bashsdk

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/conch-mcp/conch/internal/catalog"
)

// capabilities are what clients may be able to do.
var capabilities = []string{"elicitation", "sampling", "roots", "tasks", "experimental", "extensions"}

// readRequires reads what clients must be able to do. What no client can is not
// required of any.
func readRequires(tool *catalog.Tool, fields map[string]json.RawMessage) (problem string) {
	raw, ok := fields["requires"]
	if !ok {
		return ""
	}
	var all []string
	if raw[0] != '[' || json.Unmarshal(raw, &all) != nil {
		return "has a requires that is no array of strings; nothing is required"
	}
	var unknown []string
	for _, name := range all {
		if slices.Contains(capabilities, name) {
			tool.Requires = append(tool.Requires, name)
		} else {
			unknown = append(unknown, strconv.Quote(name))
		}
	}
	if len(unknown) > 0 {
		return fmt.Sprintf("requires %s, which is nothing that clients declare; it is not required", strings.Join(unknown, " and "))
	}
	return ""
}
