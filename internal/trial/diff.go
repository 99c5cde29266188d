package trial

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// difference shows how two texts differ: as they are where each is a line, else
// with signs before the lines that only one of them has.
func difference(want, got string) string {
	if !strings.Contains(want+got, "\n") {
		return fmt.Sprintf("the text is not what was expected\n- %s\n+ %s", want, got)
	}
	lines := diff.Diff("expected", []byte(want+"\n"), "came", []byte(got+"\n"))
	// The first line is for programs that apply it.
	_, shown, _ := strings.Cut(string(lines), "\n")
	return "the text is not what was expected\n" + strings.TrimSuffix(shown, "\n")
}
