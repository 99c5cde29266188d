package vendoring_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/conch-mcp/conch/internal/vendoring"
	"github.com/conch-mcp/conch/lib"
)

// release has the format "plain", whose file is core.sh.
func release(version, text string) vendoring.Release {
	return vendoring.Release{Conch: version, Formats: []lib.Format{{
		Name: "plain", Dir: "lib/", Protocol: 3, Files: []lib.File{{Name: "core.sh", Text: text}},
	}}}
}

var first = release("v1.0.0", "echo one\necho two\n")

// project is a directory to vendor in.
type project struct {
	*testing.T
	name string
	dir  *vendoring.Directory
}

func newProject(t *testing.T) project {
	t.Helper()
	name := filepath.Join(t.TempDir(), "project")
	if err := os.Mkdir(name, 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := vendoring.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return project{t, name, dir}
}

// vendor writes what is to be written and returns its paths.
func (p project) vendor(r vendoring.Release, format string, arguments ...string) (wrote []string) {
	p.Helper()
	plan, err := p.dir.Plan(r, format, arguments)
	if err != nil {
		p.Fatal(err)
	}
	for _, x := range plan.Differences {
		if err := p.dir.Write(x); err != nil {
			p.Fatal(err)
		}
		wrote = append(wrote, x.Path)
	}
	return wrote
}

// check returns the paths of what is different.
func (p project) check(r vendoring.Release, format string, arguments ...string) (different []string) {
	p.Helper()
	found, err := p.dir.Check(r, format, arguments)
	if err != nil {
		p.Fatal(err)
	}
	for _, x := range found.Differences {
		different = append(different, x.Path)
	}
	return different
}

func (p project) path(name string) string { return filepath.Join(p.name, name) }

func (p project) read(name string) string {
	p.Helper()
	text, err := os.ReadFile(p.path(name))
	if err != nil {
		p.Fatal(err)
	}
	return string(text)
}

func (p project) write(name, text string, mode os.FileMode) {
	p.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(text), mode); err != nil {
		p.Fatal(err)
	}
	if err := os.Chmod(p.path(name), mode); err != nil {
		p.Fatal(err)
	}
}

func (p project) link(target, name string) {
	p.Helper()
	if err := os.Symlink(target, p.path(name)); err != nil {
		p.Fatal(err)
	}
}

func (p project) want(got []string, want ...string) {
	p.Helper()
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		p.Errorf("got %q, want %q", got, want)
	}
}

