package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// Nothing is removed here: it is whether a directory is entered that decides.
func TestWhatIsMountedIsNotEntered(t *testing.T) {
	root, err := os.Open("/")
	must(t, err)
	defer root.Close()
	for name, open := range map[string]func(int, string) (int, error){"openHere": openHere, "openOnDevice": openOnDevice} {
		if fd, err := open(int(root.Fd()), "proc"); !errors.Is(err, errMounted) {
			t.Errorf("%s enters /proc: %d, %v", name, fd, err)
		}
	}
}

// A process in a mount namespace of its own mounts one scratch directory on another.
func TestRemoveTreeLeavesWhatIsMountedBelow(t *testing.T) {
	dir := t.TempDir()
	out, err := exec.Command(os.Args[0], roleMounter, dir).CombinedOutput()
	if err != nil || string(out) != "" {
		t.Errorf("%v\n%s", err, out)
	}
}

// removeAroundMounts says what is wrong. Where it may not mount there is nothing to say.
func removeAroundMounts(dir string) {
	theirs := dir + "/theirs"
	if err := errors.Join(os.Mkdir(theirs, 0o500), os.MkdirAll(dir+"/tree/a/point", 0o700), touch(dir+"/tree/a/file"), touch(dir+"/tree/file")); err != nil {
		fmt.Println(err)
		return
	}
	runtime.LockOSThread() // which alone is in the new namespace
	if unix.Unshare(unix.CLONE_NEWNS) != nil || unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") != nil {
		return
	}
	if err := errors.Join(os.Chmod(theirs, 0o700), touch(theirs+"/kept"), os.Mkdir(theirs+"/locked", 0), unix.Mount(theirs, dir+"/tree/a/point", "", unix.MS_BIND, "")); err != nil {
		fmt.Println(err)
		return
	}
	for _, path := range []string{dir + "/tree/a/point", dir + "/tree"} {
		if err := RemoveTree(path); !errors.Is(err, errMounted) {
			fmt.Printf("RemoveTree(%s) = %v\n", path, err)
		}
	}
	if _, err := os.Stat(theirs + "/kept"); err != nil {
		fmt.Println("what was mounted has been removed:", err)
	}
	if info, err := os.Stat(theirs + "/locked"); err != nil || info.Mode().Perm() != 0 {
		fmt.Println("what was mounted has changed:", info, err)
	}
	for _, gone := range []string{"/tree/file", "/tree/a/file"} {
		if _, err := os.Lstat(dir + gone); err == nil {
			fmt.Println(gone, "beside it has been left")
		}
	}
	if err := errors.Join(unix.Unmount(dir+"/tree/a/point", 0), RemoveTree(dir+"/tree")); err != nil {
		fmt.Println(err)
	}
}
