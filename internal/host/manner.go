package host

// Manner is whose scripts a host serves: the frameworks differ in what they
// answer and log.
type Manner int

const (
	Plain            Manner = iota // Conch's own
	BashMCPSDK                     // those of bash-mcp-sdk; Options.Name is not used
	MCPServerBashSDK               // those of mcp-server-bash-sdk
)

// isVerbatim reports whether clients get to see what the author wrote, whatever
// it is worth, and faults in it matter to those calls alone that they concern.
func (m Manner) isVerbatim() bool { return m != Plain }
