package roots_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/conch-mcp/conch/internal/roots"
)

// asNobody calls a function as somebody who may not read everything, as the
// superuser may. What may be read is a matter of the thread.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// Not unlocked, so that the thread ends with the goroutine.
		runtime.LockOSThread()
		if _, err := unix.SetfsuidRetUid(65534); err != nil {
			t.Errorf("become nobody: %v", err)
			return
		}
		f()
	}()
	<-done
}

// guarded is a server's directory with a directory that cannot be read and one
// that cannot be entered.
func guarded(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "roots-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for path, mode := range map[string]os.FileMode{"": 0o755, "/open": 0o755, "/shut": 0o311, "/locked/in": 0o755, "/locked": 0} {
		if err := os.MkdirAll(dir+path, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir+path, mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(dir+path, 0o755) })
	}
	return dir
}

func TestWhatCannotBeRead(t *testing.T) {
	dir := guarded(t)
	for _, name := range []string{"shut", "locked", "locked/in"} {
		asNobody(t, func() {
			set, problems := roots.FromClient([]roots.ClientRoot{{URI: "file://" + dir + "/" + name}, {URI: "file://" + dir + "/open"}})
			wantPaths(t, set, dir+"/open")
			if len(problems) != 1 || !strings.Contains(problems[0], "cannot be read: permission denied") {
				t.Errorf("%s: %q", name, problems)
			}
			if _, err := roots.FromList([]string{"open", name}, dir); err == nil || !strings.Contains(err.Error(), "cannot be read: permission denied") {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := roots.FromVariable("open:"+name, dir); err == nil || !strings.Contains(err.Error(), "cannot be read: permission denied") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestWhatCannotBeLookedAtIsInNoRoot(t *testing.T) {
	dir := guarded(t)
	asNobody(t, func() {
		set := list(t, dir, ".")
		if !set.Contains(dir+"/locked") || !set.Contains(dir+"/shut/x") || set.Contains(dir+"/locked/in") {
			t.Error("where a path leads is not known, and it is taken for one that is in")
		}
	})
}

func TestAServersDirectoryThatCannotBeRead(t *testing.T) {
	dir := guarded(t)
	for _, name := range []string{"shut", "locked"} {
		asNobody(t, func() {
			set, warnings, err := roots.Fallback(sources(dir+"/"+name, nil))
			wantPaths(t, set)
			if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "permission denied") || !strings.Contains(warnings[0], "nothing is in scope") {
				t.Errorf("%s: %q, %v", name, warnings, err)
			}
		})
	}
}

func TestPathsThatLeadEachProcessElsewhere(t *testing.T) {
	dir := tree(t, "a/file", "a/here -> /proc/self/cwd", "a/fd -> /dev/fd")
	t.Chdir(dir + "/a")
	set := list(t, "/", dir, "/proc")
	for _, path := range []string{"/proc/self/cwd/file", "/proc/self/root" + dir, "/proc/thread-self/cwd", dir + "/a/here/file", dir + "/a/here", dir + "/a/fd/0", "/dev/stdin"} {
		if set.Contains(path) {
			t.Errorf("%s is in it", path)
		}
	}
	if !set.Contains("/proc/uptime") || !set.Contains(dir+"/a/file") {
		t.Error("what leads nowhere else is not in it")
	}
	if _, err := roots.FromList([]string{"/proc/self/cwd"}, "/"); err == nil {
		t.Error("/proc/self/cwd is a root")
	}
}
