// Conch serves shell functions as Model Context Protocol servers.
package main

import (
	"os"

	"github.com/conch-mcp/conch/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args)) }
