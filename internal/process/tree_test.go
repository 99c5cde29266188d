package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func touch(path string) error { return os.WriteFile(path, []byte("x"), 0o600) }

// locked are trees that their owner has made hard to remove.
var locked = []struct {
	name string
	make func(path string) error
}{
	{"read-only", func(path string) error {
		return errors.Join(os.MkdirAll(path+"/a/b", 0o700), touch(path+"/a/b/file"), os.Chmod(path+"/a/b", 0o500), os.Chmod(path+"/a", 0o500), os.Chmod(path, 0o500))
	}},
	{"mode 000", func(path string) error {
		return errors.Join(os.MkdirAll(path+"/a/b", 0o700), touch(path+"/a/b/file"), os.Chmod(path+"/a/b", 0), os.Chmod(path+"/a", 0), os.Chmod(path, 0))
	}},
	{"write only", func(path string) error {
		return errors.Join(os.MkdirAll(path+"/a", 0o700), touch(path+"/a/file"), os.Chmod(path+"/a", 0o200), os.Chmod(path, 0o300))
	}},
	{"one of many", func(path string) error {
		err := os.Mkdir(path, 0o700)
		for i := range 50 {
			sub := fmt.Sprintf("%s/%d", path, i)
			err = errors.Join(err, os.Mkdir(sub, 0o700), touch(sub+"/file"))
		}
		return errors.Join(err, os.Chmod(path+"/25", 0))
	}},
	{"with a link to a directory outside", func(path string) error {
		return errors.Join(os.MkdirAll(path+"/a", 0o700), os.Symlink(filepath.Dir(path)+"/outside", path+"/a/link"), os.Chmod(path+"/a", 0o500))
	}},
}

func TestRemoveTreeRemovesWhateverThereIs(t *testing.T) {
	kinds := []struct {
		name string
		make func(path string) error
	}{
		{"nothing", func(string) error { return nil }},
		{"an empty directory", func(path string) error { return os.Mkdir(path, 0o700) }},
		{"a file", touch},
		{"a FIFO", func(path string) error { return unix.Mkfifo(path, 0o600) }},
		{"a link to a directory", func(path string) error { return os.Symlink(filepath.Dir(path)+"/outside", path) }},
		{"a link to nothing", func(path string) error { return os.Symlink("nothing", path) }},
		{"names of any bytes", func(path string) error {
			return errors.Join(os.Mkdir(path, 0o700), touch(path+"/a\nb"), touch(path+"/\xff"), touch(path+"/-rf"), touch(path+"/*"))
		}},
		{"two hundred levels", func(path string) error { return os.MkdirAll(path+strings.Repeat("/d", 200), 0o700) }},
	}
	for _, kind := range append(kinds, locked...) {
		t.Run(kind.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, errors.Join(os.Mkdir(dir+"/outside", 0o500), touch(dir+"/beside")))
			must(t, kind.make(dir+"/tree"))
			if err := RemoveTree(dir + "/tree"); err != nil {
				t.Error(err)
			}
			if _, err := os.Lstat(dir + "/tree"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it is still there: %v", err)
			}
			if info, err := os.Stat(dir + "/outside"); err != nil || info.Mode().Perm() != 0o500 {
				t.Errorf("the directory outside has changed: %v, %v", info, err)
			}
			if _, err := os.Stat(dir + "/beside"); err != nil {
				t.Errorf("the file beside has gone: %v", err)
			}
		})
	}
}

// Permissions mean nothing to root, so a process of another user does the same.
func TestRemoveTreeDoesWithoutPrivileges(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o711))
	// Not its path, which the other user may not reach.
	cmd := exec.Command("/proc/self/exe", roleRemover, dir)
	if _, err := os.Stat(cmd.Path); err != nil {
		cmd.Path = os.Args[0]
	}
	if os.Getuid() == 0 {
		const nobody = 65534
		must(t, os.Chown(dir, nobody, nobody))
		cmd.SysProcAttr = &unix.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		cmd.Dir = "/"
	}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "" {
		t.Errorf("%v\n%s", err, out)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("there are left %v, %v", entries, err)
	}
}

// removeLockedTree makes the locked trees in dir and removes them, and says
// what goes wrong.
func removeLockedTree(dir string) {
	if err := os.Mkdir(dir+"/outside", 0o500); err != nil {
		fmt.Println(err)
	}
	for _, kind := range locked {
		if err := kind.make(dir + "/tree"); err != nil {
			fmt.Printf("make %s: %v\n", kind.name, err)
		}
		if os.Getuid() != 0 && strings.HasPrefix(kind.name, "mode") && os.RemoveAll(dir+"/tree") == nil {
			fmt.Println("permissions mean nothing here")
		}
		if err := RemoveTree(dir + "/tree"); err != nil {
			fmt.Printf("%s: %v\n", kind.name, err)
		}
		if info, err := os.Stat(dir + "/outside"); err != nil || info.Mode().Perm() != 0o500 {
			fmt.Printf("%s: the directory outside has changed: %v, %v\n", kind.name, info, err)
		}
	}
}

func TestRemoveTreeLeavesTheFileAboveAPathThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, touch(file))
	_ = RemoveTree(file + "/below")
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}

func TestRemoveTreeRemovesMoreThanItReadsAtOnce(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(dir+"/tree", 0o700))
	for i := range 2*fewNames + 1 {
		must(t, touch(fmt.Sprintf("%s/tree/%d", dir, i)))
	}
	if err := RemoveTree(dir + "/tree"); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		t.Errorf("left are %v, %v", entries, err)
	}
}

func TestRemoveTreeTakesNoPathThatLeadsElsewhere(t *testing.T) {
	dir := t.TempDir()
	must(t, errors.Join(os.MkdirAll(dir+"/a/b", 0o700), touch(dir+"/a/file")))
	t.Chdir(dir + "/a")
	for _, path := range []string{".", "..", dir + "/a/.", dir + "/a/b/.."} {
		if err := RemoveTree(path); err == nil {
			t.Errorf("RemoveTree(%q) succeeds", path)
		}
	}
	for _, kept := range []string{"/a/b", "/a/file"} {
		if _, err := os.Stat(dir + kept); err != nil {
			t.Error(err)
		}
	}
	if err := RemoveTree("b/"); err != nil {
		t.Error(err)
	}
}
