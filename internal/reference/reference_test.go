package reference_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/conch-mcp/conch/internal/reference"
)

const top = "../.."

func TestTheReferenceIsThatOfTheCode(t *testing.T) {
	pages, err := reference.Pages(top)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, page := range pages {
		want[page.Name] = true
		path := filepath.Join(top, reference.Dir, page.Name)
		there, err := os.ReadFile(path)
		if err != nil {
			t.Errorf("%v; make reference writes it", err)
			continue
		}
		if d := diff.Diff("there", there, "in the code", page.Text); d != nil {
			t.Errorf("%s/%s is not what the code says; make reference writes it anew\n%s", reference.Dir, page.Name, d)
		}
	}
	files, err := os.ReadDir(filepath.Join(top, reference.Dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !want[file.Name()] {
			t.Errorf("%s/%s is none of the reference's pages", reference.Dir, file.Name())
		}
	}
}
