package lib_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/conch-mcp/conch/lib"
)

func TestAFormatHasTheFileThatIsInItsFolder(t *testing.T) {
	formats := lib.Formats()
	if len(formats) == 0 {
		t.Fatal("there are no formats")
	}
	for _, f := range formats {
		text, err := os.ReadFile(filepath.Join(f.Name, f.File))
		if err != nil {
			t.Fatal(err)
		}
		if f.Text != string(text) || f.Text == "" {
			t.Errorf("%s: the text is not that of the file", f.Name)
		}
		if !strings.Contains(f.Text, fmt.Sprintf("\n_mcp_protocol=%d\n", f.Protocol)) {
			t.Errorf("%s: the file does not say that it speaks protocol %d", f.Name, f.Protocol)
		}
	}
}

func TestFormatsAreInOrderAndThereOnce(t *testing.T) {
	formats := lib.Formats()
	if !slices.IsSortedFunc(formats, func(a, b lib.Format) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the formats are not in order")
	}
	for i := 1; i < len(formats); i++ {
		if formats[i].Name == formats[i-1].Name {
			t.Errorf("%s is there twice", formats[i].Name)
		}
	}
}
