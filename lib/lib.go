// Package lib holds the files that Conch has for the trees of others: they take
// the place of the library of a framework for servers in shell.
//
// It is data, and must not know what is done with it.
package lib

import (
	_ "embed"
	"path/filepath"
)

// Formats, by name.
const (
	BashMCPSDK       = "bash-mcp-sdk"
	MCPServerBashSDK = "mcp-server-bash-sdk"
)

var (
	//go:embed bash-mcp-sdk/mcpserver_core.sh
	bashMCPSDK string
	//go:embed mcp-server-bash-sdk/mcpserver_core.sh
	serverCore string
	//go:embed mcp-server-bash-sdk/mcpserver_http.sh
	serverHTTP string
)

// Format is a framework's way of writing servers, and the files that serve such
// servers with Conch.
type Format struct {
	Name     string // the framework's, in lower case
	Files    []File // at least one
	Dir      string // where scripts have them as a rule, slash-terminated
	Protocol int    // what the files speak with conch, as their _mcp_protocol says
}

// File is a file of a format's.
type File struct {
	Name string // under which scripts source the framework's
	Text string
	Mark string // what every file of the framework's for that purpose has in it, and little else
}

// FileAt is the file of the format's that a path is for: the one of that name, or
// the only one.
func (f Format) FileAt(path string) (file File, ok bool) {
	for _, file := range f.Files {
		if file.Name == filepath.Base(path) {
			return file, true
		}
	}
	return f.Files[0], len(f.Files) == 1
}

// Protocol numbers what the files and the conch that they find say to each other.
// It grows with every change that one side alone cannot follow.
const Protocol = 2

// Formats lists the formats there are, by name.
func Formats() []Format {
	const core, http = "mcpserver_core.sh", "mcpserver_http.sh"
	return []Format{
		{Name: BashMCPSDK, Dir: "lib/", Protocol: Protocol, Files: []File{{core, bashMCPSDK, "run_mcp_server()"}}},
		{Name: MCPServerBashSDK, Dir: "./", Protocol: Protocol, Files: []File{
			{core, serverCore, "run_mcp_server()"}, {http, serverHTTP, "run_mcp_http_server()"},
		}},
	}
}
