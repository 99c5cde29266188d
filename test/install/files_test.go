package install_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const before = "{\n  \"mcpServers\": {\n    \"db\": {}\n  }\n}\n"

func TestModeAndLinksStay(t *testing.T) {
	h := newHome(t)
	cursor := client("cursor")
	h.write("dotfiles/cursor.json", before)
	if err := os.Chmod(h.path("dotfiles/cursor.json"), 0o640); err != nil {
		t.Fatal(err)
	}
	h.found(cursor)
	if err := os.Symlink("../dotfiles/cursor.json", h.path(cursor.user)); err != nil {
		t.Fatal(err)
	}
	said := h.install(cursor, "greeter/server.sh")
	if to, err := os.Readlink(h.path(cursor.user)); err != nil || to != "../dotfiles/cursor.json" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	for name, text := range map[string]string{"dotfiles/cursor.json": h.read(cursor.user), "dotfiles/cursor.json.conch.bak": before} {
		info, err := os.Stat(h.path(name))
		if err != nil || info.Mode() != 0o640 || h.read(name) != text {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if !strings.Contains(said, h.path("dotfiles/cursor.json.conch.bak")) {
		t.Errorf("it said %s", said)
	}
	h.install(cursor, "--uninstall", "greeter/server.sh")
	if h.read("dotfiles/cursor.json") != before {
		t.Error("there and back is another")
	}
	h.wantNothingBeside(cursor.user)
}

func TestALinkToNothing(t *testing.T) {
	h := newHome(t)
	cursor := client("cursor")
	h.found(cursor)
	if err := os.Symlink("nowhere/mcp.json", h.path(cursor.user)); err != nil {
		t.Fatal(err)
	}
	h.conch("install", "--client", "cursor", "greeter/server.sh").want(t, 2, h.path(cursor.user)+" is a link to nothing")
}

func TestAReadOnlyFile(t *testing.T) {
	h := newHome(t)
	cursor := client("cursor")
	h.write(cursor.user, before)
	if err := os.Chmod(h.path(cursor.user), 0o444); err != nil {
		t.Fatal(err)
	}
	h.conch("install", "--client", "cursor", "greeter/server.sh").want(t, 1, "write "+h.path(cursor.user)+": it is read-only")
	if h.read(cursor.user) != before {
		t.Error("it was written")
	}
	h.wantNothingBeside(cursor.user)
}

// somebody has what is run be done by a user who is not root, whom nothing keeps
// out. The home directory and a copy of conch are that user's.
func (h *home) somebody() {
	h.t.Helper()
	if os.Getuid() != 0 {
		return
	}
	const nobody = 65534
	h.user = &syscall.Credential{Uid: nobody, Gid: nobody}
	program, err := os.ReadFile(h.bin)
	if err != nil {
		h.t.Fatal(err)
	}
	h.bin = h.path("conch")
	if err := os.WriteFile(h.bin, program, 0o755); err != nil {
		h.t.Fatal(err)
	}
	err = filepath.WalkDir(h.dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.open(filepath.Dir(h.dir))
}

// open lets everybody through the directories of the test, which are its user's
// alone.
func (h *home) open(dir string) {
	h.t.Helper()
	for ; strings.Contains(dir, h.t.Name()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			h.t.Fatal(err)
		}
	}
}

func TestAReadOnlyDirectory(t *testing.T) {
	h := newHome(t)
	cursor := client("cursor")
	h.write(cursor.user, before)
	h.somebody()
	if err := os.Chmod(filepath.Dir(h.path(cursor.user)), 0o555); err != nil {
		t.Fatal(err)
	}
	h.conch("install", "--client", "cursor", "greeter/server.sh").want(t, 1, "write "+h.path(cursor.user)+": permission denied")
	if h.read(cursor.user) != before {
		t.Error("it was written")
	}
	h.wantNothingBeside(cursor.user)
}

func TestAFileThatMayNotBeRead(t *testing.T) {
	h := newHome(t)
	cursor := client("cursor")
	h.write(cursor.user, before)
	h.somebody()
	if err := os.Chmod(h.path(cursor.user), 0o200); err != nil {
		t.Fatal(err)
	}
	h.conch("install", "--client", "cursor", "greeter/server.sh").want(t, 2, "read "+h.path(cursor.user)+": permission denied")
}

func TestTheOwnerStays(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can write what is somebody else's and keep it theirs")
	}
	h := newHome(t)
	cursor := client("cursor")
	h.write(cursor.user, before)
	if err := os.Chown(h.path(cursor.user), 12345, 54321); err != nil {
		t.Skip(err)
	}
	h.install(cursor, "greeter/server.sh")
	for _, name := range []string{cursor.user, cursor.user + ".conch.bak"} {
		info, err := os.Stat(h.path(name))
		if err != nil {
			t.Fatal(err)
		}
		if stat := info.Sys().(*syscall.Stat_t); stat.Uid != 12345 || stat.Gid != 54321 {
			t.Errorf("%s belongs to %d, %d", name, stat.Uid, stat.Gid)
		}
	}
}

func TestAFileOfSomebodyElse(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a file away")
	}
	h := newHome(t)
	cursor := client("cursor")
	h.write(cursor.user, before)
	h.somebody()
	if err := os.Chown(h.path(cursor.user), 12345, 12345); err != nil {
		t.Skip(err)
	}
	if err := os.Chmod(h.path(cursor.user), 0o666); err != nil {
		t.Fatal(err)
	}
	h.conch("install", "--client", "cursor", "greeter/server.sh").want(t, 1, "it belongs to another user or group (12345, 12345)")
	if h.read(cursor.user) != before {
		t.Error("it was written")
	}
	h.wantNothingBeside(cursor.user)
}

func TestManyAtOnce(t *testing.T) {
	h := newHome(t)
	cursor := client("cursor")
	h.write(cursor.user, before)
	const many = 8
	runs := make(chan run, many)
	for i := range many {
		go func() {
			runs <- h.conch("install", "--client", "cursor", "--name", fmt.Sprint("s", i), "greeter/server.sh")
		}()
	}
	for range many {
		if r := <-runs; r.status != 0 {
			t.Errorf("%+v", r)
		}
	}
	text := h.read(cursor.user)
	for i := range many {
		cursor.entry(t, text, fmt.Sprint("s", i))
	}
}

// A conch that waits for another one reads the file once it is its turn.
func TestWhatIsWrittenWhileItWaitsStays(t *testing.T) {
	h := newHome(t)
	cursor := client("cursor")
	h.write(cursor.user, before)
	lock, err := os.Open(filepath.Dir(h.path(cursor.user)))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ended := make(chan run)
	go func() { ended <- h.conch("install", "--client", "cursor", "greeter/server.sh") }()
	select {
	case r := <-ended:
		t.Fatalf("it has not waited: %+v", r)
	case <-time.After(100 * time.Millisecond):
	}
	theirs := strings.Replace(before, "db", "theirs", 1)
	h.write(cursor.user, theirs)
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	(<-ended).want(t, 0)
	cursor.entry(t, h.read(cursor.user), "greeter")
	if !isWithin(theirs, h.read(cursor.user)) {
		t.Errorf("left is %s", h.read(cursor.user))
	}
}
