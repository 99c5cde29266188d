package clients_test

import (
	"path/filepath"
	"sync"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

// installedNode is the Node to run clients with.
func installedNode(t *testing.T) string {
	t.Helper()
	node, err := install()
	if err != nil {
		t.Fatal(err)
	}
	return node
}

var install = sync.OnceValues(func() (string, error) {
	return harness.Node(filepath.Join(harness.Root(), "test", "clients"))
})