// names lists what is in the project's directory and below.
func (p project) names() (names []string) {
	p.Helper()
	err := filepath.WalkDir(p.name, func(path string, _ os.DirEntry, err error) error {
		if name, _ := filepath.Rel(p.name, path); name != "." {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		p.Fatal(err)
	}
	return names
}

func TestAFileIsWrittenToEveryPathAndRecorded(t *testing.T) {
	p := newProject(t)
	p.write("there/other", "", 0o644)
	p.want(p.vendor(first, "plain", "b/", "there", "new", "a/named.sh", "./c/../d.bash", p.path("abs")),
		"a/named.sh", "abs/core.sh", "b/core.sh", "d.bash", "new/core.sh", "there/core.sh", ".conch.lock")
	for _, name := range []string{"a/named.sh", "abs/core.sh", "b/core.sh", "d.bash", "new/core.sh", "there/core.sh"} {
		if got := p.read(name); got != first.Formats[0].Files[0].Text {
			t.Errorf("%s holds %q", name, got)
		}
	}
	want := `{
  "lockfileVersion": 1,
  "conch": "v1.0.0",
  "formats": {
    "plain": {
      "protocol": 3,
      "sha256": "5c5386da62193eb9d9cb7c9b2208cdf75bf7828c4bd326b8702f940b4b45d6cf",
      "paths": [
        "a/named.sh",
        "abs/core.sh",
        "b/core.sh",
        "d.bash",
        "new/core.sh",
        "there/core.sh"
      ]
    }
  }
}
`
	if got := p.read(".conch.lock"); got != want {
		t.Errorf("the lock is\n%s", got)
	}
	p.want(p.check(first, ""))
}

func TestWithoutAPathItIsWhatIsRecordedOrElseLib(t *testing.T) {
	p := newProject(t)
	p.want(p.vendor(first, "plain"), "lib/core.sh", ".conch.lock")
	other := newProject(t)
	other.vendor(first, "plain", "elsewhere")
	other.want(other.vendor(release("v1.0.0", "two\n"), "plain"), "elsewhere/core.sh", ".conch.lock")
}

func TestAnotherPathKeepsTheFirstAndBringsItUpToDate(t *testing.T) {
	p := newProject(t)
	p.vendor(first, "plain", "b")
	p.want(p.vendor(first, "plain", "a"), "a/core.sh", ".conch.lock")
	second := release("v2.0.0", "two\n")
	p.want(p.vendor(second, "plain", "c"), "a/core.sh", "b/core.sh", "c/core.sh", ".conch.lock")
	p.want(p.check(second, ""))
}

func TestAPathThatIsNamedAgainIsRecordedOnce(t *testing.T) {
	p := newProject(t)
	p.want(p.vendor(first, "plain", "a", "a/core.sh"), "a/core.sh", ".conch.lock")
	lock := p.read(".conch.lock")
	p.want(p.vendor(first, "plain", "./a/"))
	if got := p.read(".conch.lock"); got != lock || strings.Count(lock, "a/core.sh") != 1 {
		t.Errorf("the lock was\n%sand is\n%s", lock, got)
	}
}

func TestEverythingRecordedIsWrittenAnew(t *testing.T) {
	p := newProject(t)
	p.vendor(first, "plain", "a", "b", "c")
	p.write("a/core.sh", "changed", 0o644)
	if err := os.RemoveAll(p.path("b")); err != nil {
		t.Fatal(err)
	}
	p.want(p.check(first, ""), "a/core.sh", "b/core.sh")
	p.want(p.vendor(first, ""), "a/core.sh", "b/core.sh")
	p.want(p.vendor(first, ""))
	p.want(p.check(first, ""))
}

func TestACheckWritesNothing(t *testing.T) {
	p := newProject(t)
	p.vendor(first, "plain", "a", "b")
	p.write("a/core.sh", "changed", 0o644)
	if err := os.Remove(p.path("b/core.sh")); err != nil {
		t.Fatal(err)
	}
	before, lock := p.names(), p.read(".conch.lock")
	p.want(p.check(release("v2.0.0", "two\n"), ""), "a/core.sh", "b/core.sh", ".conch.lock")
	if got := p.names(); !reflect.DeepEqual(got, before) || p.read("a/core.sh") != "changed" || p.read(".conch.lock") != lock {
		t.Errorf("there was %q, and is %q", before, got)
	}
}

func TestOnlyWhatIsVendoredCountsNotTheVersion(t *testing.T) {
	p := newProject(t)
	p.vendor(first, "plain")
	sameFile := release("v2.0.0", first.Formats[0].Files[0].Text)
	p.want(p.check(sameFile, ""))
	p.want(p.vendor(sameFile, ""), ".conch.lock")
	// A file that was copied by hand leaves a lock that does not tell the truth.
	third := release("v3.0.0", "three\n")
	p.write("lib/core.sh", "three\n", 0o644)
	p.want(p.check(third, ""), ".conch.lock")
}

func TestAnotherLayoutOfTheLockIsNoDifference(t *testing.T) {
	p := newProject(t)
	p.vendor(first, "plain")
	lock := p.read(".conch.lock")
	p.write(".conch.lock", strings.Join(strings.Fields(lock), ""), 0o644)
	p.want(p.check(first, ""))
	p.want(p.vendor(first, ""), ".conch.lock")
	if got := p.read(".conch.lock"); got != lock {
		t.Errorf("the lock is\n%s", got)
	}
}

func TestPlacesCanBeCheckedWithoutALock(t *testing.T) {
	p := newProject(t)
	p.write("lib/core.sh", first.Formats[0].Files[0].Text, 0o644)
	p.want(p.check(first, "plain", "lib"))
	p.want(p.check(first, "plain", "lib", "more"), "more/core.sh")
}

func TestADifferenceIsAPatchToWhatShouldBe(t *testing.T) {
	p := newProject(t)
	p.vendor(first, "plain")
	p.write("lib/core.sh", "echo one\necho 2\nno newline", 0o644)
	found, err := p.dir.Check(first, "", nil)
	if err != nil || len(found.Differences) != 1 || found.Differences[0].Missing {
		t.Fatalf("found %+v, %v", found, err)
	}
	text := found.Differences[0].Diff()
	for _, line := range []string{"--- a/lib/core.sh\n", "+++ b/lib/core.sh\n", "\n-echo 2\n", "\n+echo two\n", "\n-no newline\n\\ No newline"} {
		if !bytes.Contains(text, []byte(line)) {
			t.Errorf("%q is not in\n%s", line, text)
		}
	}
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("there is no patch to try it with")
	}
	cmd := exec.Command(patch, "-p1")
	cmd.Dir, cmd.Stdin = p.name, bytes.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, text)
	}
	p.want(p.check(first, ""))
}

func TestWhatMakesNoSenseIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	for _, c := range []struct{ name, format, argument, want string }{
		{"an unknown format", "fancy", "lib", `there is no format "fancy"; there is plain`},
		{"the parent directory", "plain", "../lib", "../lib is outside of "},
		{"an absolute path elsewhere", "plain", "/lib", "/lib is outside of "},
		{"the parent by a detour", "plain", "a/../../b", "a/../../b is outside of "},
		{"an empty path", "plain", "", "a PATH is empty"},
		{"a line break", "plain", "a\nb", `"a\nb/core.sh" is no path that can be recorded`},
		{"no UTF-8", "plain", "a\xff.sh", `"a\xff.sh" is no path that can be recorded`},
		{"the lock", "plain", ".conch.lock", ".conch.lock is no place for a vendored file"},
		{"the lock as a directory", "plain", ".conch.lock/", ".conch.lock is no place for a vendored file"},
		{"the lock by a link", "plain", "lock.sh", "lock.sh is a link to .conch.lock, no place for a vendored file"},
		{"a directory", "plain", "dir", "dir/core.sh is a directory, no file to replace"},
		{"a FIFO", "plain", "fifo.sh", "fifo.sh is a FIFO, no file to replace"},
		{"a device by a link", "plain", "null.sh", `null.sh is a link to "/dev/null", outside of `},
		{"a file outside by a link", "plain", "out.sh", `outside.sh", outside of `},
		{"a directory outside by a link", "plain", "above", "above is a link to "},
		{"below a directory outside", "plain", "above/new", "above is a link to "},
		{"a link to nothing", "plain", "nothing.sh", "nothing.sh is a link to nothing"},
		{"a loop", "plain", "loop.sh", "find loop.sh: "},
		{"below a file", "plain", "file/", "find file/core.sh: not a directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t)
			p.write("../outside.sh", "outside", 0o644)
			p.write("file", "", 0o644)
			p.write(".conch.lock", string(vendoring.Lock{Conch: "v1", Formats: map[string]vendoring.Entry{
				"plain": {Protocol: 3, SHA256: strings.Repeat("0", 64), Paths: []string{"recorded.sh"}},
			}}.Encode()), 0o644)
			if err := os.MkdirAll(p.path("dir/core.sh"), 0o755); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("mkfifo", p.path("fifo.sh")).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			p.link("/dev/null", "null.sh")
			p.link("../outside.sh", "out.sh")
			p.link("..", "above")
			p.link("missing", "nothing.sh")
			p.link(".conch.lock", "lock.sh")
			p.link("loop.sh", "loop.sh")
			before := p.names()
			_, err := p.dir.Plan(first, c.format, []string{c.argument})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("plan: %v; want %q", err, c.want)
			}
			if _, err := p.dir.Check(first, c.format, []string{c.argument}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("check: %v; want %q", err, c.want)
			}
			if after := p.names(); !reflect.DeepEqual(before, after) || p.read("../outside.sh") != "outside" {
				t.Errorf("%q has become %q", before, after)
			}
		})
	}
}

