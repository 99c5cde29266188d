package shell

import "strconv"

// Roots are the directories that are in scope for a call, as it finds them in
// its environment. The zero value leaves it those that its shell was started
// with (Options.Env).
type Roots struct {
	JSON, Paths string // "" for JSON is the zero value; no roots are "[]"
	Count       int
	// Ask has the functions of the runtime ask the client first.
	Ask bool
}

// Environment is what a shell is started with for its calls to find r.
func (r Roots) Environment() []string {
	return []string{"MCP_ROOTS_JSON=" + r.JSON, "MCP_ROOTS_PATHS=" + r.Paths, "MCP_ROOTS_COUNT=" + strconv.Itoa(r.Count)}
}

// roots enters variables that are exported beforehand.
func (e *encoding) roots(r Roots) {
	if r.JSON != "" {
		e.scalar("MCP_ROOTS_JSON", r.JSON)
		e.scalar("MCP_ROOTS_PATHS", r.Paths)
		e.scalar("MCP_ROOTS_COUNT", strconv.Itoa(r.Count))
	}
	if r.Ask {
		e.scalar("CONCH_ASK_ROOTS", "1")
	}
}
