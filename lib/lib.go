// Package lib holds the files that Conch has for the trees of others: each
// takes the place of the library of a framework for servers in shell.
//
// It is data, and must not know what is done with it.
package lib

import _ "embed"

//go:embed bash-mcp-sdk/mcpserver_core.sh
var bashMCPSDK string

// Format is a framework's way of writing servers, and the file that serves
// such servers with Conch.
type Format struct {
	Name     string // the framework's, in lower case
	File     string // the name under which scripts source the framework's library
	Text     string
	Mark     string // what every library of the framework's has in it, and little else
	Protocol int    // what the file speaks with conch, as its _mcp_protocol says
}

// BashMCPSDKProtocol numbers what the file for bash-mcp-sdk and the conch that
// it finds say to each other. It grows with every change that one side alone
// cannot follow.
const BashMCPSDKProtocol = 1

// Formats lists the formats there are, by name.
func Formats() []Format {
	return []Format{
		{Name: "bash-mcp-sdk", File: "mcpserver_core.sh", Text: bashMCPSDK, Mark: "run_mcp_server()", Protocol: BashMCPSDKProtocol},
	}
}
