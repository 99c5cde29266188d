package cli

import (
	"os"
	"path/filepath"

	"github.com/conch-mcp/conch/internal/roots"
	"github.com/conch-mcp/conch/internal/shell"
)

// scope finds what is in scope for clients that name no roots. warnings are for
// the log, which is not open yet.
func scope(of source, list []string, getenv func(string) string) (set roots.Set, warnings []string, err error) {
	dir, err := of.home()
	if err != nil {
		return roots.Set{}, nil, err
	}
	return roots.Fallback(roots.Sources{List: list, Getenv: getenv, Dir: dir})
}

// homeOf is the server's directory: the script's or, where a link to the script
// stands alone, that of the script itself.
func homeOf(script, dir string) string {
	for _, name := range []string{"tools.json", filepath.Join("config", "roots.json")} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return dir
		}
	}
	if real, err := filepath.EvalSymlinks(filepath.Join(dir, filepath.Base(script))); err == nil {
		return filepath.Dir(real)
	}
	return dir
}

// tellRoots has calls find a set.
func tellRoots(set roots.Set) []string {
	return shell.Roots{JSON: set.JSON(), Paths: set.Paths(), Count: set.Count()}.Environment()
}
