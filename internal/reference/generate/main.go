// Command generate writes docs/reference anew. Its argument is the repository's
// top; `make reference` calls it.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/conch-mcp/conch/internal/reference"
)

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "generate: %v\n", err)
		os.Exit(1)
	}
}

func write(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("name the repository's top")
	}
	pages, err := reference.Pages(args[0])
	if err != nil {
		return err
	}
	dir := filepath.Join(args[0], reference.Dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, page := range pages {
		if err := os.WriteFile(filepath.Join(dir, page.Name), page.Text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
