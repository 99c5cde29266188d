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

func TestAFormatHasTheFilesThatAreInItsFolder(t *testing.T) {
	formats := lib.Formats()
	if len(formats) == 0 {
		t.Fatal("there are no formats")
	}
	for _, f := range formats {
		for _, file := range f.Files {
			text, err := os.ReadFile(filepath.Join(f.Name, file.Name))
			if err != nil {
				t.Fatal(err)
			}
			if file.Text != string(text) || !strings.Contains(file.Text, "\n"+file.Mark) {
				t.Errorf("%s: the text is not that of the file, or lacks %q", f.Name, file.Mark)
			}
		}
		if want := fmt.Sprintf("\n_mcp_format=%s _mcp_protocol=%d\n", f.Name, f.Protocol); !strings.Contains(f.Files[0].Text, want) {
			t.Errorf("%s: the file does not say%q", f.Name, want)
		}
	}
}

// A vendored file stands by itself, so that each has what comes before conch is
// found. It is the same in all of them.
func TestTheSearchForConchIsTheSameInAllFiles(t *testing.T) {
	for _, function := range []string{"_mcp_get_code", "_mcp_why_no_program", "_mcp_refuse"} {
		var first string
		for _, f := range lib.Formats() {
			body := functionIn(f.Files[0].Text, function)
			switch {
			case body == "":
				t.Errorf("%s has no %s", f.Name, function)
			case first == "":
				first = body
			case body != first:
				t.Errorf("%s of %s is another", function, f.Name)
			}
		}
	}
}

func functionIn(text, name string) string {
	_, body, _ := strings.Cut(text, "\n"+name+"() {\n")
	body, _, _ = strings.Cut(body, "\n}\n")
	return body
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
