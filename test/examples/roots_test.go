package examples_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/test/harness"
)

// project is the example with a root that has something to read, and with what
// must not be read beside it.
func project(t *testing.T) (e example, root string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.Join(top, "my project")
	write(t, root+"/notes.txt", "inside\n")
	write(t, root+"/sub/-n", "dashed\n")
	write(t, root+"/zeros", "a\x00b\n")
	write(t, root+"/large", strings.Repeat("x", 100_001))
	write(t, root+"2/secret", "secret\n")
	write(t, top+"/secret", "secret\n")
	link(t, "../secret", root+"/out")
	link(t, "..", root+"/up")
	link(t, root+"/sub", top+"/in")
	if err := unix.Mkfifo(root+"/fifo", 0o600); err != nil {
		t.Fatal(err)
	}
	e = theExample(t, "roots")
	e.flags = []string{"--roots", root}
	return e, root
}

// refused makes a call that is to be answered with an error of the protocol's,
// and returns what that says.
func (e example) refused(tool, arguments string) string {
	e.t.Helper()
	cmd := exec.Command(harness.Binary(e.t), append(append([]string{"call", "--args", arguments}, e.flags...), e.script, tool)...)
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 2 {
		e.t.Fatalf("conch call %s %s: %v\n%s", tool, arguments, err, out)
	}
	return string(out)
}

func at(path string) string { return fmt.Sprintf(`{"path":%q}`, path) }

func TestRootsReadsWhatIsInScope(t *testing.T) {
	e, root := project(t)
	top := filepath.Dir(root)
	e.session([]asked{
		{"roots", "list_roots", `{}`, false, []string{root}},
		{"the only root", "list_folder", `{}`, false, []string{"notes.txt\nout\nsub\nup\nzeros"}},
		{"a folder", "list_folder", at(root + "/sub"), false, []string{"-n"}},
		{"a folder that leads in", "list_folder", at(top + "/in"), false, []string{"-n"}},
		{"a file", "read_file", at(root + "/notes.txt"), false, []string{"inside"}},
		{"a detour", "read_file", at(root + "/up/my project/notes.txt"), false, []string{"inside"}},
		{"a dash", "read_file", at(root + "/sub/-n"), false, []string{"dashed"}},
		{"zeros", "read_file", at(root + "/zeros"), false, []string{"ab"}},
		{"a large file", "read_file", at(root + "/large"), false, []string{"goes on after 65536 bytes"}},
		{"a file for a folder", "list_folder", at(root + "/notes.txt"), true, []string{"no folder"}},
		{"a folder for a file", "read_file", at(root), true, []string{"no file that can be read"}},
		{"a FIFO", "read_file", at(root + "/fifo"), true, []string{"no file that can be read"}},
		{"nothing", "read_file", at(root + "/new"), true, []string{"no file that can be read"}},
	})
}

func TestRootsReadsNothingElse(t *testing.T) {
	e, root := project(t)
	for _, path := range []string{
		root + "2/secret", root + "/out", root + "/up/secret", root + "/../secret", filepath.Dir(root), "/etc/passwd", "/proc/self/root/etc/passwd",
		root + "*/secret", "$HOME", "~", "secret", "--help", "-", root + "/sub/../../secret",
	} {
		for _, tool := range []string{"read_file", "list_folder"} {
			if why := e.refused(tool, at(path)); !strings.Contains(why, "in none of the roots") {
				t.Errorf("%s %s: %s", tool, path, why)
			}
		}
	}
	e.flags = []string{"--roots", root + "," + root + "2"}
	if why := e.refused("list_folder", `{}`); !strings.Contains(why, "there are 2 roots") {
		t.Error(why)
	}
}
