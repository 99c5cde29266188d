package docs_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/conch-mcp/conch/test/harness"
)

func TestThePictureOfATerminalShowsWhatOneSees(t *testing.T) {
	cmd := exec.Command(filepath.Join(harness.Root(), "docs", "terminal", "draw.sh"), harness.Binary(t))
	drawn, err := cmd.Output()
	if err != nil {
		t.Fatalf("docs/terminal/draw.sh: %v", err)
	}
	if string(drawn) != read(t, "docs/terminal/terminal.svg") {
		t.Errorf("docs/terminal/terminal.svg is not what docs/terminal/draw.sh draws now:\n%s", drawn)
	}
}
