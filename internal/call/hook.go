package call

import "github.com/conch-mcp/conch/internal/shell"

// beforeHook is the function of a script that is asked before each call.
const beforeHook = "mcp_before_tool_call"

// HookEnd is how mcp_before_tool_call kept a tool from running. An Outcome has
// none when the tool ran.
type HookEnd struct {
	How    HookHow
	Status int    // what the hook returned or exited with, or the signal's number
	Output []byte // what it printed on either descriptor
}

// HookHow says in which way a hook ended a call.
type HookHow int

const (
	HookRefused HookHow = iota // it returned a status other than 0
	HookExited                 // it ended the shell
	HookKilled                 // a signal ended the shell while it ran
)

// hookEnd makes an outcome of the hook's answer and the status of its shell.
func hookEnd(a *shell.Answer, status int) *HookEnd {
	switch {
	case a == nil:
		return nil
	case a.Returned:
		return &HookEnd{HookRefused, a.Status, a.Output}
	case status > signalled:
		return &HookEnd{HookKilled, status - signalled, a.Output}
	}
	return &HookEnd{HookExited, status, a.Output}
}
