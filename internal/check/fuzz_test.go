package check_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/conch-mcp/conch/internal/check"
)

// FuzzCheck checks any script beside any list: it ends without an error, and every
// place is in its file.
func FuzzCheck(f *testing.F) {
	for _, e := range examples {
		script, list := e.files["server.sh"], e.files["tools.json"]
		if script == "" {
			script = server["server.sh"]
		}
		if list == "" {
			list = server["tools.json"]
		}
		f.Add(script, list)
	}
	f.Fuzz(func(t *testing.T, script, list string) {
		dir := t.TempDir()
		for name, text := range map[string]string{"server.sh": script, "tools.json": list, "config.json": "{}"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		result, err := check.Check(context.Background(), []string{filepath.Join(dir, "server.sh")}, check.Options{})
		if err != nil {
			return // it is no script
		}
		for _, found := range result.Findings {
			if found.Line < 0 || found.Column < 0 || found.Message == "" || found.Rule == "" {
				t.Errorf("%+v", found)
			}
		}
	})
}