func TestLinksWithinTheDirectoryAreFollowed(t *testing.T) {
	p := newProject(t)
	p.write("shared/core.sh", "old", 0o644)
	p.link("shared/core.sh", "relative.sh")
	p.link(p.path("shared/core.sh"), "absolute.sh")
	p.link("shared", "folder")
	p.vendor(first, "plain", "relative.sh", "absolute.sh", "folder", "folder/new/")
	if got := p.read("shared/core.sh"); got != first.Formats[0].Files[0].Text {
		t.Errorf("the file holds %q", got)
	}
	if got := p.read("shared/new/core.sh"); got != first.Formats[0].Files[0].Text {
		t.Errorf("the new file holds %q", got)
	}
	for _, name := range []string{"relative.sh", "absolute.sh", "folder"} {
		if _, err := os.Readlink(p.path(name)); err != nil {
			t.Error(err)
		}
	}
	p.want(p.check(first, ""))
}

func TestADirectoryCanBeOpenedByALink(t *testing.T) {
	p := newProject(t)
	p.link(p.name, "../link")
	dir, err := vendoring.Open(p.path("../link"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	p.dir = dir
	p.want(p.vendor(first, "plain", filepath.Join(filepath.Dir(p.name), "link", "lib")), "lib/core.sh", ".conch.lock")
}

func TestAFileKeepsItsMode(t *testing.T) {
	p := newProject(t)
	for mode, name := range map[os.FileMode]string{0o600: "private.sh", 0o755: "run.sh", 0o444: "readonly.sh"} {
		p.write(name, "old", mode)
		p.vendor(first, "plain", name)
		info, err := os.Stat(p.path(name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != mode {
			t.Errorf("%s has mode %v, want %v", name, info.Mode(), mode)
		}
	}
}

func TestANewFileHasTheModeThatTheUmaskLeaves(t *testing.T) {
	p := newProject(t)
	defer syscall.Umask(syscall.Umask(0o026))
	p.vendor(first, "plain", "new.sh")
	for _, name := range []string{"new.sh", ".conch.lock"} {
		info, err := os.Stat(p.path(name))
		if err != nil {
			t.Fatal(err)
		}
		if want := os.FileMode(0o640); info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", name, info.Mode(), want)
		}
	}
}

func TestAFileThatIsRightIsLeftAlone(t *testing.T) {
	p := newProject(t)
	p.vendor(first, "plain")
	before, err := os.Stat(p.path("lib/core.sh"))
	if err != nil {
		t.Fatal(err)
	}
	p.vendor(first, "plain", "other")
	after, err := os.Stat(p.path("lib/core.sh"))
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) {
		t.Error("the file has been written again")
	}
}

// planned plans to write dir/core.sh over what is there.
func planned(t *testing.T) (project, vendoring.Difference) {
	t.Helper()
	p := newProject(t)
	p.write("dir/core.sh", "old", 0o644)
	plan, err := p.dir.Plan(first, "plain", []string{"dir"})
	if err != nil || plan.Differences[0].Path != "dir/core.sh" {
		t.Fatalf("the plan is %+v, %v", plan, err)
	}
	return p, plan.Differences[0]
}

func TestAWriteThatFailsLeavesNothingBehind(t *testing.T) {
	p, x := planned(t)
	if err := os.Remove(p.path("dir/core.sh")); err != nil {
		t.Fatal(err)
	}
	p.write("dir/core.sh/full", "", 0o644)
	err := p.dir.Write(x)
	if err == nil || !strings.HasPrefix(err.Error(), "write dir/core.sh: ") || strings.Contains(err.Error(), ".conch-") {
		t.Errorf("the error is %v", err)
	}
	p.want(p.names(), "dir", "dir/core.sh", "dir/core.sh/full")
}

func TestALinkThatComesBetweenLeadsNoWriteOut(t *testing.T) {
	p, x := planned(t)
	if err := os.RemoveAll(p.path("dir")); err != nil {
		t.Fatal(err)
	}
	p.write("../outside/core.sh", "outside", 0o644)
	p.link("../outside", "dir")
	if err := p.dir.Write(x); err == nil {
		t.Error("it was written")
	}
	if got := p.read("../outside/core.sh"); got != "outside" {
		t.Errorf("the file outside holds %q", got)
	}
}
